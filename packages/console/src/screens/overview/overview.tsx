import type { QueryInput } from '@millrace/sdk'
import { Link, Navigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useMay } from '../../data/profile.ts'
import { type Comparison, granularityFor } from '../../data/ranges.ts'
import { type Asked, titleOf, valueText } from '../../data/result.ts'
import { useAnswer, useMeta } from '../../data/statistics.ts'
import { type RangeState, useRange, useSetView, useView } from '../../data/view-state.ts'
import { Figure } from '../../result/figure.tsx'
import { prepareSeries, ResultView } from '../../result/result-view.tsx'
import { analysis } from '../../texts/analysis.ts'
import { useTexts } from '../../texts/texts.ts'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Segments, Select } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import styles from './overview.module.css'
import { words } from './texts.ts'

const figures = [
  'events.people',
  'sessions.count',
  'sessions.duration',
  'sessions.bounceRate',
  'events.count',
  'purchases.count',
  'purchases.revenue',
] as const
type FigureId = (typeof figures)[number]

/** Figures of one source are asked together: it is read once. */
const askedWith = (measure: FigureId) => figures.filter((each) => sourceOf(each) === sourceOf(measure))

/** Tabs of the cards below the chart: what rows are counted, by what. */
const lists = {
  sources: [
    ['channels', 'sessions.count', 'sessions.channel'],
    ['referrers', 'sessions.count', 'sessions.referrerHost'],
    ['campaigns', 'sessions.count', 'sessions.utmCampaign'],
  ],
  pages: [
    ['topPages', 'events.people', 'events.path'],
    ['entryPages', 'sessions.count', 'sessions.entryPath'],
    ['exitPages', 'sessions.count', 'sessions.exitPath'],
  ],
  visitors: [
    ['countries', 'sessions.count', 'sessions.country'],
    ['devices', 'sessions.count', 'sessions.deviceType'],
    ['browsers', 'sessions.count', 'sessions.browser'],
    ['systems', 'sessions.count', 'sessions.os'],
  ],
  events: [
    ['names', 'events.count', 'events.name'],
    ['items', 'events.count', 'events.item'],
  ],
} as const

const sourceOf = (member: string) => member.slice(0, member.indexOf('.'))

interface Only {
  readonly member: string
  readonly value: string
}

/** A filter in the address, for queries of the source that it is about. */
function readOnly(value: unknown): Only | undefined {
  const { member, value: text } = (value ?? {}) as Partial<Record<keyof Only, unknown>>
  return typeof member === 'string' && typeof text === 'string' ? { member, value: text } : undefined
}

function queryOf(
  measures: readonly [string, ...string[]],
  range: RangeState,
  only: Only | undefined,
  more: QueryInput,
): QueryInput & Asked {
  const source = sourceOf(measures[0])
  const isFiltered = only !== undefined && sourceOf(only.member) === source
  return {
    measures: [...measures],
    dimensions: [],
    ...more,
    filters: isFiltered ? [{ member: only.member, operator: 'equals', values: [only.value] }] : [],
    timeDimensions: [
      {
        dimension: `${source}.time`,
        ...range.ranges,
        ...(more.fill && { granularity: granularityFor(range.days) }),
      },
    ],
  } as QueryInput & Asked
}

const figuresQuery = (measure: FigureId, range: RangeState, only: Only | undefined) =>
  queryOf(askedWith(measure) as [FigureId, ...FigureId[]], range, only, {})

