import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectionsWithin, descriptorLimit } from '../../src/platform/http/connection-limit.ts'
import { success } from '../../src/platform/http/envelope.ts'
import { createHttpServer } from '../../src/platform/http/server.ts'
import { type Logger, silentLogger } from '../../src/platform/logger.ts'
import { jsonOf, openSockets, sendRaw } from '../support/raw-http.ts'
import { until } from '../support/until.ts'

const timeouts = { headers: 300, request: 600, silence: 700, idle: 400, check: 50, closing: 400 }
const warnings: string[] = []
const logger: Logger = Object.assign(Object.create(silentLogger) as Logger, {
  warn: (_: unknown, said: string) => void warnings.push(said),
})
const app = createHttpServer({ logger, trustedProxies: [], timeouts })
let port = 0
let handled = 0

beforeAll(async () => {
  app.post('/v2/echo', async (request) => {
    handled++
    return success(request.body)
  })
  app.get('/v2/endless', async (_request, reply) => reply.send('x'.repeat(64 * 1024 * 1024)))
  app.get('/v2/slow', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/plain' })
    reply.raw.write('begin;')
    setTimeout(() => reply.raw.end('end;'), 200)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as { port: number }).port
})

afterAll(() => app.close())

test('the default timeouts are those of the decisions: headers 10 s, request 30 s', async () => {
  const usual = createHttpServer({ logger: silentLogger, trustedProxies: [] })
  expect(usual.server).toMatchObject({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    timeout: 120_000,
  })
  expect(usual.server.maxConnections).toBe(connectionsWithin(descriptorLimit()))
  await usual.close()
})

test('connections never take the descriptors that files and stores need', () => {
  expect(connectionsWithin(20_000)).toBe(19_000)
  expect(connectionsWithin(1_024)).toBe(512)
})

/** Sends the next piece every 100 ms until the connection ends. */
function drip(first: string, next: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(first))
    let text = ''
    const timer = setInterval(() => next !== '' && socket.writable && socket.write(next), 100)
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(timer)
      resolve(text)
    })
  })
}

const head = 'POST /v2/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

test.each([
  ['says nothing', '', ''],
  ['sends a header line now and then', 'GET / HTTP/1.1\r\nHost: x\r\n', 'a: b\r\n'],
  ['sends a byte of a header now and then', 'GET / HTTP/1.1\r\nHost: x\r\na', 'a'],
  ['sends a byte of a body now and then', `${head}Content-Length: 100\r\n\r\n`, ' '],
  ['sends a chunk now and then', `${head}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
])('a client that %s is told 408 in the envelope, in time', async (_name, first, next) => {
  const before = handled
  const text = await drip(first, next)
  expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
  expect(text.toLowerCase()).toContain('connection: close')
  expect(jsonOf({ text, status: 408, closed: true })).toMatchObject({
    status: 'fail',
    code: 408,
    error_code: 9,
  })
  expect(handled).toBe(before)
})

test('a reply that is not read is given up', async () => {
  const socket = connect(port, '127.0.0.1', () => socket.write('GET /v2/endless HTTP/1.1\r\nHost: x\r\n\r\n'))
  socket.on('error', () => {})
  const open = () => new Promise<number>((resolve) => app.server.getConnections((_e, n) => resolve(n)))
  await until(async () => (await open()) === 1)
  await until(async () => (await open()) === 0)
  socket.destroy()
})

test('what follows a request and is none does not get into its reply', async () => {
  const text = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /v2/slow HTTP/1.1\r\nHost: x\r\n\r\n'))
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk
      if (got.endsWith('begin;\r\n')) socket.write('\x16\x03\x01 nonsense\r\n\r\n')
    })
    socket.on('error', () => {}).on('close', () => resolve(got))
  })
  expect(text).toContain('begin;')
  expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1)
})

test('connections beyond the bound are closed as they come, and others are served', async () => {
  // None of them times out here: only the bound closes.
  const bounded = createHttpServer({ logger, trustedProxies: [], maxConnections: 30 })
  bounded.post('/v2/echo', async (request) => success(request.body))
  await bounded.listen({ port: 0, host: '127.0.0.1' })
  const { port: at } = bounded.server.address() as { port: number }
  const first = connect(at, '127.0.0.1')
  await new Promise((resolve) => first.once('connect', resolve))
  const sockets = await openSockets(at, 40)
  await until(() => sockets.filter((socket) => socket.closed || socket.destroyed).length === 11)
  expect(warnings).toEqual(['too many connections are open: new ones are closed as they come'])
  const answered = new Promise<string>((resolve) => first.once('data', (chunk) => resolve(String(chunk))))
  first.write(`${head}Content-Length: 2\r\n\r\n{}`)
  expect(await answered).toMatch(/^HTTP\/1\.1 200/)
  for (const socket of [first, ...sockets]) socket.destroy()
  const again = `${head}Connection: close\r\nContent-Length: 2\r\n\r\n{}`
  await until(async () => (await sendRaw(at, again)).status === 200)
  await bounded.close()
})

test('closing finishes what is under way, says that it was the last reply, and waits for nobody else', async () => {
  const other = createHttpServer({ logger: silentLogger, trustedProxies: [] })
  const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  other.get('/slow', async () => {
    begun.resolve()
    await finish.promise
    return 'done'
  })
  await other.listen({ port: 0, host: '127.0.0.1' })
  const { port: at } = other.server.address() as { port: number }
  const silent = await openSockets(at, 3)
  const half = await openSockets(at, 3, 'GET /slow HTTP/1.1\r\nHost')
  const under = sendRaw(at, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
  await begun.promise
  const closed = other.close()
  await until(() => !other.server.listening)
  finish.resolve()
  await closed
  const reply = await under
  expect(reply).toMatchObject({ status: 200, closed: true })
  expect(reply.text.toLowerCase()).toContain('connection: close')
  for (const socket of [...silent, ...half]) socket.destroy()
})

test('closing cuts a request that does not end within its grace', async () => {
  const lastingRequests = { ...timeouts, headers: 200_000, request: 900_000, silence: 900_000 }
  const other = createHttpServer({ logger: silentLogger, trustedProxies: [], timeouts: lastingRequests })
  const begun = Promise.withResolvers<void>()
  other.addHook('onRequest', async () => begun.resolve())
  other.post('/v2/echo', async () => 'done')
  await other.listen({ port: 0, host: '127.0.0.1' })
  const { port: at } = other.server.address() as { port: number }
  const [socket] = await openSockets(at, 1, `${head}Content-Length: 100\r\n\r\n{`)
  await begun.promise
  await other.close()
  socket?.destroy()
})
