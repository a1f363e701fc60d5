import type { Dashboard, DashboardSummary } from '@millrace/contract/resources/dashboard.ts'
import { dashboards, dashboardTeams } from '../../database/tables/dashboard.ts'
import { type Listed, mapListed, type Page, pageOf } from '../../platform/paging.ts'
import { companyRows, type Key, type RowOf } from '../../platform/resources/company-rows.ts'
import { objectTeams } from '../../platform/resources/object-teams.ts'
import { withIsoDates } from '../../platform/resources/resource.ts'
import { containsText } from '../../platform/stores/postgres/contains-text.ts'
import { and, asc, desc, eq, or, type SQL, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'

/** The user who asks: dashboards of other companies, and those that the user does not see, do not exist. */
export interface Viewer {
  readonly companyId: string
  readonly userId: string
  readonly teamIds: readonly string[]
  readonly seesAll: boolean
}

export interface DashboardsAsked {
  readonly q?: string | undefined
  readonly sortBy?: 'name' | 'updatedAt' | 'createdAt' | undefined
  readonly sortOrder?: 'asc' | 'desc' | undefined
}

const extras = {
  resourceGroupIds: sql<string[]>`array(
    select t.team_id from dashboard_teams t where t.dashboard_id = "dashboards"."id" order by t.team_id)`,
}

export type StoredDashboard = RowOf<typeof dashboards, typeof extras>
export type DashboardFields = Pick<
  StoredDashboard,
  'name' | 'description' | 'tiles' | 'filters' | 'range' | 'comparison'
>

const named = <T extends { readonly lastSavedBy: string | null }>({ lastSavedBy, ...stored }: T) => ({
  ...stored,
  ...(lastSavedBy !== null && { lastSavedBy }),
})

export const toDashboard = (stored: StoredDashboard): Dashboard => named(withIsoDates(stored))

const summaryColumns = {
  id: dashboards.id,
  companyId: dashboards.companyId,
  name: dashboards.name,
  description: dashboards.description,
  ownerId: dashboards.ownerId,
  revision: dashboards.revision,
  lastSavedBy: dashboards.lastSavedBy,
  createdAt: dashboards.createdAt,
  updatedAt: dashboards.updatedAt,
  ...extras,
  tiles: sql<number>`json_array_length(${dashboards.tiles})`,
}

function ordered({ sortBy = 'updatedAt', sortOrder }: DashboardsAsked): SQL[] {
  const keys = {
    name: sql`lower(${dashboards.name})`,
    createdAt: dashboards.createdAt,
    updatedAt: dashboards.updatedAt,
  }
  const order = sortOrder ?? (sortBy === 'name' ? 'asc' : 'desc')
  return [order === 'asc' ? asc(keys[sortBy]) : desc(keys[sortBy]), asc(dashboards.id)]
}

/** Dashboards with their teams; given a transaction it works inside it. */
export function createDashboardStore(db: Queries) {
  const rows = companyRows(db, dashboards, extras)
  const teams = objectTeams(db, dashboardTeams, 'dashboardId')

  function seenBy({ userId, teamIds, seesAll }: Viewer): SQL | undefined {
    if (seesAll) return undefined
    return or(
      eq(dashboards.ownerId, userId),
      sql`not exists (select 1 from ${dashboardTeams} where ${dashboardTeams.dashboardId} = ${dashboards.id})`,
      teams.seenBy(dashboards.id, teamIds),
    )
  }

  return {
    insert: rows.insert,
    update: rows.update,
    delete: rows.delete,
    replaceTeams: teams.replace,

    async list(viewer: Viewer, asked: DashboardsAsked, page: Page): Promise<Listed<DashboardSummary>> {
      const { q } = asked
      const where = and(
        eq(dashboards.companyId, viewer.companyId),
        seenBy(viewer),
        q === undefined
          ? undefined
          : or(containsText(dashboards.name, q), containsText(dashboards.description, q)),
      )
      const query = db
        .select(summaryColumns)
        .from(dashboards)
        .where(where)
        .orderBy(...ordered(asked))
      const found = await pageOf(query, rows.count(where), page)
      return mapListed(found, (row) => named(withIsoDates(row)))
    },

    countOfCompany: (companyId: string): Promise<number> => rows.count(eq(dashboards.companyId, companyId)),

    find: (viewer: Viewer, id: string): Promise<StoredDashboard | undefined> =>
      rows.find({ companyId: viewer.companyId, id }, seenBy(viewer)),

    /** Whoever sees it. */
    findByKey: (key: Key): Promise<StoredDashboard | undefined> => rows.find(key),

    /** Locked until the transaction ends. */
    findForUpdate: (viewer: Viewer, id: string): Promise<StoredDashboard | undefined> =>
      rows.findForUpdate({ companyId: viewer.companyId, id }, seenBy(viewer)),
  }
}
