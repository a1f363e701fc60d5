import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { ReportUsage } from '@millrace/contract/resources/report.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import {
  reportEvidence,
  reportGenerations,
  reportSettings,
  reports,
  type StoredFailure,
} from '../../../database/tables/report.ts'
import {
  and,
  asc,
  count,
  desc,
  eq,
  inArray,
  notInArray,
  sql,
} from '../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../platform/stores/relational.ts'
import { createLedger, type Held } from '../../../platform/work/ledger.ts'

export type StoredGeneration = typeof reportGenerations.$inferSelect

export type NewGeneration = Pick<
  StoredGeneration,
  'id' | 'companyId' | 'reportId' | 'kind' | 'question' | 'requestedType' | 'requestedBy'
>

const underWay = inArray(reportGenerations.state, ['queued', 'running'])
/** That a piece of evidence is of a generation that is done. */
const ofDone = and(eq(reportGenerations.id, reportEvidence.generationId), eq(reportGenerations.state, 'done'))

/** The ledger of generations, which is also the queue that they are taken from; given a transaction it works inside it. */
export function createGenerationStore(db: Queries) {
  const execute = sqlOn(db)

  const ledger = createLedger(db, reportGenerations, 'report_generations')
  const ofReport = (companyId: string, reportId: string) =>
    and(eq(reportGenerations.companyId, companyId), eq(reportGenerations.reportId, reportId))

  return {
    ...ledger,

    /** Undefined where another generation of the report is under way. */
    async insert(generation: NewGeneration): Promise<StoredGeneration | undefined> {
      const [row] = await db.insert(reportGenerations).values(generation).onConflictDoNothing().returning()
      return row
    },

    /** In order, without those that failed. */
    async list(companyId: string, reportId: string): Promise<StoredGeneration[]> {
      return db
        .select()
        .from(reportGenerations)
        .where(and(ofReport(companyId, reportId), sql`${reportGenerations.state} <> 'failed'`))
        .orderBy(asc(reportGenerations.createdAt), asc(reportGenerations.id))
    },

    async find(companyId: string, id: string): Promise<StoredGeneration | undefined> {
      const [row] = await db
        .select()
        .from(reportGenerations)
        .where(and(eq(reportGenerations.companyId, companyId), eq(reportGenerations.id, id)))
      return row
    },

    async countFollowUps(companyId: string, reportId: string): Promise<number> {
      const [row] = await db
        .select({ count: count() })
        .from(reportGenerations)
        .where(and(ofReport(companyId, reportId), eq(reportGenerations.kind, 'follow-up')))
      return row?.count ?? 0
    },

    /**
     * Of a user within the last hour, and seconds until the oldest of them is older. Requests of one user wait for each
     * other until the transaction ends, so that none is counted without another's.
     */
    async countRecent(companyId: string, userId: string): Promise<{ count: number; freeIn: number }> {
      await execute`select pg_advisory_xact_lock(hashtextextended(${`report_generations.${userId}`}, 0))`
      const rows = await execute<{ count: number; free_in: number }>`
        select count(*)::int as count,
          coalesce(extract(epoch from min(created_at) + interval '1 hour' - now()), 0)::float8 as free_in
        from ${reportGenerations}
        where company_id = ${companyId} and requested_by = ${userId}
          and created_at > now() - interval '1 hour'`
      const [row] = rows
      return { count: row?.count ?? 0, freeIn: Math.max(1, Math.ceil(row?.free_in ?? 0)) }
    },

    async finish(
      generation: Held,
      { sections, usage }: { sections: readonly ReportSection[]; usage: ReportUsage },
    ): Promise<void> {
      const columns = { sections: [...sections], usage, progress: 1, endedAt: sql`now()` }
      await ledger.set(generation, { state: 'done', ...columns })
    },

    /** False when the process no longer has it. */
    fail: (generation: Held, failure: StoredFailure, usage: ReportUsage): Promise<boolean> =>
      ledger.set(generation, { state: 'failed', failure, usage, endedAt: sql`now()` }),

    /** Ends what is under way of a report, whichever process has it. @returns its id */
    async cancel(companyId: string, reportId: string, failure: StoredFailure): Promise<string | undefined> {
      const [row] = await db
        .update(reportGenerations)
        .set({ state: 'failed', failure, endedAt: sql`now()` })
        .where(and(ofReport(companyId, reportId), underWay))
        .returning({ id: reportGenerations.id })
      return row?.id
    },

    /** Stores evidence of an attempt. @returns false when the process no longer has the generation */
    async insertEvidence(generation: StoredGeneration, evidence: Evidence, bytes: number): Promise<boolean> {
      const { id, companyId, reportId, attempts } = generation
      const { rowCount } = await db.execute(
        sql`insert into ${reportEvidence} (generation_id, id, company_id, report_id, bytes, content)
          select ${id}, ${evidence.id}, ${companyId}, ${reportId}, ${bytes}::int, ${JSON.stringify(evidence)}::json
          where exists (select 1 from ${reportGenerations} as held
            where held.id = ${id} and held.attempts = ${attempts} and held.state = 'running' for share)
          on conflict (generation_id, id) do nothing`,
      )
      if ((rowCount ?? 0) > 0) return true
      const [known] = await db
        .select({ id: reportEvidence.id })
        .from(reportEvidence)
        .where(and(eq(reportEvidence.generationId, id), eq(reportEvidence.id, evidence.id)))
      return known !== undefined
    },

    /** What the attempts of a generation have stored, in order. */
    async listEvidence(generationId: string): Promise<{ evidence: Evidence; bytes: number }[]> {
      return db
        .select({ evidence: reportEvidence.content, bytes: reportEvidence.bytes })
        .from(reportEvidence)
        .where(eq(reportEvidence.generationId, generationId))
        .orderBy(asc(reportEvidence.position))
    },

    /** Of all generations of a report that are done, in order. */
    async listEvidenceOfReport(companyId: string, reportId: string): Promise<Evidence[]> {
      const rows = await db
        .select({ evidence: reportEvidence.content })
        .from(reportEvidence)
        .innerJoin(reportGenerations, ofDone)
        .where(and(eq(reportEvidence.companyId, companyId), eq(reportEvidence.reportId, reportId)))
        .orderBy(asc(reportEvidence.position))
      return rows.map(({ evidence }) => evidence)
    },

    async findEvidence(
      companyId: string,
      reportId: string,
      id: string,
    ): Promise<{ generationId: string; evidence: Evidence } | undefined> {
      const [row] = await db
        .select({ generationId: reportEvidence.generationId, evidence: reportEvidence.content })
        .from(reportEvidence)
        .innerJoin(reportGenerations, ofDone)
        .where(
          and(
            eq(reportEvidence.companyId, companyId),
            eq(reportEvidence.reportId, reportId),
            eq(reportEvidence.id, id),
          ),
        )
      return row
    },

    /**
     * Whose teams decide which workflows its evidence names: the user who asked for it, or the owner of the automatic
     * report; null where that user is gone.
     */
    async findReaderId(generationId: string): Promise<string | null> {
      const rows = await execute<{
        reader_id: string | null
      }>`
        select case asked.requested_type when 'platform' then settings.owner_id else asked.requested_by end
          as reader_id
        from ${reportGenerations} as asked
          join ${reports} as report on report.id = asked.report_id
          left join ${reportSettings} as settings
            on settings.company_id = report.company_id and settings.slug = report.slug
        where asked.id = ${generationId}`
      return rows[0]?.reader_id ?? null
    },

    /** Of a generation, all but these. */
    async deleteEvidence(generationId: string, kept: readonly string[] = []): Promise<void> {
      await db
        .delete(reportEvidence)
        .where(
          and(
            eq(reportEvidence.generationId, generationId),
            kept.length > 0 ? notInArray(reportEvidence.id, [...kept]) : undefined,
          ),
        )
    },

    /** Bytes of the evidence that is stored for a report. */
    async countEvidenceBytes(companyId: string, reportId: string): Promise<number> {
      const [row] = await db
        .select({ bytes: sql<number>`coalesce(sum(${reportEvidence.bytes}), 0)::float8` })
        .from(reportEvidence)
        .where(and(eq(reportEvidence.companyId, companyId), eq(reportEvidence.reportId, reportId)))
      return row?.bytes ?? 0
    },

    /** The last one of a report. */
    async findLast(companyId: string, reportId: string): Promise<StoredGeneration | undefined> {
      const [row] = await db
        .select()
        .from(reportGenerations)
        .where(ofReport(companyId, reportId))
        .orderBy(desc(reportGenerations.createdAt), desc(reportGenerations.id))
        .limit(1)
      return row
    },
  }
}
