import { existsSync, readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startCollector } from '../support/collector.ts'
import { processorTimeOf } from '../support/cost.ts'
import { jsonOf, openSockets, sendRaw } from '../support/raw-http.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

/** Inputs of docs/faults.md that meet a whole service; the rules of single events are tested in 19-collect. */

let service: Service
let port = 0

beforeAll(async () => {
  service = await startService()
  port = Number(new URL(service.baseUrl).port)
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  removeData(service)
})

// Whatever was sent, the next one is served.
afterEach(async () => {
  expect((await post(JSON.stringify(event()))).status).toBe(200)
})

let counter = 0

function event(fields: Record<string, unknown> = {}): Record<string, unknown> {
  counter++
  const { companyId: key } = service
  return { key, name: 'seen', url: '', tmpId: 'd', eventId: `fault-${counter}`, v: 1, data: {}, ...fields }
}

const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
  fetch(service.trackerUrl, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

/**
 * Sends it, and expects that the service computes no longer than for 30 ordinary bodies as large, beside what it does
 * anyway: whatever it computes at once, others wait for.
 */
async function expectLittleWork(body: string, headers: Record<string, string> = {}) {
  const costOf = async (sent: string, headersOfIt: Record<string, string>) => {
    const before = processorTimeOf(service.pid) ?? 0
    const reply = await post(sent, headersOfIt)
    const text = await reply.text()
    return { status: reply.status, body: text, cost: (processorTimeOf(service.pid) ?? 0) - before }
  }
  const events = Array.from({ length: 1_000 }, () => event({ data: { text: 'x'.repeat(4_600) } }))
  const ordinary = await costOf(JSON.stringify(events), {})
  expect(ordinary.status).toBe(200)
  const reply = await costOf(body, headers)
  expect(reply.cost).toBeLessThan(1_000 + 30 * ordinary.cost)
  return reply
}

const ndjson = { 'content-type': 'application/x-ndjson' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe('a body of 5 MB that is made to take long', () => {
  test.each([
    ['lines that are no JSON', '{\n'.repeat(2_500_000), ndjson, 413],
    ['empty lines', '\n'.repeat(5_000_000), ndjson, 400],
    ['lines that are JSON', '1\n'.repeat(2_500_000), ndjson, 413],
    ['a list of nulls', `[${'null,'.repeat(1_000_000)}null]`, {}, 413],
    ['2,500,000 levels', '['.repeat(2_500_000) + ']'.repeat(2_500_000), {}, 400],
    [
      'unknown fields of a form',
      Array.from({ length: 700_000 }, (_, i) => `k${i.toString(36)}`).join('&'),
      form,
      413,
    ],
    ['fields of a form that encode nothing', '%&'.repeat(2_500_000), form, 413],
    ['fields of a form that are no UTF-8', '%ff&'.repeat(1_250_000), form, 413],
    ['one field of a form again and again', 'name=%&'.repeat(700_000), form, 413],
    ['empty fields of a form', '&'.repeat(5_000_000), form, 400],
    ['percent signs that encode nothing', `url=${'%zz%41'.repeat(800_000)}`, form, 200],
  ] as const)('%s: the answer is clear and little work', async (_name, body, headers, status) => {
    const reply = await expectLittleWork(body, headers)
    expect(reply.status).toBe(status)
    if (status !== 200) expect(JSON.parse(reply.body)).toMatchObject({ status: 'fail', code: status })
  })

  test('65,000 labels of 33 levels each', async () => {
    const deep = '['.repeat(33) + ']'.repeat(33)
    const keys = Array.from({ length: 65_000 }, (_, i) => `"k${i}":${deep}`).join(',')
    const reply = await expectLittleWork(JSON.stringify(event()).replace('"data":{}', `"data":{${keys}}`))
    expect(reply.status).toBe(200)
  })

  test('300,000 labels with names that look like places in a list', async () => {
    const keys = Array.from({ length: 300_000 }, (_, i) => `"${i * 65_536}":1`).join(',')
    const reply = await expectLittleWork(JSON.stringify(event()).replace('"data":{}', `"data":{${keys}}`))
    expect(reply.status).toBe(200)
  })
})

test('a body of 1,000 levels is validated, one of 1,001 is refused when it is long', async () => {
  const filler = `"${'x'.repeat(300_000)}"`
  const nested = (levels: number) => `${'['.repeat(levels - 1)}${filler}${']'.repeat(levels - 1)}`
  expect((await post(`[${nested(1000)}]`)).status).toBe(200)
  const reply = await post(`[${nested(1001)}]`)
  expect(reply.status).toBe(400)
  expect(await reply.json()).toMatchObject({
    error_code: 1003,
    data: { reason: 'it nests deeper than 1000 levels' },
  })
})

test('a long body of more than 500,000 values is refused, as JSON and over all of its lines', async () => {
  const line = (values: number) => JSON.stringify(event({ data: { labels: Array(values).fill(0) } }))
  const lines = { 'content-type': 'application/x-ndjson' }
  const several = Array.from({ length: 10 }, () => line(48_000)).join('\n')
  expect((await post(several, lines)).status).toBe(200)
  for (const reply of [await post(`${several}\n${line(48_000)}`, lines), await post(line(520_000))]) {
    expect(reply.status).toBe(413)
    expect(await reply.json()).toMatchObject({ data: { limit: 500_000, unit: 'values' } })
  }
})

/** The most that the service ever held, in MiB; 0 where the system does not tell. */
function peakMemory(): number {
  const status = existsSync('/proc/self/status') ? readFileSync(`/proc/${service.pid}/status`, 'utf8') : ''
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024
}

test('compressed bodies that come at once are inflated a few at a time', async () => {
  // As small as it may be for what it holds: 5 MB out of some 70 KB.
  const noise = Array.from({ length: 10_000 }, (_, i) => Math.sin(i).toString(36).slice(3)).join('')
  const body = gzipSync(JSON.stringify([event(), noise + 'x'.repeat(5_000_000)]), { level: 9 })
  const inflated = 10_000 * 10 + 5_000_000
  for (let i = 0; i < 20; i++) await post(body, { 'content-encoding': 'gzip' })
  const before = peakMemory()
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async () => (await post(body, { 'content-encoding': 'gzip' })).status),
  )
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect((peakMemory() - before) * 2 ** 20).toBeLessThan(60 * inflated)
})

