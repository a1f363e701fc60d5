import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { segmentUrls } from '../../src/features/events/collector/segment/segment-routes.ts'
import { LogUnavailable } from '../../src/platform/stores/event-log.ts'
import { companyId, datasourceId, type Row, startCollector, startTime } from '../support/collector.ts'

const otherCompanyId = '65f0c0ffee5ca1ab1e0ddbb1'
const otherDatasourceId = '65f0c0ffee5ca1ab1e0ddbb2'

let world: Awaited<ReturnType<typeof startCollector>>

beforeAll(async () => {
  world = await startCollector()
  const other = { id: otherDatasourceId, companyId: otherCompanyId, active: true, countries: false }
  world.datasources.set(otherDatasourceId, other)
  world.datasources.set('0'.repeat(24), { ...other, id: '0'.repeat(24), active: false })
})
afterAll(() => world.stop())
beforeEach(async () => {
  await world.rows()
})

const basic = (user: string, password = ''): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})

function send(path: string, body: unknown, headers: Record<string, string> = basic(datasourceId)) {
  return world.send({
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** What was written but for refusals, which come a second later. */
async function written(): Promise<Row[]> {
  return (await world.rows()).filter(({ z }) => z !== 'refused')
}

const call = { type: 'track', event: 'Signed Up', userId: 'ada', messageId: 'm1' }

test.each([
  [
    'track',
    { event: 'Order Completed', properties: { order_id: 'A-1', total: 5 } },
    { n: 'purchase', x: 'A-1' },
  ],
  ['page', { properties: { url: 'https://shop.example/' } }, { n: 'page_view', u: 'https://shop.example/' }],
  ['screen', { name: 'Cart' }, { n: 'page_view', u: 'Cart' }],
  ['identify', { traits: { plan: 'a' } }, { n: 'identify', l: { plan: 'a' } }],
  ['group', { groupId: 'g' }, { n: 'group', l: { groupId: 'g' } }],
  ['alias', { previousId: 'old' }, { n: 'identify', p: 'old' }],
])(
  'takes /v1/%s and its first letter, and stores the event of the datasource',
  async (name, fields, stored) => {
    for (const path of [`/v1/${name}`, `/v1/${name.charAt(0)}`]) {
      const reply = await send(path, { anonymousId: 'device-1', userId: 'ada', messageId: path, ...fields })
      expect(reply).toMatchObject({ status: 200, body: '{"success":true}' })
      expect(reply.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'access-control-allow-origin': '*',
      })
      expect(await written()).toMatchObject([
        { z: 'e', k: companyId, d: datasourceId, p: 'device-1', c: 'ada', e: path, t: startTime, ...stored },
      ])
    }
  },
)

test.each(['/v1/batch', '/v1/b', '/v1/import'])('takes batches at %s, each call on its own', async (path) => {
  const calls = [
    call,
    { ...call, type: 'delete' },
    { ...call, event: '' },
    null,
    { ...call, messageId: 'm2' },
  ]
  expect((await send(path, { batch: calls, sentAt: new Date(startTime) })).status).toBe(200)
  expect(await written()).toMatchObject([
    { z: 'e', e: 'm1', n: 'Signed Up' },
    { z: 'e', e: 'm2' },
    { z: 'dropped', rule: 'call-unknown', path: 'type', m: 1 },
    { z: 'dropped', rule: 'required-field-missing', path: 'event', m: 1 },
    { z: 'dropped', rule: 'event-not-object', m: 1 },
  ])
})

describe('the write key', () => {
  test.each<[string, Record<string, string>, object]>([
    ['in Basic authentication', basic(datasourceId), {}],
    ['with a password', basic(datasourceId, 'ignored'), {}],
    ['in upper case', basic(datasourceId.toUpperCase()), {}],
    [
      'by a scheme in lower case',
      { authorization: basic(datasourceId).authorization?.replace('B', 'b') ?? '' },
      {},
    ],
    ['in the body', {}, { writeKey: datasourceId }],
    ['in both', basic(datasourceId), { writeKey: datasourceId.toUpperCase() }],
    ['in the body beside a bearer token', { authorization: 'Bearer x' }, { writeKey: datasourceId }],
  ])('stands %s', async (_, headers, fields) => {
    expect((await send('/v1/batch', { batch: [call], ...fields }, headers)).status).toBe(200)
    expect((await send('/v1/track', { ...call, ...fields }, headers)).status).toBe(200)
    expect((await written()).map(({ d }) => d)).toEqual([datasourceId, datasourceId])
  })

  test.each<[string, Record<string, string>, object, number, number]>([
    ['nowhere', {}, {}, 401, 1007],
    ['empty', {}, { writeKey: '' }, 401, 1007],
    ['empty in Basic authentication', basic(''), { writeKey: datasourceId }, 401, 1007],
    ['in no base64', { authorization: 'Basic %%%' }, { writeKey: datasourceId }, 401, 1007],
    ['missing behind Basic', { authorization: 'Basic' }, {}, 401, 1007],
    ['of another form', {}, { writeKey: 'AbCdEf' }, 400, 1001],
    ['of another form in Basic authentication', basic('AbCdEf'), {}, 400, 1001],
    ['no text', {}, { writeKey: { $ne: '' } }, 400, 1001],
    ['unknown', {}, { writeKey: 'f'.repeat(24) }, 404, 1000],
    ['unknown in Basic authentication', basic('f'.repeat(24)), {}, 404, 1000],
    ['of a datasource that is paused', {}, { writeKey: '0'.repeat(24) }, 404, 1000],
    ['two different ones', basic(datasourceId), { writeKey: otherDatasourceId }, 400, 1003],
  ])('%s is refused', async (_, headers, fields, status, code) => {
    const reply = await send('/v1/batch', { batch: [call], ...fields }, headers)
    expect(JSON.parse(reply.body)).toMatchObject({ status: 'fail', code: status, error_code: code })
    expect(reply.status).toBe(status)
    expect(reply.headers['access-control-allow-origin']).toBe('*')
    expect(reply.headers['www-authenticate']).toBe(
      status === 401 ? 'Basic realm="collector", charset="UTF-8"' : undefined,
    )
    expect(await written()).toEqual([])
  })

  test('decides the company, whatever the call says', async () => {
    const calls = [
      { ...call, key: companyId, writeKey: datasourceId, companyId, context: { key: companyId } },
    ]
    expect((await send('/v1/batch', { batch: calls, key: companyId }, basic(otherDatasourceId))).status).toBe(
      200,
    )
    expect(await written()).toMatchObject([{ z: 'e', k: otherCompanyId, d: otherDatasourceId }])
  })

  test('is asked of the store once, and a store that is down answers 503', async () => {
    world.world.databaseDown = true
    try {
      const reply = await send('/v1/track', { ...call, writeKey: 'a'.repeat(24) }, {})
      expect(reply.status).toBe(503)
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
    } finally {
      world.world.databaseDown = false
    }
  })
})

test.each<[string, string | object, number, number]>([
  ['an empty body', '', 400, 1002],
  ['an empty object', {}, 400, 1002],
  ['an empty batch', { batch: [] }, 400, 1002],
  ['no batch', { calls: [call] }, 400, 1003],
  ['a batch that is no list', { batch: { 0: call, length: 1 } }, 400, 1003],
  ['a list', [call], 400, 1003],
  ['a text', '"x"', 400, 1003],
  ['null', 'null', 400, 1003],
  ['half a document', '{"batch":[{"type":', 400, 1003],
  ['a form', `writeKey=${datasourceId}&event=x&userId=u`, 400, 1003],
  ['lines', `${JSON.stringify(call)}\n${JSON.stringify(call)}`, 400, 1003],
  ['deep nesting', `{"batch":${'['.repeat(400_000)}${']'.repeat(400_000)}}`, 400, 1003],
  ['2,001 calls', { batch: Array.from({ length: 2_001 }, () => ({})) }, 413, 1004],
  ['more than 5 MB', `{"batch":["${'x'.repeat(5 * 1024 * 1024)}"]}`, 413, 1004],
])('refuses %s', async (_, body, status, code) => {
  const types = [
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/x-ndjson',
  ]
  for (const type of types) {
    const reply = await send('/v1/batch', body, { ...basic(datasourceId), 'content-type': type })
    expect(JSON.parse(reply.body)).toMatchObject({ status: 'fail', error_code: code })
    expect(reply.status).toBe(status)
  }
  expect(await written()).toEqual([])
})

test('a body is JSON whatever its type, and may be compressed', async () => {
  const body = JSON.stringify({ batch: [call] })
  for (const type of ['text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded', 'x']) {
    expect((await send('/v1/batch', body, { ...basic(datasourceId), 'content-type': type })).status).toBe(200)
  }
  const reply = await world.send({
    path: '/v1/batch',
    headers: { ...basic(datasourceId), 'content-encoding': 'gzip' },
    body: gzipSync(body),
  })
  expect(reply.status).toBe(200)
  expect(await written()).toHaveLength(5)
})

test('a body that inflates without end is refused', async () => {
  const reply = await world.send({
    path: '/v1/batch',
    headers: { ...basic(datasourceId), 'content-encoding': 'gzip' },
    body: gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20)),
  })
  expect(reply.status).toBe(413)
})

