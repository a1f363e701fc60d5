import { companies } from '../../../../database/tables/company.ts'
import { teams } from '../../../../database/tables/team.ts'
import { and, eq, isNull, type Row, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

const columns = {
  id: companies.id,
  name: companies.name,
  timezone: companies.timezone,
  language: companies.language,
  currency: companies.currency,
  attributionModel: companies.attributionModel,
  clickWindowHours: companies.clickWindowHours,
  displayWindowHours: companies.displayWindowHours,
  exactCounts: companies.exactCounts,
  auditRetentionDays: companies.auditRetentionDays,
  eventRetentionDays: companies.eventRetentionDays,
  defaultRoleId: companies.defaultRoleId,
  defaultTeamId: sql<string>`(select t.id from teams t where t.company_id = "companies"."id" and t.is_default)`,
  createdAt: companies.createdAt,
  updatedAt: companies.updatedAt,
}

export type StoredCompany = Row<typeof columns>

/** In which a company that was closed can be opened again; remove_closed_company of the database keeps to them. */
export const closedDays = 7

const removedBefore = sql`now() - make_interval(days => ${closedDays})`

/** What a request may change of a company. */
export type CompanyFields = Omit<StoredCompany, 'id' | 'createdAt' | 'updatedAt'>

/** One company with its settings; given a transaction it works inside it. */
export function createCompanyStore(db: Queries) {
  /** One after the other: the index that allows one default team is asked row by row. */
  async function replaceDefaultTeam(companyId: string, teamId: string): Promise<void> {
    const here = eq(teams.companyId, companyId)
    const updatedAt = sql`now()`
    await db.update(teams).set({ isDefault: false, updatedAt }).where(and(here, teams.isDefault))
    await db
      .update(teams)
      .set({ isDefault: true, updatedAt })
      .where(and(here, eq(teams.id, teamId)))
  }

  return {
    async find(id: string): Promise<StoredCompany | undefined> {
      const [row] = await db.select(columns).from(companies).where(eq(companies.id, id))
      return row
    },

    async list(): Promise<{ id: string; name: string; closedAt: Date | null }[]> {
      const { id, name, closedAt } = companies
      return db.select({ id, name, closedAt }).from(companies).orderBy(id)
    },

    /** @returns when; undefined where it is closed already or does not exist */
    async close(id: string): Promise<Date | undefined> {
      const [row] = await db
        .update(companies)
        .set({ closedAt: sql`now()` })
        .where(and(eq(companies.id, id), isNull(companies.closedAt)))
        .returning({ closedAt: companies.closedAt })
      return row?.closedAt ?? undefined
    },

    /** @returns false where it is not closed, or was so long ago that it is being removed */
    async open(id: string): Promise<boolean> {
      const { rowCount } = await db
        .update(companies)
        .set({ closedAt: null })
        .where(and(eq(companies.id, id), sql`${companies.closedAt} > ${removedBefore}`))
      return (rowCount ?? 0) > 0
    },

    /** Those that cannot be opened again. */
    async listToRemove(): Promise<string[]> {
      const { id, closedAt } = companies
      const rows = await db.select({ id }).from(companies).where(sql`${closedAt} <= ${removedBefore}`)
      return rows.map((row) => row.id)
    },

    /** Removes one of those with all its rows; false where it is none. */
    async removeClosed(id: string): Promise<boolean> {
      const { rows } = await db.execute<{ removed: boolean }>(
        sql`select remove_closed_company(${id}) as removed`,
      )
      return rows[0]?.removed === true
    },

    async insert(company: { id: string; name: string }): Promise<void> {
      await db.insert(companies).values(company)
    },

    /** The company is locked. */
    async update(id: string, { defaultTeamId, ...fields }: Partial<CompanyFields>): Promise<void> {
      if (defaultTeamId !== undefined) await replaceDefaultTeam(id, defaultTeamId)
      await db
        .update(companies)
        .set({ ...fields, updatedAt: sql`now()` })
        .where(eq(companies.id, id))
    },
  }
}
