/**
 * The collector against the limit of this machine in the same run: single events from 64 connections, p99 at
 * half that rate, the same during eight heavy queries, and batches of 100 events, in the Segment shape too; batches and
 * single events beside them with threads for validating and without.
 * Run: `npm run bench -- collector [--seconds 10] [--rounds 3]`
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { removeData, type Service, startService } from '../packages/server/test/support/running-service.ts'
import { untilLoaded } from './support/fill.ts'
import { median, printTable, type Row } from './support/machine.ts'
import { paced } from './support/paced.ts'
import { driveEvents, type WrkResult } from './support/wrk.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, rounds: { type: 'string', default: '3' } },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)

async function startBareServer(): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, [new URL('./support/bare-server.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()))
  })
  return { url: `http://127.0.0.1:${port}/collect`, stop: () => child.kill() }
}

/** Eight clients that send heavy queries one after the other until stopped; resolves with the number of answers. */
function askHeavyQueries(service: Service): { stop: () => Promise<number> } {
  let stopped = false
  let answered = 0
  const ask = async (): Promise<void> => {
    while (!stopped) {
      // Streams are computed each time; answers in the envelope come from a cache for 10 s.
      const query = {
        measures: ['events.people', 'events.sessions', 'events.items'],
        dimensions: ['events.label.store'],
        filters: [],
        timeDimensions: [{ dimension: 'events.time', granularity: 'hour', dateRange: 'last 30 days' }],
      }
      const reply = await service.call('POST', '/v2/statistics/query', query, 'application/x-ndjson')
      await reply.text()
      if (reply.ok) answered++
    }
  }
  const callers = Array.from({ length: 8 }, ask)
  return {
    async stop() {
      stopped = true
      await Promise.all(callers)
      return answered
    },
  }
}

const format = (value: number): string => Math.round(value).toLocaleString('en-US')
const ratio = (value: number): string => value.toFixed(2)

const service = await startService()
const bare = await startBareServer()
const rows: Row[] = []
let accepted = 0

async function driveService(batch = 1): Promise<WrkResult> {
  const result = await driveEvents({ url: service.trackerUrl, key: service.companyId, seconds, batch })
  if (result.failures > 0) throw new Error(`${result.failures} requests failed`)
  accepted += result.requests * batch
  return result
}