test('2,000 calls are taken, of which a bomb is left out alone', async () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) })
  const calls = Array.from({ length: 2_000 }, (_, i) => ({ ...call, messageId: `many-${i}` }))
  const [first] = calls
  Object.assign(first ?? {}, { properties: { bomb: nested(500), good: 1 } })
  expect((await send('/v1/batch', { batch: calls })).status).toBe(200)
  const rows = await written()
  expect(rows.filter(({ z }) => z === 'e')).toHaveLength(2_000)
  expect(rows.find(({ e }) => e === 'many-0')).toMatchObject({ l: { good: '1' } })
  expect(rows.filter(({ z }) => z !== 'e')).toMatchObject([
    { z: 'changed', rule: 'label-too-deep', path: 'data.bomb', m: 1 },
  ])
})

test('a crawler is counted and answered as success', async () => {
  const reply = await send(
    '/v1/batch',
    { batch: [call, 1] },
    { ...basic(datasourceId), 'user-agent': 'Googlebot/2.1' },
  )
  expect(reply).toMatchObject({ status: 202, body: '{"success":true}' })
  expect(await written()).toMatchObject([{ z: 'bot', m: 2 }])
})

test('a sender cannot claim an address', async () => {
  const context = { ip: '8.8.8.8', userAgent: 'Mozilla/5.0' }
  const headers = { ...basic(datasourceId), 'user-agent': 'analytics-node-next/latest' }
  expect((await send('/v1/track', { ...call, context, ip: '8.8.8.8' }, headers)).status).toBe(200)
  const [row] = await written()
  expect(JSON.stringify(row)).not.toContain('8.8.8.8')
  expect(row).not.toHaveProperty('co')
})

