// One file past 400 lines: every test drives the sender with the same clock and the same collector.

import type { CollectedEvent } from '@millrace/contract/resources/collected-event.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createEventSender } from './event-sender.ts'
import { PendingQueue } from './pending-queue.ts'
import type { DeliveryError, DroppedEvents, EventWarning } from './reports.ts'
import type { EventSenderOptions } from './sender-options.ts'

const companyId = '65f0c0ffee5ca1ab1e0ddba1'
const datasourceId = '65f0c0ffee5ca1ab1e0ddba2'
const start = Date.UTC(2026, 0, 15, 12)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: start })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

type Answer = (events: readonly CollectedEvent[], signal: AbortSignal) => Response | Promise<Response>

const accepted = (): Response => new Response(null, { status: 200 })
const failure =
  (status: number, headers: Record<string, string> = {}, message = 'because'): Answer =>
  () =>
    new Response(JSON.stringify({ message }), { status, headers })
const unreachable: Answer = () => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
}

/** A collector in the place of `fetch`: each request gets the next answer, and the last one again and again. */
function collector(...answers: readonly Answer[]) {
  const requests: { url: string; at: number; events: CollectedEvent[]; headers: Headers }[] = []
  let underWay = 0
  const world = {
    requests,
    maxUnderWay: 0,
    names: () => requests.map(({ events }) => events.map(({ name }) => name)),
    fetch: (async (url: string, init: RequestInit) => {
      const events = JSON.parse(String(init.body)) as CollectedEvent[]
      requests.push({ url, at: Date.now() - start, events, headers: new Headers(init.headers) })
      world.maxUnderWay = Math.max(world.maxUnderWay, ++underWay)
      try {
        const answer = answers[Math.min(requests.length, answers.length) - 1] ?? accepted
        return await answer(events, init.signal as AbortSignal)
      } finally {
        underWay--
      }
    }) as typeof fetch,
  }
  return world
}

