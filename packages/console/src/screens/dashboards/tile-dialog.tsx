import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { client } from '../../client.ts'
import { useMeta } from '../../data/statistics.ts'
import { kindsFor, type ResultKind } from '../../result/result.ts'
import { analysis } from '../../texts/analysis.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { words as tileWords } from '../../tiles/texts.ts'
import type { Tile } from '../../tiles/tile.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Segments, Select, TextField } from '../../ui/field.tsx'
import { Skeleton } from '../../ui/state.tsx'
import { dimensionsFor, emptyQuery, type Simple, simpleOf, withSimple } from './simple-query.ts'
import { words } from './texts.ts'
import styles from './tile-dialog.module.css'
import { useTileName } from './tile-title.ts'

/** A tile without its place. */
export type TileContent = Omit<Tile, 'id' | 'x' | 'y' | 'w' | 'h'>

interface TileDialogProps {
  /** Absent for a new one. */
  readonly tile?: TileContent | undefined
  readonly onDone: (content: TileContent) => void
  readonly onClose: () => void
}

const kinds = ['query', 'exploration', 'experiment', 'text'] as const

const blank: Readonly<Record<Tile['kind'], TileContent>> = {
  query: {
    kind: 'query',
    title: '',
    query: withSimple(emptyQuery, { measure: 'events.people', by: 'time' }),
    view: 'area',
  },
  exploration: {
    kind: 'exploration',
    title: '',
    exploration: 'funnel',
    // The range is that of the dashboard; the interface asks for one.
    definition: { dateRange: 'last 30 days', steps: [{ events: ['page_view'] }, { events: ['purchase'] }] },
  },
  experiment: { kind: 'experiment', title: '' },
  text: { kind: 'text', title: '', text: '' },
}

/** Adds a tile, or changes what one shows and is called. */
export function TileDialog({ tile, onDone, onClose }: TileDialogProps) {
  const t = useTexts(words)
  const say = useTexts(common)
  const nameOf = useTileName()
  const [content, setContent] = useState<TileContent>(tile ?? blank.query)
  const isWhole = content.kind !== 'experiment' || content.experimentId !== undefined
  const change = (more: Partial<TileContent>) => setContent({ ...content, ...more })
  const editors: Readonly<Record<Tile['kind'], () => ReactNode>> = {
    query: () => <QueryEditor content={content} onChange={change} />,
    exploration: () => <ExplorationEditor content={content} onChange={change} />,
    experiment: () => <ExperimentEditor content={content} onChange={change} />,
    text: () => (
      <TextField
        label={t.text}
        lines={6}
        maxLength={5_000}
        value={content.text ?? ''}
        onChange={(text) => change({ text })}
      />
    ),
  }
  return (
    <Dialog
      title={tile ? t.editTile : t.newTile}
      isOpen
      onClose={onClose}
      width={560}
      end={
        <>
          <Button onPress={onClose}>{say.cancel}</Button>
          <Button kind="main" isDisabled={!isWhole} onPress={() => onDone(content)}>
            {tile ? t.apply : say.add}
          </Button>
        </>
      }
    >
      {!tile && (
        <div className={styles.kinds}>
          <Segments
            label={t.newTile}
            options={kinds.map((id) => ({ id, label: t.kinds[id] }))}
            value={content.kind}
            onChange={(kind) => setContent({ ...blank[kind], title: content.title })}
          />
        </div>
      )}
      {editors[content.kind]()}
      <TextField
        label={t.tileTitle}
        hint={content.kind === 'text' ? undefined : t.tileTitleHint}
        placeholder={content.kind === 'text' ? '' : nameOf({ ...content, title: '' } as Tile)}
        maxLength={200}
        value={content.title}
        onChange={(title) => change({ title })}
      />
    </Dialog>
  )
}

interface EditorProps {
  readonly content: TileContent
  readonly onChange: (more: Partial<TileContent>) => void
}

function QueryEditor({ content, onChange }: EditorProps) {
  const t = useTexts(words)
  const { kinds: names } = useTexts(analysis)
  const meta = useMeta().data
  const query = content.query ?? emptyQuery
  const simple = simpleOf(query)
  const views = kindsFor(query as Parameters<typeof kindsFor>[0])
  if (!meta) return <Skeleton lines={3} />
  const set = (next: Simple) => {
    const isFitting =
      next.by === 'total' || next.by === 'time' || dimensionsFor(meta, next.measure).includes(next.by)
    const asked = withSimple(query, isFitting ? next : { ...next, by: 'total' })
    const fitting = kindsFor(asked as Parameters<typeof kindsFor>[0])
    const view = fitting.find((each) => each === content.view) ?? fitting[0] ?? 'table'
    onChange({ query: asked, view })
  }
  return (
    <>
      {simple ? (
        <div className={styles.row}>
          <Select
            label={t.measure}
            options={Object.entries(meta.measures).map(([id, { title }]) => ({ id, label: title, hint: id }))}
            value={simple.measure}
            onChange={(measure) => set({ ...simple, measure })}
          />
          <Select
            label={t.by}
            options={[
              { id: 'total', label: t.inTotal },
              { id: 'time', label: t.overTime },
              ...dimensionsFor(meta, simple.measure).map((id) => ({
                id,
                label: meta.dimensions[id]?.title ?? id,
                hint: id,
              })),
            ]}
            value={simple.by}
            onChange={(by) => set({ ...simple, by })}
          />
        </div>
      ) : (
        <p data-quiet>{t.ownQuery}</p>
      )}
      <Select
        label={t.view}
        options={views.map((id) => ({ id, label: names[id] }))}
        value={views.find((each) => each === content.view) ?? views[0]}
        onChange={(view: ResultKind) => onChange({ view })}
      />
    </>
  )
}

