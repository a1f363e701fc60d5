import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCheckpointStore } from '../../src/features/events/loading/checkpoint-store.ts'
import { createLoaderStore, type LoaderStore } from '../../src/features/events/loading/loader-store.ts'
import { newId } from '../../src/platform/ids.ts'
import { ColumnarError } from '../../src/platform/stores/columnar.ts'
import {
  company,
  createLoadingGround,
  eventRow,
  type LoadingGround,
  type LogRow,
  smallPieces,
} from '../support/loading.ts'
import { isFull, oneOfEach, times } from '../support/long.ts'
import { until } from '../support/until.ts'

const long = isFull(import.meta.filename)

let ground: LoadingGround
/** A datasource of the test's own. */
let d: string

beforeAll(async () => {
  ground = await createLoadingGround()
})
afterAll(() => ground.close())
beforeEach(async () => {
  await ground.stopLoaders()
  d = newId()
})

const received = Date.now() - 60_000
const event = (fields: LogRow = {}): LogRow => eventRow({ d, r: received, ...fields })
const dropped = (m: number): LogRow => ({
  z: 'dropped',
  k: company,
  d,
  r: received,
  rule: 'key-mismatch',
  path: '',
  m,
})

/** 10 events of which 8 are different, with something for each table. */
const mixed = (): LogRow[] => [
  event({ e: 'a' }),
  event({ e: 'b', n: 'purchase', v: '1.50', x: `order ${d}`, l: { [d]: 'x' } }),
  event({ e: 'a', g: 1 }),
  event({ e: 'c', n: 'identify', c: 'anna', p: d }),
  dropped(5),
  event({ e: 'd', g: 1 }),
  event({ e: 'd' }),
  event({ e: 'e' }),
  event({ e: 'f' }),
  event({ e: 'g', n: 'workflow_display', l: { workflowId: 'w1' } }),
  event({ e: 'h', n: 'workflow_click', l: { workflowId: 'w1' } }),
]
const afterMixed = { accepted: 8, changed: 1, dropped: 5, bot: 0, duplicate: 2 }

const count = async (table: string, where = '1'): Promise<number> => {
  const [row] = await ground.query<{ n: number }>(
    `SELECT count() AS n FROM ${table} WHERE datasource = '${d}' AND ${where}`,
  )
  return row?.n ?? 0
}

const ordersOf = () =>
  ground.query(`SELECT version, value FROM orders FINAL WHERE datasource = '${d}' ORDER BY value`)
const labelSources = () =>
  ground.query(`SELECT DISTINCT source FROM label_keys WHERE key = '${d}' ORDER BY source`)

/** The tables hold each row of `mixed` that counts, once. */
const expectMixed = async (): Promise<void> => {
  expect(await ground.counters(d)).toEqual(afterMixed)
  expect(await count('events')).toBe(8)
  expect(await count('purchases')).toBe(1)
  expect(await count('workflow_events')).toBe(2)
  expect(await ordersOf()).toEqual([{ version: 1, value: 1.5 }])
  expect(await labelSources()).toEqual([{ source: 'events' }, { source: 'purchases' }])
  expect(await count('datasource_log')).toBe(1)
  expect(await ground.query(`SELECT client_id FROM identities FINAL WHERE tmp_id = '${d}'`)).toEqual([
    { client_id: 'anna' },
  ])
  const keys = await ground.query<{ n: number }>(
    `SELECT count() - uniqExact(key, rest, seq) AS n FROM event_keys`,
  )
  expect(keys[0]?.n).toBe(0)
}

class Crash extends Error {}

/** The store whose `nth` call of one function fails, before or after it did its work; nothing works afterwards. */
const crashing = (name: keyof LoaderStore, nth: number, after: boolean) => {
  let calls = 0
  let crashed = false
  const store = Object.fromEntries(
    Object.entries(ground.store).map(([key, call]) => [
      key,
      // Not a promise of something, as the others are.
      key === 'streamKeys'
        ? call
        : async (...args: never[]) => {
            if (crashed) throw new Crash('gone')
            const hit = key === name && ++calls === nth
            crashed = hit
            if (hit && !after) throw new Crash(`before ${key}`)
            const result = await (call as (...args: never[]) => Promise<unknown>)(...args)
            if (hit) throw new Crash(`after ${key}`)
            return result
          },
    ]),
  ) as unknown as LoaderStore
  return { store, crashed: () => crashed }
}

const steps: (keyof LoaderStore)[] = [
  'clear',
  'stage',
  'readGroups',
  'findKnown',
  'markDuplicates',
  'insertKeys',
  'insertEvents',
  'insertPurchases',
  'insertWorkflowEvents',
  'findOrderEvents',
  'insertOrders',
  'insertLabelKeys',
  'insertIdentities',
  'insertLog',
  'countStaged',
]

