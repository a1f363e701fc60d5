import { createEventSender, type EventSenderOptions } from '@millrace/sdk/events'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { companyId, datasourceId, type Row, startCollector, startTime } from '../support/collector.ts'
import { type Fault, startFaultyConnection } from '../support/faulty-connection.ts'

let collector: Awaited<ReturnType<typeof startCollector>>
let connection: Awaited<ReturnType<typeof startFaultyConnection>>

beforeAll(async () => {
  collector = await startCollector()
  connection = await startFaultyConnection()
  connection.leadTo(collector.port)
})
afterAll(async () => {
  await connection.stop()
  await collector.stop()
})
beforeEach(() => connection.fail(() => 'pass'))

const options = (more: Partial<EventSenderOptions> = {}) => ({
  collectorUrl: connection.url,
  companyId,
  datasourceId,
  flushInterval: 20,
  ...more,
})

/** Events in the log since the last call, by eventId: a repeated one once, as the loader counts it. */
async function stored(): Promise<Map<string, Row>> {
  const rows = await collector.rows()
  return new Map(rows.filter(({ z }) => z === 'e').map((row) => [String(row.e), row]))
}

const event = (i: number) => ({
  name: 'view',
  url: 'https://shop.example/',
  tmpId: `device-${i % 7}`,
  data: { serial: i, text: 'naïve 名前 😀'.repeat(i % 5) },
  eventId: `${i}`,
})

/** One fault after the other in turn, now and then none. */
function inTurn(faults: readonly Fault[]): () => Fault {
  let next = 0
  return () => faults[next++ % faults.length] ?? 'pass'
}

/** As the collector answers where its disk is full. */
const failure = JSON.stringify({
  status: 'fail',
  program: 'millrace',
  version: '0.1.0',
  datetime: '2026-01-15T12:00:00.000Z',
  code: 503,
  message: 'Events cannot be made durable at the moment, send them again',
  data: { retryAfter: 0 },
  error_code: 1005,
})
const unavailable = {
  answer: [
    'HTTP/1.1 503 Service Unavailable',
    'content-type: application/json; charset=utf-8',
    `content-length: ${failure.length}`,
    'retry-after: 0',
    'connection: close',
    '',
    failure,
  ].join('\r\n'),
}

test.each([
  ['is refused', ['refuse', 'refuse', 'pass']],
  ['is cut in the middle of a body', ['cut-request', 'cut-request', 'pass']],
  ['is cut before the answer to what was stored', ['cut-answer', 'pass']],
  ['stalls', ['stall', 'pass', 'pass']],
  ['is answered 503', [unavailable, unavailable, 'pass']],
  ['has all of it in turn', ['cut-answer', 'refuse', unavailable, 'pass', 'cut-request', 'stall', 'pass']],
] satisfies [string, Fault[]][])('delivers every event once where the connection %s', async (_, faults) => {
  await stored()
  connection.fail(inTurn(faults))
  const sender = createEventSender(options({ requestTimeout: 300, maxBatchEvents: 40, maxRequests: 2 }))
  for (let i = 0; i < 200; i++) sender.send(event(i))
  // A connection that is open is used again, so that only failures bring the next fault.
  expect(await sender.flush()).toBe(true)
  connection.fail(inTurn(faults))
  for (let i = 200; i < 300; i++) sender.send(event(i))
  expect(await sender.close({ timeoutMs: 30_000 })).toEqual({ undelivered: [] })
  const counters = sender.counters()
  expect(counters).toMatchObject({ sent: 300, delivered: 300, dropped: 0, pending: 0 })
  expect(counters.retried).toBeGreaterThan(0)
  const rows = await stored()
  expect(rows.size).toBe(300)
  expect(rows.get('3')).toMatchObject({
    n: 'view',
    p: 'device-3',
    l: { serial: '3', text: 'naïve 名前 😀'.repeat(3) },
  })
})

test('stores the events of a device in the order in which they were sent, each with its time', async () => {
  await stored()
  connection.fail(inTurn(['cut-answer', 'refuse', 'pass', 'pass']))
  const sender = createEventSender(options({ maxBatchEvents: 25, maxRequests: 4 }))
  for (let i = 0; i < 1000; i++) sender.send({ ...event(i), timestamp: startTime + i })
  await sender.close()
  const rows = [...(await stored()).values()]
  expect(rows.every(({ t, l }) => Number(t) === startTime + Number((l as { serial: string }).serial))).toBe(
    true,
  )
  for (let device = 0; device < 7; device++) {
    const serials = rows
      .filter((row) => row.p === `device-${device}`)
      .sort((a, b) => a.q - b.q)
      .map((row) => Number((row.l as { serial: string }).serial))
    expect(serials.length).toBeGreaterThan(140)
    expect(serials).toEqual(Array.from({ length: serials.length }, (_, i) => device + 7 * i))
  }
})

