import { ValidationError } from '@millrace/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { client } from '../../client.ts'
import type { Meta } from '../../data/format.ts'
import { useMay } from '../../data/profile.ts'
import { isSessionEnded } from '../../data/query-client.ts'
import { type Asked, askedText, timeKeyOf } from '../../data/result.ts'
import { type Answer, answerQuery, type Row, useAnswer } from '../../data/statistics.ts'
import { useInstant, useSetView, useView } from '../../data/view-state.ts'
import { fileNameOf, pictureOf, saveFile } from '../../result/download.ts'
import { kindsFor, type ResultKind, resultKinds } from '../../result/result.ts'
import { prepareSeries, ResultView } from '../../result/result-view.tsx'
import { analysis } from '../../texts/analysis.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Segments } from '../../ui/field.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Failed, Skeleton } from '../../ui/state.tsx'
import type { Sort } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { zoomedRange } from './query-range.ts'
import type { Query } from './query-state.ts'
import styles from './result-panel.module.css'
import { SaveQuery } from './save-query.tsx'
import { words } from './texts.ts'
import { WhyDialog } from './why-dialog.tsx'

const icons: Readonly<Record<ResultKind, IconName>> = {
  line: 'line',
  area: 'area',
  bar: 'chart',
  list: 'retention',
  number: 'number',
  pie: 'pie',
  map: 'map',
  table: 'table',
}

interface PanelProps {
  readonly meta: Meta
  readonly query: Query
  readonly onQuery: (query: Query) => void
}

/** An answer with the question that it answers: while the next one is on its way, the former pair stays. */
interface Pair {
  readonly query: Query
  readonly answer: Answer
  readonly at: number
}

function usePair(query: Query, isAsked: boolean) {
  const result = useAnswer(isAsked ? query : undefined)
  useEffect(prepareSeries, [])
  const [former, setFormer] = useState<Pair>()
  const { data, isPlaceholderData, dataUpdatedAt } = result
  const current = useMemo(
    () =>
      data !== undefined && !isPlaceholderData && isAsked
        ? { query, answer: data, at: dataUpdatedAt }
        : undefined,
    [data, isPlaceholderData, dataUpdatedAt, query, isAsked],
  )
  useEffect(() => {
    if (current) setFormer(current)
  }, [current])
  return { ...result, pair: current ?? former, isCurrent: current !== undefined }
}

/** What a question is answered, how it is seen, and what can be done with it. */
export function ResultPanel({ meta, query, onQuery }: PanelProps) {
  const t = useTexts(words)
  const say = useTexts(analysis)
  const view = useView()
  const setView = useSetView()
  const queries = useQueryClient()
  const place = useRef<HTMLDivElement>(null)
  const [isExplained, setExplained] = useState(false)
  const isAsked =
    query.measures.length + query.dimensions.length > 0 ||
    query.timeDimensions.some(({ granularity }) => granularity)
  const { pair, isCurrent, error, isFetching, fetchStatus, status, refetch } = usePair(query, isAsked)
  const mayExport = useMay('statistics:export')
  const title = askedText(query, meta, say)
  const kinds = kindsFor(query as Asked, meta)
  const kind = kinds.find((each) => each === view.show) ?? kinds[0] ?? 'table'
  const csv = async () => {
    try {
      toast.say(t.downloading)
      const stream = await client.runQuery.csv({ body: withoutTotal(query) })
      saveFile(await new Response(stream as BodyInit).blob(), fileNameOf(title, 'csv'))
    } catch (failure) {
      toast.fail(failure instanceof Error ? failure.message : String(failure))
    }
  }
  const parquet = async () => {
    try {
      toast.say(t.downloading)
      saveFile(await exportRows(withoutTotal(query)), fileNameOf(title, 'parquet'))
    } catch (failure) {
      toast.fail(failure instanceof Error ? failure.message : String(failure))
    }
  }
  const png = async () => {
    const picture = place.current ? await pictureOf(place.current, title) : undefined
    if (picture) saveFile(picture, fileNameOf(title, 'png'))
  }
  if (!isAsked)
    return (
      <Card>
        <Empty icon="chart" title={t.nothingAsked}>
          {t.nothingAskedHint}
        </Empty>
      </Card>
    )
  const isStopped = status === 'pending' && fetchStatus === 'idle' && !error
  return (
    <Card
      title={
        <span dir="auto" className={styles.title}>
          {title}
        </span>
      }
      actions={
        <>
          <Segments
            label={t.view}
            options={resultKinds
              .filter((each) => kinds.includes(each))
              .map((id) => ({ id, label: say.kinds[id], icon: icons[id] }))}
            value={kind}
            onChange={(show) => setView({ show: show === kinds[0] ? undefined : show })}
          />
          <SaveQuery query={query} title={title} />
          <IconButton icon="question" label={t.why} onPress={() => setExplained(true)} />
          <CopyAs call={{ operation: 'runQuery', request: { body: query } }} />
          {(mayExport || kind !== 'table') && (
            <Menu
              label={t.downloadCsv}
              trigger={<IconButton icon="download" label={t.download} />}
              entries={[
                ...(mayExport
                  ? [
                      { id: 'csv', label: t.downloadCsv, icon: 'table' as const, onAction: () => void csv() },
                      {
                        id: 'parquet',
                        label: t.downloadParquet,
                        icon: 'table' as const,
                        onAction: () => void parquet(),
                      },
                    ]
                  : []),
                ...(['line', 'area', 'bar', 'pie', 'map'].includes(kind)
                  ? [{ id: 'png', label: t.downloadPng, icon: 'chart' as const, onAction: () => void png() }]
                  : []),
              ]}
            />
          )}
        </>
      }
    >
      <Status
        pair={pair}
        isFetching={isFetching}
        onRefresh={() => void refetch()}
        onCancel={() => void queries.cancelQueries({ queryKey: answerQuery(query).queryKey })}
      />
      {error && !isSessionEnded(error) ? (
        <Refusal error={error} retry={() => void refetch()} />
      ) : isStopped ? (
        <Empty
          icon="clock"
          title={t.stopped}
          action={
            <Button icon="refresh" onPress={() => void refetch()}>
              {t.refresh}
            </Button>
          }
        />
      ) : pair ? (
        <div ref={place} className={styles.result} data-former={!isCurrent}>
          <Shown meta={meta} pair={pair} kind={kind} page={view.page} onQuery={onQuery} />
        </div>
      ) : (
        <Skeleton height={340} />
      )}
      {isExplained && <WhyDialog query={query} onClose={() => setExplained(false)} />}
    </Card>
  )
}

