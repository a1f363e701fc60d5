import type { Meta } from '../../data/format.ts'
import { useAnswer } from '../../data/statistics.ts'
import { type RangeState, useRange, useSetView, useView } from '../../data/view-state.ts'
import { ConditionChips } from '../../exploration/condition-editor.tsx'
import shared from '../../exploration/exploration.module.css'
import { ExplorationPage } from '../../exploration/exploration-page.tsx'
import { Notices, TakeAway } from '../../exploration/exploration-parts.tsx'
import { type Exploration, useExploration } from '../../exploration/rows.ts'
import { SaveExploration } from '../../exploration/save-exploration.tsx'
import type { Left } from '../../exploration/selection.ts'
import { SelectionEditor } from '../../exploration/selection-editor.tsx'
import { words as say } from '../../exploration/texts.ts'
import { analysis } from '../../texts/analysis.ts'
import { useTexts } from '../../texts/texts.ts'
import { Segments, Select } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import { cellRule } from './retention-cohort.ts'
import { RetentionCurve } from './retention-curve.tsx'
import { RetentionPicture } from './retention-picture.tsx'
import { triangleOf } from './retention-rows.ts'
import { periodUnits, type RetentionState, readRetention, retentionBody } from './retention-state.ts'
import { words } from './texts.ts'

export function Screen() {
  const t = useTexts(words)
  const range = useRange('90d')
  const anything = useAnswer({ measures: ['events.count'] })
  return (
    <ExplorationPage
      kind="retention"
      title={t.title}
      lead={t.lead}
      range={range}
      first={anything}
      isEmpty={({ rows }) => rows[0]?.['events.count'] === 0}
    >
      {(meta) => <Retention meta={meta} range={range} />}
    </ExplorationPage>
  )
}

function Retention({ meta, range }: { readonly meta: Meta; readonly range: RangeState }) {
  const t = useTexts(words)
  const none = useTexts(analysis)
  const view = useView()
  const setView = useSetView()
  const left: Left = []
  const state = readRetention(view, meta, range.days, left)
  const shows = view.shows === 'people' ? 'people' : 'rate'
  const asked: Exploration<'exploreRetention'> = {
    operation: 'exploreRetention',
    body: retentionBody(state, range.days),
  }
  const answer = useExploration(asked)
  return (
    <>
      <Notices left={left} warnings={answer.data?.warnings} />
      <div className={shared.layout}>
        <RetentionEditor state={state} />
        <Card
          title={
            <Segments
              label={t.shows}
              options={[
                { id: 'rate' as const, label: t.rate },
                { id: 'people' as const, label: t.people },
              ]}
              value={shows}
              onChange={(next) => setView({ shows: next === 'rate' ? undefined : next })}
            />
          }
          actions={
            <>
              <SaveExploration kind="retention" body={asked.body} range={range} title={t.title} />
              <TakeAway asked={asked} name="retention" />
            </>
          }
        >
          <Loaded
            query={answer}
            skeleton={<Skeleton height={420} />}
            isEmpty={({ rows }) => rows.length === 0}
            empty={
              <Empty icon="retention" title={none.noRows}>
                {t.noneHint}
              </Empty>
            }
          >
            {({ rows }) => {
              const periods = Math.max(...rows.map(({ period }) => Number(period))) + 1
              const triangle = triangleOf(rows, Math.min(periods, state.periods))
              return (
                <div className={shared.asked} data-stale={answer.isPlaceholderData}>
                  <RetentionCurve average={triangle.average} unit={state.unit} />
                  <RetentionPicture
                    triangle={triangle}
                    unit={state.unit}
                    shows={shows}
                    ruleOf={(start, period) => cellRule(state, range.days, start, period)}
                  />
                  <p className={shared.foot} data-quiet>
                    {t.legend}
                  </p>
                </div>
              )
            }}
          </Loaded>
        </Card>
      </div>
    </>
  )
}

function RetentionEditor({ state }: { readonly state: RetentionState }) {
  const t = useTexts(words)
  const s = useTexts(say)
  const setView = useSetView()
  return (
    <Card title={t.question}>
      <div className={shared.part}>
        <span className={shared.partTitle}>{t.first}</span>
        <SelectionEditor label={t.first} selection={state.first} onChange={(first) => setView({ first })} />
      </div>
      <div className={shared.part}>
        <span className={shared.partTitle}>{t.returning}</span>
        <SelectionEditor
          label={t.returning}
          selection={state.returning}
          onChange={(returning) => setView({ returning })}
        />
      </div>
      <div className={shared.part}>
        <span className={shared.partTitle}>{t.by}</span>
        <span>
          <Segments
            label={t.by}
            options={periodUnits.map((id) => ({ id, label: t.units[id] }))}
            value={state.unit}
            onChange={(by) => setView({ by })}
          />
        </span>
      </div>
      <Select
        label={t.periods}
        options={[5, 7, 9, 13, 19, 24].map((n) => ({ id: String(n), label: t.count(n - 1, state.unit) }))}
        value={String(state.periods)}
        onChange={(periods) => setView({ periods: Number(periods) })}
      />
      <Select
        label={t.belongs}
        options={(['first-time', 'recurring'] as const).map((id) => ({
          id,
          label: t.cohorts[id],
          hint: t.cohortHints[id],
        }))}
        value={state.cohorts}
        onChange={(cohorts) => setView({ cohorts })}
      />
      <Select
        label={t.counts}
        options={(['on', 'on-or-after'] as const).map((id) => ({ id, label: t.returns[id] }))}
        value={state.returns}
        onChange={(returns) => setView({ returns })}
      />
      <div className={shared.part}>
        <span className={shared.partTitle}>{s.filters}</span>
        <ConditionChips
          conditions={state.filters}
          onChange={(filters) => setView({ filters: filters.length > 0 ? filters : undefined })}
        />
      </div>
    </Card>
  )
}
