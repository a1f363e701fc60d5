import type {
  Datasource,
  DatasourceType,
  DeletedDatasource,
} from '@millrace/contract/resources/datasource.ts'
import { companies } from '../../database/tables/company.ts'
import { datasourceCounters, datasources, datasourceTeams } from '../../database/tables/datasource.ts'
import { eventPurges } from '../../database/tables/event-purge.ts'
import { type Listed, mapListed, type Page, pageOf } from '../../platform/paging.ts'
import { type ListOrder, listOrder } from '../../platform/resources/list-order.ts'
import { containsText } from '../../platform/stores/postgres/contains-text.ts'
import {
  and,
  desc,
  eq,
  exists,
  inArray,
  isNotNull,
  isNull,
  ne,
  type Row,
  sql,
} from '../../platform/stores/postgres/drizzle.ts'
import type { Relational } from '../../platform/stores/relational.ts'

/** What both the store and a transaction of it offer. */
export type Queries = Pick<Relational['db'], 'select' | 'insert' | 'update' | 'delete' | '$count'>

export type DatasourceStatus = (typeof datasources.$inferSelect)['status']
export type DatasourceKind = (typeof datasources.$inferSelect)['kind']

/** What the collector needs to know of a datasource. */
export type DatasourceState = Pick<
  typeof datasources.$inferSelect,
  'id' | 'companyId' | 'kind' | 'status' | 'consent'
> &
  Pick<typeof companies.$inferSelect, 'countries'>

export interface NewDatasource {
  readonly id: string
  readonly companyId: string
  readonly name: string
  /** A tracking datasource when absent. */
  readonly kind?: DatasourceKind
  readonly sampleData?: 'filling'
  /** Of the company, at least one. */
  readonly teamIds: readonly string[]
}

/** The user who asks: datasources of other companies, and those that none of the user's teams sees, do not exist. */
export interface Viewer {
  readonly companyId: string
  readonly teamIds: readonly string[]
}

/** Which of the datasources that a viewer sees are listed. */
export interface DatasourceFilter extends ListOrder<'name' | 'createdAt' | 'updatedAt'> {
  readonly name?: string | undefined
  readonly mode?: 'ingester' | 'worker' | undefined
  readonly type?: DatasourceType | undefined
  /** As it is answered, which is more than what is stored of it. */
  readonly status?: Datasource['status'] | undefined
  readonly resourceGroupId?: string | undefined
}

export type StoredCounters = Omit<typeof datasourceCounters.$inferSelect, 'companyId' | 'datasourceId'>

/** A column of the outer query must carry its table's name inside a subquery of plain SQL. */
const teamIds = sql<string[]>`array(
  select t.team_id from datasource_teams t where t.datasource_id = "datasources"."id" order by t.team_id)`

const columns = {
  id: datasources.id,
  companyId: datasources.companyId,
  name: datasources.name,
  kind: datasources.kind,
  status: datasources.status,
  sampleData: datasources.sampleData,
  eventRetentionDays: datasources.eventRetentionDays,
  consent: datasources.consent,
  teamIds,
  createdAt: datasources.createdAt,
  updatedAt: datasources.updatedAt,
}

export type StoredDatasource = Row<typeof columns>