const never: Answer = (_, signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
const after =
  (ms: number, answer: Answer = accepted): Answer =>
  async (events, signal) => {
    await new Promise((resolve) => setTimeout(resolve, ms))
    return answer(events, signal)
  }

function sending(to: { fetch: typeof fetch }, options: Partial<EventSenderOptions> = {}) {
  const drops: DroppedEvents[] = []
  const errors: DeliveryError[] = []
  const warnings: EventWarning[] = []
  const given = {
    collectorUrl: 'https://events.example.com/',
    companyId,
    datasourceId,
    compress: false,
    fetch: to.fetch,
    onDrop: (dropped: DroppedEvents) => drops.push(dropped),
    onError: (error: DeliveryError) => errors.push(error),
    onWarning: (warning: EventWarning) => warnings.push(warning),
    ...options,
  }
  const dependencies = { random: () => 1 }
  const sender = createEventSender(given, dependencies)
  return { sender, drops, errors, warnings, given, dependencies }
}

const event = (name: string, tmpId = 'device-1') => ({ name, tmpId })
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('sends what came within the interval as one request, with its time and an identifier', async () => {
  const to = collector()
  const { sender } = sending(to)
  expect(
    sender.send({ name: 'add_cart', url: 'https://shop.example/', tmpId: 't', data: { ids: ['A'] } }),
  ).toBe(true)
  await pass(400)
  sender.send({ name: 'search', clientId: 'customer-1', data: { text: 'shoes' } })
  sender.identify({ tmpId: 't', clientId: 'customer-1' })
  await pass(599)
  expect(to.requests).toEqual([])
  await pass(1)
  expect(to.requests).toHaveLength(1)
  const [request] = to.requests
  expect(request?.url).toBe(`https://events.example.com/collect/${datasourceId}/tracker`)
  expect(request?.headers.get('content-type')).toBe('application/json')
  const eventId = expect.stringMatching(/^[0-9a-f-]{36}$/)
  const common = { key: companyId, eventId, v: 1, data: {} }
  expect(request?.events).toEqual([
    {
      ...common,
      name: 'add_cart',
      url: 'https://shop.example/',
      tmpId: 't',
      data: { ids: ['A'] },
      timestamp: start,
    },
    {
      ...common,
      name: 'search',
      url: '',
      tmpId: 'customer-1',
      clientId: 'customer-1',
      data: { text: 'shoes' },
      timestamp: start + 400,
    },
    { ...common, name: 'identify', url: '', tmpId: 't', clientId: 'customer-1', timestamp: start + 400 },
  ])
  expect(new Set(request?.events.map((sent) => sent.eventId)).size).toBe(3)
  expect(sender.counters()).toEqual({ sent: 3, delivered: 3, dropped: 0, retried: 0, pending: 0 })
})

test('sends a full batch at once, by events and by bytes', async () => {
  const to = collector()
  const { sender } = sending(to, { maxBatchEvents: 3, maxRequests: 1 })
  for (const name of ['a', 'b', 'c', 'd']) sender.send(event(name))
  await pass(0)
  expect(to.names()).toEqual([['a', 'b', 'c']])
  await pass(1000)
  expect(to.names()).toEqual([['a', 'b', 'c'], ['d']])

  const bySize = collector()
  const large = sending(bySize, { maxBatchBytes: 1000, maxRequests: 1 })
  for (const name of ['a', 'b', 'c']) large.sender.send({ ...event(name), data: { text: 'x'.repeat(300) } })
  await pass(0)
  expect(bySize.names()).toEqual([['a', 'b']])
  large.sender.send({ ...event('d'), data: { text: 'x'.repeat(3000) } })
  await pass(0)
  expect(bySize.names()).toEqual([['a', 'b'], ['c'], ['d']])
})

test('copies the data when it is given', async () => {
  const to = collector()
  const { sender } = sending(to)
  const data = { page: 'before' }
  sender.send({ ...event('view'), data })
  data.page = 'after'
  await pass(1000)
  expect(to.requests[0]?.events[0]?.data).toEqual({ page: 'before' })
})

test.each([
  ['is not reached', unreachable],
  ['answers 500', failure(500)],
  ['answers 503', failure(503)],
  ['answers 599', failure(599)],
  ['redirects', failure(302, { location: 'https://elsewhere.example/' })],
  ['answers a page', (() => new Response('<html>', { headers: { 'content-type': 'text/html' } })) as Answer],
  ['accepts a body that is cut off on the way', (() => new Response(cutOff())) as Answer],
])('sends the same events again where the collector %s', async (_, answer) => {
  const to = collector(answer, answer, accepted)
  const { sender, errors, drops } = sending(to)
  sender.send(event('a'))
  sender.send(event('b'))
  await pass(1000)
  expect(sender.counters()).toMatchObject({ delivered: 0, pending: 2 })
  await pass(10_000)
  expect(to.requests).toHaveLength(3)
  expect(to.requests[1]?.events).toEqual(to.requests[0]?.events)
  expect(to.requests[2]?.events).toEqual(to.requests[0]?.events)
  expect(sender.counters()).toEqual({ sent: 2, delivered: 2, dropped: 0, retried: 4, pending: 0 })
  expect(errors.map(({ events }) => events)).toEqual([2, 2])
  expect(drops).toEqual([])
})

function cutOff(): ReadableStream {
  return new ReadableStream({
    pull: (controller) => controller.error(new TypeError('terminated')),
  })
}

test('gives up a request without an answer after its time, and sends it again', async () => {
  const to = collector(never, accepted)
  const { sender, errors } = sending(to, { requestTimeout: 5000 })
  sender.send(event('a'))
  await pass(1000 + 5000)
  expect(errors.map(({ message }) => message)).toEqual([
    `no answer from https://events.example.com/collect/${datasourceId}/tracker within 5000 ms`,
  ])
  await pass(250)
  expect(to.requests[1]?.events).toEqual(to.requests[0]?.events)
  expect(sender.counters().delivered).toBe(1)
})

test('waits longer after each failure, up to ten seconds, and begins again after a success', async () => {
  const to = collector(...Array.from({ length: 10 }, () => unreachable), accepted, unreachable, accepted)
  const { sender } = sending(to, { flushInterval: 1 })
  sender.send(event('a'))
  await pass(1000)
  await pass(60_000)
  const times = to.requests.map(({ at }) => at)
  const waits = times.slice(1).map((at, i) => at - (times[i] ?? 0))
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 10_000])
  sender.send(event('b'))
  await pass(1)
  await pass(250)
  expect(to.requests).toHaveLength(13)
  expect(sender.counters().delivered).toBe(2)
})

