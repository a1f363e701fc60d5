import { sealedColumns } from '../../../database/sealed-columns.ts'
import { companies } from '../../../database/tables/company.ts'
import { datasources } from '../../../database/tables/datasource.ts'
import { users } from '../../../database/tables/user.ts'
import {
  datasourceImports,
  datasourceVersions,
  workerDatasources,
} from '../../../database/tables/worker-datasource.ts'
import type { Language } from '../../../platform/i18n/language.ts'
import { and, eq, inArray, sql } from '../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../platform/stores/relational.ts'

/** What the headers of a source are sealed for. */
export const headersContext = sealedColumns.sourceHeaders.contextOf

export type StoredWorker = typeof workerDatasources.$inferSelect
export type WorkerChange = Partial<Omit<StoredWorker, 'datasourceId' | 'companyId' | 'type' | 'createdBy'>>
export type LiveVersion = typeof datasourceVersions.$inferSelect

/** A worker datasource with what its status follows from. */
export interface WorkerState {
  readonly worker: StoredWorker
  readonly live: LiveVersion | undefined
  readonly isImporting: boolean
}

/** For what a transaction does that has lasted long: its `now()` is when it began. */
const present = sql`clock_timestamp()`

/** Worker datasources and their versions; given a transaction it works inside it. */
export function createWorkerStore(db: Queries) {
  const execute = sqlOn(db)

  const here = (companyId: string, datasourceId: string) =>
    and(eq(workerDatasources.companyId, companyId), eq(workerDatasources.datasourceId, datasourceId))

  /** That a version is the one of the datasource which readers find. */
  const isItsLive = and(
    eq(datasourceVersions.datasourceId, workerDatasources.datasourceId),
    eq(datasourceVersions.state, 'live'),
  )

  const isImporting = sql<boolean>`exists(select 1 from ${datasourceImports} as i
    where i.datasource_id = "worker_datasources"."datasource_id" and i.state in ('queued', 'running'))`

  return {
    async insert(row: typeof workerDatasources.$inferInsert): Promise<void> {
      await db.insert(workerDatasources).values(row)
    },

    async listStates(companyId: string, ids: readonly string[]): Promise<ReadonlyMap<string, WorkerState>> {
      if (ids.length === 0) return new Map()
      const rows = await db
        .select({ worker: workerDatasources, live: datasourceVersions, isImporting })
        .from(workerDatasources)
        .leftJoin(datasourceVersions, isItsLive)
        .where(
          and(eq(workerDatasources.companyId, companyId), inArray(workerDatasources.datasourceId, [...ids])),
        )
      return new Map(
        rows.map(({ live, ...row }) => [row.worker.datasourceId, { ...row, live: live ?? undefined }]),
      )
    },

    /** Locks it until the transaction ends. */
    async lock(companyId: string, datasourceId: string): Promise<StoredWorker | undefined> {
      const [row] = await db
        .select()
        .from(workerDatasources)
        .where(here(companyId, datasourceId))
        .for('update')
      return row
    },

    async find(companyId: string, datasourceId: string): Promise<StoredWorker | undefined> {
      const [row] = await db.select().from(workerDatasources).where(here(companyId, datasourceId))
      return row
    },

    async update(companyId: string, datasourceId: string, change: WorkerChange): Promise<void> {
      if (Object.keys(change).length === 0) return
      await db.update(workerDatasources).set(change).where(here(companyId, datasourceId))
    },

    async findLive(companyId: string, datasourceId: string): Promise<LiveVersion | undefined> {
      const [row] = await db
        .select()
        .from(datasourceVersions)
        .where(
          and(
            eq(datasourceVersions.companyId, companyId),
            eq(datasourceVersions.datasourceId, datasourceId),
            eq(datasourceVersions.state, 'live'),
          ),
        )
      return row
    },

    /** Live versions of a company, with the datasources that they are of. */
    async listLive(companyId: string): Promise<{ worker: StoredWorker; live: LiveVersion }[]> {
      return db
        .select({ worker: workerDatasources, live: datasourceVersions })
        .from(workerDatasources)
        .innerJoin(datasourceVersions, isItsLive)
        .where(eq(workerDatasources.companyId, companyId))
        .orderBy(workerDatasources.datasourceId)
    },

    /** All that find the live version from now on find this one. */
    async goLive(
      version: Pick<
        LiveVersion,
        'id' | 'companyId' | 'datasourceId' | 'fields' | 'keyField' | 'rowCount' | 'rowBytes'
      >,
    ): Promise<void> {
      await db
        .update(datasourceVersions)
        .set({ state: 'retired', retiredAt: present })
        .where(
          and(
            eq(datasourceVersions.datasourceId, version.datasourceId),
            eq(datasourceVersions.state, 'live'),
          ),
        )
      await db
        .insert(datasourceVersions)
        .values({ ...version, state: 'live', createdAt: present, updatedAt: present })
    },

    /** After rows were put into the live version, or were removed from it. */
    async noteMerged(versionId: string, added: number, rowBytes: number): Promise<void> {
      await db
        .update(datasourceVersions)
        .set({
          rowCount: sql`${datasourceVersions.rowCount} + ${added}`,
          rowBytes,
          revision: sql`${datasourceVersions.revision} + 1`,
          updatedAt: present,
        })
        .where(eq(datasourceVersions.id, versionId))
    },

    /** When the next import is to be planned. */
    dueAt: sql`(select next_refresh_at from worker_datasources join datasources on datasources.id = datasource_id
      where next_refresh_at is not null and status = 'active' order by next_refresh_at limit 1)`,

    /** Worker datasources whose planned time has come, locked until the transaction ends. */
    async lockDue(limit: number): Promise<{ now: number; rows: StoredWorker[] }> {
      const rows = await db
        .select({ worker: workerDatasources, now: sql<Date>`now()`.mapWith(datasources.createdAt) })
        .from(workerDatasources)
        .innerJoin(datasources, eq(datasources.id, workerDatasources.datasourceId))
        .where(and(eq(datasources.status, 'active'), sql`${workerDatasources.nextRefreshAt} <= now()`))
        .orderBy(workerDatasources.nextRefreshAt)
        .limit(limit)
        .for('update', { of: workerDatasources, skipLocked: true })
      return { now: rows[0]?.now.getTime() ?? 0, rows: rows.map(({ worker }) => worker) }
    },

    /** Those of the names that are contents of datasources. */
    async listContents(names: readonly string[]): Promise<string[]> {
      const rows = await execute<{ file: string }>`
        select content->>'file' as file from ${workerDatasources}
        where content->>'file' in ${sql`(${sql.join(
          names.map((name) => sql`${name}`),
          sql`, `,
        )})`}`
      return rows.map(({ file }) => file)
    },

    /** The active user who made it. */
    async findCreator({
      companyId,
      createdBy,
    }: StoredWorker): Promise<{ email: string; language: Language } | undefined> {
      if (createdBy === null) return undefined
      const [row] = await db
        .select({ email: users.email, own: users.language, language: companies.language })
        .from(users)
        .innerJoin(companies, eq(companies.id, users.companyId))
        .where(and(eq(users.companyId, companyId), eq(users.id, createdBy), eq(users.status, 'active')))
      return row && { email: row.email, language: row.own ?? row.language }
    },

    /** Forgets retired versions that no reader has. @returns their ids */
    async forgetRetired(seconds: number): Promise<string[]> {
      const rows = await execute<{ id: string }>`
        delete from ${datasourceVersions}
        where state = 'retired' and retired_at < now() - make_interval(secs => ${seconds}) returning id`
      return rows.map(({ id }) => id)
    },

    /** Versions that have a table of rows and nothing else: their datasource is deleted, or they are retired. */
    async listOrphans(limit: number): Promise<string[]> {
      const rows = await execute<{ id: string }>`
        select substr(relname, 3) as id from pg_class
        where relnamespace = 'datasource_rows'::regnamespace and relkind = 'r'
          and not exists (select 1 from ${datasourceVersions} as version where version.id = substr(relname, 3))
        limit ${limit}`
      return rows.map(({ id }) => id)
    },
  }
}
