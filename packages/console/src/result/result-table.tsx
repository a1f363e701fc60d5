import { formatBucket, formatMeasure } from '../data/format.ts'
import { timeKeyOf, titleOf } from '../data/result.ts'
import type { Row } from '../data/statistics.ts'
import { analysis } from '../texts/analysis.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'
import { type Column, Pages, Table } from '../ui/table.tsx'
import { numberOf, type ResultProps, shownValue } from './result.ts'

const perPage = 50

/** Rows as they came, by pages. */
export function ResultTable({
  answer,
  asked,
  meta,
  title,
  page = 1,
  onPage,
  sort,
  onSort,
}: Omit<ResultProps, 'kind'>) {
  const t = useTexts(analysis)
  const language = useLanguage()
  const time = timeKeyOf(asked)
  const isCompared = answer.rows.some((row) => row.compareDateRange !== undefined)
  const columns: Column<Row>[] = [
    ...(isCompared
      ? [{ id: 'compareDateRange', title: t.range, cell: (row: Row) => String(row.compareDateRange ?? '') }]
      : []),
    ...(time
      ? [
          {
            id: time.key,
            title: t.granularities[time.granularity],
            isSortable: true,
            cell: (row: Row) => formatBucket(language, String(row[time.key]), time.granularity),
          },
        ]
      : []),
    ...asked.dimensions.map((dimension) => ({
      id: dimension,
      title: titleOf(meta, dimension),
      isSortable: true,
      cell: (row: Row) => shownValue(language, dimension, row[dimension], t),
    })),
    ...asked.measures.map((measure) => ({
      id: measure,
      title: titleOf(meta, measure),
      isNumber: true,
      isSortable: true,
      cell: (row: Row) => formatMeasure(language, meta?.measures[measure]?.format, numberOf(row[measure])),
    })),
  ]
  const pages = Math.max(1, Math.ceil(answer.rows.length / perPage))
  const shown = Math.min(Math.max(1, page), pages)
  const rows = onPage
    ? answer.rows.slice((shown - 1) * perPage, shown * perPage)
    : answer.rows.slice(0, perPage)
  return (
    <div>
      <Table
        label={title}
        columns={columns}
        rows={rows}
        rowKey={(_, index) => index}
        {...(onSort && { sort, onSort })}
      />
      {onPage ? (
        <Pages page={shown} perPage={perPage} count={answer.rows.length} onPage={onPage} />
      ) : (
        answer.rows.length > perPage && <p data-quiet>{t.moreRows(answer.rows.length - perPage)}</p>
      )}
    </div>
  )
}
