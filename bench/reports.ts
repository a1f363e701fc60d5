/**
 * The list of reports of a company that has very many: a page, the newest ones, and one report as a whole.
 * Run: `npm run bench -- reports [--reports 10000] [--rounds 30]`
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { newId } from '../packages/server/src/platform/ids.ts'
import { silentLogger } from '../packages/server/src/platform/logger.ts'
import { embeddedAddresses } from '../packages/server/src/platform/stores/embedded-postgres.ts'
import { openRelational } from '../packages/server/src/platform/stores/relational.ts'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { median, printTable, type Row } from './support/machine.ts'

const { values } = parseArgs({
  options: { reports: { type: 'string', default: '10000' }, rounds: { type: 'string', default: '30' } },
})
const reports = Number(values.reports)
const rounds = Number(values.rounds)
/** One report in so many has failed last, and shows some evidence. */
const failedEvery = 20

const service = await startService()
const { application } = embeddedAddresses(join(service.dataDirectory, 'run'))
const relational = openRelational({ address: application, logger: silentLogger, connections: 2 })

const evidence = {
  id: newId(),
  query: { measures: ['events.count'], dimensions: ['events.name'], filters: [], timeDimensions: [] },
  rows: Array.from({ length: 3 }, (_, i) => ({
    'events.name': { value: `event ${i}` },
    'events.count': { value: i },
  })),
  sources: [{ service: 'statistics', queryLayer: 'cube', members: ['events.count', 'events.name'] }],
  freshness: { capturedAt: '2026-01-01T00:00:00.000Z' },
  state: 'success',
  executedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 12,
  rowCount: 3,
  embeddedRowCount: 3,
  payloadBytes: 120,
  resultHash: 'a'.repeat(64),
}

/** Reports of years, each with a generation of four sections and 100 kB of evidence. */
async function fill(): Promise<void> {
  const { pool } = relational
  const { companyId } = service
  const prefix = newId().slice(0, 16)
  const section = {
    id: 'a',
    kind: 'summary',
    title: 'Summary',
    paragraphs: [{ text: 'x'.repeat(2_000), figures: [] }],
  }
  await pool.query(
    `insert into reports (id, company_id, created_by, requested_type, requested_by, title, origin_type, guided_analysis,
       timezone, locale, section_count, created_at)
     select $2 || lpad(to_hex(n), 8, '0'), $1, $3, 'user', $3, 'How did revenue develop, number ' || n, 'free-form',
       'revenue', 'UTC', 'en', 4, now() - make_interval(mins => n) from generate_series(1, $4::int) n`,
    [companyId, prefix, newId(), reports],
  )
  await pool.query(
    `insert into report_generations (id, company_id, report_id, kind, question, requested_type, state, started_at,
       ended_at, sections, usage)
     select id, company_id, id, 'initial', 'Why?', 'user', 'done', now(), now(), $2,
       '{"queryCount":20,"rowCount":500,"payloadBytes":100000,"agentTurns":0,"durationMs":900}'
     from reports where company_id = $1`,
    [companyId, JSON.stringify(Array.from({ length: 4 }, () => ({ ...section, generationId: newId() })))],
  )
  await pool.query(
    `insert into report_evidence (generation_id, id, company_id, report_id, bytes, content)
     select id, id, company_id, id, 100000, $2 from reports where company_id = $1`,
    [companyId, JSON.stringify({ ...evidence, warning: 'x'.repeat(100_000) })],
  )
  await pool.query(
    `update report_generations set state = 'failed', failure = $2 where company_id = $1
       and ('x' || right(report_id, 8))::bit(32)::int % $3::int = 0`,
    [
      companyId,
      JSON.stringify({
        code: 'internal',
        message: 'a failure',
        retryable: true,
        evidence: [evidence, evidence],
      }),
      failedEvery,
    ],
  )
  await pool.query(
    `update reports set failed_generation_id = id where company_id = $1
       and ('x' || right(id, 8))::bit(32)::int % $2::int = 0`,
    [companyId, failedEvery],
  )
  await pool.query('analyze reports, report_generations, report_evidence')
}

/** Middle milliseconds of a call, and the bytes of its answer. */
async function measure(path: string): Promise<{ ms: number; bytes: number }> {
  const times: number[] = []
  let bytes = 0
  for (let i = 0; i < rounds + 3; i++) {
    const begun = performance.now()
    const reply = await service.call('GET', path)
    const text = await reply.text()
    if (reply.status !== 200) throw new Error(text)
    bytes = text.length
    // The first ones warm up.
    if (i >= 3) times.push(performance.now() - begun)
  }
  return { ms: median(times), bytes }
}

try {
  const bare = await measure('/v2/statistics/reports/settings')
  await fill()
  const list = '/v2/statistics/reports'
  const last = Math.ceil(reports / 100)
  const [{ id = '' } = {}] = await service.dataOf<{ id: string }[]>('GET', '/statistics/reports?perPage=1')
  const rows: Row[] = []
  for (const [what, path, target] of [
    [`a page of 100 of ${reports} reports`, `${list}?perPage=100`, '< 50 ms'],
    ['the last page', `${list}?perPage=100&page=${last}`, '< 50 ms'],
    ['without a page: the newest 500', list, ''],
    ['one report with its sections and 100 kB of evidence', `${list}/${id}`, ''],
  ] as const) {
    const { ms, bytes } = await measure(path)
    const ratio = `${(ms / bare.ms).toFixed(1)} times the settings`
    rows.push([`${what} (${Math.round(bytes / 1000)} kB)`, `${ms.toFixed(1)} ms`, ratio, target])
  }
  printTable('Reports', rows)
} finally {
  await relational.close()
  await service.stop()
  removeData(service)
}
