/**
 * Statistics over a shop of 60 days: each measure of `events` by day over the last 30 days through the interface,
 * against the same statement sent to the engine directly; one person's events, the metadata, and a day of purchases
 * next to histories of several lengths.
 * Run: `npm run bench -- statistics [--events 10000000] [--orders 1,3,10] [--data DIRECTORY]` (millions of orders; a
 * directory is kept and used again).
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compileQuery } from '../packages/server/src/features/analytics/query/compile/compile.ts'
import { defaultAttribution } from '../packages/server/src/features/analytics/query/compile/compile-credits.ts'
import { parseQuery } from '../packages/server/src/features/analytics/query/parse/parse.ts'
import { planQuery } from '../packages/server/src/features/analytics/query/plan.ts'
import { openZone } from '../packages/server/src/features/analytics/query/time/zone.ts'
import { engineSocketPath } from '../packages/server/src/platform/stores/chdb/socket.ts'
import { openColumnar } from '../packages/server/src/platform/stores/columnar-client.ts'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { fillWithShop } from './support/fill.ts'
import { median, printTable, type Row } from './support/machine.ts'
import { generateOrders, lastDayOfOrders } from './support/orders.ts'
import { computed, medianOf, timed } from './support/timing.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10000000' },
    orders: { type: 'string', default: '1,3,10' },
    data: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    settle: { type: 'string', default: '20' },
  },
})
const events = Number(values.events)
const rounds = Number(values.rounds)
const kept = values.data

const measures = ['count', 'people', 'identifiedPeople', 'devices', 'sessions', 'items', 'perPerson']
const service = await startService(kept === undefined ? {} : { dataDirectory: kept })
const engine = openColumnar({ address: { socketPath: engineSocketPath(join(service.dataDirectory, 'run')) } })

const ordersOfDay = {
  measures: ['purchases.count', 'purchases.revenue', 'purchases.buyers'],
  dimensions: [],
  filters: [],
  timeDimensions: [
    {
      dimension: 'purchases.time',
      granularity: 'hour' as const,
      dateRange: [lastDayOfOrders, lastDayOfOrders],
    },
  ],
}
const allOrders = {
  measures: ['purchases.revenue', 'purchases.buyers', 'purchases.references'],
  dimensions: ['purchases.label.store', 'purchases.os'],
  filters: [],
  timeDimensions: [],
}

const queryOf = (measure: string) => ({
  measures: [`events.${measure}`],
  dimensions: [],
  filters: [],
  timeDimensions: [{ dimension: 'events.time', granularity: 'day' as const, dateRange: 'last 30 days' }],
})

/** The statement that the service itself would send, without anything around it. */
function statementOf(measure: string) {
  const zone = openZone('UTC')
  const plan = planQuery(parseQuery(queryOf(measure), { instant: Date.now(), zone }))
  return compileQuery(plan, service.companyId, {
    eventAliases: new Map(),
    visibleWorkflows: 'all',
    attribution: defaultAttribution,
    exactCounts: false,
  })
}

const rows: Row[] = []