test('events that cannot be made durable are answered 503, and never 429', async () => {
  const broken = await startCollector({
    log: {
      reserve: () => 1,
      append: () => Promise.reject(new LogUnavailable('disk', 'the disk is full')),
    },
  })
  const busy = await startCollector({ limits: { requests: 0 } })
  try {
    for (const each of [broken, busy]) {
      const reply = await each.send({
        path: '/v1/batch',
        headers: basic(datasourceId),
        body: JSON.stringify({ batch: [call] }),
      })
      expect(reply.status).toBe(503)
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
    }
  } finally {
    await Promise.all([broken.stop(), busy.stop()])
  }
})

test('a refused request is noted for the datasource that it names', async () => {
  await send('/v1/batch', { batch: [], writeKey: datasourceId }, {})
  await world.collector.close()
  expect((await world.rows()).filter(({ rule }) => rule === 'body-empty')).not.toEqual([])
})

test('any page may send, with any header', async () => {
  expect(segmentUrls).toHaveLength(15)
  for (const path of segmentUrls) {
    const reply = await world.send({
      method: 'OPTIONS',
      path,
      headers: { origin: 'https://shop.example', 'access-control-request-headers': 'authorization' },
    })
    expect(reply).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'authorization',
      },
    })
  }
})

test.each([
  ['POST', '/v1/delete', 404],
  ['GET', '/v1/batch', 405],
])('%s %s is answered %i', async (method, path, status) => {
  const reply = await world.send({ method, path, headers: basic(datasourceId) })
  expect(reply.status).toBe(status)
  expect(JSON.parse(reply.body)).toMatchObject({ status: 'fail', code: status })
})

test('counts the context of a batch as often as calls take it over', async () => {
  const context = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key${i}`, 1]))
  const calls = Array.from({ length: 100 }, (_, i) => ({ ...call, messageId: `shared-${i}` }))
  const reply = await send('/v1/batch', { batch: calls, context })
  expect(reply.status).toBe(413)
  expect(JSON.parse(reply.body)).toMatchObject({
    data: { unit: 'bytes' },
    message: expect.stringContaining('The context of the batch stands for that of 100 calls'),
  })
  expect(await written()).toEqual([])
  const own = calls.map((each) => ({ ...each, context: {} }))
  expect((await send('/v1/batch', { batch: own, context })).status).toBe(200)
  expect(await written()).toHaveLength(own.length)
})

test.each(['properties', 'context'])('refuses %s that nest without end', async (field) => {
  const deep = `{"a":${'['.repeat(60_000)}${']'.repeat(60_000)}}`
  const body = `{"event":"a","userId":"ada","timestamp":"2026-01-01T00:00:00Z","${field}":${deep}}`
  const reply = await send('/v1/track', body)
  expect(reply.status).toBe(400)
  expect(reply.body).toContain('nests deeper than 1000 levels')
})