test.each([
  ['seconds', '7', 7000],
  ['a date', new Date(start + 1000 + 20_000).toUTCString(), 20_000],
  ['an hour, of which five minutes are waited', '3600', 300_000],
])('waits as long as Retry-After says: %s', async (_, header, expected) => {
  const to = collector(failure(503, { 'retry-after': header }), accepted)
  const { sender } = sending(to)
  sender.send(event('a'))
  await pass(1000)
  await pass(expected - 1)
  expect(to.requests).toHaveLength(1)
  await pass(1 + 250)
  expect(to.requests).toHaveLength(2)
  expect(sender.counters().delivered).toBe(1)
})

test.each([400, 401, 403, 404, 405, 408, 415, 422, 429])(
  'drops events that are refused with %i',
  async (status) => {
    const to = collector(failure(status, {}, 'no datasource matches'), accepted)
    const { sender, drops, errors } = sending(to)
    sender.send(event('a'))
    await pass(60_000)
    expect(to.requests).toHaveLength(1)
    expect(drops).toEqual([
      {
        reason: 'refused',
        status,
        message: `${status}: no datasource matches`,
        events: [expect.objectContaining({ name: 'a', eventId: expect.any(String), timestamp: start })],
      },
    ])
    expect(errors).toEqual([])
    expect(sender.counters()).toEqual({ sent: 1, delivered: 0, dropped: 1, retried: 0, pending: 0 })
  },
)

test('says that events were taken for those of a crawler', async () => {
  const to = collector(() => new Response(null, { status: 202 }))
  const { sender, drops } = sending(to, { headers: { 'User-Agent': 'SomeBot/1.0' } })
  sender.send(event('a'))
  await pass(1000)
  expect(to.requests[0]?.headers.get('user-agent')).toBe('SomeBot/1.0')
  expect(drops[0]).toMatchObject({
    reason: 'bot',
    status: 202,
    message: expect.stringContaining('user-agent'),
  })
  expect(sender.counters()).toMatchObject({ delivered: 0, dropped: 1 })
})

test('halves what is too large until it passes, and drops one event that is too large alone', async () => {
  const refusing: Answer = (events) =>
    events.length > 3 || events.some(({ name }) => name === 'e5')
      ? failure(413)([], new AbortController().signal)
      : accepted()
  const to = collector(refusing)
  const { sender, drops } = sending(to)
  const names = Array.from({ length: 10 }, (_, i) => `e${i}`)
  for (const name of names) sender.send(event(name))
  await pass(1000)
  const passed = to.requests.filter(
    ({ events }) => events.length <= 3 && !events.some(({ name }) => name === 'e5'),
  )
  expect(passed.flatMap(({ events }) => events.map(({ name }) => name))).toEqual(
    names.filter((name) => name !== 'e5'),
  )
  expect(drops.map(({ reason, events }) => [reason, events.map((each) => each.name)])).toEqual([
    ['too-large', ['e5']],
  ])
  expect(sender.counters()).toMatchObject({ delivered: 9, dropped: 1, pending: 0 })
})

const failsAt =
  (...names: string[]): Answer =>
  (events, signal) =>
    events.some(({ name }) => names.includes(name)) ? failure(500)(events, signal) : accepted()

test('finds the events that the collector fails at, and nothing else waits for them', async () => {
  const to = collector(failsAt('e3', 'e7'))
  const { sender, drops } = sending(to, { maxRequests: 1 })
  const names = Array.from({ length: 10 }, (_, i) => `e${i}`)
  for (const [i, name] of names.entries()) sender.send(event(name, `device-${i % 9}`))
  await pass(5 * 60_000)
  expect(sender.counters()).toMatchObject({ delivered: 8, dropped: 0, pending: 2 })
  const before = to.requests.length
  await pass(10 * 60_000)
  expect(to.requests.length - before).toBeLessThanOrEqual(20)

  for (let i = 0; i < 20; i++) {
    sender.send(event('later', `other-${i}`))
    await pass(1000)
    expect(sender.counters()).toMatchObject({ delivered: 9 + i, pending: 2 })
  }
  await pass(7 * 24 * 60 * 60_000)
  expect(sender.counters()).toMatchObject({ delivered: 28, dropped: 2, pending: 0 })
  expect(drops.map(({ reason, events }) => [reason, events.map(({ name }) => name)])).toEqual([
    ['expired', ['e3']],
    ['expired', ['e7']],
  ])
})

