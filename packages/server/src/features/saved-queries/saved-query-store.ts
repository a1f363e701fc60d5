import type { PermissionName } from '@millrace/contract/permissions.ts'
import { nextRevision } from '../../database/tables/columns.ts'
import { companies } from '../../database/tables/company.ts'
import { rolePermissions } from '../../database/tables/role.ts'
import { savedQueries } from '../../database/tables/saved-query.ts'
import { ssoDomains } from '../../database/tables/single-sign-on.ts'
import { users } from '../../database/tables/user.ts'
import type { Language } from '../../platform/i18n/language.ts'
import type { Range } from '../../platform/paging.ts'
import { and, count, desc, eq, inArray, isNotNull, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'

export type StoredSavedQuery = typeof savedQueries.$inferSelect

export type NewSavedQuery = Pick<
  StoredSavedQuery,
  'id' | 'companyId' | 'ownerId' | 'name' | 'queries' | 'schedule' | 'nextRunAt' | 'plannedTo'
>

export type SavedQueryChange = Partial<
  Pick<
    StoredSavedQuery,
    | 'ownerId'
    | 'lastSavedBy'
    | 'name'
    | 'queries'
    | 'schedule'
    | 'nextRunAt'
    | 'plannedTo'
    | 'pausedReason'
    | 'failures'
  >
>

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
  const here = (companyId: string, id: string) =>
    and(eq(savedQueries.companyId, companyId), eq(savedQueries.id, id))

  return {
    async insert(row: NewSavedQuery): Promise<StoredSavedQuery> {
      const [stored] = await db
        .insert(savedQueries)
        .values({ ...row, createdBy: row.ownerId, lastSavedBy: row.ownerId })
        .returning()
      if (!stored) throw new Error('an insert without conflict gives its row')
      return stored
    },

    async count(companyId: string): Promise<number> {
      const [row] = await db
        .select({ count: count() })
        .from(savedQueries)
        .where(eq(savedQueries.companyId, companyId))
      return row?.count ?? 0
    },

    /** The newest first. */
    async list(companyId: string, { limit, offset }: Range): Promise<StoredSavedQuery[]> {
      return db
        .select()
        .from(savedQueries)
        .where(eq(savedQueries.companyId, companyId))
        .orderBy(desc(savedQueries.createdAt), desc(savedQueries.id))
        .limit(limit)
        .offset(offset)
    },

    async find(companyId: string, id: string): Promise<StoredSavedQuery | undefined> {
      const [row] = await db.select().from(savedQueries).where(here(companyId, id))
      return row
    },

    /** Locks it until the transaction ends: changes, the planning of runs and their delivery come one after the other. */
    async lock(companyId: string, id: string): Promise<StoredSavedQuery | undefined> {
      const [row] = await db.select().from(savedQueries).where(here(companyId, id)).for('update')
      return row
    },

    /** What users change. */
    async update(companyId: string, id: string, change: SavedQueryChange): Promise<StoredSavedQuery> {
      const [row] = await db
        .update(savedQueries)
        .set({ ...change, ...nextRevision(savedQueries) })
        .where(here(companyId, id))
        .returning()
      if (!row) throw new Error('a locked row is there')
      return row
    },

    /** What runs change, which is no change of the saved query. */
    async note(
      companyId: string,
      id: string,
      change: Pick<SavedQueryChange, 'nextRunAt' | 'plannedTo' | 'pausedReason' | 'failures'>,
    ): Promise<void> {
      await db.update(savedQueries).set(change).where(here(companyId, id))
    },

    async delete(companyId: string, id: string): Promise<void> {
      await db.delete(savedQueries).where(here(companyId, id))
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
      const { rows } = await db.execute<{
        email: string
        language: Language
        active: boolean
        permissions: PermissionName[]
      }>(
        sql`select owner.email, coalesce(owner.language, company.language) as language,
            owner.status = 'active' as active,
            array(select resource || ':' || action from ${rolePermissions} where role_id = owner.role_id)
              as permissions
          from ${users} as owner join ${companies} as company on company.id = owner.company_id
          where owner.company_id = ${companyId} and owner.id = ${userId}`,
      )
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
