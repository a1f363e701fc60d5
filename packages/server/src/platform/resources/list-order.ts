import { asc, type PgColumn, type SQL, sql } from '../stores/postgres/drizzle.ts'

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
 * The keys of a list's order: what is absent comes last, and ties are in the order of identifiers.
 * @param usual what holds where the request names no key
 */
export function listOrder<By extends string>(
  { sortBy, sortOrder }: ListOrder<By>,
  keys: Readonly<Record<By, SQL | PgColumn>>,
  id: PgColumn,
  usual: Required<ListOrder<NoInfer<By>>>,
): SQL[] {
  const usually = sortBy === undefined ? usual.sortOrder : sortBy.endsWith('At') ? 'desc' : 'asc'
  const key = keys[(sortBy ?? usual.sortBy) as By]
  return [
    (sortOrder ?? usually) === 'asc' ? sql`${key} asc nulls last` : sql`${key} desc nulls last`,
    asc(id),
  ]
}