test('delivers an event that the collector failed at later, and those of its person meanwhile', async () => {
  let isMended = false
  const to = collector((events, signal) => (isMended ? accepted() : failsAt('a1')(events, signal)))
  const { sender } = sending(to)
  for (const name of ['a0', 'a1', 'a2']) sender.send(event(name, 'device-a'))
  sender.send(event('b', 'device-b'))
  await pass(3 * 60_000)
  sender.send(event('a3', 'device-a'))
  await pass(2000)
  expect(sender.counters()).toMatchObject({ delivered: 4, pending: 1 })
  isMended = true
  await pass(61_000)
  expect(await sender.flush()).toBe(true)
  const delivered = to.names().filter((names) => !names.includes('a1'))
  expect(delivered.flat().filter((name) => name.startsWith('a'))).toEqual(['a0', 'a2', 'a3'])
  expect(to.names().at(-1)).toEqual(['a1'])
  expect(sender.counters()).toMatchObject({ delivered: 5, dropped: 0, pending: 0 })
})

test.each([1, 500])(
  'an event that the collector fails at holds no other where all are of one device, %i in a batch',
  async (maxBatchEvents) => {
    const { sender } = sending(collector(failsAt('bad 1', 'bad 2')), { maxBatchEvents })
    for (const name of ['bad 1', 'bad 2', 'a', 'b']) sender.send(event(name))
    await pass(3 * 60_000)
    for (let i = 0; i < 3000; i++) sender.send(event('later'))
    await pass(10 * 60_000)
    expect(sender.counters()).toMatchObject({ delivered: 3002, dropped: 0, pending: 2 })
  },
)

test('keeps the order of a device while the collector is away', async () => {
  let isAway = true
  const to = collector((events, signal) => (isAway ? failure(503)(events, signal) : accepted()))
  const { sender } = sending(to)
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) sender.send(event(name))
  await pass(10 * 60_000)
  isAway = false
  const before = to.requests.length
  await pass(60_000)
  expect(to.names().slice(before).flat()).toEqual(names)
})

test('asks a collector that fails at everything no more often with time', async () => {
  const to = collector(failsAt('a'))
  const { sender } = sending(to)
  for (let i = 0; i < 2000; i++) sender.send(event('a', `device-${i % 7}`))
  await pass(60 * 60_000)
  const before = to.requests.length
  await pass(60 * 60_000)
  // Each ten seconds, and four events once a minute.
  expect(to.requests.length - before).toBeLessThan(2400)
})

test('gives back at the end what the collector fails at', async () => {
  const { sender } = sending(collector(failsAt('bad')))
  sender.send(event('bad'))
  sender.send(event('good', 'device-2'))
  await pass(3 * 60_000)
  const closing = sender.close({ timeoutMs: 1000 })
  await pass(1000)
  expect((await closing).undelivered.map(({ name }) => name)).toEqual(['bad'])
})

test('sends in few requests again after a long failure of everything', async () => {
  let isDown = true
  const to = collector(() => (isDown ? failure(503)([], new AbortController().signal) : accepted()))
  const { sender } = sending(to)
  for (let i = 0; i < 300; i++) sender.send(event(`e${i}`, `device-${i % 7}`))
  await pass(10 * 60_000)
  isDown = false
  const before = to.requests.length
  await pass(10_000)
  expect(sender.counters()).toMatchObject({ delivered: 300, pending: 0 })
  expect(to.requests.length - before).toBeLessThanOrEqual(10)
})

test('drops the newest events beyond the bounds of its memory, and takes others once there is room', async () => {
  const to = collector(unreachable, unreachable, accepted)
  const { sender, drops } = sending(to, { maxPendingEvents: 5 })
  const taken = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => sender.send(event(name)))
  expect(taken).toEqual([true, true, true, true, true, false, false])
  expect(drops.map(({ reason, events }) => [reason, events[0]?.name])).toEqual([
    ['full', 'f'],
    ['full', 'g'],
  ])
  await pass(10_000)
  expect(to.names().at(-1)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(sender.send(event('h'))).toBe(true)
  await pass(1000)
  expect(sender.counters()).toEqual({ sent: 8, delivered: 6, dropped: 2, retried: 10, pending: 0 })

  const bytes = sending(to, { maxPendingBytes: 2000 })
  const text = 'x'.repeat(700)
  const taken2 = ['a', 'b', 'c'].map((name) => bytes.sender.send({ ...event(name), data: { text } }))
  expect(taken2).toEqual([true, true, false])
  expect(bytes.sender.send({ ...event('d'), data: { text: 'x'.repeat(2000) } })).toBe(false)
  expect(bytes.drops.at(-1)?.message).toContain('maxPendingBytes')
})

