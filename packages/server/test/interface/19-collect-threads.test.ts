import { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createValidationThreads } from '../../src/features/events/collector/threads/validation-threads.ts'
import { digestOf } from '../../src/features/events/persons/person-digests.ts'
import type { RefusedPersons } from '../../src/features/events/persons/refused-persons.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { companyId, datasourceId, event, type Row, startCollector } from '../support/collector.ts'

type World = Awaited<ReturnType<typeof startCollector>>

/** For every body, however small. */
const threadsOf = (count: number, newWorker?: () => Worker) =>
  createValidationThreads({ count, minBytes: 0, logger: silentLogger, ...(newWorker && { newWorker }) })

/** A datasource that takes no event without consent. */
const unasked = '65f0c0ffee5ca1ab1e0ddba3'

let direct: World
let beside: World
let refused: RefusedPersons | undefined
const refusedBy = (): RefusedPersons | undefined => refused

beforeAll(async () => {
  direct = await startCollector({ refusedBy })
  beside = await startCollector({ refusedBy, threads: threadsOf(2) })
})
afterAll(() => Promise.all([direct.stop(), beside.stop()]))

type Request = Parameters<World['send']>[0]

/** Of rows that a second may pass between. */
const isOfRequest = (row: Row): boolean => row.z !== 'refused'

/** Sends a request both ways and gives what both answered and stored, which has to be the same. */
async function sendBoth(request: Request) {
  const outcomes = await Promise.all(
    [direct, beside].map(async (world) => {
      const before = { ...world.collector.totals }
      const { status, body, headers } = await world.send(request)
      const { date: _, 'x-request-id': id, ...rest } = headers
      const rows = (await world.rows()).filter(isOfRequest).map(({ q: _, ...row }) => row)
      const counts = Object.entries(world.collector.totals).map(
        ([name, count]) => [name, count - before[name as keyof typeof before]] as const,
      )
      const answer = body.replaceAll(String(id), 'ID').replace(/"datetime":"[^"]*"/, '')
      return { status, body: answer, headers: rest, rows, counts: Object.fromEntries(counts) }
    }),
  )
  expect(outcomes[1]).toEqual(outcomes[0])
  return outcomes[0] as (typeof outcomes)[number]
}

const json = { 'content-type': 'application/json' }
const many = (count: number, fields: (i: number) => Record<string, unknown> = () => ({})): object[] =>
  Array.from({ length: count }, (_, i) => event({ tmpId: `device-${i}`, ...fields(i) }))
const calls = (more: object = {}): string =>
  JSON.stringify({
    batch: [
      { type: 'track', event: 'Signed Up', anonymousId: 'a', messageId: 'm1' },
      { type: 'page', anonymousId: 'a', messageId: 'm2', properties: { url: 'https://shop.example/' } },
      { type: 'nothing', anonymousId: 'a', messageId: 'm3' },
    ],
    sentAt: '2026-01-15T12:00:00Z',
    ...more,
  })
const basic = { authorization: `Basic ${Buffer.from(`${datasourceId}:`).toString('base64')}` }

const requests: Record<string, Request> = {
  'a list': { headers: json, body: JSON.stringify(many(300)) },
  'one event': { headers: json, body: JSON.stringify(event()) },
  'texts of other scripts': {
    headers: json,
    body: JSON.stringify(many(200, (i) => ({ name: i % 3 === 0 ? 'größe' : '買う', data: { note: '🛒' } }))),
  },
  'events that are dropped and changed': {
    headers: json,
    body: JSON.stringify(
      many(
        60,
        (i) => [{ v: 9 }, { name: 'a\0b' }, { key: '' }, { data: { list: ['x'.repeat(9000)] } }][i % 4] ?? {},
      ),
    ),
  },
  'an event that is too large': {
    headers: json,
    body: JSON.stringify([
      event(),
      event({
        data: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`label${i}`, 'x'.repeat(8000)])),
      }),
    ]),
  },
  lines: {
    headers: { 'content-type': 'application/x-ndjson' },
    body: `${many(50)
      .map((each) => JSON.stringify(each))
      .join('\n')}\n{"broken\n`,
  },
  'a form': {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(event({ data: undefined }) as Record<string, string>).toString(),
  },
  'another charset': {
    headers: { 'content-type': 'application/json; charset=iso-8859-1' },
    body: Buffer.from(JSON.stringify(event({ name: 'größe' })), 'latin1'),
  },
  'a compressed body': {
    headers: { ...json, 'content-encoding': 'gzip' },
    body: gzipSync(JSON.stringify(many(100))),
  },
  'no body': { headers: json },
  'an empty list': { headers: json, body: '[]' },
  'no JSON': { headers: json, body: '[{"name": ' },
  'no UTF-8': { headers: json, body: Buffer.from([0x5b, 0x22, 0xff, 0xfe, 0x22, 0x5d]) },
  'too many events': { headers: json, body: `[${'{},'.repeat(20_000)}{}]` },
  'too deep': { headers: json, body: `${'['.repeat(300_000)}${']'.repeat(300_000)}` },
  'a crawler': { headers: { ...json, 'user-agent': 'Googlebot/2.1' }, body: JSON.stringify(many(3)) },
  'another datasource': { path: '/collect/65f0c0ffee5ca1ab1e0ddbff/tracker', headers: json, body: '[]' },
  'calls in the Segment shape': { path: '/v1/batch', headers: { ...json, ...basic }, body: calls() },
  'calls with the key in the body': {
    path: '/v1/batch',
    headers: json,
    body: calls({ writeKey: datasourceId }),
  },
  'calls that name another datasource': {
    path: '/v1/batch',
    headers: { ...json, ...basic },
    body: calls({ writeKey: companyId }),
  },
  'a batch that is none': { path: '/v1/batch', headers: { ...json, ...basic }, body: '{"batch":7}' },
  'one call': {
    path: '/v1/track',
    headers: { ...json, ...basic },
    body: JSON.stringify({ event: 'Signed Up', anonymousId: 'a', messageId: 'm1' }),
  },
}

