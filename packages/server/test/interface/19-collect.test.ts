import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, deflateRawSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import { validateEvent } from '@millrace/contract/events/validate.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { NameGuard } from '../../src/features/events/collector/name-guard.ts'
import { LogUnavailable } from '../../src/platform/stores/event-log.ts'
import { companyId, datasourceId, event, type Row, startCollector, startTime } from '../support/collector.ts'

let world: Awaited<ReturnType<typeof startCollector>>

beforeAll(async () => {
  world = await startCollector()
})
afterAll(() => world.stop())
beforeEach(async () => {
  await world.rows()
  world.world.now = startTime
})

const json = { 'content-type': 'application/json' }

async function stored(): Promise<Row[]> {
  return (await world.rows()).filter((row) => row.z === 'e')
}

/** What was noted about events. Refusals are noted a second later, when another test may be running. */
async function noted(): Promise<Pick<Row, 'z' | 'rule' | 'path' | 'm'>[]> {
  const notes = (await world.rows()).filter((row) => row.z !== 'e' && row.z !== 'refused')
  return notes.map(({ z, rule, path, m }) => ({ z, rule, path, m }))
}

test('addresses that no browser would open are stored as they are', async () => {
  const urls = ['javascript:alert(1)', 'unknown', '', '<script>', 'data:text/html,x']
  const body = JSON.stringify(urls.map((url) => event({ url })))
  expect((await world.send({ headers: json, body })).status).toBe(200)
  expect((await stored()).map(({ u }) => u)).toEqual(urls)
})

describe('event names without end', () => {
  test('are all stored, and noted once an hour', async () => {
    const world = await startCollector()
    let number = 0
    const sendNew = async (count: number): Promise<Row[]> => {
      const events = Array.from({ length: count }, () => event({ name: `view_${number++}` }))
      await world.send({ headers: json, body: JSON.stringify(events) })
      return await world.rows()
    }
    try {
      const expected = await sendNew(2_000)
      expect(expected.filter(({ z }) => z !== 'e')).toEqual([])
      const beyond = await sendNew(3)
      expect(beyond.filter(({ z }) => z === 'e')).toHaveLength(3)
      expect(beyond.filter(({ z }) => z !== 'e')).toMatchObject([
        { z: 'noted', rule: 'names-too-many', path: 'name', sample: '"vxxx_####"', m: 1 },
      ])
      expect((await sendNew(5)).map(({ z }) => z)).toEqual(['e', 'e', 'e', 'e', 'e'])
      world.world.now += 3_600_000
      expect((await sendNew(2)).map(({ z }) => z)).toEqual(['e', 'e', 'noted'])
      await world.send({ headers: json, body: JSON.stringify(event({ name: 'view_1' })) })
      expect((await world.rows()).map(({ z }) => z)).toEqual(['e'])
    } finally {
      await world.stop()
    }
  })

  test('hold no more memory than their own characters', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const origin = { companyId, datasourceId, receivedAt: startTime }
    /** Bytes of the heap that are held once the names of 30 large events are kept. */
    const heldBy = (keep: (name: string) => void): number => {
      collectGarbage()
      const before = process.memoryUsage().heapUsed
      for (let number = 0; number < 30; number++) {
        const validated = validateEvent(event({ name: `${number} ${'x'.repeat(2_000_000)}` }), origin)
        if (!validated.kept) throw new Error('the event was dropped')
        keep(validated.name)
      }
      collectGarbage()
      return process.memoryUsage().heapUsed - before
    }
    const guard = new NameGuard()
    const byGuard = heldBy((name) =>
      guard.see({ id: datasourceId, companyId, active: true, countries: true }, name, startTime),
    )
    // A part of a text holds all of it.
    const parts: string[] = []
    const byParts = heldBy((name) => parts.push(name))
    expect(parts).toHaveLength(30)
    expect(byGuard).toBeLessThan(byParts / 4)
  })
})