export function Screen() {
  const t = useTexts(words)
  const say = useTexts(analysis)
  const view = useView()
  const setView = useSetView()
  const range = useRange('30d')
  const only = readOnly(view.only)
  const meta = useMeta().data
  const shown = figures.find((each) => each === view.measure) ?? 'events.people'
  const anything = useAnswer({ measures: ['events.count'] })
  const figuresAnswer = useAnswer(figuresQuery('events.people', range, only))
  const [first] = anything.data?.rows ?? []
  const mayStart = useMay('datasource:read')
  if (first?.['events.count'] === 0) {
    if (mayStart) return <Navigate to="/start" replace />
    return (
      <Page title={t.title}>
        <Empty icon="pulse" title={t.empty}>
          {t.emptyHint}
        </Empty>
      </Page>
    )
  }
  if (anything.isError)
    return (
      <Page title={t.title}>
        <Card>
          <Loaded query={anything}>{() => null}</Loaded>
        </Card>
      </Page>
    )
  const chart = queryOf([shown], range, only, { fill: true })
  return (
    <Page
      title={t.title}
      actions={
        <>
          <Select
            label={say.comparison}
            hidesLabel
            options={(['none', 'previous', 'year'] as const).map((id) => ({
              id,
              label: say.comparisons[id],
            }))}
            value={range.comparison}
            onChange={(compare: Comparison) => setView({ compare: compare === 'none' ? undefined : compare })}
          />
          <RangePicker
            value={range.range}
            today={range.today}
            onChange={(next) => setView({ range: next })}
          />
        </>
      }
    >
      {only && (
        <div className={styles.only}>
          <span data-quiet>{t.filteredBy}</span>
          <button
            type="button"
            className={styles.chip}
            aria-label={t.removeFilter(only.value)}
            onClick={() => setView({ only: undefined })}
          >
            {titleOf(meta, only.member)} <b dir="auto">{valueText(only.value, say)}</b>
            <Icon name="close" size={14} />
          </button>
        </div>
      )}
      <Card>
        <div className={styles.figures}>
          {figures.map((measure) => (
            <FigureButton
              key={measure}
              measure={measure}
              range={range}
              only={only}
              isShown={measure === shown}
              onPress={() => setView({ measure })}
            />
          ))}
        </div>
        <Chart query={chart} title={t.measures[shown]} range={range} />
      </Card>
      <div className={styles.lists}>
        {(Object.keys(lists) as (keyof typeof lists)[]).map((card) => (
          <ListCard key={card} card={card} range={range} only={only} isAsked={!figuresAnswer.isPending} />
        ))}
      </div>
    </Page>
  )
}

function FigureButton({
  measure,
  range,
  only,
  isShown,
  onPress,
}: {
  readonly measure: FigureId
  readonly range: RangeState
  readonly only: Only | undefined
  readonly isShown: boolean
  readonly onPress: () => void
}) {
  const t = useTexts(words)
  const meta = useMeta().data
  const { data } = useAnswer(figuresQuery(measure, range, only))
  const [now, before] = data?.rows ?? []
  return (
    <button type="button" className={styles.figure} aria-pressed={isShown} onClick={onPress}>
      <Figure
        label={t.measures[measure]}
        value={now?.[measure] as number | null | undefined}
        before={before?.[measure] as number | null | undefined}
        format={meta?.measures[measure]?.format}
      />
    </button>
  )
}

function Chart({
  query,
  title,
  range,
}: {
  readonly query: QueryInput & Asked
  readonly title: string
  readonly range: RangeState
}) {
  const setView = useSetView()
  const meta = useMeta().data
  const answer = useAnswer(query)
  useEffect(prepareSeries, [])
  return (
    <Loaded query={answer} skeleton={<Skeleton height={300} />}>
      {(data) => (
        <ResultView
          title={title}
          asked={query}
          answer={data}
          meta={meta}
          kind="area"
          height={300}
          isLastOpen={range.includesToday}
          onZoom={(from, to) => setView({ range: [from.slice(0, 10), to.slice(0, 10)] })}
        />
      )}
    </Loaded>
  )
}

function ListCard({
  card,
  range,
  only,
  isAsked,
}: {
  readonly card: keyof typeof lists
  readonly range: RangeState
  readonly only: Only | undefined
  /** Lists wait for the first figures, which would come later beside them. */
  readonly isAsked: boolean
}) {
  const t = useTexts(words)
  const setView = useSetView()
  const tabs = lists[card]
  const [tab, setTab] = useState<string>(tabs[0][0])
  const [name, measure, dimension] = tabs.find(([each]) => each === tab) ?? tabs[0]
  const meta = useMeta().data
  const query = queryOf([measure], range, only, { dimensions: [dimension], limit: 8 })
  const answer = useAnswer(isAsked ? query : undefined)
  return (
    <Card
      title={t[card]}
      actions={
        <>
          <Segments
            label={t[card]}
            options={tabs.map(([id]) => ({ id: id as string, label: t[id] }))}
            value={name as string}
            onChange={setTab}
          />
          <CopyAs call={{ operation: 'runQuery', request: { body: query as never } }} />
          <Link
            to="/explore"
            className={styles.icon}
            search={{ query } as never}
            aria-label={t.openInExplore}
            title={t.openInExplore}
          >
            <Icon name="chart" />
          </Link>
        </>
      }
    >
      <Loaded query={answer} skeleton={<Skeleton lines={8} />}>
        {(data) => (
          <ResultView
            title={t[name]}
            asked={query}
            answer={data}
            meta={meta}
            kind="list"
            onValue={(value) => {
              if (typeof value === 'string') setView({ only: { member: dimension, value } })
            }}
          />
        )}
      </Loaded>
    </Card>
  )
}
