import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import {
  company,
  createLoadingGround,
  eventRow,
  type LoadingGround,
  type LogRow,
  smallPieces,
} from '../support/loading.ts'
import { spread } from '../support/long.ts'
import { until } from '../support/until.ts'

let ground: LoadingGround
/** A datasource of the test's own. */
let d: string

beforeAll(async () => {
  ground = await createLoadingGround()
})
afterAll(() => ground.close())
beforeEach(() => {
  d = newId()
})

const event = (fields: LogRow = {}): LogRow => eventRow({ d, ...fields })
const day = 24 * 3_600_000
const storedSequences = async (): Promise<number[]> =>
  (await ground.query<{ seq: number }>(`SELECT seq FROM events WHERE datasource = '${d}' ORDER BY seq`)).map(
    ({ seq }) => seq,
  )

describe('a batch', () => {
  it('gathers events while the interface is not in use, and is loaded as soon as it is', async () => {
    let isUsed = true
    let looks = 0
    const isInUse = (): boolean => {
      if (!isUsed) looks++
      return isUsed
    }
    const loader = ground.startLoader({ isInUse }, { lookMs: 1, unusedIntervalMs: 3_600_000 })
    try {
      await ground.append([event({ e: 'first' })])
      await ground.loaded()
      isUsed = false
      await ground.append([event({ e: 'second' })])
      // The batch at hand may have this one; behind it they gather.
      await until(() => looks > 0)
      await ground.append([event({ e: 'third' })])
      const gathered = looks + 20
      await until(() => looks > gathered)
      expect((await storedSequences()).length).toBeLessThan(3)
      isUsed = true
      await ground.loaded()
      expect(await storedSequences()).toHaveLength(3)
    } finally {
      await loader.stop()
    }
  })

  it('does not wait for more than a batch holds', async () => {
    const isInUse = () => false
    const loader = ground.startLoader({ isInUse }, { ...smallPieces, lookMs: 1, unusedIntervalMs: 3_600_000 })
    try {
      await ground.append([event()])
      const many = Array.from({ length: 3_000 }, () =>
        event({ u: `https://shop.example/${'a'.repeat(200)}` }),
      )
      await ground.append(many)
      await until(async () => (await storedSequences()).length > 1_000)
    } finally {
      await loader.stop()
    }
  })
})

