import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSockets, sendRaw } from '../support/raw-http.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

/** Inputs of docs/faults.md that meet a whole service; its rules are tested on a clock of their own in 01-token. */

const metricsToken = 'a token for metrics'
let service: Service
let port = 0
const origin = () => new URL(service.baseUrl).origin

beforeAll(async () => {
  const env = { MILLRACE_LOG_LEVEL: 'trace', MILLRACE_METRICS_TOKEN: metricsToken }
  service = await startService({ env })
  port = Number(new URL(service.baseUrl).port)
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  removeData(service)
})

interface TokenReply {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

async function ask(body: string | Buffer, headers: Record<string, string> = {}): Promise<TokenReply> {
  const reply = await fetch(`${origin()}/v2/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
  return {
    status: reply.status,
    headers: reply.headers,
    body: (await reply.json()) as Record<string, unknown>,
  }
}

const right = () => ({
  grant_type: 'password',
  client_id: service.clientId,
  username: service.admin.email,
  password: service.admin.password,
})

const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe('a token request', () => {
  const formOf = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

  const bodies: [string, () => string | Buffer, Record<string, string>, number, string][] = [
    ['is no object', () => '"x"', {}, 400, 'invalid_request'],
    ['is null', () => 'null', {}, 400, 'invalid_request'],
    ['is empty', () => '', {}, 400, 'invalid_request'],
    ['is an empty form', () => '', form, 400, 'invalid_request'],
    ['is not UTF-8', () => Buffer.from([0x7b, 0xff, 0x7d]), {}, 400, 'invalid_request'],
    ['nests deeper than anything', () => '['.repeat(60_000), {}, 400, 'invalid_request'],
    [
      'is larger than any',
      () => JSON.stringify({ ...right(), password: 'x'.repeat(70_000) }),
      {},
      413,
      'invalid_request',
    ],
    [
      'has a password over 4,096 bytes (T06)',
      () => JSON.stringify({ ...right(), password: 'x'.repeat(4097) }),
      {},
      400,
      'invalid_request',
    ],
    [
      'holds U+0000 (T07)',
      () => JSON.stringify({ ...right(), username: 'a@b.c\0' }),
      {},
      400,
      'invalid_request',
    ],
    [
      'holds half a surrogate pair',
      () => JSON.stringify({ ...right(), username: '\ud800' }),
      {},
      400,
      'invalid_request',
    ],
    [
      'has a list for a field (T03)',
      () => JSON.stringify({ ...right(), username: ['a', 'b'] }),
      {},
      400,
      'invalid_request',
    ],
    [
      'has an object for a field',
      () => JSON.stringify({ ...right(), username: { $ne: null } }),
      {},
      400,
      'invalid_request',
    ],
    ['names a prototype', () => '{"__proto__":{"grant_type":"password"}}', {}, 400, 'invalid_request'],
    [
      'names a field twice in a form (T03)',
      () => `${formOf(right())}&grant_type=password`,
      form,
      400,
      'invalid_request',
    ],
    [
      'has a thousand fields',
      () => Array.from({ length: 1000 }, (_, i) => `k${i}=`).join('&'),
      form,
      400,
      'invalid_request',
    ],
    ['has a form that encodes no UTF-8', () => `${formOf(right())}&x=%ff`, form, 400, 'invalid_request'],
    [
      'asks for a grant in capitals (T03)',
      () => JSON.stringify({ ...right(), grant_type: 'PASSWORD' }),
      {},
      400,
      'unsupported_grant_type',
    ],
    [
      'asks for a grant that there is not (T03)',
      () => formOf({ ...right(), grant_type: 'client_credentials' }),
      form,
      400,
      'unsupported_grant_type',
    ],
    [
      'names a client that there is not (T02)',
      () => JSON.stringify({ ...right(), client_id: 'f'.repeat(24) }),
      {},
      401,
      'invalid_client',
    ],
    [
      'names a client in SQL (T02)',
      () => JSON.stringify({ ...right(), client_id: "' or 1=1 --" }),
      {},
      401,
      'invalid_client',
    ],
    [
      'is compressed',
      () => gzipSync(JSON.stringify(right())),
      { 'content-encoding': 'gzip' },
      415,
      'invalid_request',
    ],
    [
      'is a compressed form',
      () => gzipSync(formOf(right())),
      { ...form, 'content-encoding': 'gzip' },
      415,
      'invalid_request',
    ],
    [
      'is in UTF-16',
      () => JSON.stringify(right()),
      { 'content-type': 'application/json; charset=utf-16' },
      415,
      'invalid_request',
    ],
    [
      'has several parts (T05)',
      () => '--x--',
      { 'content-type': 'multipart/form-data; boundary=x' },
      415,
      'invalid_request',
    ],
    ['is XML', () => '<x/>', { 'content-type': 'text/xml' }, 415, 'invalid_request'],
  ]

  test.each(bodies)(
    'that %s is refused in the words of both documents',
    async (_name, body, headers, status, error) => {
      const reply = await ask(body(), headers)
      expect(reply.status).toBe(status)
      expect(reply.body).toMatchObject({
        status: 'fail',
        code: status,
        error,
        error_description: expect.any(String),
      })
      expect(Object.keys(reply.body).toSorted()).toEqual([
        'code',
        'data',
        'datetime',
        'error',
        'error_code',
        'error_description',
        'message',
        'program',
        'status',
        'version',
      ])
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(reply.headers.get('pragma')).toBe('no-cache')
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
      expect(reply.headers.get('access-control-allow-origin')).toBeNull()
      expect(JSON.stringify(reply.body).length).toBeLessThan(2000)
    },
  )

  test('of a type that is not read is told which are', async () => {
    const { body } = await ask('<x/>', { 'content-type': 'text/xml' })
    expect(body.data).toEqual({ accepted: ['application/json', 'application/x-www-form-urlencoded'] })
  })

  test('that is no JSON is described within the letters of RFC 6749', async () => {
    const { body } = await ask('{"a": é"\r\n\\\u202e}')
    expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
  })

  test('with a strange header Authorization is answered as clearly', async () => {
    for (const credentials of [
      'Basic',
      'Basic ////',
      `Basic ${'A'.repeat(8000)}`,
      'Basic AAAA',
      'Bearer x',
      'Digest x',
    ]) {
      const { status, body } = await ask(JSON.stringify({ ...right(), client_id: 'f'.repeat(24) }), {
        authorization: credentials,
      })
      expect([400, 401]).toContain(status)
      expect(['invalid_client', 'invalid_request']).toContain(body.error)
    }
  })

  test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('is not made by %s', async (method) => {
    const query = new URLSearchParams(right()).toString()
    const reply = await fetch(`${origin()}/v2/auth/token?${query}`, { method })
    expect(reply.status).toBe(405)
    expect(reply.headers.get('allow')).toBe('POST')
  })

  test('T18: that is right is answered once, stored nowhere, for one hour', async () => {
    for (const reply of [await ask(JSON.stringify(right())), await ask(formOf(right()), form)]) {
      expect(reply.status).toBe(200)
      expect(reply.body).toEqual({
        access_token: expect.stringMatching(/^[\w-]{43}$/),
        refresh_token: expect.stringMatching(/^[\w-]{43}$/),
        token_type: 'Bearer',
        expires_in: 3600,
      })
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(reply.headers.get('pragma')).toBe('no-cache')
      expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
    }
  })
})

test('T13, T16: callers who leave before the answer leave nothing behind that hurts', async () => {
  const granted = (await ask(JSON.stringify(right()))).body as { access_token: string; refresh_token: string }
  const refresh = JSON.stringify({
    grant_type: 'refresh_token',
    client_id: service.clientId,
    refresh_token: granted.refresh_token,
  })
  const head = (length: number) =>
    `POST /v2/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
  for (const body of [refresh, JSON.stringify(right()), refresh.slice(0, -5)]) {
    for (const socket of await openSockets(port, 10, head(Buffer.byteLength(refresh)) + body))
      socket.destroy()
  }
  const again = await ask(refresh)
  expect(again.status).toBe(200)
  expect(again.body.refresh_token).toBe(granted.refresh_token)
  for (const token of [granted.access_token, again.body.access_token]) {
    const reply = await fetch(`${origin()}/v2/datasources`, { headers: { authorization: `Bearer ${token}` } })
    expect(reply.status).toBe(200)
  }
})

test('T10: a hundred sign-ins at once do not keep events waiting; those too many are told to come back', async () => {
  let signedIn = 0
  const signIns = Array.from({ length: 100 }, async () => {
    const reply = await ask(JSON.stringify(right()))
    if (reply.status === 200) signedIn++
    return reply
  })
  let signedInMeanwhile: number | undefined
  for (let i = 0; i < 20; i++) {
    const event = {
      key: service.companyId,
      name: 'x',
      url: '',
      tmpId: 'd',
      eventId: `beside-${i}`,
      v: 1,
      data: {},
    }
    const reply = await fetch(service.trackerUrl, { method: 'POST', body: JSON.stringify(event) })
    expect(reply.status).toBe(200)
    signedInMeanwhile ??= signedIn
  }
  const replies = await Promise.all(signIns)
  expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(36)
  for (const { status, headers, body } of replies) {
    expect([200, 503]).toContain(status)
    if (status === 503) {
      expect(body).toMatchObject({ error: 'temporarily_unavailable' })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
  }
  // An event is answered before the sign-ins that came first.
  expect(signedInMeanwhile).toBeLessThan(signedIn)
})

test('metrics are for those who have their token, in the header alone', async () => {
  const read = (headers: Record<string, string>, search = '') =>
    fetch(`${origin()}/metrics${search}`, { headers })
  expect((await read({ authorization: `Bearer ${metricsToken}` })).status).toBe(200)
  const refused = [
    await read({}),
    await read({ authorization: 'Bearer wrong' }),
    await read({ authorization: metricsToken }),
    await read({ authorization: `Bearer ${service.token}` }),
    await read({}, `?token=${metricsToken}`),
  ]
  for (const reply of refused) {
    expect(reply.status).toBe(401)
    expect(await reply.json()).toMatchObject({ status: 'fail', code: 401 })
  }
})

test('who guesses cannot hide behind X-Forwarded-For', async () => {
  const guess = (i: number) =>
    ask(JSON.stringify({ ...right(), username: 'nobody@example.com', password: `guess ${i}` }), {
      'x-forwarded-for': `198.51.100.${i}`,
      'x-real-ip': `198.51.100.${i}`,
      forwarded: `for=198.51.100.${i}`,
    })
  for (let i = 0; i < 10; i++) expect((await guess(i)).status).toBe(401)
  const reply = await guess(10)
  expect(reply.status).toBe(429)
  expect(reply.body).toMatchObject({ error: 'too_many_attempts' })
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
})

test('T17: nothing that is secret, and nothing that looks like a line of the log, gets into the log', async () => {
  const { access_token, refresh_token } = (await ask(JSON.stringify(right()))).body as Record<string, string>
  const typed = { username: 'typed-where-no-password-belongs', password: 'typed-and-wrong' }
  const forged = '\r\n{"level":60,"msg":"forged"}'
  await ask(JSON.stringify({ ...right(), ...typed }))
  await ask(`{"password":"${typed.password}`)
  const bearer = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
  const query = { measures: ['events.count'], dimensions: [], timeDimensions: [] }
  const asked: [string, Record<string, string>, string | undefined][] = [
    [`/v2/statistics/meta?access_token=in-the-query`, {}, undefined],
    [`/v2/nothing?access_token=in-the-query`, bearer, undefined],
    ['/v2/statistics/query', bearer, JSON.stringify({ ...query, filters: [], measures: [forged] })],
    [
      '/v2/statistics/query',
      bearer,
      JSON.stringify({
        ...query,
        filters: [{ member: 'events.name', operator: 'equals', values: [forged] }],
      }),
    ],
    ['/v2/datasources', { ...bearer, 'user-agent': forged.trim() }, JSON.stringify({ name: forged.trim() })],
    [new URL(service.trackerUrl).pathname, { 'user-agent': forged.trim() }, JSON.stringify({ name: forged })],
  ]
  for (const [path, headers, body] of asked) {
    await fetch(`${origin()}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      ...(body === undefined ? {} : { body }),
    })
  }
  await sendRaw(
    port,
    `GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${access_token}\r\nno header\r\n\r\n`,
  )
  // What stands before is the banner for the operator who started it.
  const linesOfLog = () =>
    service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{"level"'))
  await expect.poll(() => linesOfLog().length).toBeGreaterThan(5)
  const log = linesOfLog()
  for (const line of log) expect(() => JSON.parse(line)).not.toThrow()
  const secrets = [
    access_token,
    refresh_token,
    service.token,
    service.admin.password,
    service.admin.email,
    metricsToken,
  ]
  for (const secret of [...secrets, ...Object.values(typed), 'in-the-query', 'forged'])
    expect(log.join('\n')).not.toContain(secret)
  expect(service.output()).not.toContain(service.admin.password)
})