test('compresses what is worth it, and the collector reads it', async () => {
  await stored()
  const encodings: (string | null)[] = []
  const spying: typeof fetch = async (url, init) => {
    const response = await fetch(url, init)
    encodings.push(new Headers(init?.headers).get('content-encoding'))
    return response
  }
  const sender = createEventSender(options({ fetch: spying, flushInterval: 0 }))
  sender.send(event(1))
  await sender.flush()
  for (let i = 2; i < 500; i++) sender.send(event(i))
  await sender.flush()
  sender.send({ ...event(500), data: { list: Array.from({ length: 300_000 }, () => 'x') } })
  await sender.close()
  expect(encodings).toEqual([null, 'gzip', null])
  expect((await stored()).size).toBe(500)
})

test('batches of very many and very large events pass the bounds of the collector', async () => {
  await stored()
  const sender = createEventSender(
    options({
      maxBatchEvents: 2000,
      maxBatchBytes: 5 * 1024 * 1024,
      maxPendingEvents: 10_000,
      compress: false,
    }),
  )
  for (let i = 0; i < 5000; i++) sender.send({ ...event(i), data: { text: 'x'.repeat(2000), serial: i } })
  // Several texts of one event: each label is cut where it is stored.
  sender.send({ ...event(5000), data: { a: 'é'.repeat(1_000_000), b: 'y'.repeat(2_000_000) } })
  expect(await sender.close({ timeoutMs: 200_000 })).toEqual({ undelivered: [] })
  expect(sender.counters()).toMatchObject({ delivered: 5001, dropped: 0 })
  expect((await stored()).size).toBe(5001)
})

test('an event that no request can hold is dropped, and the others of its batch are not', async () => {
  await stored()
  const dropped: string[] = []
  const sender = createEventSender(
    options({ onDrop: ({ reason, events }) => dropped.push(`${reason} ${events.length}`) }),
  )
  sender.send(event(0))
  sender.send({ ...event(1), data: { text: 'x'.repeat(6_000_000) } })
  sender.send(event(2))
  await sender.close()
  expect(dropped).toEqual(['too-large 1'])
  expect([...(await stored()).keys()].sort()).toEqual(['0', '2'])
})

test('names what is wrong where the datasource is unknown, or takes no events', async () => {
  const dropped: unknown[] = []
  const sender = createEventSender(
    options({
      datasourceId: '65f0c0ffee5ca1ab1e0dd999',
      onDrop: ({ reason, status, message }) => dropped.push({ reason, status, message }),
    }),
  )
  sender.send(event(1))
  await sender.close()
  expect(dropped).toEqual([
    { reason: 'refused', status: 404, message: expect.stringMatching(/^404: .*datasource/i) },
  ])
})

test('the user-agent of the sender is no crawler', async () => {
  await stored()
  const sender = createEventSender(options())
  sender.send(event(1))
  await sender.close()
  expect(sender.counters()).toMatchObject({ delivered: 1, dropped: 0 })
})

test('close during an outage gives the events back, and another sender delivers them once', async () => {
  await stored()
  connection.fail(inTurn(['cut-answer', 'refuse', 'refuse', 'refuse', 'refuse', 'refuse', 'refuse']))
  const sender = createEventSender(options({ maxBatchEvents: 100, maxRequests: 2 }))
  for (let i = 0; i < 250; i++) sender.send(event(i))
  const { undelivered } = await sender.close({ timeoutMs: 500 })
  expect(undelivered.map(({ eventId }) => eventId)).toEqual(Array.from({ length: 250 }, (_, i) => `${i}`))
  expect(sender.counters()).toMatchObject({ sent: 250, delivered: 0, dropped: 250, pending: 0 })
  connection.fail(() => 'pass')
  const next = createEventSender(options())
  for (const each of JSON.parse(JSON.stringify(undelivered)) as typeof undelivered) next.send(each)
  expect(await next.close()).toEqual({ undelivered: [] })
  expect((await stored()).size).toBe(250)
})

test('an outage holds no more events than the bound, and those are delivered afterwards', async () => {
  await stored()
  connection.fail(() => 'refuse')
  const bytes = 200_000
  const sender = createEventSender(
    options({ maxPendingBytes: bytes, maxBatchBytes: 50_000, onDrop: () => {} }),
  )
  for (let i = 0; i < 5000; i++) {
    sender.send(event(i))
    if (i % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const { pending, dropped, delivered } = sender.counters()
  expect(delivered).toBe(0)
  expect(pending + dropped).toBe(5000)
  // One event has between 200 and 400 bytes.
  expect(pending).toBeGreaterThan(bytes / 400)
  expect(pending).toBeLessThan(bytes / 200)
  connection.fail(() => 'pass')
  expect(await sender.close({ timeoutMs: 200_000 })).toEqual({ undelivered: [] })
  expect(new Set((await stored()).keys())).toEqual(new Set(Array.from({ length: pending }, (_, i) => `${i}`)))
})