/** Before a step is mostly what after the last one is. */
const moments: readonly ('after' | 'before')[] = long ? ['after', 'before'] : ['after']
/** Of the steps that write where queries read, a failure half way through does most harm. */
const triedSteps = long
  ? steps
  : steps.filter((step) => /insert(Keys|Events|WorkflowEvents|Orders)|countStaged/.test(step))

describe('a loader that ends in the middle of a batch', () => {
  it.each(triedSteps.flatMap((step) => moments.map((when) => [when, step] as const)))(
    '%s %s leaves each row once and the counts exact for the next one',
    async (when, step) => {
      await ground.append(mixed())
      const { store, crashed } = crashing(step, 1, when === 'after')
      const loader = ground.startLoader({ store })
      await until(crashed)
      await loader.stop()
      // The next loader sees the rows in other batches than the first one did.
      await ground.append([
        event({ e: 'i' }),
        event({ e: 'a' }),
        event({ e: 'g', n: 'workflow_display', l: { workflowId: 'w1' } }),
      ])
      await ground.load()
      await ground.append([event({ e: 'i' })])
      await ground.load()
      expect(await ground.counters(d)).toEqual({ ...afterMixed, accepted: 9, duplicate: 5 })
      expect(await count('events')).toBe(9)
      expect(await count('purchases')).toBe(1)
      expect(await count('workflow_events')).toBe(2)
      expect(await ordersOf()).toEqual([{ version: 1, value: 1.5 }])
      expect(await labelSources()).toEqual([{ source: 'events' }, { source: 'purchases' }])
      expect(await count('datasource_log')).toBe(1)
    },
  )

  it.each(
    (['insertPurchases', 'findOrderEvents', 'insertOrders'] as const).flatMap((step) =>
      moments.map((when) => [when, step] as const),
    ),
  )('%s %s leaves an order that an earlier event moves once, at its new place', async (when, step) => {
    const [march, january] = [Date.UTC(2026, 2, 5), Date.UTC(2026, 0, 5)]
    await ground.append([event({ n: 'purchase', v: '2.00', x: `moved ${d}`, t: march })])
    await ground.load()
    await ground.append([event({ n: 'purchase_references', i: ['a'], x: `moved ${d}`, t: january })])
    const { store, crashed } = crashing(step, 1, when === 'after')
    const loader = ground.startLoader({ store })
    await until(crashed)
    await loader.stop()
    await ground.load()
    expect(
      await ground.query(
        `SELECT toYYYYMM(time) AS month, version, value, ids FROM orders FINAL WHERE datasource = '${d}'`,
      ),
    ).toEqual([{ month: 202601, version: 2, value: 2, ids: ['a'] }])
  })

  it.each(['before', 'after'])('%s the commit counts each row once', async (when) => {
    await ground.append(mixed())
    let crashed = false
    const loader = ground.startLoader({
      checkpoints: {
        ...ground.checkpoints,
        async commit(...args) {
          if (crashed) throw new Crash('gone')
          crashed = true
          if (when === 'after') await ground.checkpoints.commit(...args)
          throw new Crash(when)
        },
      },
    })
    await until(() => crashed)
    await loader.stop()
    await ground.load()
    await expectMixed()
  })

  it('by itself, over and over, comes to the same end', async () => {
    await ground.append(mixed())
    for (const step of triedSteps) {
      for (const moment of moments) {
        const { store, crashed } = crashing(step, 1, moment === 'after')
        const loader = ground.startLoader({ store })
        await until(crashed)
        await loader.stop()
      }
    }
    await ground.load()
    await expectMixed()
  })
})

