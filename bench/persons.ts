/**
 * What persons have done, read for workflows: the newest events of 1, 20 and 100 persons in one statement, and whether
 * as many belong to a cohort, over events of 60 days in an engine of its own; beside a bare `SELECT 1`. Then how long
 * after its acceptance by a service's collector an event is seen.
 * Run: `npm run bench -- persons [--events 3000000] [--rounds 9]`
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createMembershipReader } from '../packages/server/src/features/analytics/persons/cohort-membership-store.ts'
import type { PersonName } from '../packages/server/src/features/analytics/persons/person.ts'
import { createBindingsReader } from '../packages/server/src/features/analytics/persons/person-bindings-store.ts'
import { createPersonEventsStore } from '../packages/server/src/features/analytics/persons/person-events-store.ts'
import type { CohortCondition } from '../packages/server/src/features/analytics/query/query.ts'
import { always } from '../packages/server/src/features/analytics/query/time/interval.ts'
import { engineSocketPath } from '../packages/server/src/platform/stores/chdb/socket.ts'
import { openColumnar } from '../packages/server/src/platform/stores/columnar-client.ts'
import { createTestColumnar } from '../packages/server/test/support/columnar.ts'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { median, printTable, type Row } from './support/machine.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '3000000' },
    rounds: { type: 'string', default: '9' },
  },
})
const events = Number(values.events)
const rounds = Number(values.rounds)
const companyId = '64b7f0a1c2d3e4f5a6b7c8d9'
/** A fifth of the devices come back on five days; each third of them names a client now and then. */
const devices = Math.floor(events / 12)
const batch = 500_000
const dayMs = 86_400_000

const engine = await createTestColumnar()
const settings = { max_threads: 2 }
for (let from = 0; from < events; from += batch) {
  await engine.command({
    sql: `INSERT INTO events (company, datasource, time, received, seq, event_uuid, name, url, tmp_id, client_id, device,
            client, ids, labels, device_type, os, browser)
          SELECT {company:String}, '65c8a1b2d3e4f5061728394a', now64(3) - toIntervalMillisecond(
              intHash64(intDiv(number, 4) * 7) % (60 * 86400000) + number % 4 * 30000) AS happened, happened, number + 1,
            generateUUIDv4(), ['page_view', 'product_page', 'add_cart', 'purchase'][number % 4 + 1],
            concat('https://www.shop.example/p/product-name-', toString(number % 5000)),
            concat('ckmqzsn8yjdztwpg8zvq', toString(intHash32(intDiv(number, 4)) % {devices:UInt32})) AS device_text,
            if(intHash32(intDiv(number, 4)) % 15 = 0, concat('cust-', device_text), '') AS client_text,
            sipHash64(device_text), if(client_text = '', 0, sipHash64(client_text)),
            [concat('SKU', toString(number % 5000))], map('store', concat('store', toString(number % 20))),
            'mobile', 'iOS', 'Safari'
          FROM numbers({from:UInt64}, {count:UInt64})`,
    params: { company: companyId, devices, from, count: Math.min(batch, events - from) },
    settings,
  })
}
await engine.command({
  sql: `INSERT INTO identities SELECT company, device, any(tmp_id), max(time), any(client), client_id FROM events
        WHERE client != 0 AND device % 2 = 0 GROUP BY company, device, client_id`,
  settings,
})
await engine.command({
  sql: `INSERT INTO person_events (company, owner, named, time, seq, datasource, name, url, ids, value, labels)
        SELECT company, if(client != 0, client, device), client != 0, time, seq, datasource, name, url, ids, value, labels
        FROM events`,
  settings,
})

const over = { columnar: engine, resolvePersons: createBindingsReader({ columnar: engine }) }
const store = createPersonEventsStore(over)
const readMembership = createMembershipReader(over)
const noAliases = new Map<string, string>()
const { signal } = new AbortController()

/** Other persons in each round, a third of them by their client. */
let turn = 0
function personsOf(count: number): PersonName[] {
  return Array.from({ length: count }, () => {
    const device = `ckmqzsn8yjdztwpg8zvq${(turn++ * 15_013) % devices}`
    return turn % 3 === 0 ? { client: `cust-${device}`, device: '' } : { client: '', device }
  })
}

const bought: CohortCondition = { kind: 'events', filters: [], times: always, atLeast: 5 }
const since = Date.now() - 60 * dayMs
const work: Readonly<Record<string, () => Promise<unknown>>> = {
  'SELECT 1': () => engine.query({ sql: 'SELECT 1' }),
  ...Object.fromEntries(
    [1, 20, 100].flatMap((count) => [
      [
        `events of ${count}`,
        () =>
          store.readEvents(
            companyId,
            personsOf(count).map((name) => ({ name, since })),
            noAliases,
            signal,
          ),
      ],
      [
        `cohort, ${count}`,
        () =>
          readMembership({ companyId, condition: bought, eventAliases: noAliases }, personsOf(count), signal),
      ],
    ]),
  ),
}

const table: Row[] = []
let bare: number | undefined
for (const [name, run] of Object.entries(work)) {
  await run()
  const took: number[] = []
  for (let round = 0; round < rounds; round++) {
    const started = performance.now()
    await run()
    took.push(performance.now() - started)
  }
  const middle = median(took)
  bare ??= middle
  const worst = `at worst ${Math.max(...took).toFixed(1)} ms`
  table.push([`${name} (${worst})`, `${middle.toFixed(1)} ms`, (middle / bare).toFixed(1), ''])
}
const sizes = await engine.query<{ table: string; bytes: number; rows: number }>({
  sql: `SELECT table, sum(bytes_on_disk) AS bytes, sum(rows) AS rows FROM system.parts
        WHERE active AND database = currentDatabase() AND table IN ('events', 'person_events') GROUP BY table ORDER BY table`,
})
for (const { table: name, bytes, rows } of sizes) {
  table.push([`${name} on disk`, `${(bytes / rows).toFixed(1)} bytes an event`, '', ''])
}
await engine.close()
printTable(`Persons, ${events.toLocaleString('en-US')} events of 60 days`, table)

const service = await startService()
const stores = openColumnar({ address: { socketPath: engineSocketPath(join(service.dataDirectory, 'run')) } })
const readers = createPersonEventsStore({
  columnar: stores,
  resolvePersons: createBindingsReader({ columnar: stores }),
})
const seenAfter: number[] = []
for (let round = 0; round < rounds; round++) {
  const device = `device-${round}`
  const event = {
    key: service.companyId,
    name: 'page_view',
    url: 'https://shop.example/',
    tmpId: device,
    v: 1,
  }
  const body = JSON.stringify({ ...event, eventId: `fresh-${round}`, data: {} })
  const reply = await fetch(service.trackerUrl, { method: 'POST', body })
  if (reply.status !== 200) throw new Error(`the collector answers ${reply.status}`)
  const accepted = performance.now()
  for (let isSeen = false; !isSeen; ) {
    const asked = [{ name: { client: '', device }, since: 0 }]
    const [found = []] = await readers.readEvents(service.companyId, asked, noAliases, signal)
    isSeen = found.length > 0
    if (!isSeen) await sleep(10)
  }
  seenAfter.push(performance.now() - accepted)
  await sleep(Math.random() * 1_000)
}
const latest = `at worst ${Math.max(...seenAfter).toFixed(0)} ms`
await stores.close()
await service.stop()
removeData(service)
printTable('Persons, an event that was just accepted', [
  [`seen after (${latest})`, `${median(seenAfter).toFixed(0)} ms`, '', '< 5 s, with up to 2 s of the cache'],
])