describe('an event', () => {
  it('is stored with all its fields, in their types', async () => {
    const uuid = '5c269b93-7380-4416-82a7-1fa8fb4728d7'
    const [seq] = await ground.append([
      event({
        e: uuid,
        n: 'purchase',
        u: 'https://shop.example/é?a=1',
        rh: 'news.example',
        p: 'device',
        c: 'client',
        i: ['a', 'b"', 'a'],
        v: '-1234567890123456.78',
        x: 'order-1',
        l: { store: 'Zürich', 'a.b': '' },
        dt: 'mobile',
        os: 'iOS',
        br: 'Safari',
        co: 'FR',
        t: Date.UTC(2026, 8, 1, 11) + 7,
        r: Date.UTC(2026, 8, 1, 12) + 8,
      }),
    ])
    await ground.load()
    const columns = `company, datasource, toString(time) AS time, toString(received) AS received, seq, event_id, name,
      url, tmp_id, client_id, device = sipHash64(tmp_id) AS device, client = sipHash64(client_id) AS client, ids,
      toString(value) AS value, trans_id, labels, device_type, os, browser,
      referrer_host, country`
    const stored = {
      company,
      datasource: d,
      time: '2026-09-01 11:00:00.007',
      received: '2026-09-01 12:00:00.008',
      seq,
      event_id: uuid,
      name: 'purchase',
      url: 'https://shop.example/é?a=1',
      tmp_id: 'device',
      client_id: 'client',
      device: 1,
      client: 1,
      ids: ['a', 'b"', 'a'],
      value: '-1234567890123456.78',
      trans_id: 'order-1',
      labels: { store: 'Zürich', 'a.b': '' },
      device_type: 'mobile',
      os: 'iOS',
      browser: 'Safari',
      referrer_host: 'news.example',
      country: 'FR',
    }
    for (const table of ['events', 'purchases']) {
      expect(await ground.query(`SELECT ${columns} FROM ${table} WHERE datasource = '${d}'`)).toEqual([
        stored,
      ])
    }
  })

  it('without the fields that may be absent has none of them', async () => {
    await ground.append([event({ e: 'plain' })])
    await ground.load()
    const columns = `event_id, client_id, client, ids, value, trans_id, labels, device_type, os, browser,
      referrer_host, country`
    expect(await ground.query(`SELECT ${columns} FROM events WHERE datasource = '${d}'`)).toEqual([
      {
        event_id: 'plain',
        client_id: '',
        client: 0,
        ids: [],
        value: null,
        trans_id: '',
        labels: {},
        device_type: '',
        os: '',
        browser: '',
        referrer_host: '',
        country: '',
      },
    ])
  })

  it('keeps an eventId as it was sent, also one that is nearly a canonical UUID', async () => {
    const ids = [
      '5c269b93-7380-4416-82a7-1fa8fb4728d8',
      '5C269B93-7380-4416-82A7-1FA8FB4728D8',
      '5c269b93738044168 2a71fa8fb4728d8',
      '5c269b937380441682a71fa8fb4728d8',
      '{5c269b93-7380-4416-82a7-1fa8fb4728d8}',
      '00000000-0000-0000-0000-000000000000',
      ' ',
      'é€😀',
    ]
    await ground.append(ids.map((e) => event({ e })))
    await ground.load()
    const rows = await ground.query<{ event_id: string }>(
      `SELECT event_id FROM events WHERE datasource = '${d}' ORDER BY seq`,
    )
    expect(rows.map(({ event_id }) => event_id)).toEqual(ids)
    expect(await ground.counters(d)).toMatchObject({ accepted: ids.length, duplicate: 0 })
  })

  it('is visible without another one that follows it, while the loader is idle', async () => {
    const loader = ground.startLoader({}, { intervalMs: 400 })
    try {
      for (let round = 0; round < 3; round++) {
        const [sequence = 0] = await ground.append([event()])
        await until(async () => (await storedSequences()).includes(sequence))
      }
    } finally {
      await loader.stop()
    }
  })
})

describe('rows derived from events', () => {
  it('bind devices to persons, once for each binding with its latest time', async () => {
    const identify = (p: string, c: string | undefined, t: number): LogRow =>
      event({ n: 'identify', p, c, t })
    await ground.append([
      identify('a', 'anna', 1_000),
      identify('a', 'anna', 3_000),
      identify('a', 'bert', 2_000),
      identify('b', undefined, 2_000),
      event({ p: 'b', c: 'anna' }),
    ])
    await ground.load()
    expect(
      await ground.query(
        `SELECT tmp_id, client_id, toUnixTimestamp64Milli(max(time)) AS at, any(device = sipHash64(tmp_id)) AS device,
           any(client = sipHash64(client_id)) AS client
         FROM identities WHERE tmp_id IN ('a', 'b') GROUP BY tmp_id, client_id ORDER BY client_id`,
      ),
    ).toEqual([
      { tmp_id: 'a', client_id: 'anna', at: 3_000, device: 1, client: 1 },
      { tmp_id: 'a', client_id: 'bert', at: 2_000, device: 1, client: 1 },
    ])
  })

  it('are purchases for both kinds of purchase events, and for no others or duplicates', async () => {
    await ground.append([
      event({ n: 'purchase', x: 'one', e: 'same' }),
      event({ n: 'purchase_references', x: 'one' }),
      event({ n: 'purchase', x: 'two', e: 'same' }),
      event({ n: 'purchased', x: 'three' }),
    ])
    await ground.load()
    const rows = await ground.query(
      `SELECT name, trans_id FROM purchases WHERE datasource = '${d}' ORDER BY seq`,
    )
    expect(rows).toEqual([
      { name: 'purchase', trans_id: 'one' },
      { name: 'purchase_references', trans_id: 'one' },
    ])
  })
})