describe('the engine', () => {
  it('that has too little memory for a batch gets smaller ones, and nothing is lost or doubled', async () => {
    const url = 'https://www.shop.example/'.padEnd(600, 'x')
    const rows = Array.from({ length: 3_000 }, (_, index) => event({ u: url, e: `memory ${index}` }))
    for (let at = 0; at < rows.length; at += 100) await ground.append(rows.slice(at, at + 100))
    const sizes: number[] = []
    const store: LoaderStore = {
      ...ground.store,
      async readGroups(staging) {
        const batch = await ground.store.readGroups(staging)
        const staged = batch.groups.reduce((sum, group) => sum + group.rows, 0)
        sizes.push(staged)
        if (staged > 600) throw new ColumnarError(241, 'MEMORY_LIMIT_EXCEEDED', 'Memory limit exceeded')
        return batch
      },
    }
    const loader = ground.startLoader({ store }, smallPieces)
    await ground.loaded()
    await loader.stop()
    expect(sizes.some((size) => size > 600)).toBe(true)
    expect(await ground.counters(d)).toMatchObject({ accepted: 3_000, duplicate: 0 })
    expect(await count('events')).toBe(3_000)
  })

  it('that is read-only for a while loads everything once it is not', async () => {
    let refusals = 0
    const store: LoaderStore = {
      ...ground.store,
      async insertEvents(...args) {
        if (++refusals <= 3) throw new ColumnarError(242, 'TABLE_IS_READ_ONLY', 'Table is in readonly mode')
        await ground.store.insertEvents(...args)
      },
    }
    await ground.append(mixed())
    const loader = ground.startLoader({ store })
    await ground.loaded()
    await loader.stop()
    expect(refusals).toBe(4)
    await expectMixed()
  })

  it.each([
    ['in memory', {}],
    ['in pieces', smallPieces],
  ])('killed while it loads loses and doubles nothing, %s', async (_, limits) => {
    const url = 'https://www.shop.example/'.padEnd(600, 'x')
    let sent = 0
    for (let round = 0; round < times(8, 1); round++) {
      for (let part = 0; part < 6; part++) {
        const rows = Array.from({ length: 1_500 }, (_, index) =>
          event({
            u: url,
            e: `${round} ${part} ${index}`,
            t: Date.UTC(2026, index % 5, 2),
            n: index % 9 ? 'x' : 'purchase',
          }),
        )
        // The same events once more, as a sender does that heard nothing.
        await ground.append([...rows, ...rows.slice(0, 100)])
        sent += 1_500
      }
      const loader = ground.startLoader({}, limits)
      await sleep(30 + round * 50)
      await ground.killEngine()
      await ground.loaded()
      await loader.stop()
      expect(await ground.counters(d)).toMatchObject({ accepted: sent, duplicate: (sent / 1_500) * 100 })
      expect(await count('events')).toBe(sent)
    }
    const [row] = await ground.query<{ n: number }>(
      `SELECT uniqExact(event_id) AS n FROM events WHERE datasource = '${d}'`,
    )
    expect(row?.n).toBe(sent)
    expect(await count('purchases')).toBe((sent / 1_500) * 167)
  })

  it('that is down is waited for, while the log takes events', async () => {
    await ground.append([event({ e: 'a' })])
    await ground.load()
    const loader = ground.startLoader()
    await ground.killEngine(false)
    try {
      for (let round = 0; round < 5; round++) {
        await ground.append([event({ e: `${round}` }), event({ e: 'a' })])
      }
      await until(() => loader.state().condition === 'failing')
      expect(loader.state()).toMatchObject({ condition: 'failing', error: expect.any(String) })
      await until(() => (loader.state().lagSeconds ?? 0) > 0.2)
    } finally {
      // The tests that follow need it.
      await ground.startEngine()
    }
    await ground.loaded()
    // The checkpoint is there a moment before the loader says so.
    await expect
      .poll(() => loader.state())
      .toMatchObject({ error: undefined, lagSeconds: 0, condition: 'loading' })
    await loader.stop()
    expect(await ground.counters(d)).toMatchObject({ accepted: 6, duplicate: 5 })
  })

  it('that loses staging in the middle of a batch gets the batch again', async () => {
    await ground.append(mixed())
    let lost = 0
    const store: LoaderStore = {
      ...ground.store,
      async insertEvents(...args) {
        // What a restart does to tables in memory.
        if (lost++ < 2) await ground.store.clear({ table: 'staging', size: 'small' })
        await ground.store.insertEvents(...args)
      },
    }
    const loader = ground.startLoader({ store })
    await ground.loaded()
    await loader.stop()
    expect(lost).toBe(3)
    await expectMixed()
  })

  it('that refuses inserts for its own reasons is tried again, and nothing goes to quarantine', async () => {
    const settings = { parts_to_delay_insert: 1, parts_to_throw_insert: 1 }
    const change = (sql: string): Promise<void> => ground.engine.command({ sql: `ALTER TABLE events ${sql}` })
    await ground.append([event()])
    await ground.load()
    await change(
      `MODIFY SETTING ${Object.entries(settings)
        .map(([name, value]) => `${name} = ${value}`)
        .join(', ')}`,
    )
    const loader = ground.startLoader()
    try {
      await ground.append(mixed())
      await until(() => loader.state().error?.includes('parts') === true)
      await sleep(1_000)
    } finally {
      await change(`RESET SETTING ${Object.keys(settings).join(', ')}`)
    }
    await ground.loaded()
    await loader.stop()
    expect(await ground.counters(d)).toEqual({ ...afterMixed, accepted: 9 })
    expect(await count('events_quarantine')).toBe(0)
  })

  it('that has lost a table is tried again, and nothing goes to quarantine', async () => {
    await ground.engine.command({ sql: 'RENAME TABLE staging_known TO staging_away' })
    const loader = ground.startLoader()
    try {
      await ground.append(mixed())
      await until(() => loader.state().error?.includes('staging_known') === true)
      await sleep(500)
    } finally {
      await ground.engine.command({ sql: 'RENAME TABLE staging_away TO staging_known' })
    }
    await ground.loaded()
    await loader.stop()
    await expectMixed()
    expect(await count('events_quarantine')).toBe(0)
  })
})

