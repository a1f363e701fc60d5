import { encryptionKeys } from '../../database/tables/encryption-key.ts'
import { inArray, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import { sealingKeyOf } from './sealing-key.ts'

/** The keys that the database knows and those that seal something; works inside the transaction it is given. */
export function createKeyRegisterStore(db: Queries) {
  return {
    /** Lets one process at a time through, until the transaction ends. */
    async lock(): Promise<void> {
      await db.execute(sql`lock table ${encryptionKeys} in share row exclusive mode`)
    },

    async list(): Promise<string[]> {
      const rows = await db.select({ keyId: encryptionKeys.keyId }).from(encryptionKeys)
      return rows.map(({ keyId }) => keyId)
    },

    async register(keyId: string): Promise<void> {
      await db.insert(encryptionKeys).values({ keyId }).onConflictDoNothing()
    },

    async forget(keyIds: readonly string[]): Promise<void> {
      await db.delete(encryptionKeys).where(inArray(encryptionKeys.keyId, [...keyIds]))
    },

    /** Ids of the keys under which anything in any column of this database is sealed. */
    async listSealing(): Promise<string[]> {
      const { rows: columns } = await db.execute<{ table: string; column: string }>(
        sql`select c.relname as table, a.attname as column
          from pg_attribute a join pg_class c on c.oid = a.attrelid
          where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and not a.attisdropped
            and a.attname like 'sealed\\_%' and a.atttypid = 'bytea'::regtype`,
      )
      if (columns.length === 0) return []
      const ids = columns.map(
        ({ table, column }) =>
          sql`select ${sealingKeyOf(sql.identifier(column))} as key_id from ${sql.identifier(table)}`,
      )
      const { rows } = await db.execute<{ key_id: string }>(
        sql`select key_id from (${sql.join(ids, sql` union `)}) as found where key_id is not null`,
      )
      return rows.map(({ key_id }) => key_id)
    },
  }
}