const valuesOf = (member: string) => ({
  queryKey: ['statistics-values', member, '', 100],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    client.listStatisticsValues({ query: { member, limit: 100 } }, { signal }),
})

const anyEvent = '*'

interface Selection {
  readonly events?: readonly string[]
}

/** One event, of those that happened. */
function EventSelect({
  label,
  value,
  onChange,
  mayBeAny,
}: {
  readonly label: string
  readonly value: Selection
  readonly onChange: (value: Selection) => void
  readonly mayBeAny?: boolean
}) {
  const t = useTexts(words)
  const { data = [] } = useQuery(valuesOf('events.name'))
  const chosen = value.events?.join(', ') ?? anyEvent
  const names = [...new Set([...data.map((each) => each.value), ...(value.events ? [chosen] : [])])]
  return (
    <Select
      label={label}
      placeholder={t.choose}
      options={[
        ...(mayBeAny ? [{ id: anyEvent, label: t.anyEvent }] : []),
        ...names.map((id) => ({ id, label: id })),
      ]}
      value={chosen}
      onChange={(id) => onChange(id === anyEvent ? {} : { events: [id] })}
    />
  )
}

const definitions: Readonly<Record<'funnel' | 'retention' | 'paths', Record<string, unknown>>> = {
  funnel: blank.exploration.definition ?? {},
  retention: { firstEvent: {}, returnEvent: {}, granularity: 'week', dateRange: 'last 8 weeks' },
  paths: { by: 'event', dateRange: 'last 30 days', depth: 3 },
}

function ExplorationEditor({ content, onChange }: EditorProps) {
  const t = useTexts(words)
  const { explorations } = useTexts(tileWords)
  const { granularities } = useTexts(analysis)
  const kind = content.exploration ?? 'funnel'
  const definition = content.definition ?? definitions[kind]
  const set = (more: object) => onChange({ definition: { ...definition, ...more } })
  const steps = (definition.steps ?? []) as readonly Selection[]
  return (
    <>
      <Select
        label={t.exploration}
        options={(['funnel', 'retention', 'paths'] as const).map((id) => ({ id, label: explorations[id] }))}
        value={kind}
        onChange={(exploration) => onChange({ exploration, definition: { ...definitions[exploration] } })}
      />
      {kind === 'funnel' && (
        <>
          {steps.map((step, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place
            <div key={i} className={styles.step}>
              <EventSelect
                label={t.stepOf(i + 1)}
                value={step}
                onChange={(next) =>
                  set({ steps: steps.map((each, k) => (k === i ? { ...each, ...next } : each)) })
                }
              />
              {steps.length > 2 && (
                <IconButton
                  icon="close"
                  label={t.removeStep(i + 1)}
                  onPress={() => set({ steps: steps.filter((_, k) => k !== i) })}
                />
              )}
            </div>
          ))}
          {steps.length < 12 && (
            <div>
              <Button icon="plus" onPress={() => set({ steps: [...steps, { events: ['page_view'] }] })}>
                {t.addStep}
              </Button>
            </div>
          )}
        </>
      )}
      {kind === 'retention' && (
        <>
          <div className={styles.row}>
            <EventSelect
              label={t.firstEvent}
              mayBeAny
              value={(definition.firstEvent ?? {}) as Selection}
              onChange={(firstEvent) => set({ firstEvent })}
            />
            <EventSelect
              label={t.returnEvent}
              mayBeAny
              value={(definition.returnEvent ?? {}) as Selection}
              onChange={(returnEvent) => set({ returnEvent })}
            />
          </div>
          <Select
            label={t.by}
            options={(['day', 'week', 'month'] as const).map((id) => ({ id, label: granularities[id] }))}
            value={definition.granularity as 'day'}
            onChange={(granularity) => set({ granularity })}
          />
        </>
      )}
      {kind === 'paths' && (
        <Select
          label={t.stepsBy}
          options={[
            { id: 'event', label: t.byEvent },
            { id: 'path', label: t.byPath },
          ]}
          value={definition.by as string}
          onChange={(by) => set({ by })}
        />
      )}
    </>
  )
}

function ExperimentEditor({ content, onChange }: EditorProps) {
  const t = useTexts(words)
  const { data } = useQuery({
    queryKey: ['experiments', 100],
    queryFn: ({ signal }) => client.listExperiments({ query: { perPage: 100 } }, { signal }),
  })
  if (!data) return <Skeleton lines={2} />
  if (data.length === 0) return <p data-quiet>{t.noExperiments}</p>
  return (
    <Select
      label={t.experiment}
      placeholder={t.choose}
      options={data.map(({ _id, name }) => ({ id: _id, label: name }))}
      value={content.experimentId}
      onChange={(experimentId) =>
        onChange({ experimentId, title: data.find(({ _id }) => _id === experimentId)?.name ?? '' })
      }
    />
  )
}
