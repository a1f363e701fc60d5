import { useMemo } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { formatMeasure, type Meta } from '../../data/format.ts'
import { type Answer, type Row, useAnswer } from '../../data/statistics.ts'
import { type RangeState, useRange, useSetView, useView } from '../../data/view-state.ts'
import { ConditionChips } from '../../exploration/condition-editor.tsx'
import shared from '../../exploration/exploration.module.css'
import { ExplorationPage } from '../../exploration/exploration-page.tsx'
import { Notices, TakeAway } from '../../exploration/exploration-parts.tsx'
import { type Exploration, useExploration, useValues } from '../../exploration/rows.ts'
import { SaveExploration } from '../../exploration/save-exploration.tsx'
import type { Left } from '../../exploration/selection.ts'
import { words as say } from '../../exploration/texts.ts'
import { ValuesList } from '../../exploration/values-list.tsx'
import { analysis } from '../../texts/analysis.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import field from '../../ui/field.module.css'
import { Segments, Select } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/page.tsx'
import { PopoverButton } from '../../ui/popover.tsx'
import { Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { type NodeKind, pathGraph } from './path-graph.ts'
import { PathPicture } from './path-picture.tsx'
import { type Anchor, memberOf, type PathState, pathsBody, readPaths } from './path-state.ts'
import { words } from './texts.ts'

const maxNodes = 8
/** Rows of the table; the file has all of them. */
const maxRows = 200

export function Screen() {
  const t = useTexts(words)
  const range = useRange('30d')
  const anything = useAnswer({ measures: ['events.count'] })
  return (
    <ExplorationPage
      kind="paths"
      title={t.title}
      lead={t.lead}
      range={range}
      first={anything}
      isEmpty={({ rows }) => rows[0]?.['events.count'] === 0}
    >
      {(meta) => <Paths meta={meta} range={range} />}
    </ExplorationPage>
  )
}

function Paths({ meta, range }: { readonly meta: Meta; readonly range: RangeState }) {
  const t = useTexts(words)
  const none = useTexts(analysis)
  const view = useView()
  const setView = useSetView()
  const left: Left = []
  const state = readPaths(view, meta, left)
  const show = view.show === 'table' ? 'table' : 'picture'
  const asked: Exploration<'explorePaths'> = {
    operation: 'explorePaths',
    body: pathsBody(state, range.days),
  }
  const answer = useExploration(asked)
  return (
    <>
      <Notices left={left} warnings={answer.data?.warnings} />
      <PathBar state={state} />
      <Card
        title={
          <Segments
            label={t.view}
            options={[
              { id: 'picture' as const, label: t.picture },
              { id: 'table' as const, label: t.table },
            ]}
            value={show}
            onChange={(next) => setView({ show: next === 'picture' ? undefined : next })}
          />
        }
        actions={
          <>
            <SaveExploration kind="paths" body={asked.body} range={range} title={t.title} />
            <TakeAway asked={asked} name="paths" />
          </>
        }
      >
        <Loaded
          query={answer}
          skeleton={<Skeleton height={420} />}
          isEmpty={({ rows }) => rows.length === 0}
          empty={
            <Empty icon="paths" title={none.noRows}>
              {t.noneHint}
            </Empty>
          }
        >
          {(data) => (
            <div className={shared.asked} data-stale={answer.isPlaceholderData}>
              {show === 'table' ? (
                <PathTable answer={data} />
              ) : (
                <Picture answer={data} isBackwards={state.anchor === 'to'} />
              )}
            </div>
          )}
        </Loaded>
      </Card>
    </>
  )
}

function Picture({ answer, isBackwards }: { readonly answer: Answer; readonly isBackwards: boolean }) {
  const setView = useSetView()
  const graph = useMemo(() => pathGraph(answer.rows, isBackwards, maxNodes), [answer, isBackwards])
  return (
    <PathPicture
      graph={graph}
      onStep={(anchor, step) => setView({ from: undefined, to: undefined, [anchor]: step })}
    />
  )
}

/** The question, in a line above its answer. */
function PathBar({ state }: { readonly state: PathState }) {
  const t = useTexts(words)
  const s = useTexts(say)
  const setView = useSetView()
  const { by, anchor, step } = state
  const most = useValues(memberOf(by)).data?.[0]?.value
  return (
    <Card>
      <div className={shared.bar}>
        <Segments
          label={t.by}
          options={[
            { id: 'path' as const, label: t.pages },
            { id: 'event' as const, label: t.events },
          ]}
          value={by}
          onChange={(next) => setView({ by: next, from: undefined, to: undefined })}
        />
        <Segments
          label={t.anchor}
          options={(['start', 'from', 'to'] as const).map((id) => ({ id, label: t.anchors[id] }))}
          value={anchor}
          onChange={(next: Anchor) =>
            setView({
              from: undefined,
              to: undefined,
              ...(next !== 'start' && { [next]: step !== '' ? step : (most ?? '/') }),
            })
          }
        />
        {anchor !== 'start' && (
          <div className={shared.barWide}>
            <PopoverButton
              label={t.step}
              trigger={
                <AriaButton className={field.trigger ?? ''} aria-label={`${t.step}: ${step}`}>
                  <span className={field.value} dir="auto">
                    {step}
                  </span>
                  <Icon name="down" size={14} />
                </AriaButton>
              }
            >
              {(close) => (
                <ValuesList
                  label={t.step}
                  member={memberOf(by)}
                  isSingle
                  chosen={[step]}
                  onChange={([first]) => {
                    if (first !== undefined) setView({ [anchor]: first })
                    close()
                  }}
                />
              )}
            </PopoverButton>
          </div>
        )}
        <Select
          label={t.depth}
          hidesLabel
          options={[2, 3, 4, 5, 6, 8, 10].map((n) => ({ id: String(n), label: t.steps(n) }))}
          value={String(state.depth)}
          onChange={(depth) => setView({ depth: Number(depth) })}
        />
        <Select
          label={t.repeats}
          hidesLabel
          options={(['collapse', 'keep'] as const).map((id) => ({ id, label: t.repeated[id] }))}
          value={state.repeats}
          onChange={(repeats) => setView({ repeats })}
        />
      </div>
      <div className={shared.bar}>
        <span className={shared.partTitle}>{s.filters}</span>
        <ConditionChips
          conditions={state.filters}
          onChange={(filters) => setView({ filters: filters.length > 0 ? filters : undefined })}
        />
      </div>
    </Card>
  )
}

function PathTable({ answer: { rows } }: { readonly answer: Answer }) {
  const t = useTexts(words)
  const language = useLanguage()
  const count = (value: Row[string] | undefined) => formatMeasure(language, 'integer', Number(value))
  const all = new Map<Row[string], number>()
  for (const { depth, sessions } of rows) all.set(depth ?? 0, (all.get(depth ?? 0) ?? 0) + Number(sessions))
  const nameOf = (value: Row[string] | undefined, kind: NodeKind) =>
    typeof value === 'string' ? value : t.kinds[kind]
  const columns: Column<Row>[] = [
    { id: 'depth', title: t.edge, isNumber: true, cell: ({ depth }) => String(depth) },
    {
      id: 'from',
      title: t.fromHead,
      cell: ({ from, kind }) => nameOf(from, kind === 'rest' ? 'rest' : 'start'),
    },
    { id: 'to', title: t.toHead, cell: ({ to, kind }) => nameOf(to, kind === 'rest' ? 'rest' : 'end') },
    { id: 'sessions', title: t.sessions, isNumber: true, cell: ({ sessions }) => count(sessions) },
    {
      id: 'share',
      title: t.shareHead,
      isNumber: true,
      cell: ({ depth, sessions }) =>
        formatMeasure(language, 'ratio', Number(sessions) / (all.get(depth ?? 0) ?? 1)),
    },
    { id: 'people', title: t.people, isNumber: true, cell: ({ people }) => count(people) },
  ]
  return (
    <>
      <Table
        label={t.title}
        columns={columns}
        rows={rows.slice(0, maxRows)}
        rowKey={(row) => `${row.depth}/${row.kind}/${row.from}/${row.to}`}
      />
      {rows.length > maxRows && <p data-quiet>{t.moreRows(rows.length - maxRows)}</p>}
    </>
  )
}
