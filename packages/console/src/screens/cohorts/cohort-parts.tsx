import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../../client.ts'
import { formatMeasure } from '../../data/format.ts'
import { pageOf } from '../../data/list-state.ts'
import { useInstant, useSetView, useView } from '../../data/view-state.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Card } from '../../ui/page.tsx'
import { Loaded, Skeleton } from '../../ui/state.tsx'
import { type Column, Pages, Table } from '../../ui/table.tsx'
import styles from './cohort.module.css'
import { words } from './texts.ts'

const perPage = 20
/** Saved queries that are looked at, the newest first. */
const maxLooked = 1_000

interface Use {
  readonly id: string
  readonly name: string
}

export const useUses = (cohortId: string) =>
  useQuery({
    queryKey: ['cohort-uses', cohortId],
    queryFn: async ({ signal }) => {
      const uses: Use[] = []
      let looked = 0
      for await (const saved of client.listSavedQueries.all({ query: { perPage: 100 } }, { signal })) {
        looked += 1
        if (JSON.stringify(saved).includes(cohortId)) uses.push({ id: saved.id, name: saved.name })
        if (looked === maxLooked) break
      }
      return { uses, isWhole: looked < maxLooked }
    },
  })

/** Which saved queries filter by the cohort. */
export function Uses({ id }: { readonly id: string }) {
  const t = useTexts(words)
  const query = useUses(id)
  return (
    <Card title={t.uses}>
      <Loaded query={query} skeleton={<Skeleton lines={2} />}>
        {({ uses, isWhole }) => (
          <>
            {uses.length === 0 ? (
              <p data-quiet>{t.usesNone}</p>
            ) : (
              <ul className={styles.uses}>
                {uses.map((each) => (
                  <li key={each.id}>
                    <Link to="/saved/$id" params={{ id: each.id }} dir="auto">
                      {each.name}
                    </Link>
                  </li>
                ))}
              </ul>
            )}
            {!isWhole && <p data-quiet>{t.usesMany}</p>}
          </>
        )}
      </Loaded>
    </Card>
  )
}

interface Member {
  readonly person: string
  readonly events: number
  readonly firstSeen: string
  readonly lastSeen: string
}

/** Who is in the cohort, for roles that may take names away. */
export function Members({ id }: { readonly id: string }) {
  const t = useTexts(words)
  const language = useLanguage()
  const instant = useInstant()
  const setView = useSetView()
  const { members } = useView()
  const page = pageOf(members)
  const query = useQuery({
    queryKey: ['cohort-people', id, 'members', page],
    queryFn: async ({ signal }) => {
      const { body } = await client.listCohortMembers.reply(
        { params: { id }, query: { page, perPage } },
        { signal },
      )
      return { rows: body.data as readonly Member[], count: body.paginationCount }
    },
    placeholderData: keepPreviousData,
  })
  const columns: Column<Member>[] = [
    { id: 'person', title: t.person, cell: ({ person }) => person },
    {
      id: 'events',
      title: t.events,
      isNumber: true,
      cell: ({ events }) => formatMeasure(language, 'integer', events),
    },
    { id: 'firstSeen', title: t.firstSeen, cell: ({ firstSeen }) => instant(firstSeen) },
    { id: 'lastSeen', title: t.lastSeen, cell: ({ lastSeen }) => instant(lastSeen) },
  ]
  return (
    <Card title={t.members} isFlush>
      <Loaded
        query={query}
        skeleton={<Skeleton height={240} />}
        isEmpty={({ count }) => count === 0}
        empty={
          <p className={styles.none} data-quiet>
            {t.membersNone}
          </p>
        }
      >
        {({ rows, count }) => (
          <>
            <Table label={t.members} columns={columns} rows={rows} rowKey={({ person }) => person} />
            <Pages
              page={page}
              perPage={perPage}
              count={count}
              onPage={(next) => setView({ members: next === 1 ? undefined : next })}
            />
          </>
        )}
      </Loaded>
    </Card>
  )
}
