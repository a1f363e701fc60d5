import { lazy, Suspense } from 'react'
import { maxSeries } from '../../charts/colours.ts'
import { formatMeasure, type Meta } from '../../data/format.ts'
import { granularityFor } from '../../data/ranges.ts'
import { seriesOf, valueText } from '../../data/result.ts'
import type { Answer } from '../../data/statistics.ts'
import { type RangeState, useRange, useSetView, useView } from '../../data/view-state.ts'
import shared from '../../exploration/exploration.module.css'
import { ExplorationPage } from '../../exploration/exploration-page.tsx'
import { Notices, TakeAway } from '../../exploration/exploration-parts.tsx'
import { type Exploration, useExploration, useValues } from '../../exploration/rows.ts'
import { SaveExploration } from '../../exploration/save-exploration.tsx'
import type { Left } from '../../exploration/selection.ts'
import { analysis } from '../../texts/analysis.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Segments, Select } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { stepRule } from './funnel-cohort.ts'
import { FunnelEditor } from './funnel-editor.tsx'
import { FunnelPicture } from './funnel-picture.tsx'
import { type FunnelGroup, groupsOf, type StepFigures, trendRows } from './funnel-rows.ts'
import { type FunnelState, funnelBody, readFunnel, type TrendUnit, trendUnits } from './funnel-state.ts'
import { words } from './texts.ts'

// The canvas comes with the first trend.
const SeriesChart = lazy(async () => ({
  default: (await import('../../charts/series-chart.tsx')).SeriesChart,
}))

export function Screen() {
  const t = useTexts(words)
  const range = useRange('30d')
  const view = useView()
  // The steps of a first visit.
  const frequent = useValues('events.name')
  const isBegun = Array.isArray(view.steps)
  return (
    <ExplorationPage
      kind="funnel"
      title={t.title}
      lead={t.lead}
      range={range}
      isCompared
      first={frequent}
      isEmpty={(names) => names.length === 0 && !isBegun}
    >
      {(meta, names) => <Funnel meta={meta} frequent={names.map(({ value }) => value)} range={range} />}
    </ExplorationPage>
  )
}

function Funnel({
  meta,
  frequent,
  range,
}: {
  readonly meta: Meta
  readonly frequent: readonly string[]
  readonly range: RangeState
}) {
  const t = useTexts(words)
  const setView = useSetView()
  const left: Left = []
  const state = readFunnel(useView(), meta, frequent, left)
  const unit = state.trend ?? (trendUnits.find((each) => each === granularityFor(range.days)) as TrendUnit)
  const isTrend = state.show === 'trend'
  const asked: Exploration<'exploreFunnel'> = {
    operation: 'exploreFunnel',
    body: funnelBody(state, range.ranges, isTrend ? unit : undefined),
  }
  const answer = useExploration(asked)
  return (
    <>
      <Notices left={left} warnings={answer.data?.warnings} />
      <div className={shared.layout}>
        <FunnelEditor state={state} meta={meta} />
        <div className={shared.answer}>
          <Card
            title={
              <Segments
                label={t.view}
                options={[
                  { id: 'steps' as const, label: t.steps },
                  { id: 'trend' as const, label: t.trend },
                ]}
                value={state.show}
                onChange={(show) => setView({ show: show === 'steps' ? undefined : show })}
              />
            }
            actions={
              <>
                {isTrend && <UnitSelect value={unit} />}
                <SaveExploration kind="funnel" body={asked.body} range={range} title={t.title} />
                <TakeAway asked={asked} name="funnel" />
              </>
            }
          >
            <Loaded query={answer} skeleton={<Skeleton height={320} />}>
              {(data) => (
                <div className={shared.asked} data-stale={answer.isPlaceholderData}>
                  <FunnelAnswer answer={data} state={state} range={range} unit={unit} meta={meta} />
                </div>
              )}
            </Loaded>
          </Card>
        </div>
      </div>
    </>
  )
}

function UnitSelect({ value }: { readonly value: TrendUnit }) {
  const say = useTexts(analysis)
  const setView = useSetView()
  return (
    <Select
      label={say.granularity}
      hidesLabel
      options={trendUnits.map((id) => ({ id, label: say.granularities[id] }))}
      value={value}
      onChange={(trend) => setView({ trend })}
    />
  )
}