describe('an accepted event', () => {
  test('answers 200 with an empty body, and is in the log by then', async () => {
    const sent = event({
      name: 'purchase',
      clientId: 'c1',
      timestamp: startTime - 5000,
      data: { ids: 'A;B', value: 12.349, transId: 'T1', color: 'red' },
    })
    const reply = await world.send({
      headers: {
        ...json,
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
      },
      body: JSON.stringify(sent),
    })
    expect(reply).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } })
    const [row, ...others] = await world.rows()
    expect(others).toEqual([])
    expect(row).toEqual({
      q: expect.any(Number),
      z: 'e',
      k: companyId,
      d: datasourceId,
      t: startTime - 5000,
      r: startTime,
      e: sent.eventId,
      n: 'purchase',
      u: 'https://shop.example/p/1',
      p: 'device-1',
      c: 'c1',
      i: ['A', 'B'],
      v: '12.34',
      x: 'T1',
      l: { color: 'red' },
      dt: 'desktop',
      os: 'Linux',
      br: 'Firefox',
    })
  })

  test('has no keys for what was not sent, and the time of its reception', async () => {
    expect(await world.post(event({ data: {} }))).toBe(200)
    const [row] = await stored()
    expect(Object.keys(row ?? {}).sort()).toEqual(['d', 'dt', 'e', 'k', 'n', 'p', 'q', 'r', 't', 'u', 'z'])
    expect(row).toMatchObject({ t: startTime, r: startTime, dt: 'unknown' })
  })

  test('takes an identifier in upper case for the same datasource', async () => {
    const path = `/collect/${datasourceId.toUpperCase()}/tracker`
    expect(await world.send({ path, body: JSON.stringify(event()) })).toMatchObject({ status: 200 })
    expect(await stored()).toMatchObject([{ d: datasourceId }])
  })

  test('ignores query parameters and unknown envelope fields', async () => {
    const path = `/collect/${datasourceId}/tracker?x=1`
    expect(await world.send({ path, body: JSON.stringify(event({ extra: { a: 1 } })) })).toMatchObject({
      status: 200,
    })
    expect(await stored()).toHaveLength(1)
  })

  test('gives every row a sequence number of its own, in the order of the request', async () => {
    const events = Array.from({ length: 50 }, () => event())
    await Promise.all([world.post(events), world.post(event()), world.post([null, event()])])
    const all = await world.rows()
    expect(all).toHaveLength(53)
    expect(new Set(all.map((row) => row.q)).size).toBe(53)
    const batch = all.filter((row) => events.some(({ eventId }) => eventId === row.e))
    expect(batch.map((row) => row.e)).toEqual(events.map(({ eventId }) => eventId))
    expect(batch.map((row) => row.q)).toEqual(batch.map((_, i) => (batch[0]?.q ?? 0) + i))
  })
})

describe('the datasource', () => {
  test.each([
    ['65f0c0ffee5ca1ab1e0ddba'],
    ['65f0c0ffee5ca1ab1e0ddba2a'],
    ['zzf0c0ffee5ca1ab1e0ddba2'],
    ['65f0c0ffee5ca1ab1e0ddba2%0a'],
    ['%EF%BC%96%EF%BC%95f0c0ffee5ca1ab1e0ddb'],
  ])('answers 400 for the identifier %s', async (id) => {
    const reply = await world.send({ path: `/collect/${id}/tracker`, body: JSON.stringify(event()) })
    expect(reply.status).toBe(400)
    expect(JSON.parse(reply.body)).toMatchObject({ status: 'fail', code: 400, error_code: 1001 })
  })

  test('answers 404 for an unknown, a paused or a deleted datasource', async () => {
    const unknown = 'f'.repeat(24)
    const reply = await world.send({ path: `/collect/${unknown}/tracker`, body: JSON.stringify(event()) })
    expect(reply.status).toBe(404)
    expect(JSON.parse(reply.body)).toMatchObject({ status: 'fail', code: 404, error_code: 1000 })
    const paused = 'e'.repeat(24)
    world.datasources.set(paused, { id: paused, companyId, active: false, countries: true })
    expect(
      await world.send({ path: `/collect/${paused}/tracker`, body: JSON.stringify(event()) }),
    ).toMatchObject({
      status: 404,
    })
    expect(await world.rows()).toEqual([])
  })

  test('is found within five seconds of its creation, although it was asked for before', async () => {
    const id = 'd'.repeat(24)
    const send = () => world.send({ path: `/collect/${id}/tracker`, body: JSON.stringify(event()) })
    expect((await send()).status).toBe(404)
    world.datasources.set(id, { id, companyId, active: true, countries: true })
    world.world.now += 5000
    expect((await send()).status).toBe(200)
    world.datasources.delete(id)
    world.world.now += 5000
    expect((await send()).status).toBe(404)
  })

  test('is served from memory while its database is down; one never seen is 503, not 404', async () => {
    await world.post(event())
    world.world.databaseDown = true
    try {
      world.world.now += 3_600_000
      expect(await world.post(event())).toBe(200)
      expect(await world.post(event())).toBe(200)
      const reply = await world.send({
        path: `/collect/${'c'.repeat(24)}/tracker`,
        body: JSON.stringify(event()),
      })
      expect(reply.status).toBe(503)
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
    } finally {
      world.world.databaseDown = false
    }
  })
})

