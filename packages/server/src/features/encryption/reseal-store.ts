import { getTableName, type SQL, sql } from 'drizzle-orm'
import { type SealedColumn, sealedColumns } from '../../database/sealed-columns.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import { sealingKeyOf } from './sealing-key.ts'

export interface SealedSecret {
  readonly id: string
  readonly secret: Buffer
}

/** A secret as it was read, and as it is sealed anew. */
export interface ResealedSecret extends SealedSecret {
  readonly resealed: Buffer
}

const texts = (values: readonly string[]): SQL => sql`${sql.param([...values])}::text[]`
const buffers = (values: readonly Buffer[]): SQL => sql`${sql.param([...values])}::bytea[]`

export type { SealedColumn }

export const everySealedColumn: readonly SealedColumn[] = Object.values(sealedColumns)

export const tableOf = ({ column }: SealedColumn): string => getTableName(column.table)

/** Sealed secrets, of whatever column. */
export function createResealStore(db: Queries) {
  return {
    /** How many there are under each key; under '' what is too short to name one. */
    async countByKey({ column }: SealedColumn): Promise<Map<string, number>> {
      const { rows } = await db.execute<{ key_id: string; count: number }>(
        sql`select coalesce(${sealingKeyOf(column)}, '') as key_id, count(*)::int as count
          from ${column.table} where ${column} is not null group by 1`,
      )
      return new Map(rows.map(({ key_id, count }) => [key_id, count]))
    },

    /** Those under one of these keys, in the order of their ids, behind `after`. */
    async list(
      { column, id }: SealedColumn,
      keyIds: readonly string[],
      after: string,
      limit: number,
    ): Promise<SealedSecret[]> {
      const { rows } = await db.execute<{ id: string; secret: Buffer }>(
        sql`select ${id} as id, ${column} as secret from ${column.table}
          where ${id} > ${after} and coalesce(${sealingKeyOf(column)}, '') = any(${texts(keyIds)})
            and ${column} is not null
          order by ${id} limit ${limit}`,
      )
      return rows
    },

    /**
     * Stores what is sealed anew, each in place of exactly what was read: a secret that is another one by now
     * stays. Rows that somebody else holds are passed over, so that nobody waits for this in a ring.
     * @returns how many were replaced
     */
    async replace({ column, id }: SealedColumn, secrets: readonly ResealedSecret[]): Promise<number> {
      const ids = texts(secrets.map((each) => each.id))
      const before = buffers(secrets.map(({ secret }) => secret))
      const after = buffers(secrets.map(({ resealed }) => resealed))
      const [key, secret] = [sql.identifier(id.name), sql.identifier(column.name)]
      const { rowCount } = await db.execute(
        sql`with free as materialized (
            select held.${key} as id, given.after
            from ${column.table} as held
              join unnest(${ids}, ${before}, ${after}) as given (id, before, after) on given.id = held.${key}
            where held.${secret} = given.before for no key update of held skip locked
          )
          update ${column.table} as held set ${secret} = free.after from free where held.${key} = free.id`,
      )
      return rowCount ?? 0
    },
  }
}
