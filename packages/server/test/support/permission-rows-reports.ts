import { newId } from '../../src/platform/ids.ts'
import { ofOthers, only, type PermissionRow, type PermissionRows } from './permission-row.ts'
import type { PermissionWorld, Person } from './permission-world.ts'

const address = '/v2/statistics/reports'
const snapshot = JSON.stringify({
  templateKey: 'reports.revenue',
  defaultVersion: 1,
  settingsRevision: 1,
  locale: 'en',
  source: 'platform-default',
  text: 'What drove revenue?',
})

/** A report of the company that is complete; users start 30 an hour. @returns its id */
export async function addReport(
  { relational }: PermissionWorld,
  { companyId }: Person,
  createdBy = 'platform',
): Promise<string> {
  const id = newId()
  await relational.pool.query(
    `insert into reports (id, company_id, created_by, requested_type, title, origin_type, guided_analysis, timezone,
       locale, period_start, period_end, comparison_windows)
     values ($1, $2, $3, 'platform', 'Revenue', 'free-form', 'revenue', 'UTC', 'en', '2026-01-01Z',
       '2026-02-01Z',
       '{"previousPeriod":{"start":"2025-12-01T00:00:00.000Z","end":"2026-01-01T00:00:00.000Z"}}')`,
    [id, companyId, createdBy],
  )
  return id
}

/** One of a period that the company's settings made. @returns its id */
export async function addAutomaticReport(
  world: PermissionWorld,
  person: Person,
  createdBy?: string,
): Promise<string> {
  const { pool } = world.relational
  await pool.query(
    `insert into report_settings (company_id, slug, id, cadence) values ($1, 'revenue', $2, 'monthly')
     on conflict do nothing`,
    [person.companyId, newId()],
  )
  const id = await addReport(world, person, createdBy)
  await pool.query(
    `update reports set slug = 'revenue', cadence = 'monthly', period_key = id, prompt_snapshot = $2, settings_id = id
     where id = $1`,
    [id, snapshot],
  )
  return id
}

/** A generation of a report, which has ended. @returns its id */
async function addGeneration(
  { relational, admin }: PermissionWorld,
  reportId: string,
  state: 'done' | 'failed',
): Promise<string> {
  const id = newId()
  await relational.pool.query(
    `insert into report_generations (id, company_id, report_id, kind, question, requested_type, state, ended_at, failure)
     values ($1, $2, $3, 'initial', 'Why?', 'platform', $4, now(),
       '{"code":"internal","message":"a failure","retryable":true,"evidence":[]}')`,
    [id, admin.companyId, reportId, state],
  )
  return id
}

/** A report whose last generation has failed. */
async function addFailedReport(world: PermissionWorld): Promise<string> {
  const id = await addReport(world, world.admin)
  const failed = await addGeneration(world, id, 'failed')
  await world.relational.pool.query('update reports set failed_generation_id = $2 where id = $1', [
    id,
    failed,
  ])
  return id
}

const evidence = (id: string) => ({
  id,
  query: { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [], timezone: 'UTC' },
  rows: [],
  sources: [],
  freshness: { capturedAt: '2026-01-01T00:00:00.000Z' },
  state: 'success',
  executedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
  rowCount: 0,
  embeddedRowCount: 0,
  payloadBytes: 2,
  resultHash: '',
})

/** The address of evidence of a report. */
async function addEvidence(world: PermissionWorld): Promise<string> {
  const reportId = await addReport(world, world.admin)
  const generationId = await addGeneration(world, reportId, 'done')
  const id = newId()
  await world.relational.pool.query(
    `insert into report_evidence (generation_id, id, company_id, report_id, bytes, content)
     values ($1, $2, $3, $4, 1, $5)`,
    [generationId, id, world.admin.companyId, reportId, JSON.stringify(evidence(id))],
  )
  return `${address}/${reportId}/evidence/${id}/verify`
}

const about = (
  suffix: string,
  add: (world: PermissionWorld) => Promise<string> = (world) => addReport(world, world.admin),
  body?: unknown,
): PermissionRow => ({
  needs: 'statistics access',
  call: async (world) => ({ path: `${address}/${await add(world)}${suffix}`, ...(body ? { body } : {}) }),
  stranger: 404,
})

/** Of operations that take a report out of the list. */
function archiving(suffix: string, add: typeof addReport): PermissionRow {
  const call = (path: string) => ({ path: `${path}${suffix}` })
  const save = async (world: PermissionWorld, by?: Person) =>
    `${address}/${await add(world, world.admin, by?.userId)}`
  return {
    ...about(suffix, (world) => add(world, world.admin)),
    alone: 403,
    further: [
      ...ofOthers(call, save),
      {
        says: 'is for the user who has turned the analysis on',
        rights: only('statistics access', 'company update'),
        call: async (world, { userId }) => {
          const id = await addAutomaticReport(world, world.admin)
          await world.relational.pool.query(
            `update report_settings set owner_id = $2 where company_id = $1 and slug = 'revenue'`,
            [world.admin.companyId, userId],
          )
          return call(`${address}/${id}`)
        },
      },
    ],
  }
}

const settings = `${address}/settings`

export const reportRows: PermissionRows = {
  listReports: { needs: 'statistics access', call: () => ({ path: address }), stranger: 200 },
  createReport: {
    needs: 'statistics access',
    call: () => ({ path: address, body: { guidedAnalysis: 'revenue' } }),
    stranger: 200,
  },
  readReport: about(''),
  askFollowUp: about('/follow-ups', undefined, { question: 'and by country?' }),
  retryReport: about('/retry', addFailedReport),
  regenerateReport: archiving('/regenerate', addAutomaticReport),
  archiveReport: archiving('/archive', addReport),
  verifyEvidence: {
    needs: 'statistics access',
    call: async (world) => ({ path: await addEvidence(world) }),
    stranger: 404,
  },
  readReportSettings: { needs: 'statistics access', call: () => ({ path: settings }), stranger: 200 },
  updateReportSettings: {
    needs: 'company update',
    call: () => ({ path: settings, body: { analyses: { impact: { prompt: crypto.randomUUID() } } } }),
    stranger: 200,
    further: [
      {
        says: 'enables nothing without Statistics: export',
        rights: only('company update', 'statistics access'),
        call: () => ({ path: settings, body: { analyses: { engagement: { enabled: true } } } }),
        refusal: 'forbidden',
      },
      {
        says: 'enables with all three permissions',
        rights: only('company update', 'statistics access', 'statistics export'),
        call: () => ({ path: settings, body: { analyses: { engagement: { enabled: true } } } }),
      },
    ],
  },
}