describe('the body', () => {
  test.each([
    ['', {}],
    ['', { 'content-length': '0' }],
    [' \r\n\t ', {}],
    ['[]', {}],
    ['{}', {}],
    ['\ufeff', {}],
  ])('answers 400 for %j, in which there is nothing', async (body, headers) => {
    const reply = await world.send({ body, headers: { ...json, ...headers } })
    expect(reply.status).toBe(400)
    expect(JSON.parse(reply.body)).toMatchObject({ status: 'fail', error_code: 1002 })
  })

  test('answers 400 for an empty form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const body of ['', '&', ' ']) expect((await world.send({ body, headers })).status).toBe(400)
  })

  test.each([
    ['{"key":'],
    ['{"a":1,}'],
    ["{'a':1}"],
    ['{"a":NaN}'],
    ['{"a":1}{"b":2}'],
    ['hello'],
    ['null'],
    ['5'],
    ['"text"'],
    ['[1'],
  ])('answers 400 for %s, which is no event', async (body) => {
    const reply = await world.send({ body, headers: json })
    expect(reply.status).toBe(400)
    expect(JSON.parse(reply.body)).toMatchObject({ error_code: 1003, data: { reason: expect.any(String) } })
  })

  test('answers 400 for bytes that are not UTF-8, and takes U+FFFD that was sent as such', async () => {
    const bytes = Buffer.from(JSON.stringify(event({ name: 'caf\u00e9' })), 'latin1')
    expect((await world.send({ body: bytes, headers: json })).status).toBe(400)
    expect(await world.post(event({ name: 'a\ufffdb' }))).toBe(200)
    expect(await stored()).toMatchObject([{ n: 'a\ufffdb' }])
  })

  test.each([
    ['text/plain;charset=UTF-8'],
    ['application/json; charset=utf-8'],
    ['application/json\ta'],
    [' application/json'],
    ['APPLICATION/JSON;;'],
    ['application/csp-report'],
    ['application/vnd.events+json'],
    ['text/xml'],
    ['json'],
    ['undefined'],
    ['/'],
  ])('reads JSON under the content type %j', async (type) => {
    expect(await world.post(event(), { 'content-type': type })).toBe(200)
    expect(await stored()).toHaveLength(1)
  })

  test('reads JSON without any content type, with a byte order mark, and in chunks', async () => {
    expect((await world.send({ body: `\ufeff${JSON.stringify(event())}` })).status).toBe(200)
    const chunked = { 'transfer-encoding': 'chunked' }
    expect(
      (await world.send({ body: JSON.stringify(event()), headers: { ...json, ...chunked } })).status,
    ).toBe(200)
    expect(await stored()).toHaveLength(2)
  })

  test('reads other charsets where they are named, and UTF-8 where the name means nothing', async () => {
    const text = JSON.stringify(event({ name: 'caf\u00e9' }))
    const send = (charset: string, body: Buffer) =>
      world.send({ headers: { 'content-type': `text/plain; charset=${charset}` }, body })
    expect((await send('iso-8859-1', Buffer.from(text, 'latin1'))).status).toBe(200)
    expect((await send('utf-16', Buffer.from(text, 'utf16le'))).status).toBe(200)
    expect((await send('"klingon"', Buffer.from(text))).status).toBe(200)
    expect((await stored()).map((row) => row.n)).toEqual(['caf\u00e9', 'caf\u00e9', 'caf\u00e9'])
  })

  test('reads a form: data as JSON, data in brackets, repeated keys', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const form = (more: Record<string, string>, tail = '') => {
      const { data: _, v, ...fields } = event() as Record<string, string>
      return `${new URLSearchParams({ ...fields, v: String(v), ...more })}${tail}`
    }
    const bodies = [
      form({ data: '{"ids":["A","B"],"value":5,"a":{"b":1}}', timestamp: String(startTime - 1) }),
      form({ 'data[ids][]': 'A', 'data[a][b]': '1' }, '&data[ids][]=B&data%5Bvalue%5D=5'),
      form({ 'data[ids]': 'A', data: '{"value":5}' }, '&data[ids]=B&name=last&name=wins'),
      form({ 'data[ids][0]': 'A', 'data[n]': 'a b+c%zz' }, '&data[ids][1]=B&data[raw]=%zz%41+%C3%A9'),
    ]
    for (const body of bodies) expect((await world.send({ headers, body })).status).toBe(200)
    const rows = await stored()
    expect(rows.map((row) => row.i)).toEqual([
      ['A', 'B'],
      ['A', 'B'],
      ['A', 'B'],
      ['A', 'B'],
    ])
    expect(rows[0]).toMatchObject({ v: '5.00', l: { a: '{"b":1}' }, t: startTime - 1 })
    expect(rows[1]).toMatchObject({ v: '5.00', l: { a: '{"b":"1"}' } })
    expect(rows[2]).toMatchObject({ v: '5.00', n: 'wins' })
    expect(rows[3]).toMatchObject({ l: { n: 'a b+c%zz', raw: '%zzA \u00e9' } })
  })

  test('reads JSON that a command line tool calls a form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await world.send({ headers, body: JSON.stringify([event(), event()]) })).status).toBe(200)
    expect((await world.send({ headers, body: '{"key":' })).status).toBe(400)
    expect(await stored()).toHaveLength(2)
  })

  test('refuses a form of more than 20,000 fields, whatever they are, and reads what encodes nothing as it stands', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { data: _, ...fields } = event({ name: 'NAME' }) as Record<string, string>
    const base = new URLSearchParams(fields).toString()
    for (const field of ['%&', '%ff&', 'data[%ff]=%ff&', 'name=%&', 'x&', 'data[a]=1&']) {
      const refused = await world.send({ headers, body: `${field.repeat(20_001)}${base}` })
      expect(refused.status).toBe(413)
      expect(JSON.parse(refused.body)).toMatchObject({ data: { limit: 20_000, unit: 'fields' } })
    }
    expect(await stored()).toEqual([])
    const body = `data={}&${base.replace('NAME', 'a%+%ff%C3%A9%E2%82')}&${'%&'.repeat(19_000)}`
    expect((await world.send({ headers, body })).status).toBe(200)
    expect(await stored()).toMatchObject([{ n: 'a% \ufffdé\ufffd' }])
  })

  test('validates a form with data that is no JSON, 10,000 keys or hostile keys like any event', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { data: _, ...fields } = event() as Record<string, string>
    const base = new URLSearchParams(fields).toString()
    expect((await world.send({ headers, body: `${base}&data=nope` })).status).toBe(200)
    const keys = Array.from({ length: 10_000 }, (_, i) => `data[k${i}]=${i}`).join('&')
    expect((await world.send({ headers, body: `${base}&${keys}` })).status).toBe(200)
    const hostile = 'data[__proto__][x]=1&data[constructor][prototype][x]=1&__proto__[x]=1&data[a]]=1&data[=2'
    expect((await world.send({ headers, body: `${base}&${hostile}` })).status).toBe(200)
    const repeated = 'data[ids][]=A&'.repeat(15_000)
    expect((await world.send({ headers, body: `${repeated}${base}` })).status).toBe(200)
    const all = await world.rows()
    // A note about a body that was refused before may come late.
    const noted = all.filter(({ z }) => z !== 'e' && z !== 'refused')
    expect(noted.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      'data-not-object data',
      'labels-too-many data',
      'label-key-not-allowed data',
      'ids-too-many data.ids',
    ])
    const events = all.filter((row) => row.z === 'e')
    expect(events.map((row) => Object.keys((row.l as object) ?? {}).length)).toEqual([500, 1, 0])
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  test('reads one JSON document a line and validates each line alone', async () => {
    const lines = `${JSON.stringify(event())}\r\n\n{"broken":\n${JSON.stringify(event())}\n`
    for (const type of ['application/x-ndjson', 'application/jsonl; charset=utf-8']) {
      expect((await world.send({ headers: { 'content-type': type }, body: lines })).status).toBe(200)
    }
    const all = await world.rows()
    expect(all.filter((row) => row.z === 'e')).toHaveLength(4)
    expect(all.filter((row) => row.z === 'dropped')).toMatchObject([
      { rule: 'line-unparseable', m: 1 },
      { rule: 'line-unparseable', m: 1 },
    ])
    const broken = { headers: { 'content-type': 'application/x-ndjson' }, body: '{\n}{\n' }
    expect((await world.send(broken)).status).toBe(400)
  })

  test('is validated by its last value where a key is repeated', async () => {
    const text = JSON.stringify(event()).replace('"name":', '"name":"first","name":')
    expect((await world.send({ body: text, headers: json })).status).toBe(200)
    expect(await stored()).toMatchObject([{ n: 'product_page' }])
  })

  test('is refused with what to do in the datasource log, once a second for all alike', async () => {
    const other = await startCollector()
    try {
      for (let i = 0; i < 3; i++) await other.send({ body: '{', headers: json })
      await other.send({ body: '[]', headers: json })
      const rows: Row[] = []
      const counted = async () => {
        rows.push(...(await other.rows()))
        return rows.reduce((sum, { m }) => sum + Number(m), 0)
      }
      await expect.poll(counted).toBe(4)
      expect(rows.length).toBeLessThan(4)
      expect(rows[0]).toMatchObject({ z: 'refused', rule: 'body-unparseable', d: datasourceId, k: companyId })
      expect(rows.at(-1)).toMatchObject({ z: 'refused', rule: 'body-empty', m: 1 })
      expect(other.collector.totals.refused).toBe(4)
    } finally {
      await other.stop()
    }
  })
})

