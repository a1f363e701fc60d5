import type { PermissionName } from '@millrace/contract/permissions.ts'
import { companies } from '../../database/tables/company.ts'
import { rolePermissions } from '../../database/tables/role.ts'
import { savedQueries } from '../../database/tables/saved-query.ts'
import { ssoDomains } from '../../database/tables/single-sign-on.ts'
import { users } from '../../database/tables/user.ts'
import type { Language } from '../../platform/i18n/language.ts'
import type { Listed, Page } from '../../platform/paging.ts'
import { companyRows } from '../../platform/resources/company-rows.ts'
import { type ListSearch, listOrder } from '../../platform/resources/list-order.ts'
import { found } from '../../platform/resources/resource.ts'
import { containsText } from '../../platform/stores/postgres/contains-text.ts'
import { and, eq, inArray, isNotNull, sql } from '../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../platform/stores/relational.ts'

export type StoredSavedQuery = typeof savedQueries.$inferSelect

export type SavedQueryList = Page & ListSearch<'name' | 'createdAt' | 'updatedAt' | 'nextRunAt'>

/** What runs change, which is no change of the saved query. */
type Noted = Partial<Pick<StoredSavedQuery, 'nextRunAt' | 'plannedTo' | 'pausedReason' | 'failures'>>

/** The user whose rights a run has, as they are now. */
export interface Runner {
  readonly userId: string
  readonly email: string
  readonly language: Language
  readonly isActive: boolean
  readonly permissions: ReadonlySet<PermissionName>
}

/** Saved queries; given a transaction it works inside it. */
export function createSavedQueryStore(db: Queries) {
  const rows = companyRows(db, savedQueries)
  const one = (companyId: string, id: string) =>
    and(eq(savedQueries.companyId, companyId), eq(savedQueries.id, id))

  return {
    ...rows,

    find: (companyId: string, id: string) => rows.find({ companyId, id }),

    /** Locks it until the transaction ends: changes, the planning of runs and their delivery come one after the other. */
    lock: (companyId: string, id: string) => rows.findForUpdate({ companyId, id }),

    /** What users change. */
    async update(
      companyId: string,
      id: string,
      change: Partial<StoredSavedQuery>,
    ): Promise<StoredSavedQuery> {
      await rows.update({ companyId, id }, change)
      return found(await rows.find({ companyId, id }), 'savedQueryNotFound', id)
    },

    count: (companyId: string): Promise<number> => rows.count(eq(savedQueries.companyId, companyId)),

    list(companyId: string, wanted: SavedQueryList): Promise<Listed<StoredSavedQuery>> {
      const { id, name, createdAt, updatedAt, nextRunAt } = savedQueries
      const keys = { name: sql`lower(${name})`, createdAt, updatedAt, nextRunAt }
      const where = and(
        eq(savedQueries.companyId, companyId),
        wanted.q === undefined ? undefined : containsText(name, wanted.q),
      )
      const order = listOrder(wanted, keys, id, { sortBy: 'createdAt', sortOrder: 'desc' })
      return rows.page(where, order, wanted)
    },

    async note(companyId: string, id: string, change: Noted): Promise<void> {
      await db.update(savedQueries).set(change).where(one(companyId, id))
    },

    /** When the next run is to be planned. */
    dueAt: sql`(select min(next_run_at) from ${savedQueries})`,

    /**
     * Those whose next planned time has come and of which no run is under way, locked, the longest due first. Now is
     * the database's, which all processes share.
     */
    async lockDue(limit: number): Promise<{ now: number; rows: StoredSavedQuery[] }> {
      const due = await db.execute<{ id: string; now: string }>(
        sql`select id, (extract(epoch from now()) * 1000)::float8 as now from ${savedQueries} as due
          where next_run_at <= now()
            and not exists (select 1 from saved_query_runs as run
              where run.saved_query_id = due.id and run.state in ('queued', 'running'))
          order by next_run_at, id limit ${limit} for update skip locked`,
      )
      const now = Math.floor(Number(due.rows[0]?.now ?? 0))
      const ids = due.rows.map(({ id }) => id)
      if (ids.length === 0) return { now, rows: [] }
      return { now, rows: await db.select().from(savedQueries).where(inArray(savedQueries.id, ids)) }
    },

    /**
     * Has the next planned times of a company found anew, from now on, where the schedule has no time zone of its own.
     * What is due already is run as it was planned.
     */
    async replan(companyId: string): Promise<void> {
      await db
        .update(savedQueries)
        .set({ nextRunAt: sql`now()`, plannedTo: sql`now()` })
        .where(
          and(
            eq(savedQueries.companyId, companyId),
            sql`${savedQueries.nextRunAt} > now()`,
            sql`${savedQueries.schedule}->>'timezone' is null`,
          ),
        )
    },

    async findRunner(companyId: string, userId: string): Promise<Runner | undefined> {
      const rows = await sqlOn(db)<{
        email: string
        language: Language
        active: boolean
        permissions: PermissionName[]
      }>`
        select owner.email, coalesce(owner.language, company.language) as language,
          owner.status = 'active' as active,
          array(select resource || ':' || action from ${rolePermissions} where role_id = owner.role_id)
            as permissions
        from ${users} as owner join ${companies} as company on company.id = owner.company_id
        where owner.company_id = ${companyId} and owner.id = ${userId}`
      const [row] = rows
      if (!row) return undefined
      const { email, language, active, permissions } = row
      return { userId, email, language, isActive: active, permissions: new Set(permissions) }
    },

    /**
     * Those of the addresses that may get data of the company, each with the language of its mails: active users,
     * and addresses of verified domains that belong to no other user.
     */
    async listReaders(
      companyId: string,
      addresses: readonly string[],
    ): Promise<{ email: string; language: Language }[]> {
      if (addresses.length === 0) return []
      const known = await db
        .select({ email: users.email, status: users.status, language: users.language })
        .from(users)
        .where(and(eq(users.companyId, companyId), inArray(users.email, [...addresses])))
      const domains = await db
        .select({ domain: ssoDomains.domain })
        .from(ssoDomains)
        .where(and(eq(ssoDomains.companyId, companyId), isNotNull(ssoDomains.verifiedAt)))
      const [company] = await db
        .select({ language: companies.language })
        .from(companies)
        .where(eq(companies.id, companyId))
      const verified = new Set(domains.map(({ domain }) => domain))
      return addresses.flatMap((email) => {
        const same = known.filter((each) => each.email === email)
        const active = same.find(({ status }) => status === 'active')
        const isOfDomain = same.length === 0 && verified.has(email.slice(email.lastIndexOf('@') + 1))
        if (!active && !isOfDomain) return []
        return { email, language: active?.language ?? company?.language ?? 'en' }
      })
    },
  }
}
