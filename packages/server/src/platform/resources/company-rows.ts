import { type Listed, type Page, pageOf } from '../paging.ts'
import {
  and,
  eq,
  getTableColumns,
  inArray,
  type PgColumn,
  type PgTable,
  type Row,
  type SQL,
  sql,
} from '../stores/postgres/drizzle.ts'
import type { Queries } from '../stores/relational.ts'

/** Which row: what another company has is never found by it. */
export interface Key {
  readonly companyId: string
  readonly id: string
}

interface Touched {
  readonly updatedAt?: PgColumn
  readonly revision?: PgColumn
}

type CompanyTable = PgTable & Readonly<Record<'id' | 'companyId', PgColumn>> & Touched
type Selected = Readonly<Record<string, SQL>>

/** A row of the table, with what is selected besides its columns. */
export type RowOf<T extends PgTable, E extends Selected = Record<never, SQL>> = T['$inferSelect'] & Row<E>

/** What a change sets besides its fields: time and revision, where the table has them, only grow. */
export const touched = ({ updatedAt, revision }: Touched) => ({
  ...(updatedAt && { updatedAt: sql`greatest(now(), ${updatedAt} + interval '1 millisecond')` }),
  ...(revision && { revision: sql`${revision} + 1` }),
})

/** For rows whose lists only grow at their end: the time of the moment, not of the beginning of the transaction. */
export const madeNow = { createdAt: sql`clock_timestamp()`, updatedAt: sql`clock_timestamp()` }

/**
 * The simple statements on a table whose rows each belong to a company, which a store adds its own to.
 * @param extras selected with the columns of each row, such as the teams that see it
 */
export function companyRows<T extends CompanyTable, E extends Selected = Record<never, SQL>>(
  db: Queries,
  table: T,
  extras?: E,
) {
  type Found = RowOf<T, E>
  const columns = { ...getTableColumns(table), ...extras } as Record<string, PgColumn>
  const one = ({ companyId, id }: Key) => and(eq(table.companyId, companyId), eq(table.id, id))

  /** @param order the last key makes it unique */
  function select(where: SQL | undefined, ...order: (SQL | PgColumn)[]) {
    const query = db
      .select(columns)
      .from(table as PgTable)
      .where(where)
      .orderBy(...order)
    return query as unknown as Promise<Found[]> & {
      limit(max: number): { offset(start: number): Promise<Found[]> }
    }
  }

  async function find(key: Key, also?: SQL): Promise<Found | undefined> {
    const [row] = await select(and(one(key), also))
    return row
  }

  return {
    one,
    select,
    find,

    /** Returns the ids that are rows of the company, in order. `lock`: none of them is deleted until the transaction ends. */
    async known(
      companyId: string,
      ids: readonly string[],
      { also, lock = false }: { readonly also?: SQL; readonly lock?: boolean } = {},
    ): Promise<string[]> {
      if (ids.length === 0) return []
      const query = db
        .select({ id: table.id as PgColumn })
        .from(table as PgTable)
        .where(and(eq(table.companyId, companyId), inArray(table.id, [...ids]), also))
        .orderBy(table.id)
        .$dynamic()
      const rows = await (lock ? query.for('key share') : query)
      return rows.map(({ id }) => id as string)
    },

    count(where: SQL | undefined): Promise<number> {
      return db.$count(table, where)
    },

    page(where: SQL | undefined, order: readonly (SQL | PgColumn)[], page: Page): Promise<Listed<Found>> {
      return pageOf(select(where, ...order), db.$count(table, where), page)
    },

    /** Locked until the transaction ends. It is read once the lock is held, by a statement of its own. */
    async findForUpdate(key: Key, also?: SQL): Promise<Found | undefined> {
      const held = await db
        .select({ id: table.id as PgColumn })
        .from(table as PgTable)
        .where(one(key))
        .for('update')
      return held.length > 0 ? find(key, also) : undefined
    },

    async insert(
      row: { readonly [K in keyof T['$inferInsert']]: T['$inferInsert'][K] | SQL },
    ): Promise<void> {
      await db.insert(table).values(row as never)
    },

    async update(key: Key, fields: Partial<T['$inferInsert']>): Promise<void> {
      await db
        .update(table)
        .set({ ...fields, ...touched(table) } as never)
        .where(one(key))
    },

    async delete(key: Key): Promise<void> {
      await db.delete(table).where(one(key))
    },
  }
}