describe('compression', () => {
  const text = JSON.stringify([event(), event()])

  test.each([
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
  ])('inflates %s', async (encoding, body) => {
    const reply = await world.send({ headers: { ...json, 'content-encoding': encoding }, body })
    expect(reply.status).toBe(200)
    expect(await stored()).toHaveLength(2)
  })

  test('answers 400 for what is not compressed as it says, and for a cut one', async () => {
    for (const encoding of ['gzip', 'deflate', 'br']) {
      const headers = { ...json, 'content-encoding': encoding }
      expect((await world.send({ headers, body: text })).status).toBe(400)
    }
    const headers = { ...json, 'content-encoding': 'gzip' }
    expect((await world.send({ headers, body: gzipSync(text).subarray(0, -9) })).status).toBe(400)
    expect((await world.send({ headers })).status).toBe(400)
  })

  test('answers 415 for other encodings and for chains of them', async () => {
    for (const encoding of ['zstd', 'gzip, gzip, br', 'gzip,br']) {
      const reply = await world.send({
        headers: { ...json, 'content-encoding': encoding },
        body: gzipSync(text),
      })
      expect(reply.status).toBe(415)
    }
  })

  test('answers 413 for a bomb long before it is inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, 0x20), { level: 9 })
    const send = async () => {
      const reply = await world.send({ headers: { ...json, 'content-encoding': 'gzip' }, body: bomb })
      expect(reply.status).toBe(413)
    }
    await expect(send).toCostAtMost(0.5, () => gunzipSync(bomb))
  })

  test('takes events that compress a hundred times as long as they stay small', async () => {
    const alike = JSON.stringify(Array.from({ length: 2000 }, () => event({ eventId: 'same' })))
    expect(alike.length / gzipSync(alike).length).toBeGreaterThan(100)
    const headers = { ...json, 'content-encoding': 'gzip' }
    expect((await world.send({ headers, body: gzipSync(alike) })).status).toBe(200)
  })
})