function sortOf({ order }: Query): Sort | undefined {
  const [first] = Array.isArray(order) ? order : Object.entries(order ?? {})
  return first && { by: first[0], descending: first[1] === 'desc' }
}

/** All rows of a query as Parquet, by an export that is removed again. */
async function exportRows(query: Query): Promise<Blob> {
  const { id } = await client.createExport({ body: { table: 'query', query } })
  const params = { id }
  try {
    for (;;) {
      const { state, reason, files } = await client.readExport({ params })
      const [file] = files
      if (state === 'failed') throw new Error(reason ?? state)
      if (state === 'done' && file)
        return new Blob([await client.downloadExportFile({ params: { id, name: file.name } })])
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  } finally {
    await client.deleteExport({ params }).catch(() => {})
  }
}

/** A streamed answer has no place for a total. */
function withoutTotal({ total, ...query }: Query): Query {
  return query
}

/** Drawn again for another answer alone: not while something is typed. */
const Shown = memo(function Shown({
  meta,
  pair: { query, answer },
  kind,
  page,
  onQuery,
}: {
  readonly meta: Meta
  readonly pair: Pair
  readonly kind: ResultKind
  readonly page: unknown
  readonly onQuery: (query: Query) => void
}) {
  const t = useTexts(words)
  const say = useTexts(analysis)
  const setView = useSetView()
  const asked = query as Asked
  const time = timeKeyOf(asked)
  const kinds = kindsFor(asked, meta)
  const zoom = (from: string, to: string) => {
    const [first, ...others] = query.timeDimensions
    if (!first || !time) return
    const { compareDateRange, dateRange, ...rest } = first
    const range = zoomedRange(from, to, time.granularity)
    onQuery({
      ...query,
      timeDimensions: [{ ...rest, dateRange: range }, ...others],
    })
  }
  const only = (value: Row[string]) => {
    const [member] = query.dimensions
    if (member === undefined) return
    const filter =
      value === null
        ? ({ member, operator: 'notSet' } as const)
        : ({ member, operator: 'equals', values: [String(value)] } as const)
    onQuery({ ...query, filters: [...query.filters, filter as Query['filters'][number]] })
  }
  return (
    <>
      {answer.warnings.length > 0 && (
        <ul className={styles.warnings} aria-label={t.warnings}>
          {answer.warnings.map(({ message }) => (
            <li key={message}>
              <Icon name="warning" size={16} />
              <span>{message}</span>
            </li>
          ))}
        </ul>
      )}
      <ResultView
        title={askedText(query, meta, say)}
        asked={asked}
        answer={answer}
        meta={meta}
        kind={kinds.includes(kind) ? kind : (kinds[0] ?? 'table')}
        height={380}
        onZoom={zoom}
        onValue={only}
        page={Number(page) || 1}
        onPage={(next) => setView({ page: next === 1 ? undefined : next })}
        sort={sortOf(query)}
        onSort={({ by, descending }) => onQuery({ ...query, order: [[by, descending ? 'desc' : 'asc']] })}
      />
    </>
  )
})

function Status({
  pair,
  isFetching,
  onRefresh,
  onCancel,
}: {
  readonly pair: Pair | undefined
  readonly isFetching: boolean
  readonly onRefresh: () => void
  readonly onCancel: () => void
}) {
  const t = useTexts(words)
  const instant = useInstant()
  const language = useLanguage()
  return (
    <div className={styles.status} role="status">
      {pair && (
        <span data-quiet>
          {t.asOf(instant(pair.at, 'time'))}
          {' · '}
          {t.rows(pair.answer.rows.length, pair.answer.rows.length.toLocaleString(language))}
        </span>
      )}
      {isFetching ? (
        <>
          <span className={styles.working} data-quiet>
            {t.loadingNext}
          </span>
          <Button kind="quiet" onPress={onCancel}>
            {t.cancelQuery}
          </Button>
        </>
      ) : (
        pair && <IconButton icon="refresh" label={t.refresh} onPress={onRefresh} />
      )}
    </div>
  )
}

/** What is wrong with the question, at its places; another failure as everywhere. */
function Refusal({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  const t = useTexts(words)
  if (!(error instanceof ValidationError)) return <Failed error={error} retry={retry} />
  return (
    <div role="alert" className={styles.refusal}>
      <Icon name="warning" />
      <div>
        <h3>{t.refused}</h3>
        <ul>
          {error.errors.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path && <code>{path}</code>} <span dir="auto">{message}</span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}
