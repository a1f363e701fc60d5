import { lazy, Suspense } from 'react'
import { type Bar, BarList } from '../charts/bar-list.tsx'
import { maxSeries } from '../charts/colours.ts'
import { formatBucket, formatMeasure, type Meta } from '../data/format.ts'
import { type Asked, seriesOf, timeKeyOf, titleOf, valueText } from '../data/result.ts'
import type { Answer, Row } from '../data/statistics.ts'
import { analysis } from '../texts/analysis.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'
import { Empty, Skeleton } from '../ui/state.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Change, Figure } from './figure.tsx'
import styles from './result-view.module.css'

export type ResultKind = 'line' | 'area' | 'bar' | 'list' | 'number' | 'pie' | 'table' | 'map'

export interface ResultProps {
  readonly title: string
  readonly asked: Asked
  readonly answer: Answer
  readonly meta: Meta | undefined
  readonly kind: ResultKind
  readonly height?: number
  /** Whether the last bucket of the range is not over yet. */
  readonly isLastOpen?: boolean
  readonly onZoom?: (from: string, to: string) => void
  /** Gets a value of the first dimension that was pressed. */
  readonly onValue?: (value: Row[string]) => void
}

// The canvas comes with the first chart.
const SeriesChart = lazy(async () => ({ default: (await import('../charts/series-chart.tsx')).SeriesChart }))

/** The kinds in which a result can honestly be drawn, the best one first. */
export function kindsFor(asked: Asked): readonly ResultKind[] {
  const isByTime = timeKeyOf(asked) !== undefined
  if (isByTime) return ['line', 'area', 'bar', 'table']
  if (asked.dimensions.length === 0) return ['number', 'table']
  if (asked.dimensions.length > 1) return ['table', 'list']
  const countries = asked.dimensions[0]?.endsWith('.country') ? (['map'] as const) : []
  return ['list', ...countries, 'pie', 'table']
}

/** A result as it was chosen to be seen; as a table where it cannot be seen so. */
export function ResultView(props: ResultProps) {
  const { answer, asked, kind, meta, height } = props
  const t = useTexts(analysis)
  if (answer.rows.length === 0)
    return (
      <Empty icon="search" title={t.noRows}>
        {t.noRowsHint}
      </Empty>
    )
  if (kind === 'number') return <Numbers {...props} />
  if (kind === 'list' && timeKeyOf(asked) === undefined) return <List {...props} />
  const result =
    kind === 'line' || kind === 'area' || kind === 'bar'
      ? seriesOf(answer.rows, asked, meta, t, maxSeries)
      : undefined
  if (!result) return <ResultTable {...props} />
  const isSummed =
    asked.measures.length === 1 &&
    asked.dimensions.length > 0 &&
    meta?.measures[asked.measures[0] ?? '']?.virtual === false
  return (
    <>
      <Suspense fallback={<Skeleton height={height ?? 280} />}>
        <SeriesChart
          label={props.title}
          kind={kind === 'line' || kind === 'area' ? kind : 'bar'}
          isStacked={isSummed && kind !== 'line'}
          format={meta?.measures[asked.measures[0] ?? '']?.format}
          height={height}
          isLastOpen={props.isLastOpen}
          onZoom={props.onZoom}
          buckets={result.buckets}
          granularity={result.granularity}
          series={result.series}
        />
      </Suspense>
      {result.more > 0 && <p data-quiet>{t.moreSeries(result.more)}</p>}
    </>
  )
}

/** Rows of the first range, with the value that the compared range has for the same values of dimensions. */
function pairs(
  { rows }: Answer,
  { dimensions }: Asked,
): { readonly row: Row; readonly before: Row | undefined }[] {
  const first = rows[0]?.compareDateRange
  const keyOf = (row: Row) => JSON.stringify(dimensions.map((dimension) => row[dimension]))
  const before = new Map(rows.filter((row) => row.compareDateRange !== first).map((row) => [keyOf(row), row]))
  return rows
    .filter((row) => row.compareDateRange === first)
    .map((row) => ({ row, before: before.get(keyOf(row)) }))
}

const numberOf = (value: Row[string] | undefined): number | null => (typeof value === 'number' ? value : null)

function Numbers({ answer, asked, meta }: ResultProps) {
  const [pair] = pairs(answer, asked)
  return (
    <div className={styles.numbers}>
      {asked.measures.map((measure) => (
        <Figure
          key={measure}
          size={asked.measures.length === 1 ? 'large' : 'plain'}
          {...(asked.measures.length > 1 && { label: titleOf(meta, measure) })}
          value={numberOf(pair?.row[measure])}
          before={numberOf(pair?.before?.[measure])}
          format={meta?.measures[measure]?.format}
        />
      ))}
    </div>
  )
}

function List({ answer, asked, meta, title, onValue }: ResultProps) {
  const t = useTexts(analysis)
  const measure = asked.measures[0] ?? ''
  const bars = pairs(answer, asked).map(({ row, before }, index): Bar => {
    const [dimension = ''] = asked.dimensions
    const value = row[dimension]
    const now = numberOf(row[measure])
    return {
      id: String(index),
      label: asked.dimensions.map((each) => valueText(row[each], t.absent)).join(' · '),
      value: now,
      aside: <Change now={now} before={numberOf(before?.[measure])} />,
      ...(onValue && value !== undefined && { onPress: () => onValue(value) }),
    }
  })
  return <BarList label={title} bars={bars} format={meta?.measures[measure]?.format} />
}

export function ResultTable({ answer, asked, meta, title }: Omit<ResultProps, 'kind'>) {
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
            cell: (row: Row) => formatBucket(language, String(row[time.key]), time.granularity),
          },
        ]
      : []),
    ...asked.dimensions.map((dimension) => ({
      id: dimension,
      title: titleOf(meta, dimension),
      cell: (row: Row) => valueText(row[dimension], t.absent),
    })),
    ...asked.measures.map((measure) => ({
      id: measure,
      title: titleOf(meta, measure),
      isNumber: true,
      cell: (row: Row) => formatMeasure(language, meta?.measures[measure]?.format, numberOf(row[measure])),
    })),
  ]
  return <Table label={title} columns={columns} rows={answer.rows} rowKey={(_, index) => index} />
}