describe('a poison event', () => {
  /** Each doubling is one more halving until the event is alone. */
  const poisonedRows = long ? 300 : 10
  /** Appends rows with one faulty text among them; returns its sequence number. */
  const appendWith = async (text: (q: number) => string, rows = poisonedRows, at = 7): Promise<number> => {
    const first = ground.log.reserve(rows)
    const lines = Array.from({ length: rows }, (_, index) =>
      index === at ? text(first + index) : JSON.stringify({ q: first + index, ...event() }),
    )
    await ground.appendText(`${lines.join('\n')}\n`, rows, first)
    return first + at
  }
  const head = (q: number): string => `{"q":${q},"z":"e","k":"${company}","d":"${d}","r":${received}`

  const faulty: [string, (q: number) => string, RegExp][] = [
    ['a field of the wrong type', (q) => `${head(q)},"t":1,"e":"x","i":"no list"}`, /parse|CANNOT|array/i],
    ['broken JSON', (q) => `${head(q)},"t":1,"e":"x`, /parse|CANNOT|EOF|quote/i],
    [
      'two rows on a line',
      (q) => `${head(q)},"t":1,"e":"x"} ${head(q)},"t":1,"e":"y"}`,
      /1 lines .* are 2 rows/,
    ],
    ['a time beyond the range', (q) => `${head(q)},"t":99999999999999,"e":"x"}`, /time out of range/],
    ['a negative time', (q) => `${head(q)},"t":-1,"e":"x"}`, /time out of range/],
    [
      'a value beyond the range',
      (q) => `${head(q)},"t":1,"e":"x","v":"12345678901234567.00"}`,
      /value out of range/,
    ],
    ['a value that is none', (q) => `${head(q)},"t":1,"e":"x","v":"1,5"}`, /value out of range/],
    ['no eventId', (q) => `${head(q)},"t":1}`, /no eventId/],
  ]

  /** In the short form one of each kind of refusal. */
  const tried = oneOfEach(faulty, ([, , error]) => error.source.replace(/parse\|CANNOT.*/, 'parse'))
  it.each(tried)('with %s is alone in quarantine', async (_, text, error) => {
    const sequence = await appendWith(text)
    await ground.load()
    expect(await ground.counters(d)).toMatchObject({ accepted: poisonedRows - 1, dropped: 1, duplicate: 0 })
    expect(await count('events')).toBe(poisonedRows - 1)
    expect(
      await ground.query(`SELECT company, seq, error, line FROM events_quarantine WHERE datasource = '${d}'`),
    ).toEqual([{ company, seq: sequence, error: expect.stringMatching(error), line: text(sequence) }])
    expect(
      await ground.query(
        `SELECT kind, rule, count, seq, toUnixTimestamp64Milli(received) AS r FROM datasource_log
         WHERE datasource = '${d}'`,
      ),
    ).toEqual([{ kind: 'dropped', rule: 'engine-refused', count: 1, seq: sequence, r: received }])
  })

  it.each([
    ['in memory', {}],
    ['in pieces', smallPieces],
  ])('in a large batch is found too, and so are several, %s', async (_, limits) => {
    const u = 'https://www.shop.example/'.padEnd(2_000, 'x')
    const size = long ? 800 : 60
    const rounds = long ? 6 : 3
    for (let round = 0; round < rounds; round++) {
      await ground.append(Array.from({ length: size }, () => event({ u })))
      if (round % 2 === 0) await appendWith((q) => `${head(q)},"t":"never","e":"x"}`, 10, 3)
    }
    await ground.load(limits)
    const poisoned = Math.ceil(rounds / 2)
    expect(await ground.counters(d)).toMatchObject({
      accepted: rounds * size + poisoned * 9,
      dropped: poisoned,
    })
    expect(await count('events_quarantine')).toBe(poisoned)
  })

  it('that only the table refuses is found when others are taken', async () => {
    await ground.engine.command({ sql: "ALTER TABLE events ADD CONSTRAINT sound CHECK url != 'poison'" })
    try {
      await ground.append([...mixed(), event({ u: 'poison', e: 'p' })])
      await ground.load()
      expect(await ground.counters(d)).toEqual({ ...afterMixed, dropped: 6 })
      expect(await count('events')).toBe(8)
      expect(await ground.query(`SELECT error FROM events_quarantine WHERE datasource = '${d}'`)).toEqual([
        { error: expect.stringContaining('sound') },
      ])
    } finally {
      await ground.engine.command({ sql: 'ALTER TABLE events DROP CONSTRAINT sound' })
    }
  })

  it('whose text does not even show its datasource is kept, and counted for none', async () => {
    const text = `nonsense ${d}`
    await ground.appendText(`${text}\n${JSON.stringify({ q: ground.log.reserve(1), ...event() })}\n`, 2)
    await ground.load()
    expect(await ground.counters(d)).toMatchObject({ accepted: 1, dropped: 0 })
    const rows = await ground.query(`SELECT datasource, seq FROM events_quarantine WHERE line = '${text}'`)
    expect(rows).toEqual([{ datasource: '', seq: 0 }])
  })
})

