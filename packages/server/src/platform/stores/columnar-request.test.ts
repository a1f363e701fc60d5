import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ColumnarRequest, createColumnarRequests } from './columnar-request.ts'

/** What the next request is answered, and what came. */
const answer = { status: 200, body: '1\n' }
/** How many of the next requests end their connection. */
let cuts = 0
let came: { request: IncomingMessage; body: string }[] = []
const server = createServer(async (request, response) => {
  came.push({ request, body: await text(request).catch(() => 'broken off') })
  if (cuts-- > 0) request.socket.destroy()
  else response.writeHead(answer.status).end(answer.body)
})
let requests: ReturnType<typeof createColumnarRequests>
let port: number

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
  requests = createColumnarRequests({ url: `http://a%40b:p%3Aq@127.0.0.1:${port}/my%20events` }, 2)
})
afterAll(() => {
  requests.close()
  server.close()
})
beforeEach(() => {
  came = []
  cuts = 0
  Object.assign(answer, { status: 200, body: '1\n' })
})

const send = async (asked: Partial<ColumnarRequest>): Promise<string> =>
  text(await requests.send({ sql: 'SELECT 1', settings: {}, ...asked }))
const addressOf = (n: number) => new URL(came[n]?.request.url ?? '', 'http://server').searchParams

test('statement, settings and parameters of a request, with user, password and database of the address', async () => {
  const params = { text: "it's\ta\\b", list: ['x', null, true], at: new Date(1_500), of: new Map([['k', 1]]) }
  expect(await send({ queryId: 'mine', settings: { max_threads: 2 }, params })).toBe('1\n')
  expect(came).toMatchObject([{ body: 'SELECT 1', request: { method: 'POST' } }])
  expect(Object.fromEntries(addressOf(0))).toEqual({
    ...{ query_id: 'mine', database: 'my events', max_threads: '2' },
    ...{ param_text: String.raw`it\'s\ta\\b`, param_list: "['x',NULL,true]" },
    ...{ param_at: '0000000001.500', param_of: "{'k':1}" },
  })
  const { authorization } = came[0]?.request.headers ?? {}
  expect(Buffer.from(String(authorization).replace('Basic ', ''), 'base64').toString()).toBe('a@b:p:q')
})

test('rows are the body of an insert, as bytes or as they come, over one connection', async () => {
  const sql = 'INSERT INTO facts FORMAT JSONEachRow'
  await send({ sql, rows: Buffer.from('{"id":1}\n') })
  await send({ sql, rows: Readable.from(['{"id":', '2}\n']) })
  expect(came.map(({ body }) => body)).toEqual(['{"id":1}\n', '{"id":2}\n'])
  expect(addressOf(1).get('query')).toBe(sql)
  expect(new Set(came.map(({ request }) => request.socket)).size).toBe(1)
})

test('rows that break off fail the request with their reason', async () => {
  const rows = Readable.from(
    (async function* () {
      yield '{"id":1}\n'
      throw new Error('no more of them')
    })(),
  )
  await expect(send({ sql: 'INSERT INTO facts FORMAT JSONEachRow', rows })).rejects.toMatchObject({
    ...{ name: 'ColumnarUnavailable', cause: { message: 'no more of them' } },
  })
  await expect.poll(() => came).toMatchObject([{ body: 'broken off' }])
})

test('what only reads is sent once more where the server ends a connection that was idle', async () => {
  const reading = { settings: { readonly: 1 } }
  await send(reading)
  cuts = 1
  expect(await send(reading)).toBe('1\n')
  expect(came).toHaveLength(3)
  cuts = 1
  await expect(send({})).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
  // One that is new was not idle.
  cuts = 2
  await expect(send(reading)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
})

test.each([
  [
    'Code: 60. DB::Exception: Unknown table facts. (UNKNOWN_TABLE) (version 26.7.2.1)',
    { name: 'ColumnarError', code: 60, type: 'UNKNOWN_TABLE', message: 'Unknown table facts.' },
  ],
  [
    'Code: 57. DB::Exception: An error on [b:9000]: Code: 57. DB::Exception: It is there (twice). (TABLE_ALREADY_EXISTS) (version 26.7). (TABLE_ALREADY_EXISTS) (version 26.7)',
    { name: 'ColumnarError', code: 57, type: 'TABLE_ALREADY_EXISTS', message: 'It is there (twice).' },
  ],
  [
    'Code: 159. DB::Exception: Timeout exceeded: elapsed 5 s. (TIMEOUT_EXCEEDED)',
    { name: 'ColumnarTimeout', code: 159 },
  ],
  [
    'Code: 236. DB::Exception: The server is shutting down. (ABORTED)',
    { name: 'ColumnarUnavailable', cause: { message: 'The server is shutting down.' } },
  ],
  [
    '<h1>502 Bad Gateway</h1>',
    { name: 'ColumnarUnavailable', cause: { message: '<h1>502 Bad Gateway</h1>' } },
  ],
])('an answer that is no success is its exception: %s', async (body, error) => {
  Object.assign(answer, { status: 500, body })
  await expect(send({})).rejects.toMatchObject(error)
})

test('an address that does not answer is unavailable', async () => {
  const { send } = createColumnarRequests({ url: 'http://127.0.0.1:1' }, 1)
  await expect(send({ sql: 'SELECT 1', settings: {} })).rejects.toMatchObject({
    ...{ name: 'ColumnarUnavailable', cause: { code: 'ECONNREFUSED' } },
  })
})
