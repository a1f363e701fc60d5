import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useSetView } from '../../data/view-state.ts'
import { useTexts } from '../../texts/texts.ts'
import { Card } from '../../ui/page.tsx'
import { Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import { type Column, Pages, Table } from '../../ui/table.tsx'
import { type ListState, perPage, type SortKey } from './saved-queries.ts'
import { saved } from './texts.ts'

/** A page of what is saved, sorted and searched as the address says. */
export function SavedTable<Row extends { readonly id: string }>({
  label,
  list,
  state,
  columns,
  empty,
}: {
  readonly label: string
  readonly list: UseQueryResult<{ readonly data: readonly Row[]; readonly paginationCount: number }>
  readonly state: ListState
  readonly columns: readonly Column<Row>[]
  /** Where nothing is saved yet. */
  readonly empty: ReactNode
}) {
  const t = useTexts(saved)
  const setView = useSetView()
  return (
    <Loaded
      query={list}
      skeleton={<Skeleton lines={8} />}
      isEmpty={({ paginationCount }) => paginationCount === 0}
      empty={
        state.q === '' ? (
          empty
        ) : (
          <Empty icon="search" title={t.noMatch}>
            {t.noMatchHint}
          </Empty>
        )
      }
    >
      {({ data, paginationCount }) => (
        <Card isFlush>
          <Table
            label={label}
            columns={columns}
            rows={data}
            rowKey={({ id }) => id}
            sort={{ by: state.sortBy, descending: state.descending }}
            onSort={({ by, descending }) => {
              const isFirst = by !== state.sortBy
              setView({
                sort: by as SortKey,
                order: (isFirst ? by === 'updatedAt' : descending) ? 'desc' : 'asc',
                page: undefined,
              })
            }}
          />
          <Pages
            page={state.page}
            perPage={perPage}
            count={paginationCount}
            onPage={(page) => setView({ page: page === 1 ? undefined : page })}
          />
        </Card>
      )}
    </Loaded>
  )
}