describe('counters and the datasource log', () => {
  it('add up: sent is accepted and dropped and bot and duplicate', async () => {
    const row = (z: string, rest: LogRow): LogRow => ({ z, k: company, d, r: Date.UTC(2026, 8, 1), ...rest })
    const recent = Date.now() - 1_000
    const rows = [
      event({ e: 'one', g: 1 }),
      event({ e: 'two' }),
      event({ e: 'one', g: 1 }),
      row('dropped', { r: recent, rule: 'key-mismatch', path: 'key', sample: 'ab*', m: 500 }),
      row('dropped', { r: recent, rule: 'ids-none-left', path: 'data.ids', sample: '', m: 3 }),
      row('bot', { r: recent, rule: 'crawler', path: '', sample: 'Googlebot', m: 7 }),
      row('changed', { r: recent, rule: 'number-as-text', path: 'tmpId', sample: '1*', m: 2 }),
      row('refused', { r: recent, rule: 'body-empty', path: '', sample: '', m: 1 }),
    ]
    // Rows of the datasource log from months ago are forgotten at once, so these are of now.
    for (const each of rows) if (each.z === 'e') each.r = recent
    await ground.append(rows)
    await ground.load()
    expect(await ground.counters(d)).toEqual({ accepted: 2, changed: 1, dropped: 503, bot: 7, duplicate: 1 })
    expect(
      await ground.query(
        `SELECT kind, rule, path, sample, count FROM datasource_log WHERE datasource = '${d}' ORDER BY seq`,
      ),
    ).toEqual([
      { kind: 'dropped', rule: 'key-mismatch', path: 'key', sample: 'ab*', count: 500 },
      { kind: 'dropped', rule: 'ids-none-left', path: 'data.ids', sample: '', count: 3 },
      { kind: 'bot', rule: 'crawler', path: '', sample: 'Googlebot', count: 7 },
      { kind: 'changed', rule: 'number-as-text', path: 'tmpId', sample: '1*', count: 2 },
      { kind: 'refused', rule: 'body-empty', path: '', sample: '', count: 1 },
    ])
  })

  it('belong to each datasource of a batch', async () => {
    const other = newId()
    await ground.append([event(), event({ d: other }), event({ d: other }), event({ d: other, e: 'x' })])
    await ground.append([event({ d: other, e: 'x' })])
    await ground.load()
    expect(await ground.counters(d)).toMatchObject({ accepted: 1, duplicate: 0 })
    expect(await ground.counters(other)).toMatchObject({ accepted: 3, duplicate: 1 })
  })
})

