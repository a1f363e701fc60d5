/**
 * The collector against the limit of this machine in the same run: single events from 64 connections, p99 at
 * half that rate, the same during eight heavy queries, and batches of 100 events, in the Segment shape too.
 * Run: `npm run bench -- collector [--seconds 10] [--rounds 3]`
 */
import { spawn } from 'node:child_process'
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
  const batches = await driveService(100)
  rows.push([
    'bare node:http, 100 events a request',
    `${format(bareBatches.requestsPerSecond * 100)} events/s`,
    '1.00',
    '',
  ])
  rows.push([
    'collector, 100 events a request',
    `${format(batches.requestsPerSecond * 100)} events/s`,
    ratio(batches.requestsPerSecond / bareBatches.requestsPerSecond),
    '>= 150,000 events/s',
  ])
  const url = new URL('/v1/batch', service.trackerUrl).href
  const writeKey = service.datasourceId
  const calls = await driveEvents({ url, key: service.companyId, seconds, batch: 100, writeKey })
  if (calls.failures > 0) throw new Error(`${calls.failures} batches in the Segment shape failed`)
  accepted += calls.requests * 100
  rows.push([
    'collector, 100 calls in the Segment shape a request',
    `${format(calls.requestsPerSecond * 100)} events/s`,
    `${ratio(calls.requestsPerSecond / batches.requestsPerSecond)} of events`,
    '',
  ])
  const drained = await untilLoaded(service, accepted, 120_000)
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
