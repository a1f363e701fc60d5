import type { Report, ReportCreation, ReportSummary } from '@millrace/contract/resources/report.ts'
import type { AutomaticAnalysisSettings } from '@millrace/contract/resources/report-settings.ts'
import { newId } from '../../src/platform/ids.ts'
import { type AccountsApp, createAccountsApp, createTimeTravel, type Reply } from './accounts.ts'
import { createTestDatabase } from './postgres.ts'
import { createPlainWriting } from './report-writing.ts'
import { createStubEngine } from './saved-queries.ts'

/** Reports on a real server over a database of the test's own, with a writer and an engine in the test's hands. */
export async function openReports() {
  const relational = await createTestDatabase()
  const engine = createStubEngine()
  const plain = createPlainWriting()
  const app: AccountsApp = await createAccountsApp(relational, {
    columnar: engine.columnar,
    reportWriting: plain.writing,
  })
  const { loops } = app.auth.services.reports
  const people = {
    /** May do everything. */
    admin: await app.person('admin'),
    /** May see statistics. */
    reader: await app.personWith('statistics:access'),
    /** Sees no statistics. */
    outsider: await app.personWith('workflow:read'),
    /** Of another company, may do everything. */
    stranger: await app.person('admin', app.other.companyId, 'other.example'),
  }
  type Who = keyof typeof people
  const tokens = new Map<Who, string>((Object.keys(people) as Who[]).map((who) => [who, people[who].token]))

  async function call(
    who: Who,
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    body?: unknown,
  ): Promise<Reply & { data: Record<string, unknown>; warnings?: unknown }> {
    app.auth.cache.forget()
    const reply = await app.auth.call(
      tokens.get(who) ?? '',
      method,
      `/v2/statistics/reports${path}`,
      body as Record<string, unknown>,
    )
    return { ...reply.json(), status: reply.statusCode }
  }

  async function succeed<T>(reply: Promise<Reply & { data: unknown }>): Promise<T> {
    const { status, data, message } = await reply
    if (status !== 200) throw new Error(`${status} ${message}`)
    return data as T
  }

  return {
    relational,
    engine,
    plain,
    app,
    loops,
    people,
    call,
    create: (body: ReportCreation = { guidedAnalysis: 'revenue' }, who: Who = 'reader') =>
      succeed<Report>(call(who, 'POST', '', body)),
    read: (id: string, who: Who = 'reader') => succeed<Report>(call(who, 'GET', `/${id}`)),
    act: (id: string, deed: string, body?: unknown, who: Who = 'reader') =>
      succeed<Report>(call(who, 'POST', `/${id}/${deed}`, body)),
    list: (search = '', who: Who = 'reader') => succeed<ReportSummary[]>(call(who, 'GET', search)),
    async set(
      slug: 'impact' | 'revenue' | 'engagement' | 'retention',
      change: Record<string, unknown>,
      who: Who = 'admin',
    ): Promise<AutomaticAnalysisSettings> {
      const { analyses } = await succeed<{ analyses: Record<string, AutomaticAnalysisSettings> }>(
        call(who, 'PATCH', '/settings', { analyses: { [slug]: change } }),
      )
      return analyses[slug] as AutomaticAnalysisSettings
    },
    /** Rows as a company has them after years, without a generation. */
    async fill(count: number, companyId = app.companyId): Promise<void> {
      await relational.pool.query(
        `insert into reports (id, company_id, created_by, requested_type, title, origin_type, guided_analysis, timezone,
           locale, section_count, created_at)
         select substr(md5($2::text || n), 1, 24), $1, 'platform', 'platform', 'Report ' || n, 'free-form',
           'revenue', 'UTC', 'en', 4, now() - make_interval(mins => n) from generate_series(1, $3::int) n`,
        [companyId, newId(), count],
      )
    },
    ...createTimeTravel(app, people, tokens),
    /** Plans what is due, and makes all of it. */
    async work(): Promise<void> {
      while (await loops.planner.plan());
      while (await loops.worker.runOne());
    },
    async close(): Promise<void> {
      await app.app.close()
      await relational.close()
    },
  }
}

export type ReportsApp = Awaited<ReturnType<typeof openReports>>
