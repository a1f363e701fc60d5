import { useQueries, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { pageOf, searchOf } from '../../data/list-state.ts'
import { useMay, useProfile } from '../../data/profile.ts'
import { useInstant, useSetView, useView } from '../../data/view-state.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { findReadyMade, readyMade, tilesOf } from '../../tiles/ready-made.ts'
import { readyMadeWords } from '../../tiles/ready-made-texts.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Badge, Card, Page } from '../../ui/page.tsx'
import { Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import { type Column, Pages, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './dashboards.module.css'
import { placeOf, useFavourites } from './favourites.ts'
import { Miniature } from './miniature.tsx'
import { dashboardQuery, inputOf, type ListAsked, listQuery, useDashboardDeeds } from './requests.ts'
import { words } from './texts.ts'

const perPage = 20
const sorts = ['name', 'updatedAt', 'createdAt'] as const

/** What the address says of the list. */
function askedOf(view: Readonly<Record<string, unknown>>): ListAsked & { readonly page: number } {
  const { sort, order, page } = view
  const q = searchOf(view.q)
  const sortBy = sorts.find((each) => each === sort)
  return {
    page: pageOf(page),
    perPage,
    ...(q.trim() !== '' && { q }),
    ...(sortBy && { sortBy }),
    ...((order === 'asc' || order === 'desc') && { sortOrder: order }),
  }
}

type Row = Awaited<ReturnType<NonNullable<ReturnType<typeof listQuery>['queryFn']>>>['rows'][number]

export function Screen() {
  const t = useTexts(words)
  const [isNew, setNew] = useState(false)
  const asked = askedOf(useView())
  return (
    <Page
      title={t.title}
      actions={
        <>
          <CopyAs call={{ operation: 'listDashboards', request: { query: asked } }} />
          <Button kind="main" icon="plus" onPress={() => setNew(true)}>
            {t.new}
          </Button>
        </>
      }
    >
      <Favourites />
      <ReadyMadeCards />
      <Own asked={asked} onNew={() => setNew(true)} />
      <Dialog title={t.new} isOpen={isNew} onClose={() => setNew(false)}>
        <NewDashboard onClose={() => setNew(false)} />
      </Dialog>
    </Page>
  )
}

function Star({ place, name }: { readonly place: string; readonly name: string }) {
  const t = useTexts(words)
  const favourites = useFavourites()
  if (!favourites) return null
  const isOn = favourites.places.includes(place)
  return (
    <span className={styles.star} data-on={isOn}>
      <IconButton
        icon="star"
        label={isOn ? t.notFavourite : t.favourite}
        aria-pressed={isOn}
        onPress={() => favourites.toggle(place, name)}
      />
    </span>
  )
}

/** Those that the user keeps, whatever page of the list they are on. */
function Favourites() {
  const say = useTexts(words)
  const t = useTexts(readyMadeWords)
  const places = useFavourites()?.places ?? []
  const ids = places.flatMap((place) =>
    place.startsWith(placeOf('')) ? [place.slice(placeOf('').length)] : [],
  )
  const own = ids.filter((id) => /^[0-9a-f]{24}$/.test(id))
  const answers = useQueries({ queries: own.map((id) => dashboardQuery(id)) })
  const cards = ids.flatMap((id) => {
    const known = findReadyMade(id)
    if (known)
      return [{ id, name: t.dashboards[known.id], about: t.about[known.id], tiles: tilesOf(known, t.tiles) }]
    const answer = answers[own.indexOf(id)]?.data
    return answer ? [{ id, name: answer.name, about: answer.description, tiles: answer.tiles }] : []
  })
  if (cards.length === 0) return null
  return (
    <section aria-label={say.favourites}>
      <ul className={styles.cards}>
        {cards.map((card) => (
          <DashboardCard key={card.id} {...card} />
        ))}
      </ul>
    </section>
  )
}

function DashboardCard({
  id,
  name,
  about,
  tiles,
}: {
  readonly id: string
  readonly name: string
  readonly about: string
  readonly tiles: Parameters<typeof Miniature>[0]['tiles']
}) {
  return (
    <li className={styles.card}>
      <Miniature tiles={tiles} className={styles.miniature ?? ''} />
      <div className={styles.about}>
        <Link to="/dashboards/$id" params={{ id }} dir="auto">
          {name}
        </Link>
        <p dir="auto">{about}</p>
      </div>
      <Star place={placeOf(id)} name={name} />
    </li>
  )
}

function ReadyMadeCards() {
  const t = useTexts(words)
  const ready = useTexts(readyMadeWords)
  const places = useFavourites()?.places ?? []
  const shown = readyMade.filter(({ id }) => !places.includes(placeOf(id)))
  if (shown.length === 0) return null
  return (
    <section aria-label={t.readyMade} style={{ display: 'grid', gap: 'var(--gap-3)' }}>
      <h2>{t.readyMade}</h2>
      <ul className={styles.cards}>
        {shown.map((each) => (
          <DashboardCard
            key={each.id}
            id={each.id}
            name={ready.dashboards[each.id]}
            about={ready.about[each.id]}
            tiles={tilesOf(each, ready.tiles)}
          />
        ))}
      </ul>
    </section>
  )
}

function Own({ asked, onNew }: { readonly asked: ReturnType<typeof askedOf>; readonly onNew: () => void }) {
  const t = useTexts(words)
  const setView = useSetView()
  const answer = useQuery(listQuery(asked))
  const columns = useColumns()
  return (
    <Card
      title={t.own}
      isFlush
      actions={
        <TextField
          label={t.search}
          hidesLabel
          type="search"
          placeholder={t.search}
          value={asked.q ?? ''}
          onChange={(q) => setView({ q: q === '' ? undefined : q, page: undefined }, true)}
        />
      }
    >
      <Loaded
        query={answer}
        skeleton={
          <div style={{ padding: 'var(--gap-4)' }}>
            <Skeleton lines={5} />
          </div>
        }
        isEmpty={({ count }) => count === 0}
        empty={
          asked.q === undefined ? (
            <Empty
              icon="dashboard"
              title={t.none}
              action={
                <Button icon="plus" onPress={onNew}>
                  {t.new}
                </Button>
              }
            >
              {t.noneHint}
            </Empty>
          ) : (
            <Empty icon="search" title={t.noMatch}>
              {t.noMatchHint}
            </Empty>
          )
        }
      >
        {({ rows, count }) => (
          <>
            <Table
              label={t.own}
              rows={rows}
              rowKey={({ id }) => id}
              columns={columns}
              sort={{
                by: asked.sortBy ?? 'updatedAt',
                descending: (asked.sortOrder ?? (asked.sortBy === 'name' ? 'asc' : 'desc')) === 'desc',
              }}
              onSort={({ by, descending }) =>
                setView({ sort: by, order: descending ? 'desc' : 'asc', page: undefined })
              }
            />
            <Pages
              page={asked.page}
              perPage={perPage}
              count={count}
              onPage={(page) => setView({ page: page === 1 ? undefined : page })}
            />
          </>
        )}
      </Loaded>
    </Card>
  )
}

function useColumns(): Column<Row>[] {
  const t = useTexts(words)
  const say = useTexts(common)
  const instant = useInstant()
  const userId = useProfile()?.id
  const mayManage = useMay('statistics:manage')
  const navigate = useNavigate()
  const { duplicate, remove, create } = useDashboardDeeds()
  const fail = (error: Error) => toast.fail(error.message)
  const actionsOf = ({ id, name, ownerId }: Row) => [
    {
      id: 'open',
      label: t.open,
      icon: 'dashboard' as const,
      onAction: () => void navigate({ to: '/dashboards/$id', params: { id } }),
    },
    {
      id: 'duplicate',
      label: t.duplicate,
      icon: 'copy' as const,
      onAction: () => duplicate.mutate(id, { onSuccess: () => toast.say(t.duplicated), onError: fail }),
    },
    ...(ownerId === userId || mayManage
      ? [
          {
            id: 'delete',
            label: say.delete,
            icon: 'trash' as const,
            isDanger: true,
            onAction: () =>
              remove.mutate(id, {
                onSuccess: (before) =>
                  toast.undo(t.deleted(name), () => create.mutate(inputOf(before), { onError: fail })),
                onError: fail,
              }),
          },
        ]
      : []),
  ]
  return [
    {
      id: 'name',
      title: t.name,
      isSortable: true,
      cell: ({ id, name, description, ownerId, resourceGroupIds }) => (
        <span className={styles.name}>
          <Link to="/dashboards/$id" params={{ id }} dir="auto">
            {name}
          </Link>
          {ownerId === userId && <Badge kind="accent">{t.yours}</Badge>}
          {resourceGroupIds.length > 0 && <Badge>{t.forTeams}</Badge>}
          {description && (
            <span className={styles.description} dir="auto">
              {description}
            </span>
          )}
        </span>
      ),
    },
    { id: 'tiles', title: t.tiles, isNumber: true, cell: ({ tiles }) => tiles },
    {
      id: 'updatedAt',
      title: t.changed,
      isSortable: true,
      cell: ({ updatedAt }) => <span className={styles.date}>{instant(updatedAt)}</span>,
    },
    {
      id: 'createdAt',
      title: t.made,
      isSortable: true,
      cell: ({ createdAt }) => <span className={styles.date}>{instant(createdAt, 'day')}</span>,
    },
    {
      id: 'actions',
      title: '',
      isNumber: true,
      cell: (row) => (
        <span style={{ display: 'inline-flex' }}>
          <Star place={placeOf(row.id)} name={row.name} />
          <Menu
            label={t.actions(row.name)}
            trigger={<IconButton icon="more" label={t.actions(row.name)} />}
            entries={actionsOf(row)}
          />
        </span>
      ),
    },
  ]
}

function NewDashboard({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(words)
  const say = useTexts(common)
  const [name, setName] = useState('')
  const navigate = useNavigate()
  const { create } = useDashboardDeeds()
  return (
    <form
      style={{ display: 'grid', gap: 'var(--gap-4)' }}
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate(
          { name, tiles: [] },
          {
            onSuccess: ({ id }) => {
              onClose()
              void navigate({ to: '/dashboards/$id', params: { id }, search: { edit: true } })
            },
          },
        )
      }}
    >
      <TextField
        label={t.newName}
        autoFocus
        value={name}
        onChange={setName}
        maxLength={200}
        fault={create.error?.message}
      />
      <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 'var(--gap-2)' }}>
        <Button onPress={onClose}>{say.cancel}</Button>
        <Button kind="main" type="submit" isDisabled={name.trim() === '' || create.isPending}>
          {t.create}
        </Button>
      </div>
    </form>
  )
}
