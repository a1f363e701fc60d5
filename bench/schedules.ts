/**
 * Schedules that are all due in the same minute: how soon all of them have run, and what is left of the collector's rate.
 * Run: `npm run bench -- schedules [--schedules 1000] [--events 200000] [--seconds 10]`
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { silentLogger } from '../packages/server/src/platform/logger.ts'
import { embeddedAddresses } from '../packages/server/src/platform/stores/embedded-postgres.ts'
import { openRelational } from '../packages/server/src/platform/stores/relational.ts'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { fillWithShop } from './support/fill.ts'
import { printTable, type Row } from './support/machine.ts'
import { driveEvents } from './support/wrk.ts'

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '1000' },
    events: { type: 'string', default: '200000' },
    seconds: { type: 'string', default: '10' },
  },
})
const schedules = Number(values.schedules)
const seconds = Number(values.seconds)
const timeoutMs = 900_000

const service = await startService()
const { application } = embeddedAddresses(join(service.dataDirectory, 'run'))
const relational = openRelational({ address: application, logger: silentLogger, connections: 2 })

const query = {
  measures: ['events.count', 'events.people'],
  dimensions: ['events.name'],
  filters: [],
  timeDimensions: [{ dimension: 'events.time', granularity: 'day', dateRange: 'last 7 days' }],
}

async function save(time: string): Promise<void> {
  const schedule = { frequency: 'daily', time, timezone: 'UTC', recipients: [service.admin.email] }
  for (let i = 0; i < schedules; i++) {
    await service.dataOf('POST', '/statistics/query/save', {
      name: `Schedule ${i}`,
      queries: [query],
      schedule,
    })
  }
}

interface Progress {
  readonly ended: number
  readonly delivered: number
  /** Seconds between planned time and beginning, of the first, and to the end, of the last. */
  readonly first: number
  readonly last: number
}

async function readProgress(): Promise<Progress> {
  const { rows } = await relational.pool.query<Progress>(
    `select count(ended_at)::int as ended, count(*) filter (where state = 'delivered')::int as delivered,
       coalesce(extract(epoch from min(started_at - planned_for)), 0)::float8 as first,
       coalesce(extract(epoch from max(ended_at - planned_for)), 0)::float8 as last
     from saved_query_runs`,
  )
  const [row] = rows
  if (!row) throw new Error('an aggregate has one row')
  return row
}

const driven = () => driveEvents({ url: service.trackerUrl, key: service.companyId, seconds })

try {
  await fillWithShop(service, Number(values.events), 7)
  const alone = await driven()
  // Saving takes some milliseconds each; the minute must not come before the last is saved.
  const due = Math.ceil((Date.now() + schedules * 100 + 20_000) / 60_000) * 60_000
  await save(new Date(due).toISOString().slice(11, 16))
  await sleep(Math.max(0, due - Date.now()))
  while ((await readProgress()).ended === 0) await sleep(200)
  const during = await driven()
  const busy = await readProgress()
  while ((await readProgress()).ended < schedules) {
    if (Date.now() - due > timeoutMs) throw new Error('the schedules have not run in time')
    await sleep(500)
  }
  const { first, last, delivered } = await readProgress()
  const ratio = during.requestsPerSecond / alone.requestsPerSecond
  const rows: Row[] = [
    [`${schedules} schedules of one minute: all have run after`, `${last.toFixed(0)} s`, '', '< 300 s'],
    ['the first begins after its planned time', `${first.toFixed(1)} s`, '', '< 15 s'],
    ['of them delivered', String(delivered), (delivered / schedules).toFixed(2), '1.00'],
    [
      `single events per second while they run (${busy.ended} had ended at its end)`,
      during.requestsPerSecond.toFixed(0),
      ratio.toFixed(2),
      '> 0.55 of the rate without them',
    ],
  ]
  printTable('Schedules', rows)
} finally {
  await relational.close()
  await service.stop()
  removeData(service)
}