test('waits for room where that is asked for, in order', async () => {
  const to = collector(unreachable, accepted)
  const { given, dependencies } = sending(to, { maxPendingEvents: 2 })
  const sender = createEventSender({ ...given, whenFull: 'wait' }, dependencies)
  const taken: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    void sender.send(event(name)).then((isTaken) => taken.push(`${name} ${isTaken}`))
  }
  await pass(0)
  expect(taken).toEqual(['a true', 'b true'])
  expect(sender.counters().pending).toBe(5)
  await pass(5000)
  expect(taken).toEqual(['a true', 'b true', 'c true', 'd true', 'e true'])
  expect(to.names().slice(1).flat()).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(sender.counters()).toMatchObject({ sent: 5, delivered: 5, dropped: 0, pending: 0 })
})

test('keeps the order of the events of one device, and sends those of others meanwhile', async () => {
  const to = collector(after(100))
  const { sender } = sending(to, { maxBatchEvents: 2, maxRequests: 2 })
  for (let i = 0; i < 6; i++) sender.send(event(`a${i}`, 'device-a'))
  for (let i = 0; i < 4; i++) sender.send(event(`b${i}`, 'device-b'))
  await pass(0)
  expect(to.names()).toEqual([['a0', 'a1'], ['b0']])
  await pass(1000)
  expect(to.maxUnderWay).toBe(2)
  const sent = to.names().flat()
  expect(sent.filter((name) => name.startsWith('a'))).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5'])
  expect(sent.filter((name) => name.startsWith('b'))).toEqual(['b0', 'b1', 'b2', 'b3'])
})

test('looks for events to send only when something has changed', async () => {
  const take = vi.spyOn(PendingQueue.prototype, 'take')
  const to = collector(never, accepted)
  const { sender } = sending(to, { maxBatchEvents: 10, requestTimeout: 60_000 })
  for (let i = 0; i < 1000; i++) sender.send(event(`a${i}`))
  expect(take).toHaveBeenCalledTimes(2)
  for (let i = 0; i < 1000; i++) sender.send(event(`b${i}`, `device-b${i}`))
  expect(take).toHaveBeenCalledTimes(2)
  await pass(61_000)
  expect(sender.counters()).toMatchObject({ delivered: 2000, pending: 0 })
})

test('an event of another device goes past those that wait for theirs', async () => {
  const to = collector(never, accepted)
  const { sender } = sending(to, { maxBatchEvents: 10 })
  for (let i = 0; i < 25; i++) sender.send(event(`a${i}`))
  sender.send(event('b', 'device-b'))
  await pass(0)
  expect(to.names()[1]).toEqual(['b'])
})

test.each([
  ['tmpId', { name: 'a' } as never, 'required-field-missing'],
  ['name', { name: '', tmpId: 't' }, 'required-field-missing'],
  ['data', { name: 'a', tmpId: 't', data: [] as never }, 'data-not-object'],
  ['data.ids', { name: 'a', tmpId: 't', data: { ids: [1] } }, 'ids-wrong-type'],
  ['data.ids', { name: 'a', tmpId: 't', data: { ids: ['null', '0'] } }, 'ids-none-left'],
  ['data.value', { name: 'purchase', tmpId: 't', data: { value: '1;2' } }, 'purchase-value-joined'],
  ['data.value', { name: 'purchase', tmpId: 't', data: { value: 'much' } }, 'purchase-value-not-number'],
])('drops by the rules of the collector what %s is wrong in', async (path, wrong, rule) => {
  const to = collector()
  const { sender, drops } = sending(to)
  expect(sender.send(wrong)).toBe(false)
  expect(drops).toEqual([
    {
      reason: 'invalid',
      message: expect.stringContaining(path),
      finding: { rule, path, sample: expect.any(String) },
      events: [wrong],
    },
  ])
  await pass(1000)
  expect(to.requests).toEqual([])
  expect(sender.counters()).toMatchObject({ sent: 1, dropped: 1, pending: 0 })
})