describe('an eventId that came before', () => {
  it('counts once within one batch and across batches, whatever the timestamps, and the first one stays', async () => {
    const first = await ground.append([
      event({ e: 'a', t: 5_000 }),
      event({ e: 'a', t: 1_000 }),
      event({ e: 'b' }),
    ])
    await ground.load()
    await ground.append([event({ e: 'b', t: 0 }), event({ e: 'a' }), event({ e: 'c' }), event({ e: 'c' })])
    await ground.load()
    const stored = await storedSequences()
    expect(stored).toHaveLength(3)
    expect(stored.slice(0, 2)).toEqual([first[0], first[2]])
    expect(await ground.counters(d)).toMatchObject({ accepted: 3, duplicate: 4 })
  })

  it('with another content is noted, and one that only comes again is not', async () => {
    // Rows of the datasource log from months ago are forgotten at once.
    const r = Date.now() - 1_000
    const original = (e: string): LogRow =>
      event({
        e,
        n: 'purchase',
        i: ['a', 'b'],
        v: '12.50',
        x: 'order',
        l: { store: 'Zürich', size: 'M' },
        t: day,
        r,
      })
    const notes = () =>
      ground.query(
        `SELECT seq, kind, rule, path, sample, count FROM datasource_log WHERE datasource = '${d}' ORDER BY seq`,
      )
    await ground.append([
      original('a'),
      original('b'),
      original('b'),
      original('c'),
      event({ e: 'plain', r }),
    ])
    await ground.load()
    await ground.append([original('a'), { ...original('b'), t: day + 5_000 }, event({ e: 'plain', r })])
    await ground.load()
    expect(await notes()).toEqual([])

    // Without a time of its own an event has that of its reception, which may be the next day's.
    const midnight = Math.floor(r / day) * day
    const late = (t: number): LogRow => ({ ...original('late'), t, r: t })
    await ground.append([late(midnight - 1_000)])
    await ground.load()
    await ground.append([late(midnight + 1_000)])
    await ground.load()
    expect(await notes()).toEqual([])

    const changes: LogRow[] = [
      { n: 'view' },
      { u: 'https://shop.example/other' },
      { p: 'another device' },
      { c: 'client' },
      { i: ['a'] },
      { v: '12.51' },
      { x: 'another order' },
      { l: { store: 'Zürich', size: 'L' } },
      { t: 40 * day },
    ]
    const found = []
    const tried = spread(changes, 3)
    for (const change of tried) {
      const [first] = await ground.append([{ ...original('c'), ...change }, original('a')])
      await ground.load()
      found.push({
        seq: first,
        kind: 'noted',
        rule: 'event-id-reused',
        path: 'eventId',
        sample: '"x"',
        count: 1,
      })
    }
    const [, ...within] = await ground.append([
      original('new'),
      { ...original('new'), v: '1.00' },
      original('new'),
      { ...original('new'), v: '2.00' },
    ])
    await ground.load()
    found.push({
      seq: within[0],
      kind: 'noted',
      rule: 'event-id-reused',
      path: 'eventId',
      sample: '"xxx"',
      count: 2,
    })
    expect(await notes()).toEqual(found)
    expect(await ground.counters(d)).toMatchObject({ accepted: 6, duplicate: 5 + 2 * tried.length + 3 })
  })

  it('counts again for another datasource', async () => {
    const other = newId()
    await ground.append([event({ e: 'same' }), event({ e: 'same', d: other })])
    await ground.append([event({ e: 'same', d: newId() })])
    await ground.load()
    expect(await ground.counters(d)).toMatchObject({ accepted: 1, duplicate: 0 })
    expect(await ground.counters(other)).toMatchObject({ accepted: 1, duplicate: 0 })
  })

  it('counts once across a restart of everything', async () => {
    await ground.append([event({ e: 'a' }), event({ e: 'b' })])
    await ground.load()
    await ground.reopenLog()
    await ground.killEngine()
    await ground.append([event({ e: 'b' }), event({ e: 'c' }), event({ e: 'a' })])
    await ground.load()
    expect(await ground.counters(d)).toMatchObject({ accepted: 3, duplicate: 2 })
  })

  it('is found among millions, of which the engine is asked only for those that may be known', async () => {
    await ground.engine.command({
      sql: `INSERT INTO event_keys SELECT sipHash64(number), sipHash64(number, 1), 0, toDateTime('2026-09-01 12:00:00', 'UTC')
            FROM numbers(4200000)`,
    })
    const many = Array.from({ length: 10_500 }, (_, index) => event({ e: `many ${index}` }))
    await ground.append([event({ e: 'a' }), ...many])
    await ground.load()
    const asked: (number | undefined)[] = []
    const loader = ground.startLoader({
      store: {
        ...ground.store,
        findKnown(staging, rows, received, candidates) {
          asked.push(candidates?.length)
          return ground.store.findKnown(staging, rows, received, candidates)
        },
      },
    })
    const load = async (...rows: LogRow[]): Promise<number | undefined> => {
      await ground.append(rows)
      await ground.loaded()
      return asked.at(-1)
    }
    try {
      let fresh = 0
      // Until they are in memory, all are asked for.
      while ((await load(event({ e: `fresh ${fresh++}` }))) === undefined) await sleep(20)
      // The second of a pair is known already.
      expect(await load(event({ e: 'a' }), event({ e: 'b' }), event({ e: 'b' }))).toBe(2)
      expect(await load(event({ e: 'b' }))).toBe(1)
      expect(await load(...Array.from({ length: 100 }, () => event()))).toBeLessThan(10)
      expect(await load(...many, event({ e: 'c' }))).toBeUndefined()
      const accepted = 1 + 10_500 + fresh + 1 + 100 + 1
      expect(await ground.counters(d)).toMatchObject({ accepted, duplicate: 1 + 1 + 1 + 10_500 })
    } finally {
      await loader.stop()
    }
  })

  describe.each([
    ['in another batch', true],
    ['in one batch', false],
  ])('%s', (_, apart) => {
    // In the short form the last instant within the window, and one beyond it.
    const instants = spread(
      [
        ['604,800 s', 604_800_000, 1],
        ['604,799 s', 604_799_000, 1],
        ['604,800.001 s', 604_800_001, 0],
        ['604,801 s', 604_801_000, 0],
      ] as const,
      2,
    )
    it.each(instants)('%s after its reception', async (_, after, duplicate) => {
      const r = Date.UTC(2026, 7, 20, 1, 2, 3)
      await ground.append([event({ e: 'a', r })])
      if (apart) await ground.load()
      await ground.append([event({ e: 'a', r: r + after }), event({ e: 'a', r: r + after })])
      await ground.load()
      expect(await ground.counters(d)).toMatchObject({ accepted: 2 - duplicate, duplicate: 1 + duplicate })
    })
  })

  it('is decided by the event that was stored, not by a duplicate of it', async () => {
    const r = Date.UTC(2026, 7, 1)
    const rows = [0, 5, 10, 12, 18].map((days) => event({ e: 'a', r: r + days * day }))
    await ground.append(rows)
    const other = newId()
    for (const row of rows) {
      await ground.append([{ ...row, d: other }])
      await ground.load()
    }
    await ground.load()
    // Stored on day 0, 10 and 18; 5 and 12 lie within 7 days of those.
    expect(await ground.counters(d)).toMatchObject({ accepted: 3, duplicate: 2 })
    expect(await ground.counters(other)).toMatchObject({ accepted: 3, duplicate: 2 })
  })

  it('is known however the clock was set between', async () => {
    const r = Date.UTC(2026, 8, 10)
    await ground.append([
      event({ e: 'a', r }),
      event({ e: 'a', r: r - 3_600_000 }),
      event({ e: 'a', r: r + day }),
    ])
    await ground.load()
    await ground.append([event({ e: 'a', r: r - 2 * 3_600_000 })])
    await ground.load()
    expect(await ground.counters(d)).toMatchObject({ accepted: 1, duplicate: 3 })
  })
})

