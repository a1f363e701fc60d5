/**
 * Results of an experiment over a shop of 30 days, in which one of ten events is an exposure, through the interface,
 * against the distinct persons of the same days in the same run.
 * Run: `npm run bench -- experiments [--events 10000000] [--data DIRECTORY] [--rounds 5] [--settle 20]` (a directory is
 * kept and used again; it is not that of another benchmark, whose events have no exposures).
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Metric } from '@millrace/contract/resources/experiment.ts'
import type { ExperimentResults } from '@millrace/contract/resources/experiment-results.ts'
import { silentLogger } from '../packages/server/src/platform/logger.ts'
import { embeddedAddresses } from '../packages/server/src/platform/stores/embedded-postgres.ts'
import { openRelational } from '../packages/server/src/platform/stores/relational.ts'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { fillWithShop } from './support/fill.ts'
import { median, printTable, type Row } from './support/machine.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10000000' },
    data: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    settle: { type: 'string', default: '20' },
  },
})
const days = 30
const kept = values.data
const service = await startService(kept === undefined ? {} : { dataDirectory: kept })
const { application } = embeddedAddresses(join(service.dataDirectory, 'run'))
const relational = openRelational({ address: application, logger: silentLogger, connections: 1 })
const path = '/v2/statistics/experiments'

async function dataOf<T>(method: 'GET' | 'POST', address: string, body?: object): Promise<T> {
  const reply = await service.call(method, address, body)
  if (reply.status !== 200) throw new Error(`${address}: ${reply.status} ${await reply.text()}`)
  return ((await reply.json()) as { data: T }).data
}

/** The experiment, which began before all events. */
async function startExperiment(): Promise<string> {
  const [known] = await dataOf<{ _id: string }[]>('GET', path)
  if (known) return known._id
  const { _id } = await dataOf<{ _id: string }>('POST', path, {
    name: 'Benchmark',
    successMetric: 'unique_conversion',
    variants: ['control', 'treatment'].map((id) => ({ id, name: id, allocation: 0.5 })),
  })
  await dataOf('POST', `${path}/${_id}/start`)
  await relational.pool.query(
    'update experiments set started_at = now() - make_interval(days => $2) where id = $1',
    [_id, days + 1],
  )
  return _id
}

const metric = (id: string, kind: Metric['kind'], source: Metric['source']): Metric => ({
  id,
  kind,
  source,
  windowHours: 72,
  role: id === 'orders' ? 'success' : 'guard',
  direction: 'increase',
})
const orders = metric('orders', 'unique_conversion', { purchases: true })
const carts = metric('carts', 'conversion', { event: 'add_cart' })
const revenue = metric('revenue', 'revenue_per_user', { purchases: true })
const clicks = metric('clicks', 'click_rate', { event: 'workflow_click' })
interface Case {
  readonly metrics: readonly Metric[]
  readonly unit?: 'user' | 'device'
  readonly outlierCap?: number
  readonly cupedDays?: number
}
const cases: readonly (readonly [what: string, definition: Case])[] = [
  ['share of units that buy', { metrics: [orders] }],
  ['the same, by device', { metrics: [orders], unit: 'device' }],
  ['additions to the cart', { metrics: [carts] }],
  ['revenue, capped', { metrics: [revenue], outlierCap: 0.99 }],
  ['revenue, with that of 14 days before', { metrics: [revenue], cupedDays: 14 }],
  ['orders, additions to the cart, revenue', { metrics: [orders, carts, revenue] }],
  [
    'orders, additions to the cart, revenue, clicks, capped and with 14 days before',
    { metrics: [orders, carts, revenue, clicks], outlierCap: 0.99, cupedDays: 14 },
  ],
]

/** The middle of several rounds in milliseconds, after one that only warms; what comes before each is not counted. */
async function medianOf(ask: () => Promise<unknown>, before?: () => Promise<unknown>): Promise<number> {
  const took: number[] = []
  for (let round = 0; round <= Number(values.rounds); round++) {
    await before?.()
    const started = performance.now()
    await ask()
    if (round > 0) took.push(performance.now() - started)
  }
  return median(took)
}

const rows: Row[] = []
try {
  const id = await startExperiment()
  const filled = await fillWithShop(service, Number(values.events), days, id)
  // Merges of what was just loaded would share the cores with the statements.
  await new Promise((resolve) => setTimeout(resolve, Number(values.settle) * 1000))
  rows.push(['events stored', filled.toLocaleString('en-US'), '', ''])
  const query = {
    measures: ['events.people'],
    dimensions: [],
    filters: [],
    timeDimensions: [{ dimension: 'events.time', dateRange: `last ${days} days` }],
  }
  const yardstick = await medianOf(async () => {
    // A stream is computed each time; answers in the envelope come from a cache for 10 s.
    const reply = await service.call('POST', '/v2/statistics/query', query, 'application/x-ndjson')
    await reply.arrayBuffer()
  })
  rows.push([`distinct persons, ${days} days`, `${yardstick.toFixed(0)} ms`, '1.00', ''])
  for (const [what, { metrics, unit = 'user', outlierCap = null, cupedDays = null }] of cases) {
    await relational.pool.query(
      'update experiments set metrics = $2, unit = $3, outlier_cap = $4, cuped_days = $5 where id = $1',
      [id, JSON.stringify(metrics), unit, outlierCap, cupedDays],
    )
    let results: ExperimentResults | undefined
    const read = async () => {
      results = await dataOf<ExperimentResults>('GET', `${path}/${id}/results`)
    }
    // What was read within 10 s is given again, unless something else is asked: another start is.
    const took = await medianOf(read, () =>
      relational.pool.query(
        "update experiments set started_at = started_at - interval '1 millisecond' where id = $1",
        [id],
      ),
    )
    const again = await medianOf(read)
    const units = results?.variants.reduce((sum, each) => sum + each.units, 0) ?? 0
    rows.push([
      `${what} (${units.toLocaleString('en-US')} units)`,
      `${took.toFixed(0)} ms`,
      (took / yardstick).toFixed(2),
      '< 1,000 ms',
    ])
    rows.push(['the same, read again', `${again.toFixed(0)} ms`, (again / yardstick).toFixed(2), ''])
  }
  printTable('Experiments', rows)
} finally {
  await relational.close()
  await service.stop()
  if (kept === undefined) removeData(service)
}