describe('a batch', () => {
  test('is validated event by event', async () => {
    const events = [
      event(),
      null,
      5,
      'x',
      [event()],
      {},
      event({ key: 'f'.repeat(24) }),
      event({ data: { ids: [] } }),
      event({ name: 'purchase', data: { value: '1;2' } }),
      event({ clientId: 'null' }),
    ]
    expect(await world.post(events)).toBe(200)
    expect(await noted()).toEqual([
      { z: 'dropped', rule: 'event-not-object', path: '', m: 4 },
      { z: 'dropped', rule: 'required-field-missing', path: 'key', m: 1 },
      { z: 'dropped', rule: 'key-mismatch', path: 'key', m: 1 },
      { z: 'dropped', rule: 'ids-none-left', path: 'data.ids', m: 1 },
      { z: 'dropped', rule: 'purchase-value-joined', path: 'data.value', m: 1 },
      { z: 'changed', rule: 'client-id-placeholder', path: 'clientId', m: 1 },
    ])
  })

  test('marks the events of which a field was changed', async () => {
    await world.post([event(), event({ clientId: 'null' })])
    expect((await stored()).map((row) => row.g)).toEqual([undefined, 1])
  })

  test('stores the other 999 when one event is poisonous', async () => {
    const nested = JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`) as unknown
    const poisons: [string, string][] = [
      ['__proto__', JSON.stringify(event({ data: { P: 1 } })).replace('"P"', '"__proto__"')],
      ['NUL', JSON.stringify(event({ name: 'a\0b' }))],
      ['surrogate', JSON.stringify(event({ url: 'x\ud800' }))],
      ['depth', JSON.stringify(event({ data: { nested } }))],
      ['prototype', JSON.stringify(event({ data: { constructor: { prototype: { x: 1 } } } }))],
    ]
    for (const [, poison] of poisons) {
      const texts = Array.from({ length: 999 }, () => JSON.stringify(event()))
      texts.splice(17, 0, poison)
      expect((await world.send({ headers: json, body: `[${texts.join(',')}]` })).status).toBe(200)
      const rows = await stored()
      expect(rows).toHaveLength(1000)
      for (const row of rows) expect(JSON.stringify(row).isWellFormed()).toBe(true)
      expect(JSON.stringify(rows)).not.toContain('\\u0000')
    }
  })

  test('holds 2,000 events, and none of 2,001 is stored', async () => {
    const events = Array.from({ length: 2001 }, () => event())
    expect(await world.post(events)).toBe(413)
    expect(await stored()).toEqual([])
    expect(await world.post(events.slice(1))).toBe(200)
    expect(await stored()).toHaveLength(2000)
  })

  test('makes few rows of the log, however many paths a sender thinks of, and counts exactly', async () => {
    const events = Array.from({ length: 1000 }, (_, i) => event({ data: { [`long${i}`]: 'x'.repeat(8193) } }))
    const halves = [events.slice(0, 500), events.slice(500)]
    for (const half of halves) expect(await world.post(half)).toBe(200)
    const notes = await noted()
    expect(notes.length).toBeLessThanOrEqual(2 * 51)
    expect(notes.reduce((sum, { m }) => sum + Number(m), 0)).toBe(1000)
    expect(notes.some(({ path }) => path === '*')).toBe(true)
  })

  test('sent is stored and dropped, whatever is sent', async () => {
    const anything = fc.array(
      fc.oneof(
        fc.constant(0).map(() => event()),
        fc.jsonValue(),
        fc
          .dictionary(fc.constantFrom('name', 'data', 'v', 'tmpId', 'eventId'), fc.jsonValue())
          .map((f) => event(f)),
      ),
      { minLength: 1, maxLength: 30 },
    )
    await fc.assert(
      fc.asyncProperty(anything, fc.boolean(), async (events, crawler) => {
        const reply = await world.post(events, crawler ? { 'user-agent': 'Googlebot/2.1' } : {})
        expect(reply).toBe(crawler ? 202 : 200)
        const all = await world.rows()
        const count = (z: string) =>
          all.filter((row) => row.z === z).reduce((sum, { m }) => sum + Number(m ?? 1), 0)
        expect(count('e') + count('dropped') + count('bot')).toBe(events.length)
        expect(count('bot')).toBe(crawler ? events.length : 0)
      }),
      { numRuns: 100 },
    )
  })
})

describe('size', () => {
  const padded = (bytes: number) => {
    const text = JSON.stringify([event(), 'P'])
    return text.replace('P', 'x'.repeat(bytes - text.length + 1))
  }

  test('takes 5 MB and refuses one byte more, announced or not, compressed or not', async () => {
    const limit = 5 * 1024 * 1024
    expect((await world.send({ headers: json, body: padded(limit) })).status).toBe(200)
    const chunked = { ...json, 'transfer-encoding': 'chunked' }
    for (const headers of [json, chunked]) {
      const reply = await world.send({ headers, body: padded(limit + 1) })
      expect(reply.status).toBe(413)
      expect(JSON.parse(reply.body)).toMatchObject({ error_code: 1004, data: { limit, unit: 'bytes' } })
    }
    const noise = Array.from({ length: 600_000 }, (_, i) => Math.sin(i).toString(36)).join('')
    const large = gzipSync(JSON.stringify([event(), noise]))
    const reply = await world.send({ headers: { ...json, 'content-encoding': 'gzip' }, body: large })
    expect(reply.status).toBe(413)
    expect(await stored()).toHaveLength(1)
  })

  test('answers 413 at once for an announced 10 GB, and for a body without end', async () => {
    const answerTo = (head: string, feed: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(world.port, '127.0.0.1', () => socket.write(head))
        let got = ''
        const pour = () => {
          while (!socket.destroyed && socket.write(feed));
        }
        if (feed) socket.on('drain', pour).once('connect', pour)
        socket.on('data', (chunk) => {
          got += chunk.toString()
          if (got.includes('\r\n\r\n')) resolve(got)
        })
        socket.on('error', (error) => (got === '' ? reject(error) : resolve(got)))
        socket.on('close', () => resolve(got))
        setTimeout(() => socket.destroy(), 120_000).unref()
      })
    const start = `POST /collect/${datasourceId}/tracker HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
    const announced = await answerTo(`${start}Content-Length: 10737418240\r\n\r\n`, '')
    expect(announced).toMatch(/^HTTP\/1\.1 413 /)
    expect(announced.toLowerCase()).toContain('connection: close')
    const unknown = start.replace(datasourceId, 'f'.repeat(24))
    const refused = await answerTo(`${unknown}Content-Length: 10737418240\r\n\r\n`, '')
    expect(refused).toMatch(/^HTTP\/1\.1 404 .*connection: close/is)
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
    expect(await answerTo(`${start}Transfer-Encoding: chunked\r\n\r\n`, chunk)).toMatch(/^HTTP\/1\.1 413 |^$/)
    expect(await world.post(event())).toBe(200)
  })

  test('drops an event over 1 MiB alone', async () => {
    const labels = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, 'é'.repeat(8000)]))
    expect(await world.post([event({ data: labels }), event()])).toBe(200)
    // The note about the body without end may come late.
    const all = (await world.rows()).filter(({ z }) => z !== 'refused')
    expect(all.map(({ z, rule }) => [z, rule])).toEqual([
      ['e', undefined],
      ['dropped', 'event-too-large'],
    ])
  })
})