/** Seconds that the main thread, or all threads, of a process have computed. */
function computed(pid: number, thread?: number): number {
  const path = thread === undefined ? `/proc/${pid}/stat` : `/proc/${pid}/task/${thread}/stat`
  const fields = readFileSync(path, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Batches, and single events beside large ones, in turns with a service that validates all in its main thread. */
async function compareThreads(): Promise<Row[]> {
  const plain = await startService({ env: { MILLRACE_COLLECTOR_THREADS: '0' } })
  const measure = async (each: Service) => {
    const { pid } = each
    const drive = { url: each.trackerUrl, key: each.companyId }
    await each.loaded()
    const before = [computed(pid), computed(pid, pid)] as const
    const { requests, requestsPerSecond, p99 } = await driveEvents({ ...drive, seconds, batch: 100 })
    const [all, main] = [computed(pid) - before[0], computed(pid, pid) - before[1]]
    await each.loaded()
    const [, beside] = await Promise.all([
      driveEvents({ ...drive, seconds: seconds + 1, batch: 1_000, connections: 4 }),
      paced(each, 500, seconds),
    ])
    const micros = (spent: number): number => (spent * 1e6) / (requests * 100)
    return {
      rate: requestsPerSecond * 100,
      p99,
      all: micros(all),
      main: micros(main),
      besideP50: beside.p50,
      besideP99: beside.p99,
    }
  }
  try {
    await measure(plain)
    type Measured = Awaited<ReturnType<typeof measure>>
    const pairs: { readonly without: Measured; readonly with: Measured }[] = []
    for (let round = 0; round < rounds; round++)
      pairs.push({ without: await measure(plain), with: await measure(service) })
    const row = (what: string, name: keyof Measured, unit: string, digits = 1): Row => {
      const [without, beside] = [
        median(pairs.map((pair) => pair.without[name])),
        median(pairs.map((pair) => pair.with[name])),
      ]
      return [what, `${beside.toFixed(digits)} ${unit}`, `${ratio(beside / without)} of without`, '']
    }
    return [
      row('threads: batches of 100', 'rate', 'events/s', 0),
      row('threads: p99 of them', 'p99', 'ms'),
      row('threads: the main one, for an event', 'main', 'us'),
      row('threads: all of the process, for an event', 'all', 'us'),
      row('threads: p50 of single events beside batches of 1,000', 'besideP50', 'ms'),
      row('threads: p99 of them', 'besideP99', 'ms'),
    ]
  } finally {
    await plain.stop()
    removeData(plain)
  }
}

try {
  await driveEvents({ url: service.trackerUrl, key: service.companyId, seconds: 2 }).then((warm) => {
    accepted += warm.requests
  })
  const bareRates: number[] = []
  const singles: WrkResult[] = []
  for (let round = 0; round < rounds; round++) {
    bareRates.push((await driveEvents({ url: bare.url, key: service.companyId, seconds })).requestsPerSecond)
    singles.push(await driveService())
  }
  const limit = median(bareRates)
  const single = median(singles.map((result) => result.requestsPerSecond))
  rows.push(['bare node:http, one event a request', `${format(limit)} requests/s`, '1.00', ''])
  const singleRatio = median(singles.map((result, i) => result.requestsPerSecond / (bareRates[i] ?? limit)))
  rows.push(['collector, one event a request', `${format(single)} requests/s`, ratio(singleRatio), '>= 0.40'])
  const lag = await untilLoaded(service, accepted, 60_000)
  rows.push(['loader behind at the end of that', `${format(lag)} ms`, '', 'keeps up'])

  const calm = await paced(service, single / 2, seconds)
  accepted += calm.ok
  rows.push([`p99 at half that rate`, `${calm.p99} ms (p50 ${calm.p50})`, '', '< 25 ms'])

  const alone: number[] = []
  const loaded: WrkResult[] = []
  let answered = 0
  for (let round = 0; round < rounds; round++) {
    alone.push((await driveService()).requestsPerSecond)
    const heavy = askHeavyQueries(service)
    loaded.push(await driveService())
    answered += await heavy.stop()
  }
  const underLoad = median(loaded.map((result) => result.requestsPerSecond))
  rows.push([
    `during 8 heavy queries (${answered} answered)`,
    `${format(underLoad)} requests/s`,
    `${ratio(median(loaded.map((result, i) => result.requestsPerSecond / (alone[i] ?? single))))} of alone`,
    '>= 0.55',
  ])
  rows.push(['p99 during them', `${median(loaded.map(({ p99 }) => p99))} ms`, '', '< 50 ms'])

  const bareBatches = await driveEvents({ url: bare.url, key: service.companyId, seconds, batch: 100 })
  rows.push([
    'bare node:http, 100 events a request',
    `${format(bareBatches.requestsPerSecond * 100)} events/s`,
    '1.00',
    '',
  ])
  const batches = await driveService(100)
  rows.push([
    'collector, 100 events a request',
    `${format(batches.requestsPerSecond * 100)} events/s`,
    ratio(batches.requestsPerSecond / bareBatches.requestsPerSecond),
    '>= 400,000 events/s',
  ])
  rows.push(...(await compareThreads()))
  const url = new URL('/v1/batch', service.trackerUrl).href
  const writeKey = service.datasourceId
  const calls = await driveEvents({ url, key: service.companyId, seconds, batch: 100, writeKey })
  if (calls.failures > 0) throw new Error(`${calls.failures} batches in the Segment shape failed`)
  rows.push([
    'collector, 100 calls in the Segment shape a request',
    `${format(calls.requestsPerSecond * 100)} events/s`,
    `${ratio(calls.requestsPerSecond / batches.requestsPerSecond)} of events`,
    '',
  ])
  const end = performance.now()
  await service.loaded()
  const drained = performance.now() - end
  rows.push(['loader behind at the end of that', `${format(drained)} ms`, '', ''])

  const marker = `bench-${Date.now()}`
  const sentAt = performance.now()
  await fetch(service.trackerUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      key: service.companyId,
      name: marker,
      url: 'x',
      tmpId: 't',
      data: {},
      eventId: marker,
      v: 1,
    }),
  })
  while (
    (
      await service.query({
        measures: ['events.count'],
        dimensions: [],
        timeDimensions: [],
        filters: [{ member: 'events.name', operator: 'equals', values: [marker] }],
      })
    )[0]?.['events.count'] !== 1
  ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  rows.push(['visible to a query after', `${format(performance.now() - sentAt)} ms`, '', '< 2,000 ms'])
  printTable('Collector', rows)
} finally {
  bare.stop()
  await service.stop()
  removeData(service)
}