function FunnelAnswer({
  answer: { rows },
  state,
  range,
  unit,
  meta,
}: {
  readonly answer: Answer
  readonly state: FunnelState
  readonly range: RangeState
  readonly unit: TrendUnit
  readonly meta: Meta
}) {
  const t = useTexts(words)
  const say = useTexts(analysis)
  // The answer to the question before, of the other kind, may still be the last one there is.
  const isByTime = rows.some((row) => trendUnits.some((each) => `events.time.${each}` in row))
  const isTrend = state.show === 'trend'
  if (rows.every((row) => !row.people && !row.sessions))
    return (
      <Empty icon="funnel" title={say.noRows}>
        {t.noneHint}
      </Empty>
    )
  if (isTrend !== isByTime) return <Skeleton height={320} />
  if (isTrend) {
    const dimensions = state.breakdown === undefined ? [] : [state.breakdown]
    const result = seriesOf(
      trendRows(rows, state.steps.length, state.breakdown, t.rest),
      {
        measures: ['conversionFromFirst'],
        dimensions,
        timeDimensions: [{ dimension: 'events.time', granularity: unit }],
      },
      meta,
      say,
      maxSeries,
    )
    if (!result) return null
    return (
      <Suspense fallback={<Skeleton height={320} />}>
        <SeriesChart
          label={t.trendOf}
          format="ratio"
          height={320}
          isLastOpen={range.includesToday}
          {...result}
          series={result.series.map((each) => ({
            ...each,
            label: each.label.replace('conversionFromFirst', t.conversion),
          }))}
        />
      </Suspense>
    )
  }
  const { now, before } = groupsOf(rows, state.per, state.breakdown)
  const nameOf = (group: FunnelGroup) => (group.isRest ? t.rest : valueText(group.value, say))
  return (
    <>
      <FunnelPicture
        groups={now}
        before={before}
        nameOf={nameOf}
        ruleOf={(step) => stepRule(state, step, range.days)}
      />
      <FunnelTable groups={now} nameOf={nameOf} per={state.per} isDivided={state.breakdown !== undefined} />
    </>
  )
}

type TableRow = StepFigures & { readonly group: FunnelGroup }

function FunnelTable({
  groups,
  nameOf,
  per,
  isDivided,
}: {
  readonly groups: readonly FunnelGroup[]
  readonly nameOf: (group: FunnelGroup) => string
  readonly per: FunnelState['per']
  readonly isDivided: boolean
}) {
  const t = useTexts(words)
  const language = useLanguage()
  const count = (value: number | undefined) => formatMeasure(language, 'integer', value)
  const share = (value: number | null | undefined) => formatMeasure(language, 'ratio', value)
  if (isDivided) {
    const steps = groups[0]?.steps ?? []
    const columns: Column<FunnelGroup>[] = [
      { id: 'group', title: t.breakdown, cell: nameOf },
      ...steps.map(
        ({ step, name }, place): Column<FunnelGroup> => ({
          id: String(step),
          title: t.step(step, name),
          isNumber: true,
          cell: (group) => (
            <>
              {count(group.steps[place]?.count)}
              {place > 0 && <span data-quiet> · {share(group.steps[place]?.fromFirst)}</span>}
            </>
          ),
        }),
      ),
    ]
    return <Table label={t.title} columns={columns} rows={groups} rowKey={({ id }) => id} />
  }
  const columns: Column<TableRow>[] = [
    { id: 'step', title: t.stepHead, cell: ({ step, name }) => t.step(step, name) },
    {
      id: 'count',
      title: per === 'session' ? t.sessions : t.people,
      isNumber: true,
      cell: (row) => count(row.count),
    },
    {
      id: 'fromPrevious',
      title: t.fromPrevious,
      isNumber: true,
      cell: ({ fromPrevious }) => share(fromPrevious),
    },
    { id: 'fromFirst', title: t.fromFirst, isNumber: true, cell: ({ fromFirst }) => share(fromFirst) },
    {
      id: 'median',
      title: t.median,
      isNumber: true,
      cell: ({ medianSeconds }) => formatMeasure(language, 'seconds', medianSeconds),
    },
  ]
  return (
    <Table
      label={t.title}
      columns={columns}
      rows={groups.flatMap((group) => group.steps.map((step) => ({ ...step, group })))}
      rowKey={(row) => `${row.group.id}/${row.step}`}
    />
  )
}
