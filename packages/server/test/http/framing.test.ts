import { afterAll, beforeAll, expect, test } from 'vitest'
import { success } from '../../src/platform/http/envelope.ts'
import { createHttpServer } from '../../src/platform/http/server.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { jsonOf, sendRaw } from '../support/raw-http.ts'

const app = createHttpServer({ logger: silentLogger, trustedProxies: [] })
let port = 0
let handled = 0

beforeAll(async () => {
  app.post('/v2/echo', async (request) => {
    handled++
    return success(request.body)
  })
  app.get('/v2/list', async (request) => {
    handled++
    return success(request.query)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as { port: number }).port
})

afterAll(() => app.close())

const json = 'Content-Type: application/json\r\n'

test.each([
  [
    'two lengths',
    `POST /v2/echo HTTP/1.1\r\nHost: x\r\n${json}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  ],
  ['a list of lengths', `POST /v2/echo HTTP/1.1\r\nHost: x\r\n${json}Content-Length: 2, 2\r\n\r\n{}`],
  ['a signed length', `POST /v2/echo HTTP/1.1\r\nHost: x\r\n${json}Content-Length: +2\r\n\r\n{}`],
  [
    'a length and chunks',
    `POST /v2/echo HTTP/1.1\r\nHost: x\r\n${json}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'an unknown coding',
    `POST /v2/echo HTTP/1.1\r\nHost: x\r\n${json}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'a coding under the chunks',
    `POST /v2/echo HTTP/1.1\r\nHost: x\r\n${json}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  ],
  [
    'a chunk of no size',
    `POST /v2/echo HTTP/1.1\r\nHost: x\r\n${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}`,
  ],
  ['a folded header', 'GET /v2/list HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n'],
  ['a space before a colon', 'GET /v2/list HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n'],
  ['bare line feeds', 'GET /v2/list HTTP/1.1\nHost: x\n\n'],
  ['one bare line feed', 'GET /v2/list HTTP/1.1\r\nHost: x\nA: b\r\n\r\n'],
  ['U+0000 in a header', 'GET /v2/list HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n'],
  ['no host', 'GET /v2/list HTTP/1.1\r\nA: b\r\n\r\n'],
  ['two hosts', 'GET /v2/list HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a version that there is not', 'GET /v2/list HTTP/9.9\r\nHost: x\r\n\r\n'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
])(
  'a request with %s is refused in the envelope, reaches no handler and ends the connection',
  async (_name, text) => {
    const before = handled
    const reply = await sendRaw(port, text)
    expect(reply).toMatchObject({ status: 400, closed: true })
    expect(reply.text).toContain('content-type: application/json; charset=utf-8')
    expect(jsonOf(reply)).toMatchObject({ status: 'fail', code: 400, error_code: 2, program: 'millrace' })
    expect(handled).toBe(before)
  },
)

test.each([
  ['a header of 20 KB', `A: ${'a'.repeat(20_000)}\r\n`],
  ['2,000 headers', Array.from({ length: 2000 }, (_, i) => `a${i}: b\r\n`).join('')],
  ['300 short headers', Array.from({ length: 300 }, (_, i) => `a${i}:b\r\n`).join('')],
])('a request with %s is answered 431', async (_name, headers) => {
  const before = handled
  const reply = await sendRaw(port, `GET /v2/list HTTP/1.1\r\nHost: x\r\n${headers}\r\n`)
  expect(reply).toMatchObject({ status: 431, closed: true })
  expect(jsonOf(reply)).toMatchObject({ status: 'fail', code: 431, error_code: 15 })
  expect(handled).toBe(before)
})

test('HTTP/1.0 needs no host, and an expectation that is unknown is ignored', async () => {
  expect((await sendRaw(port, 'GET /v2/list HTTP/1.0\r\n\r\n')).status).toBe(200)
  const expecting = 'GET /v2/list HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nConnection: close\r\n\r\n'
  expect((await sendRaw(port, expecting)).status).toBe(200)
  const asking = `POST /v2/echo HTTP/1.1\r\nHost: x\r\n${json}Expect: 100-continue\r\nConnection: close\r\nContent-Length: 15\r\n\r\n`
  const reply = await sendRaw(port, `${asking}{"measures":[]}`)
  expect(reply.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
})

test('a body that is not read is not waited for when it is huge', async () => {
  const huge = `POST /v2/nothing HTTP/1.1\r\nHost: x\r\n${json}Content-Length: 10737418240\r\n\r\n{`
  const reply = await sendRaw(port, huge)
  expect(reply).toMatchObject({ status: 404, closed: true })
})