describe('loaders', () => {
  it('take turns: one loads at a time, and the other continues where the first one stopped', async () => {
    const first = ground.startLoader()
    await until(() => first.state().condition === 'loading')
    const second = ground.startLoader()
    await until(() => second.state().condition === 'waiting')
    await ground.append([event({ e: 'a' })])
    await ground.loaded()
    await first.stop()
    await until(() => second.state().condition === 'loading')
    await ground.append([event({ e: 'a' }), event({ e: 'b' })])
    await ground.loaded()
    await second.stop()
    expect(await ground.counters(d)).toMatchObject({ accepted: 2, duplicate: 1 })
  })

  it('give up a batch whose checkpoint another one has moved', async () => {
    await ground.append(mixed())
    let moved = false
    const loader = ground.startLoader({
      checkpoints: {
        ...ground.checkpoints,
        async commit(...args) {
          if (!moved) await ground.checkpoints.commit(...args)
          moved = true
          await ground.checkpoints.commit(...args)
        },
      },
    })
    await ground.append([event({ e: 'i' })])
    await until(() => moved)
    await ground.loaded()
    await loader.stop()
    const counters = await ground.counters(d)
    expect(counters).toEqual({ ...afterMixed, accepted: 9 })
  })

  it('give nothing away by the checkpoint of another log', async () => {
    const { segment } = ground.log.end()
    const ofAnother = createCheckpointStore({ relational: ground.database, log: newId() })
    await ofAnother.commit(undefined, { segment: segment + 1e9, offset: 64 }, [], undefined)
    await ground.append([event({ e: 'a' }), event({ e: 'b' })])
    await ground.load()
    expect(await ground.counters(d)).toMatchObject({ accepted: 2, duplicate: 0 })
  })

  it('notice that their lock is gone', async () => {
    const loader = ground.startLoader()
    await until(() => loader.state().condition === 'loading')
    await ground.database.pool.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 7311010`,
    )
    await ground.append(mixed())
    await ground.loaded()
    await loader.stop()
    await expectMixed()
  })

  it('stop while events wait, and lose none of them', async () => {
    const u = 'https://www.shop.example/'.padEnd(1_000, 'x')
    for (let round = 0; round < 10; round++) {
      await ground.append(Array.from({ length: 1_000 }, (_, index) => event({ u, e: `${round} ${index}` })))
    }
    const loader = ground.startLoader()
    await until(() => loader.state().condition === 'loading')
    await loader.stop()
    expect(loader.state().condition).toBe('stopped')
    await ground.load()
    expect(await ground.counters(d)).toMatchObject({ accepted: 10_000, duplicate: 0 })
    expect(await count('events')).toBe(10_000)
  })
  it('stop in time when the engine hangs, and lose nothing', async () => {
    await ground.append(mixed())
    const own = createLoaderStore({ columnar: ground.engine, threads: 1 })
    let staged = false
    const store: LoaderStore = {
      ...own,
      async stage(...args) {
        await own.stage(...args)
        staged = true
        process.kill(ground.enginePid(), 'SIGSTOP')
      },
    }
    const loader = ground.startLoader({ store }, { stopWithinMs: 300 })
    try {
      await until(() => staged)
      await loader.stop()
    } finally {
      process.kill(ground.enginePid(), 'SIGCONT')
    }
    await ground.load()
    await expectMixed()
  })
})
