import type { EventAlias } from '@millrace/contract/resources/event-alias.ts'
import { eventAliases } from '../../../database/tables/event-alias.ts'
import { withIsoDates } from '../../../platform/resources/resource.ts'
import { and, columnsOf, eq, type Row, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

const columns = columnsOf(eventAliases, ['name', 'alias', 'createdAt', 'updatedAt'])

const toEventAlias = withIsoDates<Row<typeof columns>>

/** Names under which renamed events answer; given a transaction it works inside it. */
export function createEventAliasStore(db: Queries) {
  return {
    /** By name, in the order of its characters' numbers. */
    async list(companyId: string): Promise<EventAlias[]> {
      const rows = await db
        .select(columns)
        .from(eventAliases)
        .where(eq(eventAliases.companyId, companyId))
        .orderBy(sql`${eventAliases.name} collate "C"`)
      return rows.map(toEventAlias)
    },

    async set(companyId: string, name: string, alias: string): Promise<EventAlias> {
      const [row] = await db
        .insert(eventAliases)
        .values({ companyId, name, alias })
        .onConflictDoUpdate({
          target: [eventAliases.companyId, eventAliases.name],
          set: { alias, updatedAt: sql`now()` },
        })
        .returning(columns)
      if (!row) throw new Error('an insert without conflict gives its row')
      return toEventAlias(row)
    },

    /** @returns the alias that it had; undefined when it had none */
    async delete(companyId: string, name: string): Promise<string | undefined> {
      const [row] = await db
        .delete(eventAliases)
        .where(and(eq(eventAliases.companyId, companyId), eq(eventAliases.name, name)))
        .returning({ alias: eventAliases.alias })
      return row?.alias
    },
  }
}
