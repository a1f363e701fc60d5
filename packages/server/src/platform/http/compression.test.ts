import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { brotliDecompressSync, createBrotliDecompress, gunzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../logger.ts'
import { codingFor, keptBody, sendKept } from './compression.ts'
import { createHttpServer } from './server.ts'

const long = JSON.stringify({ text: 'a rather long text '.repeat(200) })
const document = keptBody(long)
let app: FastifyInstance
/** What the route `/rows` sends, made by each test. */
let rows: Readable

beforeAll(async () => {
  app = createHttpServer({ logger: silentLogger, trustedProxies: [] })
  const json = 'application/json; charset=utf-8'
  const compressed = { config: { compressed: true } }
  app.get('/long', compressed, (_, reply) => reply.header('etag', '"1"').type(json).send(long))
  app.get('/short', compressed, (_, reply) => reply.type(json).send('{"a":1}'))
  app.get('/picture', compressed, (_, reply) => reply.type('image/png').send(Buffer.from(long)))
  app.get('/packed', compressed, (_, reply) => reply.header('content-encoding', 'zstd').type(json).send(long))
  app.get('/kept', (request, reply) => sendKept(request, reply.type(json), document))
  app.get('/page', (_, reply) => reply.type('text/html').send(long))
  app.get('/rows', compressed, (_, reply) => reply.type('application/x-ndjson').send(rows))
  const operation = { method: 'GET', scope: 'authenticated', handler: () => JSON.parse(long) } as const
  app.route({ ...operation, url: '/operation' })
  app.route({ ...operation, url: '/secret', holdsSecret: true } as never)
  await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app.close())

const get = (url: string, accepted = 'br', more = {}) =>
  app.inject({ url, headers: { 'accept-encoding': accepted, ...more } })

test.each([
  [undefined, undefined],
  ['', undefined],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['BR;Q=0.5, GZIP', 'gzip'],
  ['br;q=0.4, gzip;q=0.8', 'gzip'],
  ['br;q=0, gzip;q=0.0', undefined],
  ['*', 'br'],
  ['*;q=0.1, br;q=0', 'gzip'],
  ['identity', undefined],
  ['identity;q=0.9, br;q=0.5', undefined],
  ['gzip;q=many', undefined],
  ['deflate, x-br', undefined],
  [',;q=,,gzip', 'gzip'],
])('Accept-Encoding %j is answered with %s', (accepted, coding) => expect(codingFor(accepted)).toBe(coding))

describe('an answer', () => {
  test.each([
    ['br', (body: Buffer) => brotliDecompressSync(body)],
    ['gzip', (body: Buffer) => gunzipSync(body)],
  ] as const)('is sent as %s to who takes it', async (coding, open) => {
    for (const url of ['/long', '/operation', '/kept']) {
      const { headers, rawPayload } = await get(url, coding)
      expect(headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' })
      expect(headers['content-length']).toBe(String(rawPayload.length))
      expect(rawPayload.length).toBeLessThan(long.length / 5)
      expect(open(rawPayload).toString()).toBe(long)
    }
  })

  test('is plain to others, and says that it depends on them', async () => {
    for (const url of ['/long', '/operation', '/kept']) {
      const { headers, body } = await get(url, 'identity')
      expect([headers['content-encoding'], headers.vary, body]).toEqual([undefined, 'Accept-Encoding', long])
    }
  })

  test('stays plain where a secret stands in it, where nothing is declared, and where it would gain nothing', async () => {
    for (const url of ['/secret', '/page', '/short', '/picture'])
      expect((await get(url)).headers['content-encoding']).toBeUndefined()
    expect((await get('/packed')).headers['content-encoding']).toBe('zstd')
    expect((await get('/packed')).body).toBe(long)
  })

  test('has a weak tag in another coding, and none of its body where the tag is known', async () => {
    expect((await get('/long')).headers.etag).toBe('W/"1"')
    const { etag } = (await get('/kept')).headers
    const again = await get('/kept', 'gzip', { 'if-none-match': etag })
    expect([again.statusCode, again.body, again.headers['content-encoding']]).toEqual([304, '', undefined])
  })

  test('that is kept is compressed once', async () => {
    expect(document.compress('br')).toBe(document.compress('br'))
  })
})

/** Resolves once a stream is destroyed, for whatever reason. */
const ended = (stream: Readable): Promise<void> =>
  new Promise((resolve) => (stream.destroyed ? resolve() : stream.once('close', resolve)))

describe('a stream', () => {
  const open = async (): Promise<IncomingMessage> => {
    const { port } = app.server.address() as AddressInfo
    const asked = request({ port, path: '/rows', headers: { 'accept-encoding': 'br' } }).end()
    const [reply] = (await once(asked, 'response')) as [IncomingMessage]
    expect(reply.headers).toMatchObject({ 'content-encoding': 'br', 'transfer-encoding': 'chunked' })
    return reply
  }

  test('arrives row by row, as the rows are there', async () => {
    const source = new PassThrough()
    rows = source
    source.write('{"n":1}\n')
    const reply = await open()
    const text = reply.pipe(createBrotliDecompress())
    expect(String((await once(text, 'data'))[0])).toBe('{"n":1}\n')
    source.write('{"n":2}\n')
    expect(String((await once(text, 'data'))[0])).toBe('{"n":2}\n')
    source.end()
    await once(text, 'end')
  })

  test('ends with the caller who leaves', async () => {
    rows = new PassThrough()
    rows.push('{"n":1}\n')
    const closed = ended(rows)
    const reply = await open()
    reply.on('error', () => {})
    reply.destroy()
    await closed
    expect(rows.destroyed).toBe(true)
  })

  test('is not read further than its caller reads', async () => {
    let read = 0
    const bytes = 64 * 1024
    rows = new Readable({
      read() {
        read += 1
        // Noise does not shrink.
        this.push(randomBytes(bytes))
      },
    })
    const reply = await open()
    reply.pause()
    // Whatever the buffers between take: the source has stopped when it is asked no more.
    let before = -1
    while (before !== read) {
      before = read
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect(read * bytes).toBeLessThan(64 * 1024 * 1024)
    reply.on('error', () => {})
    reply.destroy()
    await ended(rows)
  })

  test('that fails before its first row is a failure, in the envelope', async () => {
    rows = new Readable({ read() {} })
    const asked = get('/rows')
    setImmediate(() => rows.destroy(new Error('the store is down')))
    const { statusCode, headers, body } = await asked
    expect([statusCode, headers['content-encoding']]).toEqual([500, undefined])
    expect(JSON.parse(body)).toMatchObject({ status: 'fail' })
  })
})
