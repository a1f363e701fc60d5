import { connect } from 'node:net'
import { Type } from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DomainError } from '../errors.ts'
import { silentLogger } from '../logger.ts'
import { success } from './envelope.ts'
import { createHttpServer } from './server.ts'

const app = createHttpServer({ logger: silentLogger, trustedProxies: [] })
let port = 0

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
          { page: Type.Optional(Type.Integer({ minimum: 1 })), all: Type.Optional(Type.Boolean()) },
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
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as { port: number }).port
})

afterAll(() => app.close())

const post = (payload: string | Buffer, type = 'application/json') =>
  app.inject({ method: 'POST', url: '/v2/echo', payload, headers: { 'content-type': type } })

test('answers the success envelope of interface.md', async () => {
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
  ['a wrong type', '{"measures":"x"}', 'measures must be array, it is "x"'],
  ['a wrong item', '{"measures":[1]}', 'measures.0 must be string, it is 1'],
  [
    'a value outside a union, with those allowed',
    '{"measures":[],"kind":"c"}',
    'kind must be one of "a", "b"',
  ],
  ['a null body', 'null', 'the body must be object, it is null'],
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

test('a million levels of nesting are refused quickly and the process lives on', async () => {
  const started = performance.now()
  const reply = await post('['.repeat(500_000))
  expect(reply.json()).toMatchObject({ error_code: 19, code: 400 })
  expect(performance.now() - started).toBeLessThan(500)
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

function raw(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk
    })
    socket.on('close', () => resolve(got))
    socket.on('error', () => resolve(got))
    setTimeout(() => socket.destroy(), 1500)
  })
}

test.each([
  ['two lengths', 'POST /v2/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
  [
    'a length and chunks',
    'POST /v2/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a folded header', 'GET /v2/list HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n'],
  ['a header of 20 KB', `GET /v2/list HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`],
])('a request with %s reaches no handler', async (_name, text) => {
  expect(await raw(text)).toMatch(/^HTTP\/1\.1 (400|431)/)
})