test.each([
  ['a cycle', cycle],
  ['a bigint', () => ({ count: 12n })],
  [
    'a getter that throws',
    () => ({
      get broken() {
        throw new Error('no')
      },
    }),
  ],
])('drops what is no JSON: %s', (_, data) => {
  const { sender, drops } = sending(collector())
  expect(sender.send({ ...event('a'), data: data() })).toBe(false)
  expect(drops[0]).toMatchObject({
    reason: 'invalid',
    message: expect.stringContaining('cannot be written as JSON'),
  })
})

function cycle(): Record<string, unknown> {
  const data: Record<string, unknown> = {}
  data.self = data
  return data
}

test('warns of what a rule changes, and sends it', async () => {
  const to = collector()
  const { sender, warnings } = sending(to)
  sender.send({ name: 'identify', tmpId: 't', clientId: 'null' })
  sender.send({ ...event('view'), data: { ids: ['A', 'undefined'] }, timestamp: 1_700_000 })
  expect(warnings.map(({ rule, path }) => [rule, path])).toEqual([
    ['client-id-placeholder', 'clientId'],
    ['ids-placeholder', 'data.ids'],
    ['timestamp-out-of-range', 'timestamp'],
  ])
  expect(warnings[0]?.message).toContain('clientId is a placeholder (found "null")')
  await pass(1000)
  expect(to.requests[0]?.events).toHaveLength(2)
})

test('flush sends at once and waits until all that was sent before has an outcome', async () => {
  const to = collector(after(300, unreachable), accepted)
  const { sender } = sending(to)
  sender.send(event('a'))
  let flushed: boolean | undefined
  void sender.flush().then((all) => {
    flushed = all
  })
  await pass(299)
  expect(to.requests).toHaveLength(1)
  sender.send(event('b'))
  await pass(200)
  expect(flushed).toBeUndefined()
  await pass(51)
  expect(flushed).toBe(true)
  expect(sender.counters()).toMatchObject({ delivered: 1, pending: 1 })
  expect(await sender.flush()).toBe(true)
  expect(sender.counters()).toMatchObject({ delivered: 2, pending: 0 })
  expect(await sender.flush()).toBe(true)
})

test('flush gives up waiting after its time, and the sender goes on', async () => {
  const to = collector(...Array.from({ length: 4 }, () => unreachable), accepted)
  const { sender } = sending(to)
  sender.send(event('a'))
  const flushed = sender.flush({ timeoutMs: 1000 })
  await pass(1000)
  expect(await flushed).toBe(false)
  await pass(10_000)
  expect(sender.counters().delivered).toBe(1)
})

test('without an interval only flush sends', async () => {
  const to = collector()
  const { sender } = sending(to, { flushInterval: 0, maxBatchEvents: 2 })
  for (const name of ['a', 'b', 'c']) sender.send(event(name))
  await pass(60_000)
  expect(to.requests).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
  expect(await sender.flush()).toBe(true)
  expect(to.names()).toEqual([['a', 'b'], ['c']])
  expect(vi.getTimerCount()).toBe(0)
})

test('close delivers what waits, and takes nothing more', async () => {
  const to = collector(unreachable, accepted)
  const { sender, drops } = sending(to)
  sender.send(event('a'))
  const closed = sender.close()
  expect(sender.send(event('b'))).toBe(false)
  expect(drops[0]).toMatchObject({ reason: 'closed' })
  await pass(1000)
  expect(await closed).toEqual({ undelivered: [] })
  expect(sender.close()).toBe(closed)
  expect(vi.getTimerCount()).toBe(0)
  expect(sender.counters()).toEqual({ sent: 2, delivered: 1, dropped: 1, retried: 1, pending: 0 })
})