describe('crawlers and senders', () => {
  test.each([
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.1; +https://openai.com/gptbot)',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/126.0.0.0 Safari/537.36',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)',
  ])('answers 202 to %s, counts its events and stores none', async (userAgent) => {
    const reply = await world.send({
      headers: { ...json, 'user-agent': userAgent },
      body: JSON.stringify([event(), null, event()]),
    })
    expect(reply).toMatchObject({ status: 202, body: '' })
    expect(await noted()).toEqual([{ z: 'bot', rule: 'crawler', path: '', m: 3 }])
  })

  test.each([
    'node',
    'undici',
    'axios/1.7.2',
    'curl/8.5.0',
    'python-requests/2.32.3',
    'Go-http-client/1.1',
    'okhttp/4.12.0',
    'Dart/3.5 (dart:io)',
    'Dalvik/2.1.0 (Linux; U; Android 13; SM-G991B Build/TP1A)',
    'MyShop/42 CFNetwork/1496.0.7 Darwin/23.5.0',
    'SFDC-Callout/60.0',
    'unknown',
    '',
    'Mozilla/5.0 (Linux; Android 12; CUBOT KINGKONG 7) AppleWebKit/537.36 Chrome/120.0.0.0 Mobile Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [FBAN/FBIOS;FBAV/468]',
  ])('stores what %s sends', async (userAgent) => {
    expect(await world.post(event(), { 'user-agent': userAgent })).toBe(200)
    expect(await stored()).toHaveLength(1)
  })
})

