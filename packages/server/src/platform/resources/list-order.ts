import { asc, desc, type PgColumn, type SQL, sql } from '../stores/postgres/drizzle.ts'

/** How a list is sorted: `sorting` in the contract. */
export interface ListOrder<By extends string> {
  readonly sortBy?: By | undefined
  readonly sortOrder?: 'asc' | 'desc' | undefined
}

/** The same for a list that is searched by a text too. */
export interface ListSearch<By extends string> extends ListOrder<By> {
  readonly q?: string | undefined
}

/**
 * The keys of a list's order: what is absent comes last. Ties are in the order of identifiers, which grow with time, so
 * that those of creation follow its direction.
 * @param usual what holds where the request names no key
 */
export function listOrder<By extends string>(
  { sortBy, sortOrder }: ListOrder<By>,
  keys: Readonly<Record<By, SQL | PgColumn>>,
  id: PgColumn,
  usual: Required<ListOrder<NoInfer<By>>>,
): SQL[] {
  const by = (sortBy ?? usual.sortBy) as By
  const usually = sortBy === undefined ? usual.sortOrder : by.endsWith('At') ? 'desc' : 'asc'
  const isAscending = (sortOrder ?? usually) === 'asc'
  return [
    isAscending ? sql`${keys[by]} asc nulls last` : sql`${keys[by]} desc nulls last`,
    isAscending || by !== 'createdAt' ? asc(id) : desc(id),
  ]
}
