import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatMeasure } from '../../data/format.ts'
import { useInstant, useSetView, useView } from '../../data/view-state.ts'
import { cohortsQuery } from '../../exploration/rows.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { TextField } from '../../ui/field.tsx'
import { Badge, Card, Page } from '../../ui/page.tsx'
import { Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import { type Column, Pages, type Sort, Table } from '../../ui/table.tsx'
import { type ListedCohort, readList, shownCohorts } from './cohort-list.ts'
import styles from './cohorts.module.css'
import { words } from './texts.ts'

const perPage = 20

export function Screen() {
  const t = useTexts(words)
  const query = useQuery(cohortsQuery)
  const add = (
    <ButtonLink kind="main" icon="plus" to="/cohorts/$id" params={{ id: 'new' }}>
      {t.newCohort}
    </ButtonLink>
  )
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <>
          <CopyAs call={{ operation: 'listCohorts', request: { query: { perPage: 100 } } }} />
          {add}
        </>
      }
    >
      <Loaded
        query={query}
        skeleton={<Skeleton height={320} />}
        isEmpty={(cohorts) => cohorts.length === 0}
        empty={
          <Empty icon="people" title={t.empty} action={add}>
            {t.emptyHint}
          </Empty>
        }
      >
        {(cohorts) => <List cohorts={cohorts} />}
      </Loaded>
    </Page>
  )
}

/** A company has a hundred cohorts at most: they are searched and sorted here. */
function List({ cohorts }: { readonly cohorts: readonly ListedCohort[] }) {
  const t = useTexts(words)
  const language = useLanguage()
  const instant = useInstant()
  const setView = useSetView()
  const { q, sort, page } = readList(useView())
  const shown = shownCohorts(cohorts, q, sort, language)
  const columns: Column<ListedCohort>[] = [
    {
      id: 'name',
      title: t.name,
      isSortable: true,
      cell: ({ id, name, description }) => (
        <div className={styles.named}>
          <Link to="/cohorts/$id" params={{ id }} className={styles.name}>
            {name}
          </Link>
          {description !== '' && <span className={styles.description}>{description}</span>}
        </div>
      ),
    },
    {
      id: 'kind',
      title: t.kind,
      isSortable: true,
      cell: ({ kind, listed }) => (
        <Badge kind={kind === 'rule' ? 'accent' : 'plain'}>
          {kind === 'rule' ? t.kinds.rule : t.listedCount(formatMeasure(language, 'integer', listed))}
        </Badge>
      ),
    },
    {
      id: 'updatedAt',
      title: t.changed,
      isSortable: true,
      cell: ({ updatedAt }) => instant(updatedAt, 'day'),
    },
  ]
  return (
    <>
      <TextField
        label={t.search}
        hidesLabel
        type="search"
        placeholder={t.search}
        value={q}
        onChange={(text) => setView({ q: text === '' ? undefined : text, page: undefined }, true)}
      />
      {shown.length === 0 ? (
        <Empty icon="search" title={t.noMatch}>
          {t.noMatchHint}
        </Empty>
      ) : (
        <Card isFlush>
          <Table
            label={t.title}
            columns={columns}
            rows={shown.slice((page - 1) * perPage, page * perPage)}
            rowKey={({ id }) => id}
            sort={sort}
            onSort={(next: Sort) => setView({ sort: next.descending ? `-${next.by}` : next.by })}
          />
          <Pages
            page={page}
            perPage={perPage}
            count={shown.length}
            onPage={(next) => setView({ page: next === 1 ? undefined : next })}
          />
        </Card>
      )}
    </>
  )
}