/** Datasources and what was counted of them; given a transaction it works inside it. */
export function createDatasourceStore(db: Queries) {
  /** What a datasource is answered with, for conditions: the same as `typeOf` and `statusOf` of present-datasource.ts. */
  const answered = {
    type: sql`case "datasources"."kind" when 'tracking' then 'analytics' when 'workflow_events' then 'workflow_events'
      else coalesce((select w.type from worker_datasources w where w.datasource_id = "datasources"."id"), 'generic') end`,
    status: sql`case when "datasources"."status" <> 'active' then 'paused' else coalesce((
      select case
        when exists (select 1 from datasource_imports i
          where i.datasource_id = w.datasource_id and i.state in ('queued', 'running')) then 'updating'
        when w.failure is not null then 'error'
        when exists (select 1 from datasource_versions v
          where v.datasource_id = w.datasource_id and v.state = 'live') then 'published'
        else 'draft' end
      from worker_datasources w where w.datasource_id = "datasources"."id"), 'published') end`,
  }

  const seenBy = (teamIds: readonly string[]) =>
    exists(
      db
        .select({ one: sql`1` })
        .from(datasourceTeams)
        .where(
          and(
            eq(datasourceTeams.datasourceId, datasources.id),
            inArray(datasourceTeams.teamId, [...teamIds]),
          ),
        ),
    )

  const deletedOf = ({ companyId, teamIds }: Viewer) =>
    and(eq(datasources.companyId, companyId), eq(datasources.status, 'deleted'), seenBy(teamIds))

  const visibleTo = ({ companyId, teamIds }: Viewer) =>
    and(eq(datasources.companyId, companyId), ne(datasources.status, 'deleted'), seenBy(teamIds))

  const matching = (viewer: Viewer, { name, mode, type, status, resourceGroupId }: DatasourceFilter) =>
    and(
      visibleTo(viewer),
      name === undefined ? undefined : containsText(datasources.name, name),
      mode && (mode === 'worker' ? eq(datasources.kind, 'worker') : ne(datasources.kind, 'worker')),
      type && eq(answered.type, type),
      status && eq(answered.status, status),
      resourceGroupId === undefined ? undefined : seenBy([resourceGroupId]),
    )

  return {
    async insert({ teamIds, ...datasource }: NewDatasource): Promise<void> {
      await db.insert(datasources).values(datasource)
      const { id: datasourceId, companyId } = datasource
      await db.insert(datasourceTeams).values(teamIds.map((teamId) => ({ companyId, datasourceId, teamId })))
    },

    async find(viewer: Viewer, id: string): Promise<StoredDatasource | undefined> {
      if (viewer.teamIds.length === 0) return undefined
      const [row] = await db
        .select(columns)
        .from(datasources)
        .where(and(eq(datasources.id, id), visibleTo(viewer)))
      return row
    },

    /** Identifiers of all that the viewer sees. */
    async listSeen(viewer: Viewer): Promise<string[]> {
      if (viewer.teamIds.length === 0) return []
      const rows = await db.select({ id: datasources.id }).from(datasources).where(visibleTo(viewer))
      return rows.map(({ id }) => id)
    },

    /** Locked until the transaction ends. Its teams are read once the lock is held, by a statement of their own. */
    async lock(viewer: Viewer, id: string): Promise<StoredDatasource | undefined> {
      const [held] = await db
        .select({ id: datasources.id })
        .from(datasources)
        .where(and(eq(datasources.companyId, viewer.companyId), eq(datasources.id, id)))
        .for('update')
      return held && this.find(viewer, id)
    },

    /** One that was deleted, of a team of the viewer. */
    async lockDeleted(viewer: Viewer, id: string): Promise<{ id: string; name: string } | undefined> {
      if (viewer.teamIds.length === 0) return undefined
      const [held] = await db
        .select({ id: datasources.id, name: datasources.name })
        .from(datasources)
        .where(and(eq(datasources.id, id), deletedOf(viewer)))
        .for('update')
      return held
    },

    /** Those whose deletion can be undone, the last one first. */
    async listDeleted(viewer: Viewer, page: Page): Promise<Listed<DeletedDatasource>> {
      if (viewer.teamIds.length === 0) return { rows: [], count: 0 }
      const { requestedAt, purgeAfter, restoredAt } = eventPurges
      const isUndoable = and(
        eq(eventPurges.datasourceId, datasources.id),
        isNull(restoredAt),
        sql`${purgeAfter} > now()`,
      )
      const undoable = db
        .select({ id: datasources.id, name: datasources.name, deletedAt: requestedAt, purgeAfter })
        .from(datasources)
        .innerJoin(eventPurges, isUndoable)
        .where(deletedOf(viewer))
      const count = db.$count(
        datasources,
        and(deletedOf(viewer), exists(db.select({ one: sql`1` }).from(eventPurges).where(isUndoable))),
      )
      const listed = await pageOf(undoable.orderBy(desc(requestedAt), datasources.id), count, page)
      return mapListed(listed, (row) => ({
        ...row,
        deletedAt: row.deletedAt.toISOString(),
        purgeAfter: row.purgeAfter.toISOString(),
      }))
    },

    async update(
      companyId: string,
      id: string,
      change: {
        readonly name?: string | undefined
        readonly status?: DatasourceStatus
        readonly sampleData?: 'filled'
        readonly eventRetentionDays?: number | null | undefined
        readonly consent?: StoredDatasource['consent'] | undefined
      },
    ): Promise<void> {
      await db
        .update(datasources)
        .set({ ...change, updatedAt: sql`now()` })
        .where(and(eq(datasources.companyId, companyId), eq(datasources.id, id)))
    },

    async replaceTeams(companyId: string, datasourceId: string, teamIds: readonly string[]): Promise<void> {
      await db.delete(datasourceTeams).where(eq(datasourceTeams.datasourceId, datasourceId))
      await db.insert(datasourceTeams).values(teamIds.map((teamId) => ({ companyId, datasourceId, teamId })))
    },

    async addTeams(companyId: string, datasourceId: string, teamIds: readonly string[]): Promise<void> {
      await db
        .insert(datasourceTeams)
        .values(teamIds.map((teamId) => ({ companyId, datasourceId, teamId })))
        .onConflictDoNothing()
    },

    /** Whichever teams see it. */
    async findSampleData(companyId: string): Promise<StoredDatasource | undefined> {
      const [row] = await db
        .select(columns)
        .from(datasources)
        .where(
          and(
            eq(datasources.companyId, companyId),
            isNotNull(datasources.sampleData),
            ne(datasources.status, 'deleted'),
          ),
        )
      return row
    },

    async findName(companyId: string, id: string): Promise<string | undefined> {
      const [row] = await db
        .select({ name: datasources.name })
        .from(datasources)
        .where(and(eq(datasources.companyId, companyId), eq(datasources.id, id)))
      return row?.name
    },

    /** With everything that is kept of it but rows and files. */
    async delete(companyId: string, id: string): Promise<void> {
      await db.delete(datasources).where(and(eq(datasources.companyId, companyId), eq(datasources.id, id)))
    },

    countOfCompany: (companyId: string): Promise<number> =>
      db.$count(datasources, and(eq(datasources.companyId, companyId), ne(datasources.status, 'deleted'))),

    /** The oldest first. */
    async list(viewer: Viewer, filter: DatasourceFilter, page: Page): Promise<Listed<StoredDatasource>> {
      if (viewer.teamIds.length === 0) return { rows: [], count: 0 }
      const where = matching(viewer, filter)
      const { id, name, createdAt, updatedAt } = datasources
      const keys = { name: sql`lower(${name})`, createdAt, updatedAt }
      const order = listOrder(filter, keys, id, { sortBy: 'createdAt', sortOrder: 'asc' })
      const query = db
        .select(columns)
        .from(datasources)
        .where(where)
        .orderBy(...order)
      return pageOf(query, db.$count(datasources, where), page)
    },

    /** Of a company that is not closed; without a viewer, for the collector, which compares `companyId` with the key of the request itself. */
    async findState(id: string): Promise<DatasourceState | undefined> {
      const { companyId, kind, status, consent } = datasources
      const [row] = await db
        .select({ id: datasources.id, companyId, kind, status, consent, countries: companies.countries })
        .from(datasources)
        .innerJoin(companies, eq(companies.id, companyId))
        .where(and(eq(datasources.id, id), isNull(companies.closedAt)))
      return row
    },

    /** Undefined until the first events were loaded. */
    async findCounters(datasourceId: string): Promise<StoredCounters | undefined> {
      const { accepted, changed, dropped, bot, duplicate, updatedAt } = datasourceCounters
      const [row] = await db
        .select({ accepted, changed, dropped, bot, duplicate, updatedAt })
        .from(datasourceCounters)
        .where(eq(datasourceCounters.datasourceId, datasourceId))
      return row
    },
  }
}