test('stores what a sender with an endless user-agent sends', async () => {
  expect(await world.post(event(), { 'user-agent': 'Mozilla/5.0 ('.repeat(1100) })).toBe(200)
  expect(await stored()).toHaveLength(1)
})

describe('other methods and origins', () => {
  test('answers a preflight for any page, for a day', async () => {
    const reply = await world.send({
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-trace',
      },
    })
    expect(reply).toMatchObject({
      status: 204,
      body: '',
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'content-type,x-trace',
        'access-control-max-age': '86400',
      },
    })
    expect(reply.headers['access-control-allow-credentials']).toBeUndefined()
  })

  test('lets any page read the answer, also that of a failure', async () => {
    const headers = { ...json, origin: 'null' }
    for (const body of [JSON.stringify(event()), '{']) {
      const reply = await world.send({ headers, body })
      expect(reply.headers['access-control-allow-origin']).toBe('*')
      expect(reply.headers['access-control-allow-credentials']).toBeUndefined()
    }
  })

  test.each(['GET', 'PUT', 'HEAD', 'DELETE', 'PATCH'])('answers 405 to %s', async (method) => {
    const reply = await world.send({ method, ...(method === 'PUT' ? { body: '{}', headers: json } : {}) })
    expect(reply.status).toBe(405)
    expect(reply.headers.allow).toContain('POST')
  })
})

