import { type SealedColumn, sealedColumns } from '../../database/sealed-columns.ts'
import { getTableName, type SQL, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import { sealingKeyOf } from './sealing-key.ts'

export interface SealedSecret {
  readonly id: string
  readonly secret: Buffer
}

/** A secret as it was read and re-encrypted. */
export interface ReencryptedSecret extends SealedSecret {
  readonly reencrypted: Buffer
}

const texts = (values: readonly string[]): SQL => sql`${sql.param([...values])}::text[]`
const buffers = (values: readonly Buffer[]): SQL => sql`${sql.param([...values])}::bytea[]`

export type { SealedColumn }

export const everySealedColumn: readonly SealedColumn[] = Object.values(sealedColumns)

export const tableOf = ({ column }: SealedColumn): string => getTableName(column.table)

/** Sealed secrets of any column. */
export function createKeyRotationStore(db: Queries) {
  return {
    /** Counts secrets by key id; '' for those too short to name one. */
    async countByKey({ column }: SealedColumn): Promise<Map<string, number>> {
      const { rows } = await db.execute<{ key_id: string; count: number }>(
        sql`select coalesce(${sealingKeyOf(column)}, '') as key_id, count(*)::int as count
          from ${column.table} where ${column} is not null group by 1`,
      )
      return new Map(rows.map(({ key_id, count }) => [key_id, count]))
    },

    /** Secrets under these keys in the order of their ids, after the id `after`. */
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
     * Stores re-encrypted secrets, each in place of exactly what was read: one that has been changed since stays.
     * Locked rows are skipped, so that this cannot deadlock.
     * @returns how many were replaced
     */
    async replace({ column, id }: SealedColumn, secrets: readonly ReencryptedSecret[]): Promise<number> {
      const ids = texts(secrets.map((each) => each.id))
      const before = buffers(secrets.map(({ secret }) => secret))
      const after = buffers(secrets.map(({ reencrypted }) => reencrypted))
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
