import { companies } from '../../database/tables/company.ts'
import { reportGenerations, reports } from '../../database/tables/report.ts'
import type { Language } from '../../platform/i18n/language.ts'
import type { Range } from '../../platform/paging.ts'
import { type ListSearch, listOrder } from '../../platform/resources/list-order.ts'
import { containsText } from '../../platform/stores/postgres/contains-text.ts'
import {
  alias,
  and,
  asc,
  columnsOf,
  count,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  sql,
} from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { StoredGeneration } from './generations/generation-store.ts'

export type StoredReport = typeof reports.$inferSelect
export type NewReport = typeof reports.$inferInsert
export type ReportChange = Partial<Omit<StoredReport, 'id' | 'companyId' | 'createdAt' | 'updatedAt'>>

/** A report beside the generations that its summary names. */
export interface ListedReport {
  readonly report: StoredReport
  readonly active: Pick<StoredGeneration, (typeof activeColumns)[number]> | null
  readonly failed: Pick<StoredGeneration, (typeof failedColumns)[number]> | null
}

export interface ReportFilter extends ListSearch<'title' | 'createdAt' | 'updatedAt'> {
  readonly includeArchived?: boolean
}

/** An automatic report has none before it is written. */
const titleText = sql`coalesce(${reports.title}, '')`

/** Of the generations only what a summary shows: neither sections nor, but of those that failed, evidence. */
const activeColumns = ['id', 'kind', 'state', 'startedAt', 'createdAt', 'progress'] as const
const failedColumns = [
  ...(['id', 'kind', 'question', 'failure', 'usage', 'endedAt', 'requestedType', 'requestedBy'] as const),
] as const

const active = alias(reportGenerations, 'active')
const failed = alias(reportGenerations, 'failed')

/** Reports; given a transaction it works inside it. */
export function createReportStore(db: Queries) {
  const one = (companyId: string, id: string) => and(eq(reports.companyId, companyId), eq(reports.id, id))
  const listed = (companyId: string, { includeArchived, q }: ReportFilter) =>
    and(
      eq(reports.companyId, companyId),
      includeArchived ? undefined : isNull(reports.archivedAt),
      q === undefined ? undefined : containsText(titleText, q),
    )

  const summaries = () =>
    db
      .select({
        report: getTableColumns(reports),
        active: columnsOf(active, activeColumns),
        failed: columnsOf(failed, failedColumns),
      })
      .from(reports)
      .leftJoin(active, and(eq(active.reportId, reports.id), inArray(active.state, ['queued', 'running'])))
      .leftJoin(failed, eq(failed.id, reports.failedGenerationId))

  return {
    async insert(report: NewReport): Promise<StoredReport> {
      const [row] = await db.insert(reports).values(report).returning()
      if (!row) throw new Error('an insert without conflict gives its row')
      return row
    },

    /** Undefined where the period has its report already. */
    async insertAutomatic(report: NewReport): Promise<StoredReport | undefined> {
      const [row] = await db.insert(reports).values(report).onConflictDoNothing().returning()
      return row
    },

    /** New reports of a company come one after the other until the transaction ends, so that each is counted. */
    async lockRoom(companyId: string): Promise<void> {
      await db.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`reports.${companyId}`}, 0))`)
    },

    async count(companyId: string, filter: ReportFilter): Promise<number> {
      const [row] = await db.select({ count: count() }).from(reports).where(listed(companyId, filter))
      return row?.count ?? 0
    },

    async list(companyId: string, filter: ReportFilter, { limit, offset }: Range): Promise<ListedReport[]> {
      const { id, createdAt, updatedAt } = reports
      const keys = { title: sql`lower(${titleText})`, createdAt, updatedAt }
      const order = listOrder(filter, keys, id, { sortBy: 'createdAt', sortOrder: 'desc' })
      // What a page leaves out is not joined with anything.
      const page = db
        .select({ id: reports.id })
        .from(reports)
        .where(listed(companyId, filter))
        .orderBy(...order)
        .limit(limit)
        .offset(offset)
        .as('page')
      return summaries()
        .innerJoin(page, eq(page.id, reports.id))
        .where(eq(reports.companyId, companyId))
        .orderBy(...order)
    },

    async find(companyId: string, id: string): Promise<ListedReport | undefined> {
      const [row] = await summaries().where(one(companyId, id))
      return row
    },

    /** Locks it until the transaction ends: requests, attempts and archiving come one after the other. */
    async lock(companyId: string, id: string): Promise<StoredReport | undefined> {
      const [row] = await db.select().from(reports).where(one(companyId, id)).for('update')
      return row
    },

    /** `updatedAt` never goes back. */
    async update(companyId: string, id: string, change: ReportChange): Promise<void> {
      await db
        .update(reports)
        .set({ ...change, updatedAt: sql`greatest(now(), ${reports.updatedAt} + interval '1 millisecond')` })
        .where(one(companyId, id))
    },

    /** Keeps the time of the first archiving. */
    async archive(companyId: string, id: string): Promise<void> {
      await db
        .update(reports)
        .set({
          archivedAt: sql`now()`,
          updatedAt: sql`greatest(now(), ${reports.updatedAt} + interval '1 millisecond')`,
        })
        .where(and(one(companyId, id), isNull(reports.archivedAt)))
    },

    /** Deletes the report that was archived first. @returns whether there was one */
    async deleteOldestArchived(companyId: string): Promise<boolean> {
      const oldest = db
        .select({ id: reports.id })
        .from(reports)
        .where(and(eq(reports.companyId, companyId), isNotNull(reports.archivedAt)))
        .orderBy(asc(reports.archivedAt), asc(reports.id))
        .limit(1)
      const deleted = await db
        .delete(reports)
        .where(and(eq(reports.companyId, companyId), inArray(reports.id, oldest)))
        .returning({ id: reports.id })
      return deleted.length > 0
    },

    /** What new reports of a company are written in. */
    async findLanguage(companyId: string): Promise<Language> {
      const [row] = await db
        .select({ language: companies.language })
        .from(companies)
        .where(eq(companies.id, companyId))
      return row?.language ?? 'en'
    },
  }
}
