import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { processorTimeOf } from '../support/cost.ts'
import { jsonOf, openSockets, sendRaw } from '../support/raw-http.ts'
import { removeData, type Service, startService, unlessBusy } from '../support/running-service.ts'

/**
 * Inputs of docs/faults.md that meet a whole service; what the ground floor does alone is tested beside it. One
 * long file, because a service is started for it.
 */

let service: Service
let port = 0
let token = ''
const origin = () => new URL(service.baseUrl).origin

beforeAll(async () => {
  service = await startService()
  port = Number(new URL(service.baseUrl).port)
  // The token of the service's own calls, as it stands on the wire.
  token = service.token
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  removeData(service)
})

// Whatever was sent, the next one is answered.
afterEach(async () => {
  expect((await service.call('GET', '/v2/datasources')).status).toBe(200)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

interface Failure {
  readonly status: string
  readonly code: number
  readonly error_code: number
  readonly message: string
  readonly data: Record<string, unknown>
}

/** The failure that a reply must be: the envelope, its headers, and nothing of the inside. */
async function failureOf(reply: Response): Promise<Failure> {
  const text = await reply.text()
  const failure = JSON.parse(text) as Failure
  expect(failure).toMatchObject({ status: 'fail', code: reply.status, program: 'millrace' })
  expect(failure.error_code).toBeGreaterThan(0)
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(reply.headers.get('cache-control')).toBe('no-store')
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
  expect(reply.headers.get('access-control-allow-origin')).toBeNull()
  expect(text).not.toMatch(/node_modules|\.ts[:)]|at \w+ \(|SELECT |select /)
  expect(text.length).toBeLessThan(2500)
  return failure
}

/** Again where the service is too busy, as any client asks. */
function send(method: string, path: string, body?: string, headers: Record<string, string> = {}) {
  return unlessBusy(() =>
    fetch(`${origin()}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    }),
  )
}

const query = { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }
const text = JSON.stringify(query)
/** The query with one more field, as text: JSON.stringify has no way to write some of them. */
const withField = (field: string) => text.replace('{', `{${field},`)
const ask = (body: string, headers: Record<string, string> = {}) =>
  send('POST', '/v2/statistics/query', body, headers)

describe('a body', () => {
  test.each(['null', '"x"', '[]', '1', 'true', '', '[[]]'])(
    'that is %s where an object belongs is 400',
    async (body) => {
      const failure = await failureOf(await ask(body))
      expect(failure).toMatchObject({ code: 400, error_code: 1 })
      expect(failure.message).toMatch(/^the body must be an object, it is /)
    },
  )

  test.each(['{', '{"measures":[]', '{"a":1,}', "{'a':1}", '{"a":NaN}', '{}{}', ' ', 'hello'])(
    'that is %s is 400 and says that it is no JSON',
    async (body) => {
      expect((await failureOf(await ask(body))).error_code).toBe(2)
    },
  )

  test('with a byte order mark is read; of repeated keys the last one holds, in checks and in the answer', async () => {
    expect((await ask(`\ufeff${text}`)).status).toBe(200)
    expect((await ask(text.replace('"measures"', '"measures":["no.such"],"measures"'))).status).toBe(200)
    const last = text.replace('"dimensions"', '"measures":["no.such"],"dimensions"')
    expect((await failureOf(await ask(last))).error_code).toBe(9100)
  })

  test.each([
    [33, 19],
    [7_000, 19],
    [500_000, 19],
    [32, 1],
  ])('of %i levels is refused', async (levels, code) => {
    const failure = await failureOf(await ask('['.repeat(levels) + ']'.repeat(levels)))
    expect(failure).toMatchObject({ code: 400, error_code: code })
  })

  test.each([
    ['half a million items', `{"measures":[${'1,'.repeat(500_000)}1]}`],
    ['70,000 keys', `{${Array.from({ length: 70_000 }, (_, i) => `"k${i}":1`).join(',')}}`],
    [
      'keys that look like places in a list',
      `{${Array.from({ length: 60_000 }, (_, i) => `"${i * 65_536}":1`).join(',')}}`,
    ],
    ['60,000 prototypes', `{"measures":[${'{"__proto__":{"polluted":1}},'.repeat(35_000)}1]}`],
    ['an unknown key of 900 KB', withField(`"${'k'.repeat(900_000)}":1`)],
    ['a text of 900 KB', withField(`"order":"${'\\u0041'.repeat(150_000)}"`)],
  ])('with %s is 400 and is as little work as an ordinary one as large', async (_name, body) => {
    const costOf = async (sent: string): Promise<number> => {
      const before = processorTimeOf(service.pid) ?? 0
      expect((await failureOf(await ask(sent))).code).toBe(400)
      return (processorTimeOf(service.pid) ?? 0) - before
    }
    const ordinary = await costOf(`{"measures":["${'x'.repeat(body.length)}"]}`)
    // Beside it the service loads events and looks after itself.
    expect(await costOf(body)).toBeLessThan(1_000 + 30 * ordinary)
  })

  test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'])(
    'that names %s changes nothing and finds nothing',
    async (name) => {
      const found = await failureOf(await ask(JSON.stringify({ ...query, measures: [name] })))
      expect(found).toMatchObject({ code: 400, error_code: 9100 })
      const key = await ask(withField(`"${name}":{"polluted":1}`))
      expect([200, 400]).toContain(key.status)
      const ordered = await ask(withField(`"order":{"${name}":"asc"}`))
      expect([200, 400]).toContain(ordered.status)
      expect((await failureOf(await send('POST', `/v2/statistics/query?${name}=1`, text))).code).toBe(400)
      expect((await failureOf(await send('POST', `/v2/statistics/query?format=${name}`, text))).code).toBe(
        400,
      )
    },
  )

  test.each([
    '1e400',
    '-0',
    '9007199254740993',
    '18446744073709551616',
    '1e-320',
    '"12"',
    '1.5',
    '0',
    '-1',
    'true',
  ])('with the limit %s is 400', async (limit) => {
    const failure = await failureOf(await ask(withField(`"limit":${limit}`)))
    expect(failure.message).toMatch(/^limit must be /)
  })

  test.each([
    'a\r\nSet-Cookie: x=1',
    'a\u001b[31m',
    '   ',
    'x'.repeat(1_000_000),
    'e\u0301'.repeat(1000),
    '\ud800',
    'a\0b',
  ])('with a name that nobody may have is 400 (%#)', async (name) => {
    const failure = await failureOf(await send('POST', '/v2/datasources', JSON.stringify({ name })))
    expect(failure.message).toMatch(/^name must /)
  })

  test('with a name of any letters keeps it as it was sent', async () => {
    for (const name of [
      '<img src=x onerror=alert(1)>',
      'e\u0301',
      '\u202eabc',
      '😀'.repeat(50),
      "'; drop table x --",
    ]) {
      const reply = await send('POST', '/v2/datasources', JSON.stringify({ name }))
      expect(await reply.json()).toMatchObject({ code: 200, data: { name, companyId: service.companyId } })
    }
  })

  test('cannot choose what the server gives', async () => {
    const body = JSON.stringify({
      name: 'Mine',
      companyId: 'f'.repeat(24),
      id: 'f'.repeat(24),
      status: 'paused',
    })
    const { data } = (await (await send('POST', '/v2/datasources', body)).json()) as {
      data: Record<string, string>
    }
    expect(data).toMatchObject({ companyId: service.companyId, status: 'published' })
    expect(data.id).not.toBe('f'.repeat(24))
  })

  test.each(['gzip', 'br', 'gzip, gzip, br', 'deflate'])(
    'under Content-Encoding %s is 415, before it is parsed',
    async (coding) => {
      const failure = await failureOf(await ask(text, { 'content-encoding': coding }))
      expect(failure).toMatchObject({ code: 415, error_code: 13, data: { accepted: ['identity'] } })
    },
  )

  test.each([
    'application/json;charset=utf-16',
    'application/json; charset=iso-8859-1',
    'text/plain',
    'application/json\ta',
    '',
  ])('of the type %j is 415', async (type) => {
    expect((await failureOf(await ask(text, { 'content-type': type }))).code).toBe(415)
  })

  test('over the limit is 413 without being read, announced or not', async () => {
    const head = `POST /v2/statistics/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
    const announced = await sendRaw(port, `${head}Content-Length: 10737418240\r\n\r\n{`)
    expect(announced).toMatchObject({ status: 413, closed: true })
    expect(jsonOf(announced)).toMatchObject({ error_code: 11, data: { limit: 1_048_576, unit: 'bytes' } })
    const endless = `10000\r\n${' '.repeat(65_536)}\r\n`.repeat(17)
    const chunked = await sendRaw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${endless}`)
    expect(chunked).toMatchObject({ status: 413, closed: true })
  })

  test('where none is expected is not looked at', async () => {
    const request = `GET /v2/datasources HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n{`
    expect((await sendRaw(port, request)).status).toBe(200)
  })

  test('that does not come whole is none, and keeps nothing open', async () => {
    const before = (
      (await (await service.call('GET', '/v2/datasources?perPage=100')).json()) as { paginationCount: number }
    ).paginationCount
    const head = `POST /v2/datasources HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n`
    for (const socket of await openSockets(port, 50, `${head}{"name":"half"`)) socket.destroy()
    const after = (
      (await (await service.call('GET', '/v2/datasources?perPage=100')).json()) as { paginationCount: number }
    ).paginationCount
    expect(after).toBe(before)
  })
})

describe('an address', () => {
  test.each([
    ['/v2/statistics/meta/', 404],
    ['/v2//statistics/query', 404],
    ['//v2/statistics/query', 404],
    ['/v2/%2e%2e/v2/statistics/meta/x', 404],
    ['/V2/statistics/query', 404],
    ['/v2/statistics/QUERY', 404],
    ['/v2/statistics%2fquery', 404],
    ['/v2/statistics/query%00', 404],
    ['/v2/statistics/query;x=1', 404],
    ['/v2/%zz', 400],
    ['/v2/%c0%ae', 400],
    [`/v2/${'x'.repeat(3000)}`, 404],
    ['/v2/statistics/meta', 405],
    ['/v2/auth/token/x', 404],
  ])('%s is no way in: %i', async (path, status) => {
    expect((await failureOf(await send('POST', path, text))).code).toBe(status)
  })

  test.each([
    ['PUT', '/v2/statistics/query', 'GET, HEAD, POST'],
    ['DELETE', '/v2/statistics/query', 'GET, HEAD, POST'],
    ['OPTIONS', '/v2/statistics/query', 'GET, HEAD, POST'],
    ['TRACE', '/v2/statistics/query', 'GET, HEAD, POST'],
    ['QUERY', '/v2/statistics/query', 'GET, HEAD, POST'],
    ['POST', '/v2/statistics/meta', 'GET, HEAD'],
    ['PUT', '/v2/auth/token', 'POST'],
    ['PATCH', '/v2/datasources', 'GET, HEAD, POST'],
    ['DELETE', '/v2/datasources/0123456789abcdef01234567/counters', 'GET, HEAD'],
    ['GET', '/collect/0123456789abcdef01234567/tracker', 'POST, OPTIONS'],
  ])('does not answer %s %s: 405 with Allow', async (method, path, allowed) => {
    const reply = await sendRaw(
      port,
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: text/xml\r\nContent-Length: 1\r\n\r\n<`,
    )
    expect(reply.status).toBe(405)
    expect(/^allow: (.*)\r$/m.exec(reply.text)?.[1]).toBe(allowed)
    expect(jsonOf(reply)).toMatchObject({
      status: 'fail',
      code: 405,
      error_code: 7,
      data: { method, allowed: allowed.split(', ') },
    })
  })

  test.each([
    '0123456789abcdef0123456',
    '0123456789abcdef012345678',
    'zzz3456789abcdef01234567',
    '0123456789abcdef01234567%0a',
    '%EF%BC%90123456789abcdef0123456',
    '%00',
    '..%2f..%2fx',
    "'%20or%201=1",
    'x'.repeat(300),
  ])('with the identifier %s is 400 and names it', async (id) => {
    const failure = await failureOf(await send('GET', `/v2/datasources/${id}/counters`))
    expect(failure).toMatchObject({ code: 400, error_code: 1, data: { errors: [{ path: 'id' }] } })
  })

  test('with a part that is longer than any identifier is 400', async () => {
    const failure = await failureOf(await send('GET', `/v2/datasources/${'x'.repeat(3000)}/counters`))
    expect(failure).toMatchObject({ code: 400, error_code: 2 })
  })

  test('may write an identifier in upper case; one that is not there, and one of nobody, are the same 404', async () => {
    const reply = await send('GET', `/v2/datasources/${service.datasourceId.toUpperCase()}/counters`)
    expect(await reply.json()).toMatchObject({ data: { datasourceId: service.datasourceId } })
    const id = 'abcdef0123456789abcdef01'
    const failure = await failureOf(await send('GET', `/v2/datasources/${id.toUpperCase()}/logs`))
    expect(failure).toMatchObject({ code: 404, error_code: 1000, data: { id } })
  })

  test.each([
    '?page=0',
    '?page=1e2',
    '?page=01',
    '?page=1.0',
    '?page=999999999999999',
    '?perPage=101',
    '?page=1&page=2',
    '?page[]=1',
    '?__proto__[x]=1',
    '?rule=%00',
    '?kind=x',
    '?from=2026-02-30T00:00:00Z',
    '?from=2016-12-31T23:59:60Z',
    '?to=9999-12-31T23:59:60Z',
    '?from=2026-01-01',
    `?${'a=1&'.repeat(3000)}`,
  ])('with the query %s is 400', async (search) => {
    const failure = await failureOf(
      await send('GET', `/v2/datasources/${service.datasourceId}/logs${search}`),
    )
    expect(failure).toMatchObject({ code: 400, error_code: 1 })
  })

  test('with a query of any other text is answered', async () => {
    for (const search of [
      '?rule=%ff',
      '?rule=%E2%80%AE',
      "?rule='%20or%201=1",
      '?from=0000-01-01T00:00:00Z',
      '?to=9999-12-31T23:59:59Z',
    ]) {
      const reply = await send('GET', `/v2/datasources/${service.datasourceId}/logs${search}`)
      expect(reply.status, search).toBe(200)
    }
  })
})

describe('who asks', () => {
  const refused = async (headers: Record<string, string>, search = '', body?: string) => {
    const reply = await fetch(`${origin()}/v2/statistics/${body ? 'query' : 'meta'}${search}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', ...headers },
      ...(body ? { body } : {}),
    })
    expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/)
    const { datetime: _, ...failure } = (await failureOf(reply)) as Failure & { datetime: string }
    return failure
  }

  test('is known by the header alone, and every other way is one and the same 401', async () => {
    const bare = await refused({})
    expect(bare).toMatchObject({ code: 401, error_code: 3, data: {} })
    const others = [
      await refused({ authorization: 'Bearer' }),
      await refused({ authorization: token }),
      await refused({ authorization: `Basic ${token}` }),
      await refused({ authorization: `Bearer ${token}x` }),
      await refused({ authorization: `Bearer ${token} ${token}` }),
      await refused({ cookie: `access_token=${token}` }),
      await refused({}, `?access_token=${token}`),
      await refused({}, '', JSON.stringify({ access_token: token })),
      await refused({ 'x-forwarded-authorization': `Bearer ${token}` }),
      await refused({ 'x-original-url': '/health/live', 'x-rewrite-url': '/' }),
    ]
    for (const other of others) expect(other).toEqual(bare)
  })

  test('with two headers Authorization is refused, even if both are good', async () => {
    const one = `Authorization: Bearer ${token}\r\n`
    const request = (headers: string) =>
      sendRaw(port, `GET /v2/datasources HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`)
    expect((await request(one)).status).toBe(200)
    expect((await request(one + one)).status).toBe(401)
    expect((await request(`Authorization: Basic eDp5\r\n${one}`)).status).toBe(401)
  })

  test('from another origin is given no leave to read, whatever is asked', async () => {
    for (const from of ['https://evil.example', 'null']) {
      for (const method of ['GET', 'OPTIONS']) {
        const reply = await send(method, '/v2/statistics/meta', undefined, {
          origin: from,
          cookie: 'refresh_token=x',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'authorization',
        })
        expect(reply.headers.get('access-control-allow-origin')).toBeNull()
        expect(reply.headers.get('access-control-allow-credentials')).toBeNull()
      }
    }
  })
})

/** The page of the console has another one in each answer. */
const withoutNonce = (page: string) => page.replaceAll(/nonce="[^"]*"/g, '')

describe('the pages', () => {
  test('take nothing from the request: no host, no address, no header', async () => {
    const home = await sendRaw(
      port,
      'GET /?//evil.example HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nAccept: text/html\r\nConnection: close\r\n\r\n',
    )
    expect(home.status).toBe(302)
    expect(home.text).toMatch(/\r\nlocation: \/console\/\r\n/)
    for (const path of ['/console/', '/docs', '/v2/openapi.json']) {
      const plain = await (await fetch(`${origin()}${path}`, { headers: { accept: 'text/html' } })).text()
      const evil = await sendRaw(
        port,
        `GET ${path}?<script>alert(1)</script> HTTP/1.1\r\nHost: evil.example"><script>alert(1)</script>\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: javascript\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
      )
      expect(evil.status).toBe(200)
      expect(evil.text).not.toContain('evil.example')
      const body = Buffer.from(evil.text.slice(evil.text.indexOf('\r\n\r\n') + 4), 'latin1').toString()
      expect(withoutNonce(body)).toBe(withoutNonce(plain))
    }
  })

  test('an unknown address comes back as text of JSON that no browser reads as a page', async () => {
    const reply = await sendRaw(
      port,
      'GET /<script>alert(1)</script> HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n',
    )
    expect(reply.status).toBe(404)
    expect(reply.text).toMatch(/content-type: application\/json; charset=utf-8\r\n/)
    expect(reply.text).toMatch(/x-content-type-options: nosniff\r\n/)
  })

  test('a line break in an address or a header gets into no header of the reply', async () => {
    for (const path of ['/%0d%0aSet-Cookie:%20x=1', '/v2/datasources/%0d%0aSet-Cookie:%20x=1/counters']) {
      const reply = await send('GET', path)
      expect(reply.headers.get('set-cookie')).toBeNull()
      expect(reply.status).toBeGreaterThanOrEqual(400)
    }
  })
})

test('upgrades and other protocols are not spoken', async () => {
  const upgrade = (to: string) =>
    sendRaw(
      port,
      `GET /v2/datasources HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${to}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    )
  for (const protocol of ['h2c', 'websocket']) expect((await upgrade(protocol)).status).toBe(401)
  expect((await sendRaw(port, 'CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n')).status).toBe(0)
  const absolute = `GET http://evil.example/v2/datasources HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n`
  expect((await sendRaw(port, absolute)).text).not.toContain('evil.example')
})
