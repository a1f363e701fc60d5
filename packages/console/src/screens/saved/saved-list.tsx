import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useMay } from '../../data/profile.ts'
import { askedText } from '../../data/result.ts'
import { useMeta } from '../../data/statistics.ts'
import { useInstant, useSetView, useView } from '../../data/view-state.ts'
import { analysis } from '../../texts/analysis.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { ButtonLink, IconButton } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Segments, TextField } from '../../ui/field.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Badge, Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/state.tsx'
import type { Column } from '../../ui/table.tsx'
import { Explorations, explorationsAsked } from './explorations.tsx'
import styles from './saved.module.css'
import { useDelete, useMayChange, useRunNow } from './saved-actions.ts'
import { type ListState, listQuery, perPage, readListState, type SavedQuery } from './saved-queries.ts'
import { SavedTable } from './saved-table.tsx'
import { scheduleText } from './schedule-words.ts'
import { saved } from './texts.ts'

/** Queries, or the explorations of `kind`: each list has its own pages. */
export function Screen() {
  const t = useTexts(saved)
  const view = useView()
  const setView = useSetView()
  const state = readListState(view)
  const isOfExplorations = view.kind === 'explorations'
  const query = {
    page: state.page,
    perPage,
    sortBy: state.sortBy,
    sortOrder: state.descending ? 'desc' : 'asc',
    ...(state.q === '' ? {} : { q: state.q }),
  } as const
  return (
    <Page
      title={t.title}
      lead={t.lead}
      isWide
      actions={
        <>
          <CopyAs
            call={
              isOfExplorations
                ? { operation: 'listSavedExplorations', request: { query: explorationsAsked(state) } }
                : { operation: 'listSavedQueries', request: { query } }
            }
          />
          <ButtonLink to={isOfExplorations ? '/funnels' : '/explore'} icon="plus" kind="main">
            {isOfExplorations ? t.toFunnels : t.toExplore}
          </ButtonLink>
        </>
      }
    >
      <div className={styles.bar}>
        <Segments
          label={t.what}
          options={[
            { id: 'queries' as const, label: t.queriesTab },
            { id: 'explorations' as const, label: t.explorationsTab },
          ]}
          value={isOfExplorations ? 'explorations' : 'queries'}
          onChange={(kind) =>
            setView({
              kind: kind === 'queries' ? undefined : kind,
              page: undefined,
              sort: undefined,
              order: undefined,
            })
          }
        />
        <Search
          value={state.q}
          onChange={(q) => setView({ q: q === '' ? undefined : q, page: undefined }, true)}
        />
      </div>
      {isOfExplorations ? <Explorations state={state} /> : <Queries state={state} />}
    </Page>
  )
}

/** Saved queries, with their schedules. */
function Queries({ state }: { readonly state: ListState }) {
  const t = useTexts(saved)
  const say = useTexts(analysis)
  const language = useLanguage()
  const instant = useInstant()
  const list = useQuery(listQuery(state))
  const meta = useMeta().data
  const columns: Column<SavedQuery>[] = [
    {
      id: 'name',
      title: t.name,
      isSortable: true,
      cell: (row) => (
        <Link to="/saved/$id" params={{ id: row.id }} className={styles.name}>
          {row.name}
        </Link>
      ),
    },
    {
      id: 'asks',
      title: t.asks,
      cell: (row) => (
        <div className={styles.state} data-quiet>
          {row.queries.map((each) => askedText(each, meta, say)).join('; ')}
        </div>
      ),
    },
    {
      id: 'schedule',
      title: t.schedule,
      cell: (row) => (
        <span className={styles.schedule}>
          {row.schedule.frequency && scheduleText(row.schedule, language, t)}
          {row.pausedReason !== undefined && <Badge kind="bad">{t.paused}</Badge>}
          {row.schedule.enabled === false && <Badge>{t.off}</Badge>}
        </span>
      ),
    },
    {
      id: 'nextRunAt',
      title: t.nextRun,
      isSortable: true,
      cell: (row) => (row.nextRunAt ? instant(row.nextRunAt) : ''),
    },
    {
      id: 'updatedAt',
      title: t.updated,
      isSortable: true,
      cell: (row) => instant(row.updatedAt, 'day'),
    },
    { id: 'actions', title: '', cell: (row) => <Actions query={row} /> },
  ]
  return (
    <SavedTable
      label={t.title}
      list={list}
      state={state}
      columns={columns}
      empty={
        <Empty
          icon="saved"
          title={t.empty}
          action={
            <ButtonLink to="/explore" kind="main">
              {t.toExplore}
            </ButtonLink>
          }
        >
          {t.emptyHint}
        </Empty>
      }
    />
  )
}

/** Typed text becomes a search once typing pauses. */
function Search({ value, onChange }: { readonly value: string; readonly onChange: (q: string) => void }) {
  const t = useTexts(saved)
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed starts the wait
  useEffect(() => {
    if (text === value) return
    const wait = setTimeout(() => onChange(text.trim()), 250)
    return () => clearTimeout(wait)
  }, [text])
  return (
    <div className={styles.search}>
      <TextField
        label={t.search}
        hidesLabel
        type="search"
        placeholder={t.search}
        value={text}
        onChange={setText}
        maxLength={200}
      />
    </div>
  )
}

function Actions({ query }: { readonly query: SavedQuery }) {
  const t = useTexts(saved)
  const navigate = useNavigate()
  const run = useRunNow()
  const remove = useDelete()
  const mayExport = useMay('statistics:export')
  const mayChange = useMayChange(query)
  return (
    <Menu
      label={t.actions}
      trigger={<IconButton icon="more" label={`${t.actions}: ${query.name}`} />}
      entries={[
        {
          id: 'open',
          label: t.open,
          icon: 'chart',
          onAction: () =>
            void navigate({
              to: '/explore',
              search: { query: query.queries[0], saved: query.id } as never,
            }),
        },
        ...(mayExport
          ? [
              {
                id: 'run',
                label: t.runNow,
                icon: 'refresh' as const,
                onAction: () => run.mutate(query.id),
              },
            ]
          : []),
        ...(mayChange
          ? [
              {
                id: 'delete',
                label: t.delete,
                icon: 'trash' as const,
                isDanger: true,
                onAction: () => remove.mutate(query),
              },
            ]
          : []),
      ]}
    />
  )
}