test.each(Object.entries(requests))('%s: answered, stored and counted the same', async (_, request) => {
  const { status } = await sendBoth(request)
  expect(status).toBeGreaterThanOrEqual(200)
})

test('erasures hold beside the main thread, from the moment on which they begin', async () => {
  const body = JSON.stringify(many(20, (i) => ({ clientId: i % 2 === 0 ? 'ada' : 'bob' })))
  const send = async () => (await sendBoth({ headers: json, body })).rows.filter(({ z }) => z === 'e').length
  expect(await send()).toBe(20)
  const of = (client: string) => ({ salt: 's', digests: new Set([digestOf('s', 'client', client)]) })
  refused = of('ada')
  expect(await send()).toBe(10)
  refused = { ...of('ada'), digests: new Set([...of('ada').digests, ...of('bob').digests]) }
  expect(await send()).toBe(0)
  refused = undefined
  expect(await send()).toBe(20)
})

test('consent is asked for', async () => {
  for (const { datasources } of [direct, beside])
    datasources.set(unasked, { id: unasked, companyId, active: true, countries: true, requiresConsent: true })
  const consents = [undefined, true, false, 'yes', { analytics: true }]
  const body = JSON.stringify(many(5, (i) => ({ consent: consents[i] })))
  const { rows } = await sendBoth({ path: `/collect/${unasked}/tracker`, headers: json, body })
  expect(rows.filter(({ rule }) => rule === 'consent-missing')).not.toEqual([])
})

test('an erasure that begins while a thread validates holds for that body too', async () => {
  let asked = 0
  const digests = new Set([digestOf('s', 'client', 'ada')])
  const world = await startCollector({
    threads: threadsOf(1),
    // No person when the body goes to the thread; ada when it comes back.
    refusedBy: () => (asked++ === 0 ? undefined : { salt: 's', digests }),
  })
  try {
    expect(await world.post([event({ clientId: 'ada' }), event({ clientId: 'bob' })])).toBe(200)
    expect((await world.rows()).map(({ z, c, rule }) => ({ z, c, rule }))).toEqual([
      { z: 'e', c: 'bob', rule: undefined },
      { z: 'dropped', c: undefined, rule: 'person-erased' },
    ])
  } finally {
    await world.stop()
  }
})

test('names without end are noted once, as without threads', async () => {
  let number = 0
  const names = (count: number) => JSON.stringify(many(count, () => ({ name: `view_${number++}` })))
  const { rows } = await sendBoth({ headers: json, body: names(1_900) })
  expect(rows.filter(({ z }) => z === 'noted')).toEqual([])
  const beyond = await sendBoth({ headers: json, body: names(300) })
  expect(beyond.rows.filter(({ z }) => z === 'noted')).toMatchObject([{ rule: 'names-too-many', m: 1 }])
})

test('requests beside each other share threads, each has its own rows, numbered in its order', async () => {
  const bodies = Array.from({ length: 40 }, (_, i) => many(100, () => ({ name: `of ${i}` })))
  expect(new Set(await Promise.all(bodies.map((body) => beside.post(body))))).toEqual(new Set([200]))
  const rows = (await beside.rows()).filter(({ z }) => z === 'e')
  expect(rows).toHaveLength(4_000)
  expect(new Set(rows.map(({ q }) => q)).size).toBe(4_000)
  for (const [i, body] of bodies.entries()) {
    const own = rows.filter(({ n }) => n === `of ${i}`).sort((a, b) => a.q - b.q)
    expect(own.map(({ e }) => e)).toEqual(body.map((each) => (each as { eventId: string }).eventId))
    expect((own.at(-1)?.q ?? 0) - (own[0]?.q ?? 0)).toBe(99)
  }
})

test('where threads end with a body under way it is answered 503, and the next one is taken without them', async () => {
  const threads = threadsOf(1)
  const world = await startCollector({
    threads: {
      ...threads,
      validate(...given) {
        const answer = threads.validate(...given)
        void threads.close()
        return answer
      },
    },
  })
  try {
    const body = many(1_000)
    expect(await world.post(body)).toBe(503)
    expect(await world.rows()).toEqual([])
    expect(await world.post(body)).toBe(200)
    expect(await world.rows()).toHaveLength(1_000)
  } finally {
    await world.stop()
  }
})

test('without threads that start, the main thread takes every body', async () => {
  const world = await startCollector({
    threads: threadsOf(1, () => {
      throw new Error('no more threads')
    }),
  })
  try {
    expect(await world.post([event()])).toBe(200)
    expect(await world.rows()).toHaveLength(1)
  } finally {
    await world.stop()
  }
})

test('a thread that dies takes its bodies with it, which are sent again, and is the last', async () => {
  let started = 0
  const dying = () => {
    started++
    return new Worker(`require('node:worker_threads').parentPort.on('message', () => nothing())`, {
      eval: true,
    })
  }
  const world = await startCollector({ threads: threadsOf(2, dying) })
  try {
    expect(await world.post([event()])).toBe(503)
    expect(await world.rows()).toEqual([])
    expect(await world.post([event()])).toBe(200)
    expect(await world.rows()).toHaveLength(1)
    expect(started).toBe(1)
  } finally {
    await world.stop()
  }
})
