import { gzipSync } from 'node:zlib'
import { Type } from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DomainError } from '../errors.ts'
import { silentLogger } from '../logger.ts'
import { success } from './envelope.ts'
import { createHttpServer } from './server.ts'

const app = createHttpServer({ logger: silentLogger, trustedProxies: [] })

beforeAll(async () => {
  const Body = Type.Object(
    {
      measures: Type.Array(Type.String()),
      kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
    },
    { additionalProperties: false },
  )
  app.post('/v2/echo', { schema: { body: Body } }, async (request) => success(request.body))
  app.get(
    '/v2/list',
    {
      schema: {
        querystring: Type.Object(
          {
            page: Type.Optional(Type.Integer({ minimum: 1 })),
            all: Type.Optional(Type.Boolean()),
            since: Type.Optional(Type.String({ format: 'date-time' })),
            name: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 3 })),
          },
          { additionalProperties: false },
        ),
      },
    },
    async (request) => success(request.query),
  )
  app.get('/v2/things/:id', async () => {
    throw new Error('SELECT secret FROM table')
  })
  app.get('/v2/gone', async () => {
    throw new DomainError('unavailable', {}, { retryAfterSeconds: 7 })
  })
  await app.ready()
})

afterAll(() => app.close())

const post = (payload: string | Buffer, type = 'application/json') =>
  app.inject({ method: 'POST', url: '/v2/echo', payload, headers: { 'content-type': type } })