try {
  const filled = await fillWithShop(service, events, 60)
  // Merges of what was just loaded would share the cores with the queries.
  await new Promise((resolve) => setTimeout(resolve, Number(values.settle) * 1000))
  rows.push(['events stored', filled.toLocaleString('en-US'), '', ''])
  for (const measure of measures) {
    const { sql, params } = statementOf(measure)
    const bare: number[] = []
    const whole: number[] = []
    for (let round = 0; round <= rounds; round++) {
      const engineMs = await timed(async () => {
        const stream = await engine.stream({ sql, params, format: 'JSONCompactEachRow', readonly: true })
        for await (const _ of stream);
      })
      const wholeMs = await timed(() => computed(service, queryOf(measure)))
      // The first round only warms.
      if (round > 0) {
        bare.push(engineMs)
        whole.push(wholeMs)
      }
    }
    const allowed = median(bare) * 1.1 + 5
    rows.push([
      `events.${measure} by day, 30 days`,
      `${median(whole).toFixed(0)} ms (bare SQL ${median(bare).toFixed(0)} ms)`,
      `${(median(whole) / median(bare)).toFixed(2)}, allowed ${(allowed / median(bare)).toFixed(2)}`,
      '< 400 ms',
    ])
  }

  for (const path of ['entryPath', 'exitPath']) {
    const took = await medianOf(rounds, () =>
      computed(service, {
        measures: ['sessions.count', 'sessions.duration', 'sessions.bounceRate'],
        dimensions: [`sessions.${path}`],
        filters: [],
        timeDimensions: [{ dimension: 'sessions.time', dateRange: 'last 30 days' }],
      }),
    )
    rows.push([`sessions by ${path}, 30 days`, `${took.toFixed(0)} ms`, '', '< 1,000 ms'])
  }

  const long = service.query({
    measures: ['events.people', 'events.sessions'],
    dimensions: ['events.url'],
    filters: [],
    timeDimensions: [],
    limit: 10,
  })
  const short = await timed(() =>
    service.query({
      measures: ['purchases.count'],
      dimensions: [],
      filters: [],
      timeDimensions: [{ dimension: 'purchases.time', dateRange: 'today' }],
    }),
  )
  const select = await timed(() => engine.query({ sql: 'SELECT 1 AS one', readonly: true }))
  await long.catch(() => undefined)
  rows.push([
    '`select 1` during a long query',
    `${select.toFixed(0)} ms (a small query ${short.toFixed(0)} ms)`,
    '',
    'does not wait',
  ])

  const [someone] = await engine.query<{ person: string }>({
    sql: 'SELECT tmp_id AS person FROM events LIMIT 1',
    readonly: true,
  })
  const ofPerson = (source: string) => ({
    measures: [`${source}.count`],
    dimensions: [],
    filters: [{ member: `${source}.person`, operator: 'equals' as const, values: [someone?.person ?? ''] }],
    timeDimensions: [],
  })
  for (const source of ['events', 'purchases']) {
    const took = await medianOf(rounds, () => service.query(ofPerson(source)))
    rows.push([`\`${source}.person equals\`, all time`, `${took.toFixed(0)} ms`, '', '< 50 ms'])
  }
  const described = await medianOf(rounds, () => service.call('GET', '/v2/statistics/meta'))
  rows.push(['the metadata', `${described.toFixed(0)} ms`, '', '< 20 ms'])

  const [disk] = await engine.query<{ bytes: string; rows: string }>({
    sql: "SELECT sum(bytes_on_disk) AS bytes, sumIf(rows, table = 'events') AS rows FROM system.parts WHERE active AND database = currentDatabase()",
    readonly: true,
  })
  const perEvent = Number(disk?.bytes) / Number(disk?.rows)
  rows.push(['disk of all tables', `${perEvent.toFixed(1)} bytes per event`, '', '<= 80'])

  let [stored, shortest] = [0, Number.NaN]
  for (const millions of values.orders.split(',').map(Number)) {
    await generateOrders(engine, service.companyId, stored, millions * 1e6)
    stored = millions * 1e6
    await new Promise((resolve) => setTimeout(resolve, Number(values.settle) * 1000))
    const took = await medianOf(rounds, () => service.query(ordersOfDay))
    if (Number.isNaN(shortest)) shortest = took
    rows.push([
      `a day of purchases, ${millions} million orders stored`,
      `${took.toFixed(0)} ms`,
      (took / shortest).toFixed(2),
      '<= 1.5',
    ])
    const all = await timed(() => service.query(allOrders))
    rows.push([
      'revenue, buyers, references by label and os, all time',
      `${all.toFixed(0)} ms`,
      '',
      'answered',
    ])
  }
  printTable('Statistics', rows)
} finally {
  await engine.close()
  await service.stop()
  if (kept === undefined) removeData(service)
}