describe('what goes wrong', () => {
  test.each([
    ['disk', 1005],
    ['failed', 1005],
    ['closed', 1005],
    ['backlog', 1006],
  ] as const)('answers 503 with Retry-After when the log refuses: %s', async (reason, code) => {
    let sequence = 0
    const log = {
      reserve: (count: number) => {
        sequence += count
        return sequence - count
      },
      append: () => Promise.reject(new LogUnavailable(reason, 'no', { retryAfterSeconds: 3 })),
    }
    const other = await startCollector({ log })
    try {
      for (const headers of [json, { ...json, 'user-agent': 'Googlebot/2.1' }]) {
        const reply = await other.send({ headers, body: JSON.stringify(event()) })
        expect(reply.status).toBe(503)
        expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(3)
        expect(JSON.parse(reply.body)).toMatchObject({ status: 'fail', error_code: code })
      }
      expect(other.collector.totals).toMatchObject({ kept: 0, bot: 0, unavailable: 2 })
    } finally {
      await other.stop()
    }
  })

  test('answers only once the append is durable', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let appended = false
    const append = () => {
      appended = true
      return promise
    }
    const other = await startCollector({ log: { reserve: () => 1, append } })
    try {
      let answered = false
      const reply = other.post(event()).then((status) => {
        answered = true
        return status
      })
      await expect.poll(() => appended).toBe(true)
      expect(answered).toBe(false)
      resolve()
      expect(await reply).toBe(200)
    } finally {
      await other.stop()
    }
  })

  test('answers 503 at once when too many requests wait, and takes events again when they are done', async () => {
    const waiting: (() => void)[] = []
    const log = {
      reserve: () => 1,
      append: () => new Promise<void>((resolve) => void waiting.push(resolve)),
    }
    const begun = () => expect.poll(() => waiting.length).toBe(1)
    const finish = () => waiting.pop()?.()
    for (const limits of [{ requests: 1 }, { bytes: 300 }]) {
      const other = await startCollector({ log, limits })
      try {
        const first = other.post(event())
        await begun()
        const reply = await other.send({ headers: json, body: JSON.stringify(event()) })
        expect(reply.status).toBe(503)
        expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
        expect(JSON.parse(reply.body)).toMatchObject({ error_code: 1006 })
        finish()
        expect(await first).toBe(200)
        const next = other.post(event())
        await begun()
        finish()
        expect(await next).toBe(200)
      } finally {
        await other.stop()
      }
    }
  })

  test('stores nothing of a body that is cut, and all of one whose sender does not wait', async () => {
    const text = JSON.stringify(event())
    const head = `POST /collect/${datasourceId}/tracker HTTP/1.1\r\nHost: x\r\nContent-Length: ${text.length}\r\n\r\n`
    const sendAndLeave = (body: string) =>
      new Promise<void>((resolve) => {
        const socket = connect(world.port, '127.0.0.1', () => {
          socket.end(head + body, () => socket.destroy())
        })
        socket.on('close', () => resolve()).on('error', () => {})
      })
    await sendAndLeave(text.slice(0, -5))
    await sleep(50)
    expect(await stored()).toEqual([])
    await sendAndLeave(text)
    const all: Row[] = []
    const count = async () => all.push(...(await stored()))
    await expect.poll(count).toBe(1)
  })

  test('keeps no place for requests that were cut', async () => {
    const other = await startCollector({ limits: { requests: 3 } })
    try {
      const head = `POST /collect/${datasourceId}/tracker HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n`
      for (let i = 0; i < 10; i++) {
        const socket = connect(other.port, '127.0.0.1').on('error', () => {})
        socket.write(`${head}{"key"`, () => setTimeout(() => socket.destroy(), 5))
        await new Promise((resolve) => socket.on('close', resolve))
      }
      await expect.poll(() => other.post(event())).toBe(200)
    } finally {
      await other.stop()
    }
  })

  test('takes events in any order and at any distance of time', async () => {
    const day = 86_400_000
    const events = Array.from({ length: 1500 }, (_, i) =>
      event({ timestamp: startTime - ((i * 7) % 1500) * 2 * day }),
    )
    expect(await world.post(events)).toBe(200)
    expect(new Set((await stored()).map((row) => row.t)).size).toBe(1500)
  })
})
