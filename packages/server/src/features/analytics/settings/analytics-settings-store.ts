import { companies } from '../../../database/tables/company.ts'
import { eq, type Row, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { EventAliases } from '../query/compile/event-name.ts'
import type { StatisticsSettings } from '../question.ts'

const fields = {
  attributionModel: companies.attributionModel,
  clickWindowHours: companies.clickWindowHours,
  displayWindowHours: companies.displayWindowHours,
  exactCounts: companies.exactCounts,
  countries: companies.countries,
  showsOtherTeams: companies.showsOtherTeams,
}

/** What a company has set about its statistics. */
export type AnalyticsFields = Row<typeof fields>

/** Pairs, since a name may be any text: `__proto__` too. */
const aliases = sql<[name: string, alias: string][]>`(
  select coalesce(json_agg(json_build_array(a.name, a.alias) order by a.name), '[]')
  from event_aliases a where a.company_id = "companies"."id")`

/** Settings of statistics, columns of the company; given a transaction it works inside it. */
export function createAnalyticsSettingsStore(db: Queries) {
  return {
    async find(companyId: string): Promise<AnalyticsFields | undefined> {
      const [row] = await db.select(fields).from(companies).where(eq(companies.id, companyId))
      return row
    },

    /** The same with the company's name, locked until the transaction ends. */
    async findForUpdate(companyId: string): Promise<(AnalyticsFields & { name: string }) | undefined> {
      const [row] = await db
        .select({ ...fields, name: companies.name })
        .from(companies)
        .where(eq(companies.id, companyId))
        .for('no key update')
      return row
    },

    /** All that a query needs to know of its company, in one statement. */
    async findForQuery(companyId: string): Promise<StatisticsSettings | undefined> {
      const [row] = await db
        .select({ ...fields, timezone: companies.timezone, aliases })
        .from(companies)
        .where(eq(companies.id, companyId))
      if (!row) return undefined
      const { timezone, exactCounts, attributionModel: model, clickWindowHours, displayWindowHours } = row
      const eventAliases: EventAliases = new Map(row.aliases)
      const windows = { clickHours: clickWindowHours, displayHours: displayWindowHours }
      return { timezone, exactCounts, attribution: { model, windows }, eventAliases }
    },

    async update(companyId: string, changed: Partial<AnalyticsFields>): Promise<void> {
      await db
        .update(companies)
        .set({ ...changed, updatedAt: sql`now()` })
        .where(eq(companies.id, companyId))
    },
  }
}
