import type { OperationData } from '@millrace/sdk'

export type ListedCohort = OperationData<'listCohorts'>[number]

const sortable = ['name', 'kind', 'updatedAt'] as const
type Sortable = (typeof sortable)[number]

export interface ListSort {
  readonly by: Sortable
  readonly descending: boolean
}

export function readList(view: Readonly<Record<string, unknown>>): {
  readonly q: string
  readonly sort: ListSort
  readonly page: number
} {
  const sort = typeof view.sort === 'string' ? view.sort : 'name'
  const by = sortable.find((each) => each === sort.replace(/^-/, '')) ?? 'name'
  const { page } = view
  return {
    // A search for a number is read as one from the address.
    q: typeof view.q === 'string' || typeof view.q === 'number' ? String(view.q) : '',
    sort: { by, descending: sort.startsWith('-') },
    page: typeof page === 'number' && Number.isInteger(page) && page > 0 ? page : 1,
  }
}

export function shownCohorts(
  cohorts: readonly ListedCohort[],
  q: string,
  { by, descending }: ListSort,
  language: string,
): readonly ListedCohort[] {
  const sought = q.trim().toLowerCase()
  const { compare } = new Intl.Collator(language, { numeric: true })
  return cohorts
    .filter(({ name, description }) => `${name}\n${description}`.toLowerCase().includes(sought))
    .sort((a, b) => (descending ? compare(b[by], a[by]) : compare(a[by], b[by])))
}
