/**
 * The life of data: exports alone, and beside a collector at 5,000 events a second a backup and another one, a restore
 * until it is ready, the erasure of one person, and a retention that drops months.
 * Run: `npm run bench -- life [--events 10000000] [--rate 5000] [--seconds 25] [--settle 10]
 * [--data DIRECTORY] [--steps exports,backups,erasure,retention]`.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { silentLogger } from '../packages/server/src/platform/logger.ts'
import { engineSocketPath } from '../packages/server/src/platform/stores/chdb/socket.ts'
import { openColumnar } from '../packages/server/src/platform/stores/columnar-client.ts'
import { embeddedAddresses } from '../packages/server/src/platform/stores/embedded-postgres.ts'
import { openRelational } from '../packages/server/src/platform/stores/relational.ts'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { printTable, type Row } from './support/machine.ts'
import { type PacedResult, paced } from './support/paced.ts'
import { computed, timed } from './support/timing.ts'
import { generateYear } from './support/year.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10000000' },
    rate: { type: 'string', default: '5000' },
    data: { type: 'string' },
    seconds: { type: 'string', default: '25' },
    settle: { type: 'string', default: '10' },
    steps: { type: 'string', default: 'exports,backups,erasure,retention' },
  },
})
const rate = Number(values.rate)
const sendingSeconds = Number(values.seconds)
const kept = values.data
const folder = mkdtempSync(join(tmpdir(), 'millrace-life-'))
let service = await startService(kept === undefined ? {} : { dataDirectory: kept })
const runPath = join(service.dataDirectory, 'run')
const engine = openColumnar({ address: { socketPath: engineSocketPath(runPath) } })
const main = new URL('../packages/server/src/main.ts', import.meta.url).pathname
const execute = promisify(execFile)
const rows: Row[] = []

async function backup<T>(...argv: readonly string[]): Promise<T> {
  const env = {
    ...process.env,
    MILLRACE_DATA_DIR: service.dataDirectory,
    MILLRACE_BACKUP_DIR: join(folder, 'backups'),
  }
  const { stdout } = await execute(process.execPath, [main, 'backup', ...argv, '--json'], { env })
  return JSON.parse(stdout) as T
}

const query = {
  measures: ['events.count', 'events.people'],
  dimensions: [],
  filters: [],
  timeDimensions: [{ dimension: 'events.time', dateRange: 'last 30 days', granularity: 'day' }],
}

/** Of work beside events and queries. */
interface Beside {
  /** Milliseconds. */
  readonly took: number
  /** What senders saw. */
  readonly sent: PacedResult
  /** Median of a query meanwhile, in milliseconds. */
  readonly asked: number
}