test('senders who begin and dawdle keep no other out', async () => {
  const other = await startCollector({ limits: { requests: 5 } })
  const head = `POST /collect/65f0c0ffee5ca1ab1e0ddba2/tracker HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{`
  const sockets = await openSockets(other.port, 200, head)
  try {
    const event = {
      key: '65f0c0ffee5ca1ab1e0ddba1',
      name: 'x',
      url: '',
      tmpId: 'd',
      eventId: 'e',
      v: 1,
      data: {},
    }
    for (let i = 0; i < 20; i++) expect(await other.post(event)).toBe(200)
  } finally {
    for (const socket of sockets) socket.destroy()
    await other.stop()
  }
})

test('1,000 connections that say nothing disturb no other', async () => {
  const sockets = await openSockets(port, 1000)
  try {
    for (let i = 0; i < 20; i++) expect((await post(JSON.stringify(event()))).status).toBe(200)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})

describe('requests on one connection', () => {
  const head = (length: number, more = '') =>
    `POST ${new URL(service.trackerUrl).pathname} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`

  test('are answered one by one in their order, however many come at once', async () => {
    const texts = Array.from({ length: 50 }, (_, i) => (i % 5 === 4 ? '{' : JSON.stringify(event())))
    const more = (i: number) => (i === texts.length - 1 ? 'Connection: close\r\n' : '')
    const bytes = texts.map((text, i) => head(text.length, more(i)) + text).join('')
    const { text } = await sendRaw(port, bytes)
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
    expect(statuses).toEqual(texts.map((each) => (each === '{' ? 400 : 200)))
  })

  test('bytes beyond Content-Length are the next request, and none of this one', async () => {
    const text = JSON.stringify(event())
    const smuggled = await sendRaw(
      port,
      `${head(text.length)}${text}GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    )
    expect([...smuggled.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual([
      '200',
      '200',
    ])
    const broken = await sendRaw(port, `${head(2)}{}xx`)
    expect(broken).toMatchObject({ status: 400, closed: true })
  })

  test('an expectation is met before the body is sent', async () => {
    const text = JSON.stringify(event())
    const reply = await sendRaw(
      port,
      `${head(text.length, 'Expect: 100-continue\r\nConnection: close\r\n')}${text}`,
    )
    expect(reply.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
  })

  test('chunks without an end, or of no size, are refused and hold nothing', async () => {
    const chunked = head(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked')
    const bad = await sendRaw(port, `${chunked}zz\r\n{}\r\n0\r\n\r\n`)
    expect(bad).toMatchObject({ status: 400, closed: true })
    expect(jsonOf(bad)).toMatchObject({ status: 'fail', error_code: 2 })
  })

  test('a request in HTTP/1.0 is answered and closed', async () => {
    const text = JSON.stringify(event())
    const reply = await sendRaw(port, (head(text.length) + text).replace('HTTP/1.1', 'HTTP/1.0'))
    expect(reply).toMatchObject({ status: 200, closed: true })
  })
})

describe('what a page may ask', () => {
  const preflight = (asked: string) =>
    new Promise<{ status: number; allowed: string | undefined; credentials: string | undefined }>(
      (resolve, reject) => {
        const headers = { origin: 'https://evil.example', 'access-control-request-headers': asked }
        httpRequest(service.trackerUrl, { method: 'OPTIONS', headers }, (reply) => {
          reply.resume().on('end', () =>
            resolve({
              status: reply.statusCode ?? 0,
              allowed: reply.headers['access-control-allow-headers'],
              credentials: reply.headers['access-control-allow-credentials'],
            }),
          )
        })
          .on('error', reject)
          .end()
      },
    )

  test.each(['content-type', 'x-a,x-b', '*', 'é', 'a'.repeat(8000)])(
    'any header it names is allowed, and no credentials: %s',
    async (asked) => {
      expect(await preflight(asked)).toMatchObject({ status: 204, credentials: undefined })
    },
  )

  test('a failure can be read by it and tells nothing inside', async () => {
    const reply = await fetch(service.trackerUrl.replace(service.datasourceId, 'f'.repeat(24)), {
      method: 'POST',
      body: '{}',
      headers: { origin: 'https://evil.example' },
    })
    expect(reply.status).toBe(404)
    expect(reply.headers.get('access-control-allow-origin')).toBe('*')
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await reply.json()).toMatchObject({
      status: 'fail',
      error_code: 1000,
      data: { id: 'f'.repeat(24) },
    })
  })
})

test.each([
  ['with a trailing slash', '/', 404],
  ['with a doubled slash', '//tracker', 404],
  ['in upper case', '/TRACKER', 404],
  ['with an encoded slash', '%2f', 404],
  ['that is not UTF-8', '%zz', 400],
])('a path %s is no other way in', async (_name, tail, status) => {
  const url =
    tail.startsWith('//') || tail === '/TRACKER'
      ? service.trackerUrl.replace(/\/tracker$/, tail)
      : service.trackerUrl + tail
  const reply = await fetch(url, { method: 'POST', body: JSON.stringify(event()) })
  expect(reply.status).toBe(status)
  expect(await reply.json()).toMatchObject({ status: 'fail', code: status })
})

test('an identifier of any length or kind is 400, and its text comes back cut', async () => {
  for (const id of ['x'.repeat(300), 'x'.repeat(5000), '%00', '..%2f..%2fetc%2fpasswd', "'%20or%201=1"]) {
    const reply = await fetch(service.trackerUrl.replace(service.datasourceId, id), {
      method: 'POST',
      body: '{}',
    })
    const text = await reply.text()
    expect(reply.status).toBe(400)
    expect(text.length).toBeLessThan(600)
  }
})

test('resent events count once, and everything sent is counted as one thing', async () => {
  const created = (await (await service.call('POST', '/v2/datasources', { name: 'Counted' })).json()) as {
    data: { id: string }
  }
  const { id } = created.data
  const url = service.trackerUrl.replace(service.datasourceId, id)
  const one = event({ eventId: 'the one' })
  const batches: [unknown, string][] = [
    [[one, one, event(), event({ key: 'f'.repeat(24) }), null], 'curl/8'],
    [one, 'curl/8'],
    [[event(), event()], 'Googlebot/2.1'],
    [event({ eventId: 'the one', data: { other: 'payload' } }), 'curl/8'],
    [event({ clientId: 'null' }), 'curl/8'],
  ]
  for (const [body, userAgent] of batches) {
    const headers = { 'content-type': 'application/json', 'user-agent': userAgent }
    expect((await fetch(url, { method: 'POST', body: JSON.stringify(body), headers })).ok).toBe(true)
  }
  // The same eventId of another datasource is another event.
  expect((await post(JSON.stringify({ ...one }))).status).toBe(200)
  const read = async () =>
    (
      (await (await service.call('GET', `/v2/datasources/${id}/counters`)).json()) as {
        data: Record<string, number>
      }
    ).data
  await expect
    .poll(read, { interval: 100 })
    .toMatchObject({ sent: 10, accepted: 3, dropped: 2, bot: 2, duplicate: 3, changed: 1 })
})

test('a sender who is gone leaves nothing open', async () => {
  const { pathname } = new URL(service.trackerUrl)
  const head = `POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n`
  for (let round = 0; round < 3; round++) {
    const sockets = await openSockets(port, 100, `${head}[${' '.repeat(20_000)}`)
    for (const socket of sockets) socket.destroy()
  }
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write(`${head}${gzipSync('x')}`, () => socket.resetAndDestroy())
  const active = async () => {
    const gauge = await (await fetch(`${new URL(service.baseUrl).origin}/metrics`)).text()
    return Number(/^nodejs_active_requests_total (\d+)/m.exec(gauge)?.[1] ?? 0)
  }
  await expect.poll(active).toBeLessThan(5)
})