test.each([
  ['100,000 keys', `{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":0`)}}`, '1000 keys'],
  [
    '1,001 keys in one of many objects',
    `[{},{"a":{${Array.from({ length: 1_001 }, (_, i) => `"${i}":0`)}}}]`,
    '1000 keys',
  ],
  ['500,000 values', `[0${',0'.repeat(500_000)}]`, '250000 values'],
])('H09: a body of %s is refused by counting, before it is parsed', async (_, body, limit) => {
  const { parse } = JSON
  let parsed = 0
  JSON.parse = (text: string) => {
    parsed++
    return parse(text)
  }
  const reply = await post(body.slice(0, 1024 * 1024)).finally(() => {
    JSON.parse = parse
  })
  expect(reply.json()).toMatchObject({ code: 400, error_code: 19, data: { limit } })
  expect(parsed).toBe(0)
})

test('keys and values within the bounds, and signs inside of texts, are not counted against a body', async () => {
  const measures = Array.from({ length: 20_000 }, (_, i) => `a:${i},{[":",`)
  const reply = await post(JSON.stringify({ measures }))
  expect(reply.json()).toMatchObject({ code: 200, data: { measures } })
})

test('answers the success envelope of docs/interface.md', async () => {
  const reply = await post('{"measures":["events.count"]}')
  expect(reply.statusCode).toBe(200)
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(reply.json()).toMatchObject({
    status: 'success',
    program: 'millrace',
    message: 'ok',
    code: 200,
    data: { measures: ['events.count'] },
  })
  expect(reply.json().datetime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test.each([
  [
    'an unknown field, with the nearest known one',
    '{"measure":["x"],"measures":[]}',
    'measure is not known; did you mean "measures"?',
  ],
  ['a missing field', '{}', 'measures is required'],
  ['a wrong type', '{"measures":"x"}', 'measures must be a list, it is "x"'],
  ['a wrong item', '{"measures":[1]}', 'measures.0 must be a text, it is 1'],
  [
    'a value outside a union, with those allowed',
    '{"measures":[],"kind":"c"}',
    'kind must be one of "a", "b"',
  ],
  ['a null body', 'null', 'the body must be an object, it is null or missing'],
  ['U+0000 in a text', '{"measures":["a\\u0000"]}', 'measures.0 must not contain the character U+0000'],
  [
    'half a surrogate pair',
    '{"measures":["\\ud800"]}',
    'measures.0 must be well-formed Unicode: it holds half of a surrogate pair',
  ],
])('refuses %s', async (_name, body, message) => {
  const reply = await post(body)
  expect(reply.statusCode).toBe(400)
  expect(reply.json()).toMatchObject({ status: 'fail', code: 400, error_code: 1, message })
  expect(reply.json().data.errors[0]).toHaveProperty('path')
})

test.each([
  '{"measures":[]',
  '{"measures":[],}',
  "{'measures':[]}",
  '{"measures":[NaN]}',
  '{"measures":[]}{}',
  '',
])('refuses %s as malformed, with no stack', async (body) => {
  const reply = await post(body)
  expect(reply.statusCode).toBe(400)
  expect(reply.json().status).toBe('fail')
  expect(reply.body).not.toMatch(/at .*\.ts/)
})

test('accepts a byte order mark and refuses what is not UTF-8', async () => {
  expect((await post('\ufeff{"measures":[]}')).statusCode).toBe(200)
  const reply = await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]))
  expect(reply.json()).toMatchObject({ error_code: 2, code: 400 })
})

test('half a million levels of nesting are refused at the cost of a long text, and the process lives on', async () => {
  const refuse = async () => {
    const reply = await post('['.repeat(500_000))
    expect(reply.json()).toMatchObject({ error_code: 19, code: 400 })
  }
  await expect(refuse).toCostAtMost(20, () => post(`{"measures":["${'x'.repeat(500_000)}"]}`))
  expect((await post('{"measures":[]}')).statusCode).toBe(200)
})

test('keys that would reach a prototype are taken away', async () => {
  const reply = await post(
    '{"measures":[],"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  )
  expect(reply.statusCode).toBe(200)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

test('other content types and bodies over the limit have their own status', async () => {
  expect((await post('x', 'text/xml')).json()).toMatchObject({ code: 415, status: 'fail' })
  expect((await post(`{"measures":["${'x'.repeat(1_100_000)}"]}`)).json()).toMatchObject({
    code: 413,
    status: 'fail',
    data: { limit: 1_048_576, unit: 'bytes' },
  })
})

test.each([
  ['page=1e2', 400],
  ['page=01', 400],
  ['page=0', 400],
  ['page=1.5', 400],
  ['page=1&page=2', 400],
  ['page=', 400],
  ['all=TRUE', 400],
  ['all=1', 400],
  ['pgae=1', 400],
  ['page=2&all=false', 200],
  ['', 200],
])('reads query %s strictly: %i', async (query, status) => {
  expect((await app.inject(`/v2/list?${query}`)).statusCode).toBe(status)
})

test.each([
  ['page=1&page=2', 'page', 'may be sent once; it is sent 2 times'],
  ['all=true&all=x&all=y', 'all', 'may be sent once; it is sent 3 times'],
  ['page=one', 'page', 'must be a whole number, it is "one"'],
  ['name=', 'name', 'must not be empty'],
  ['name=a&name=&name=c', 'name', 'must not be empty; this is value 2 of 3'],
  ['name=a&name=b&name=c&name=d', 'name', 'must have at most 3 items; it has 4'],
  ['naem=a&naem=b', 'naem', 'is not known; did you mean "name"?'],
  ['__proto__=1&__proto__=2', '__proto__', 'is not known; known are page, all, since, name'],
])('a query %s is refused by the name of its parameter', async (query, path, message) => {
  const reply = await app.inject(`/v2/list?${query}`)
  expect(reply.json()).toMatchObject({ code: 400, data: { errors: [{ path, message }] } })
})

test('a parameter that takes several values takes one too', async () => {
  expect((await app.inject('/v2/list?name=a&name=b')).json().data).toEqual({ name: ['a', 'b'] })
  expect((await app.inject('/v2/list?name=a')).json().data).toEqual({ name: ['a'] })
})

test('unknown paths, other methods and failures inside are fail envelopes without internals', async () => {
  expect((await app.inject('/v2/nothing')).json()).toMatchObject({
    code: 404,
    status: 'fail',
    data: { path: '/v2/nothing' },
  })
  const wrong = await app.inject({ method: 'DELETE', url: '/v2/things/5' })
  expect(wrong.statusCode).toBe(405)
  expect(wrong.headers.allow).toBe('GET, HEAD')
  const broken = await app.inject('/v2/things/5')
  expect(broken.json()).toMatchObject({ code: 500, status: 'fail', error_code: 16 })
  expect(broken.body).not.toContain('SELECT')
  expect((await app.inject('/v2/gone')).headers['retry-after']).toBe('7')
  expect((await app.inject('/v2/%zz')).json()).toMatchObject({ status: 'fail', code: 400 })
})

test.each(['gzip', 'GZIP', 'br', 'gzip, gzip, br', 'zstd', 'x'])(
  'refuses a body under Content-Encoding %s with 415 and says what to do',
  async (coding) => {
    const reply = await app.inject({
      method: 'POST',
      url: '/v2/echo',
      payload: gzipSync('{"measures":[]}'),
      headers: { 'content-type': 'application/json', 'content-encoding': coding },
    })
    expect(reply.json()).toMatchObject({ code: 415, error_code: 13, data: { accepted: ['identity'] } })
    expect(reply.json().message).toMatch(/send the body uncompressed/)
  },
)

test.each([
  ['application/json; charset=utf-8', 200],
  ['application/json;charset="UTF-8"', 200],
  ['APPLICATION/JSON', 200],
  ['application/json; charset=utf-16', 415],
  ['application/json;charset=iso-8859-1', 415],
  ['application/json\ta', 415],
  ['application/jsonx', 415],
  ['application/vnd.api+json', 415],
  ['text/plain', 415],
  ['', 415],
])('a body of type %j is answered %i, and never passes without validation', async (type, status) => {
  expect((await post('{"measures":[]}', type)).statusCode).toBe(status)
  const unvalidated = await post('{"measures":5}', type)
  expect(unvalidated.statusCode).toBe(status === 200 ? 400 : 415)
})

test('what no route takes is answered before its body is looked at', async () => {
  const send = (method: 'POST' | 'DELETE', url: string, payload: string, type: string) =>
    app.inject({ method, url, payload, headers: { 'content-type': type } })
  expect((await send('POST', '/v2/nothing', '{', 'application/json')).statusCode).toBe(404)
  expect((await send('POST', '/v2/nothing', 'x'.repeat(1_100_000), 'text/xml')).statusCode).toBe(404)
  expect((await send('DELETE', '/v2/echo', '{', 'application/json')).statusCode).toBe(405)
})

test('a long name that a caller chose comes back cut', async () => {
  const reply = await post(`{"measures":[],"${'k'.repeat(900_000)}":1}`)
  expect(reply.statusCode).toBe(400)
  expect(reply.body.length).toBeLessThan(2000)
  expect((await post(`{"measures":[],"${'k'.repeat(900_000)}":"\\u0000"}`)).body.length).toBeLessThan(2000)
  expect((await app.inject(`/v2/things/${'x'.repeat(3000)}`)).json()).toMatchObject({
    code: 400,
    error_code: 2,
  })
})

test('U+0000 in the query is refused by name', async () => {
  const reply = await app.inject('/v2/list?all=%00')
  expect(reply.json()).toMatchObject({ code: 400, message: 'all must not contain the character U+0000' })
  expect((await app.inject('/v2/list?a%00b=1')).statusCode).toBe(400)
})

test.each([
  ['2026-01-31T12:00:00Z', 200],
  ['2026-01-31T12:00:00.123+05:30', 200],
  ['2026-02-30T12:00:00Z', 400],
  ['2016-12-31T23:59:60Z', 400],
  ['9999-12-31T23:59:60Z', 400],
  ['2026-01-31', 400],
])('reads the instant %s: %i', async (since, status) => {
  const reply = await app.inject(`/v2/list?since=${encodeURIComponent(since)}`)
  expect(reply.statusCode).toBe(status)
  if (status === 400)
    expect(reply.json().message).toMatch(/^since must be an instant, as 2026-01-31T12:00:00Z; it is "/)
})

test('a proxy is believed only when it is trusted, and then only about the last step', async () => {
  const asked = {
    'x-forwarded-for': '198.51.100.7, 203.0.113.9',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
  }
  const seen = async (trustedProxies: string[]) => {
    const other = createHttpServer({ logger: silentLogger, trustedProxies })
    other.get('/who', async ({ ip, host, protocol }) => ({ ip, host, protocol }))
    const reply = await other.inject({ url: '/who', headers: asked, remoteAddress: '10.1.2.3' })
    await other.close()
    return reply.json()
  }
  const untrusted = { ip: '10.1.2.3', host: 'localhost:80', protocol: 'http' }
  expect(await seen([])).toEqual(untrusted)
  expect(await seen(['192.0.2.0/24'])).toEqual(untrusted)
  expect(await seen(['10.0.0.0/8'])).toEqual({ ip: '203.0.113.9', host: 'evil.example', protocol: 'https' })
  asked['x-forwarded-for'] = `${'198.51.100.7, '.repeat(99)}203.0.113.9`
  expect(await seen([])).toEqual(untrusted)
  expect(await seen(['10.0.0.0/8'])).toMatchObject({ ip: '203.0.113.9' })
})