async function beside(
  work: () => Promise<unknown>,
  { forSeconds = sendingSeconds, asks = true } = {},
): Promise<Beside> {
  const sending = paced(service, rate, forSeconds)
  await sleep(1_000)
  let isDone = false
  const asked: number[] = []
  const asking = (async () => {
    while (asks && !isDone) asked.push(await timed(() => computed(service, query)))
  })()
  const took = await timed(work)
  isDone = true
  await asking
  return { took, sent: await sending, asked: asked.sort((a, b) => a - b)[asked.length >> 1] ?? 0 }
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
const p99 = ({ p99: figure }: PacedResult): string => `${figure.toFixed(0)} ms`

async function finished(ask: () => Promise<boolean>): Promise<void> {
  while (!(await ask())) await sleep(50)
}

async function exports(): Promise<void> {
  const days = { from: '2000-01-01' }
  const byPath = {
    ...{
      measures: ['events.count', 'events.people'],
      dimensions: ['events.path', 'events.person'],
      filters: [],
    },
    timeDimensions: [],
  }
  for (const content of [
    { table: 'events', format: 'parquet', ...days },
    { table: 'events', format: 'ndjson', ...days },
    { table: 'sessions', format: 'parquet', ...days },
    { table: 'query', format: 'parquet', query: byPath },
  ]) {
    let exported = { id: '', state: '', rows: 0, bytes: 0 }
    const took = await timed(async () => {
      exported = await service.dataOf('POST', '/statistics/exports', content)
      const path = `/statistics/exports/${exported.id}`
      await finished(async () => {
        exported = await service.dataOf('GET', path)
        return exported.state === 'done'
      })
    })
    await service.dataOf('DELETE', `/statistics/exports/${exported.id}`)
    const size = `${(exported.bytes / 1e6).toFixed(0)} MB`
    const speed = `${Math.round(exported.rows / (took / 1_000)).toLocaleString('en')} rows/s`
    rows.push([
      `${exported.rows.toLocaleString('en')} rows of ${content.table} as ${content.format}, ${size}`,
      seconds(took),
      speed,
      content.table === 'events' ? '>= 500,000 rows/s' : '',
    ])
  }
}

async function backups(before: Beside): Promise<void> {
  const create = () => backup<{ bytes: number; written: number; seconds: number }>('create')
  for (const asks of [true, false]) {
    rmSync(join(folder, 'backups'), { recursive: true, force: true })
    let made = { bytes: 0, written: 0, seconds: 0 }
    const { sent } = await beside(
      async () => {
        made = await create()
      },
      { asks },
    )
    rows.push(
      [
        `a backup beside events${asks ? ' and queries' : ''}`,
        `${made.seconds.toFixed(1)} s`,
        `${(made.bytes / 1e6 / made.seconds).toFixed(0)} MB/s`,
        '>= 100 MB/s',
      ],
      ['p99 of the collector meanwhile', p99(sent), (sent.p99 / before.sent.p99).toFixed(1), '<= 2'],
    )
  }
  const next = await create()
  rows.push([
    'the next backup',
    `${next.seconds.toFixed(1)} s`,
    `${(next.written / 1e6).toFixed(0)} MB written`,
    '',
  ])

  const to = join(folder, 'restored')
  const restoring = await timed(() => backup('restore', '--to', to))
  cpSync(join(service.dataDirectory, 'encryption.key'), join(to, 'encryption.key'))
  const second = await startService({ dataDirectory: to })
  rows.push(['restored and ready', seconds(restoring + second.readyAfter), '', '<= 120 s'])
  await second.stop()
  rmSync(to, { recursive: true })
}

async function erasure(before: Beside): Promise<void> {
  const [person] = await engine.query<{ id: string; n: number }>({
    sql: 'SELECT client_id AS id, count() AS n FROM events WHERE client != 0 GROUP BY id ORDER BY n DESC, id LIMIT 1',
  })
  const erased = await beside(async () => {
    const { id } = await service.dataOf<{ id: string }>('POST', '/entities/persons/erase', {
      clientIds: [person?.id],
    })
    await finished(
      async () =>
        (await service.dataOf<{ state: string }>('GET', `/entities/persons/erasures/${id}`)).state === 'done',
    )
  })
  rows.push([
    `one person erased, ${person?.n} events of ${values.events}`,
    seconds(erased.took),
    '',
    '< 60 s',
  ])
  rows.push([
    'p99 of the collector meanwhile, and events taken of those sent',
    p99(erased.sent),
    (erased.sent.ok / (rate * sendingSeconds)).toFixed(2),
    '>= 0.8',
  ])
  rows.push([
    'a query meanwhile',
    `${erased.asked.toFixed(0)} ms`,
    (erased.asked / before.asked).toFixed(2),
    '<= 1.3',
  ])
  const rewriting = await beside(() => sleep((sendingSeconds - 2) * 1_000))
  rows.push([
    'a query while the engine rewrites what it was in',
    `${rewriting.asked.toFixed(0)} ms`,
    (rewriting.asked / before.asked).toFixed(2),
    '<= 1.3',
  ])
}

async function retention(): Promise<void> {
  const owner = openRelational({ address: embeddedAddresses(runPath).owner, logger: silentLogger })
  await service.dataOf('PATCH', '/entities/company', { eventRetentionDays: 300 })
  // As if a day had passed since.
  for (const table of ['companies', 'datasources'])
    await owner.pool.query(`update ${table} set event_retention_since = now() - interval '2 days'`)
  await owner.close()
  const { dataDirectory } = service
  await service.stop()
  const started = performance.now()
  service = await startService({ dataDirectory })
  await finished(async () => {
    const [old] = await engine.query<{ rows: number }>({
      sql: 'SELECT count() AS rows FROM events WHERE time < toStartOfDay(now()) - toIntervalDay(300)',
    })
    return old?.rows === 0
  })
  rows.push([
    '65 days of events removed, from the start of the service on',
    seconds(performance.now() - started),
    '',
    '< 5 s a month',
  ])
}

const steps = { exports, backups, erasure, retention }

try {
  const [stored] = await engine.query<{ rows: number }>({ sql: 'SELECT count() AS rows FROM events' })
  if (stored?.rows === 0) {
    await generateYear(engine, service.companyId, service.datasourceId, Number(values.events))
  }
  await sleep(Number(values.settle) * 1_000)
  const load = () => beside(() => sleep(8_000), { forSeconds: 10 })
  // The first seconds of a process are not those that it has later.
  await load()
  const before = await load()
  rows.push([`collector at ${rate} events/s, p99`, p99(before.sent), '', ''])
  const asked = values.steps.split(',')
  for (const [name, step] of Object.entries(steps)) if (asked.includes(name)) await step(before)
} finally {
  printTable('The life of data', rows)
  await engine.close()
  await service.stop()
  if (kept === undefined) removeData(service)
  rmSync(folder, { recursive: true, force: true })
}
