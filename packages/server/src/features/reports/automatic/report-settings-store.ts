import type { GuidedAnalysisName } from '@millrace/contract/resources/report.ts'
import { reportSettings } from '../../../database/tables/report.ts'
import { and, asc, eq, isNotNull, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

export type StoredSettings = typeof reportSettings.$inferSelect
export type SettingsChange = Partial<Omit<StoredSettings, 'companyId' | 'slug' | 'id' | 'createdAt'>>

/** Settings of automatic reports; given a transaction it works inside it. */
export function createReportSettingsStore(db: Queries) {
  const one = (companyId: string, slug: GuidedAnalysisName) =>
    and(eq(reportSettings.companyId, companyId), eq(reportSettings.slug, slug))

  return {
    async list(companyId: string): Promise<StoredSettings[]> {
      return db.select().from(reportSettings).where(eq(reportSettings.companyId, companyId))
    },

    async find(companyId: string, slug: GuidedAnalysisName): Promise<StoredSettings | undefined> {
      const [row] = await db.select().from(reportSettings).where(one(companyId, slug))
      return row
    },

    /** Locks it until the transaction ends, and makes it first where it is missing. */
    async lock(row: Pick<StoredSettings, 'companyId' | 'slug' | 'id'>): Promise<StoredSettings> {
      await db
        .insert(reportSettings)
        .values({ ...row, cadence: 'monthly' })
        .onConflictDoNothing()
      const [locked] = await db
        .select()
        .from(reportSettings)
        .where(one(row.companyId, row.slug))
        .for('update')
      if (!locked) throw new Error('a row that was just made is there')
      return locked
    },

    async update(companyId: string, slug: GuidedAnalysisName, change: SettingsChange): Promise<void> {
      await db.update(reportSettings).set(change).where(one(companyId, slug))
    },

    /** When the next report is to be made. */
    dueAt: sql`(select min(next_at) from ${reportSettings})`,

    /** Those whose next report is due, locked, the longest due first. Now is the database's, which all processes share. */
    async lockDue(limit: number): Promise<{ now: number; rows: StoredSettings[] }> {
      const { rows: present } = await db.execute<{ now: number }>(
        sql`select (extract(epoch from now()) * 1000)::float8 as now`,
      )
      const rows = await db
        .select()
        .from(reportSettings)
        .where(sql`${reportSettings.nextAt} <= now()`)
        .orderBy(asc(reportSettings.nextAt), asc(reportSettings.id))
        .limit(limit)
        .for('update', { skipLocked: true })
      return { now: Math.floor(present[0]?.now ?? 0), rows }
    },

    /** Has the ends of a company's periods found anew, because its time zone is another one. */
    async replan(companyId: string): Promise<void> {
      await db
        .update(reportSettings)
        .set({ nextAt: sql`now()` })
        .where(and(eq(reportSettings.companyId, companyId), isNotNull(reportSettings.nextAt)))
    },
  }
}