describe('a batch', () => {
  it('that spans 3,000 days is stored whole', async () => {
    const start = Date.UTC(2016, 0, 1)
    const rows = Array.from({ length: 3_000 }, (_, index) => event({ t: start + index * day }))
    await ground.append(rows)
    await ground.load()
    expect(await ground.counters(d)).toMatchObject({ accepted: 3_000 })
    const [months] = await ground.query<{ n: number }>(
      `SELECT uniqExact(toYYYYMM(time)) AS n FROM events WHERE datasource = '${d}'`,
    )
    expect(months?.n).toBeGreaterThan(90)
    expect(await storedSequences()).toHaveLength(3_000)
  })

  it.each([
    ['in memory', {}],
    ['in pieces', smallPieces],
  ])('of many appends is stored whole, with its duplicates found, %s', async (_, limits) => {
    const url = 'https://www.shop.example/'.padEnd(1_000, 'x')
    for (let round = 0; round < 8; round++) {
      const rows = Array.from({ length: 1_000 }, (_, index) => event({ u: url, e: `${round % 7} ${index}` }))
      await ground.append(rows)
    }
    await ground.load(limits)
    expect(await ground.counters(d)).toMatchObject({ accepted: 7_000, duplicate: 1_000 })
    expect(await storedSequences()).toHaveLength(7_000)
  })

  it('received over weeks is stored in pieces with its duplicates decided by the window', async () => {
    const url = 'https://www.shop.example/'.padEnd(1_000, 'x')
    const start = Date.UTC(2026, 7, 1)
    // Each event comes every 3 days: it counts on day 0, 9 and 18.
    for (let round = 0; round < 7; round++) {
      const r = start + round * 3 * day
      await ground.append(Array.from({ length: 500 }, (_, index) => event({ u: url, e: `${index}`, r })))
    }
    await ground.load(smallPieces)
    expect(await ground.counters(d)).toMatchObject({ accepted: 1_500, duplicate: 2_000 })
  })
})