test('close gives back within its time what is not delivered, and ends what is under way', async () => {
  let aborted = 0
  const to = collector((events, signal) => {
    signal.addEventListener('abort', () => aborted++)
    return never(events, signal)
  })
  const { given, dependencies } = sending(to, { maxBatchEvents: 2, maxRequests: 1, maxPendingEvents: 4 })
  const sender = createEventSender({ ...given, whenFull: 'wait' }, dependencies)
  const names = ['a', 'b', 'c', 'd', 'e']
  const taken = names.map((name) => sender.send(event(name)))
  await pass(500)
  const closed = sender.close({ timeoutMs: 2000 })
  await pass(2000)
  const { undelivered } = await closed
  expect(undelivered.map(({ name, timestamp }) => [name, timestamp])).toEqual(
    names.map((name) => [name, start]),
  )
  expect(await Promise.all(taken)).toEqual([true, true, true, true, false])
  expect(aborted).toBe(1)
  expect(sender.counters()).toEqual({ sent: 5, delivered: 0, dropped: 5, retried: 0, pending: 0 })
  expect(vi.getTimerCount()).toBe(0)

  const again = sending(collector())
  for (const each of undelivered) expect(again.sender.send(each)).toBe(true)
  await pass(1000)
  expect(again.sender.counters().delivered).toBe(5)
})

test('gives back the same envelopes that were sent, so that they count once', async () => {
  const to = collector(failure(503))
  const { sender } = sending(to)
  sender.send(event('a'))
  const closed = sender.close({ timeoutMs: 100 })
  await pass(100)
  expect((await closed).undelivered).toEqual(to.requests[0]?.events)
})

test('gives events up before the collector would count them again', async () => {
  const to = collector(unreachable)
  const { sender, drops } = sending(to)
  sender.send(event('a'))
  await pass(1000)
  vi.setSystemTime(start + 6 * 24 * 60 * 60 * 1000 + 1000)
  await pass(60_000)
  expect(drops[0]).toMatchObject({ reason: 'expired', events: [expect.objectContaining({ name: 'a' })] })
  expect(sender.counters()).toMatchObject({ dropped: 1, pending: 0 })
})

test('callbacks that throw or reject change nothing', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const to = collector(unreachable, failure(404))
  const { sender } = sending(to, {
    onError: () => {
      throw new Error('of the callback')
    },
    onDrop: async () => {
      throw new Error('of the other')
    },
  })
  sender.send(event('a'))
  await pass(5000)
  expect(sender.counters()).toMatchObject({ dropped: 1, pending: 0 })
  expect(warn.mock.calls.flat()).toEqual([
    '[millrace] a callback of the event sender failed: Error: of the callback',
  ])
})

test('without callbacks a line a minute says what is dropped', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const to = collector()
  const { given } = sending(to)
  const { onDrop: _, onWarning: __, ...quiet } = given
  const sender = createEventSender(quiet)
  for (let i = 0; i < 100; i++) sender.send(event(''))
  expect(warn.mock.calls).toHaveLength(1)
  expect(String(warn.mock.calls[0])).toContain('1 event dropped: name: A required field is missing')
  await pass(60_000)
  sender.send(event(''))
  expect(String(warn.mock.calls[1])).toContain('(and 99 more like it)')
})

test('senders are independent of each other', async () => {
  const down = sending(collector(unreachable))
  const up = sending(collector())
  down.sender.send(event('a'))
  up.sender.send(event('b'))
  await pass(5000)
  expect(up.sender.counters().delivered).toBe(1)
  expect(down.sender.counters()).toMatchObject({ delivered: 0, pending: 1 })
})

test.each([
  ['collectorUrl', { collectorUrl: 'events.example.com' }],
  ['collectorUrl', { collectorUrl: 'ftp://events.example.com' }],
  ['in headers', { collectorUrl: 'https://user:secret@events.example.com' }],
  ['companyId', { companyId: 'acme' }],
  ['datasourceId', { datasourceId: `${datasourceId}\n` }],
  ['flushInterval', { flushInterval: -1 }],
  ['maxBatchEvents', { maxBatchEvents: 2001 }],
  ['maxBatchBytes', { maxBatchBytes: 6_000_000 }],
  ['maxPendingEvents', { maxPendingEvents: 0 }],
  ['maxRequests', { maxRequests: 1.5 }],
  ['requestTimeout', { requestTimeout: Number.NaN }],
  ['whenFull', { whenFull: 'block' as never }],
  ['headers', { headers: { 'x y': 'z' } }],
])('refuses an option that cannot be meant: %s %o', (name, options) => {
  expect(() =>
    createEventSender({ collectorUrl: 'https://x.example', companyId, datasourceId, ...options } as never),
  ).toThrow(name)
})
