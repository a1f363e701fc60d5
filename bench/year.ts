/**
 * A year of events: the four figures of a dashboard over 30 days and the same asked again; each plain measure by day over
 * 30 days and by week over the year; lists of a dashboard. Events are made in the store itself, 100 million in minutes.
 * Run: `npm run bench -- year [--events 100000000] [--data DIRECTORY] [--rounds 3] [--settle 20]` (a directory is kept and
 * used again).
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measures } from '../packages/server/src/features/analytics/catalogue/catalogue.ts'
import { engineSocketPath } from '../packages/server/src/platform/stores/chdb/socket.ts'
import { openColumnar } from '../packages/server/src/platform/stores/columnar-client.ts'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { printTable, type Row } from './support/machine.ts'
import { computed, medianOf } from './support/timing.ts'
import { days, generateYear } from './support/year.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000000' },
    data: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    settle: { type: 'string', default: '20' },
  },
})
const kept = values.data
const service = await startService(kept === undefined ? {} : { dataDirectory: kept })
const engine = openColumnar({ address: { socketPath: engineSocketPath(join(service.dataDirectory, 'run')) } })

async function took(work: () => Promise<unknown>): Promise<string> {
  return `${(await medianOf(Number(values.rounds), work)).toFixed(0)} ms`
}

const asked = (ids: readonly string[], dateRange: string, more: object = {}) => {
  const [source] = (ids[0] ?? '').split('.')
  const { granularity, ...rest } = more as { granularity?: string }
  const time = { dimension: `${source}.time`, dateRange, ...(granularity && { granularity }) }
  return { measures: ids, dimensions: [], filters: [], timeDimensions: [time], ...rest }
}

const rows: Row[] = []
try {
  const [stored] = await engine.query<{ rows: number }>({ sql: 'SELECT count() AS rows FROM events' })
  if (stored?.rows === 0) {
    const started = performance.now()
    await generateYear(engine, service.companyId, service.datasourceId, Number(values.events))
    const seconds = (performance.now() - started) / 1000
    rows.push([`making ${values.events} events of ${days} days`, `${seconds.toFixed(0)} s`, '', ''])
  }
  // Merges of what was just written would share the cores with the queries.
  await new Promise((resolve) => setTimeout(resolve, Number(values.settle) * 1000))

  const four = asked(
    ['events.count', 'events.people', 'events.sessions', 'purchases.revenue'],
    'last 30 days',
  )
  rows.push([
    'events, persons, sessions, revenue of 30 days in one query',
    await took(() => computed(service, four)),
    '',
    '<= 60 ms of 5 million',
  ])
  const again = await took(() => service.query(four as never))
  rows.push(['the same asked again', again, '', '< 10 ms'])
  for (const measure of measures) {
    if (measure.virtual || measure.source === 'workflows' || measure.over === 'credits') continue
    const { id } = measure
    const day = await took(() => computed(service, asked([id], 'last 30 days', { granularity: 'day' })))
    rows.push([`${id} by day, 30 days`, day, '', '< 500 ms'])
    const week = await took(() => computed(service, asked([id], 'last 365 days', { granularity: 'week' })))
    rows.push([`${id} by week, the year`, week, '', '< 3,000 ms'])
  }
  const lists = [
    ['sessions.count', 'sessions.channel'],
    ['sessions.count', 'sessions.entryPath'],
    ['sessions.count', 'sessions.country'],
    ['events.people', 'events.path'],
    ['events.count', 'events.name'],
  ] as const
  for (const [measure, dimension] of lists) {
    const figure = await took(() =>
      computed(service, asked([measure], 'last 30 days', { dimensions: [dimension], limit: 8 })),
    )
    rows.push([`${measure} by ${dimension}, 30 days`, figure, '', ''])
  }
  const [disk] = await engine.query<{ bytes: number; rows: number }>({
    sql: `SELECT sum(bytes_on_disk) AS bytes, sum(rows) AS rows FROM system.parts
          WHERE active AND database = currentDatabase() AND table = 'events'`,
  })
  if (disk) rows.push(['`events` on disk', `${(disk.bytes / disk.rows).toFixed(1)} bytes an event`, '', ''])
  printTable('A year', rows)
} finally {
  await engine.close()
  await service.stop()
  if (kept === undefined) removeData(service)
}
