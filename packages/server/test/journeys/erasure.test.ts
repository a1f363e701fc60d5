import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PersonReference } from '@millrace/contract/resources/person-data.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { countRows } from '../../src/database/columnar-tables.ts'
import { createErasureStore, referenceContext } from '../../src/features/events/persons/erasure-store.ts'
import { refusalTest } from '../../src/features/events/persons/refused-persons.ts'
import { newId } from '../../src/platform/ids.ts'
import { createLoadingGround, eventRow, type LoadingGround, type LogRow } from '../support/loading.ts'
import { inFullLengthOnly } from '../support/long.ts'
import { until } from '../support/until.ts'

let ground: LoadingGround
let k: string
let d: string

const now = Date.now()
const hour = 3_600_000

beforeAll(async () => {
  ground = await createLoadingGround()
})
afterAll(() => ground.close())
beforeEach(async () => {
  ;[k, d] = [newId(), newId()]
  ;[ada, phone] = [`ada-${k}@example.com`, `phone-of-ada-${k}`]
  const { pool } = ground.database
  await pool.query(`insert into companies (id, name) values ($1, 'Acme')`, [k])
  await pool.query(`insert into datasources (id, company_id, name) values ($1, $2, 'Shop')`, [d, k])
})

/** An event of a device, and of a client where one is named. */
const event = (p: string, c: string, fields: LogRow = {}): LogRow =>
  eventRow({ k, d, r: now, t: now - 5 * hour, p, ...(c && { c }), ...fields })
const purchase = (p: string, c: string, x: string, fields: LogRow = {}): LogRow =>
  event(p, c, { n: 'purchase', x, v: '10', ...fields })
const bind = (p: string, c: string): LogRow => event(p, c, { n: 'identify' })

const erasures = () => createErasureStore(ground.database.db)

/** Asks for an erasure as the interface does. */
async function ask(reference: PersonReference): Promise<string> {
  const id = newId()
  const sealedReference = ground.box.seal(JSON.stringify(reference), referenceContext(id))
  await erasures().insert({ id, companyId: k, requestedBy: newId(), sealedReference, refuseDays: 30 })
  return id
}

/** Until the erasure is done. @returns its receipt */
async function done(id: string) {
  const loader = ground.startLoader()
  try {
    const receipt = await until(async () => {
      const erasure = await erasures().find(k, id)
      return erasure?.state === 'done' && erasure
    })
    return receipt
  } finally {
    await loader.stop()
  }
}

const erase = async (reference: PersonReference) => done(await ask(reference))

/** Of each test another one, whom no other has left in a file. */
let ada: string
let phone: string
const tablet = 'tablet-of-the-shop'
const bob = 'bob-the-builder'

/** What Ada did, also before she was known, and for an order with others. */
const ofAda = (): LogRow[] => [
  event(phone, ''),
  bind(phone, ada),
  event(phone, ada, { t: Date.UTC(2025, 3, 1) }),
  event(phone, '', { n: 'workflow_click', l: { workflowId: newId() } }),
  event(tablet, ada),
  bind(tablet, ada),
  purchase(phone, ada, 'hers'),
  purchase(phone, ada, 'shared', { v: '1', t: now - 6 * hour }),
]
/** What others did: on the same tablet too, of whose events without a client nobody knows whose they are. */
const ofOthers = (): LogRow[] => [
  event('phone of bob', bob),
  event(tablet, bob),
  bind(tablet, bob),
  event(tablet, ''),
  purchase('phone of bob', bob, 'shared', { v: '2' }),
  purchase('phone of bob', bob, 'his'),
]

/** Files below the ground's directories whose bytes name the person. */
function filesThatName(...identifiers: readonly string[]): string[] {
  const found: string[] = []
  for (const directory of [ground.directory, ground.engine.directory]) {
    for (const file of readdirSync(directory, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue
      const path = join(file.parentPath, file.name)
      const bytes = readFileSync(path)
      if (identifiers.some((each) => bytes.includes(each))) found.push(path)
    }
  }
  return found
}

describe('an erased person', () => {
  it('is gone from every table, and all numbers are as if they had never been there', async () => {
    await ground.append(ofOthers())
    await ground.load()
    const expected = await ground.stored(k)
    await ground.append(ofAda())
    await ground.load()
    expect(await ground.stored(k)).not.toEqual(expected)
    const { removed } = await erase({ clientIds: [ada] })
    expect(await ground.stored(k)).toEqual(expected)
    expect(removed).toMatchObject({ events: 8, purchases: 2, identities: 2, workflow_events: 1 })
  })

  it('is erased again after a restore, of whom hashes alone are known', async () => {
    await ground.append([...ofOthers(), ...ofAda()])
    await ground.load()
    await erase({ clientIds: [ada] })
    const expected = await ground.stored(k)
    const record = ground.erasureRecords.at(-1)
    expect(JSON.stringify(record)).not.toMatch(new RegExp(`${ada}|${phone}`))
    // As they lie in a backup of before.
    await ground.append(ofAda())
    await ground.load()
    expect(await ground.stored(k)).not.toEqual(expected)
    const id = newId()
    await ground.database.pool.query(
      `insert into person_erasures (id, company_id, requested_by, refuse_until, digests) values ($1, $2, $3, $4, $5)`,
      [id, k, record?.requestedBy, record?.refuseUntil, record?.digests],
    )
    expect((await done(id)).removed).toMatchObject({ events: 8, purchases: 2, identities: 2 })
    expect(await ground.stored(k)).toEqual(expected)
    expect(ground.erasureRecords.at(-1)).toMatchObject({ id, companyId: k, digests: record?.digests })
  })

  it('is named by no report either, also by one that is being written', async () => {
    await ground.append(ofAda())
    await ground.load()
    const { pool } = ground.database
    const [report, done, running, evidence] = [newId(), newId(), newId(), newId()]
    await pool.query(
      `insert into reports (id, company_id, created_by, requested_type, title, origin_type, timezone, locale)
       values ($1, $2, $1, 'user', $3, 'free-form', 'UTC', 'en')`,
      [report, k, `What did ${ada} buy?`],
    )
    await pool.query(
      `insert into report_generations (id, company_id, report_id, kind, question, requested_type, state, sections,
         attempts, lease_until)
       values ($1, $3, $4, 'initial', $5, 'user', 'done', $6, 1, null),
         ($2, $3, $4, 'follow-up', 'And then?', 'user', 'running', null, 1, now() + interval '1 hour')`,
      [done, running, k, report, ada, JSON.stringify([{ title: ada, paragraphs: [{ text: `${phone} 1` }] }])],
    )
    await pool.query(
      `insert into report_evidence (generation_id, id, company_id, report_id, bytes, content)
       values ($1, $2, $3, $4, 1, $5)`,
      [
        ...[done, evidence, k, report],
        JSON.stringify({
          query: { filters: [{ dimension: 'events.person', operator: 'equals', values: [ada] }] },
          rows: [{ 'events.person': { value: ada } }, { 'events.person': { value: bob } }],
        }),
      ],
    )
    expect((await erase({ clientIds: [ada] })).removed).toMatchObject({ report_evidence: 1 })
    const { rows } = await pool.query(
      `select (select json_agg(r) from reports r)::text || (select json_agg(g) from report_generations g)::text
         || (select json_agg(e) from report_evidence e)::text as text,
         (select content from report_evidence where id = $1) as content,
         (select state from report_generations where id = $2) as state`,
      [evidence, running],
    )
    expect(rows[0].text).not.toContain(ada)
    expect(rows[0].text).not.toContain(phone)
    expect(rows[0].text).toContain(bob)
    expect(rows[0]).toMatchObject({
      state: 'queued',
      content: { warning: expect.stringContaining('erased') },
    })
  })

  it('is named by no key of a label', async () => {
    const keys = () => ground.query(`SELECT key FROM label_keys WHERE company = '${k}' ORDER BY key`)
    await ground.append([...ofOthers(), event(phone, ada, { l: { [`wishes of ${ada}`]: '1', store: 'a' } })])
    await ground.load()
    expect(await keys()).toHaveLength(2)
    await erase({ clientIds: [ada] })
    expect(await keys()).toEqual([{ key: 'store' }])
  })

  it('is found by an order, and by an address that an order has', async () => {
    for (const reference of [{ orders: ['hers'] }, { emails: ['ada@home.example'] }]) {
      await ground.append([
        ...ofOthers(),
        ...ofAda(),
        purchase(phone, ada, 'hers', { l: { email: 'ada@home.example' } }),
      ])
      await ground.load()
      await erase(reference)
      const left = await ground.query(
        `SELECT count() AS n FROM events WHERE company = '${k}' AND (client_id = '${ada}' OR tmp_id = '${phone}')`,
      )
      expect(left).toEqual([{ n: 0 }])
    }
  })

  it('takes with a device all that was sent from it, and leaves its clients elsewhere', async () => {
    await ground.append([...ofOthers(), ...ofAda()])
    await ground.load()
    await erase({ tmpIds: [tablet] })
    const { events } = await ground.stored(k)
    expect(events?.filter((each) => (each as { tmp_id: string }).tmp_id === tablet)).toEqual([])
    expect(events).toContainEqual(expect.objectContaining({ client_id: bob }))
    const persons = await ground.query<{ n: number }>(
      `SELECT count() AS n FROM person_events WHERE company = '${k}'`,
    )
    const recent = await ground.query<{ n: number }>(
      `SELECT count() AS n FROM events WHERE company = '${k}' AND time > now() - toIntervalDay(91)`,
    )
    expect(persons).toEqual(recent)
  })

  it('is no other of another company', async () => {
    const other = newId()
    await ground.append([...ofAda(), event(phone, ada, { k: other, d: newId() })])
    await ground.load()
    await erase({ clientIds: [ada] })
    expect((await ground.stored(other)).events).toHaveLength(1)
  })

  it('takes what waits in the log with them, and is refused from then on', async () => {
    await ground.append(ofAda())
    const id = await ask({ clientIds: [ada] })
    await ground.append([event('new phone', ''), bind('new phone', ada), event('new phone', bob)])
    await done(id)
    expect((await ground.stored(k)).events).toMatchObject([{ tmp_id: 'new phone', client_id: bob }])
    const refused = ground.erased.refusedBy(k)
    const sent = (tmpId: string, clientId = '') => refused && refusalTest(refused)({ tmpId, clientId })
    expect([sent('elsewhere', ada), sent(phone), sent('new phone')]).toEqual([true, true, true])
    expect([sent('elsewhere'), sent(phone, bob), sent(ada)]).toEqual([false, false, false])
    expect(ground.erased.refusedBy(newId())).toBeUndefined()
    await ground.database.pool.query(`update erased_identifiers set refuse_until = now()`)
    await ground.erased.refresh()
    expect(ground.erased.refusedBy(k)).toBeUndefined()
  })

  it('is refused until the time for it is over, and no change is told before', async () => {
    const { pool } = ground.database
    const listener = await pool.connect()
    const told: (string | undefined)[] = []
    listener.on('notification', ({ payload }) => told.push(payload))
    try {
      await pool.query(
        `insert into erased_identifiers (company_id, digest, refuse_until) values ($1, 'a digest', now() + interval '1 day')`,
        [k],
      )
      await ground.erased.refresh()
      // Those of other tests.
      await ground.erased.forgetExpired()
      await listener.query('listen person_erasures')
      // Who removes rows waits for a change and would look again at once, without an end.
      await ground.erased.forgetExpired()
      await pool.query(`select pg_notify('person_erasures', 'later')`)
      await until(() => told.length > 0)
      expect(told).toEqual(['later'])
      expect(ground.erased.refusedBy(k)?.digests).toEqual(new Set(['a digest']))
      await pool.query('update erased_identifiers set refuse_until = now()')
      await ground.erased.forgetExpired()
      // Both hear of it, each on a connection of its own.
      await until(() => ground.erased.refusedBy(k) === undefined && told.length > 1)
      expect(told).toEqual(['later', ''])
    } finally {
      listener.release(true)
    }
  })

  it('is erased to the end by the next process where one was killed in between', async () => {
    await ground.append(ofOthers())
    await ground.load()
    const expected = await ground.stored(k)
    await ground.append(ofAda())
    await ground.load()
    const id = await ask({ orders: ['hers'] })
    // Everything by which the person was found is gone when the process ends.
    let failed = false
    const broken = {
      ...ground.engine,
      async command(statement: Parameters<typeof ground.engine.command>[0]) {
        if (statement.sql.startsWith('ALTER TABLE identities')) {
          failed = true
          throw new Error('The process ends here')
        }
        await ground.engine.command(statement)
      },
    }
    const loader = ground.startLoader({ columnar: broken })
    await until(() => failed)
    await loader.stop()
    await ground.killEngine()
    expect((await done(id)).removed).toMatchObject({ events: 8, purchases: 2 })
    expect(await ground.stored(k)).toEqual(expected)
  })

  it('is rewritten out of all parts, one after the other, once no answer tells of it', async () => {
    await ground.append([...ofAda(), ...ofOthers()])
    await ground.load()
    const partsOf = (condition: string) =>
      ground.query<{ table: string; rows: number }>(
        `SELECT table, sum(rows) AS rows FROM system.parts
         WHERE active AND database = currentDatabase() AND ${condition} GROUP BY table`,
      )
    // A backup counts what parts say, and a restore compares.
    await ground.engine.command({
      sql: `DELETE FROM events WHERE company = '${k}' AND tmp_id = 'phone of bob'`,
    })
    expect((await partsOf('has_lightweight_delete')).map(({ table }) => table)).toContain('events')
    expect(await partsOf(`table = 'events'`)).toMatchObject([
      { rows: await countRows(ground.engine, 'events') },
    ])
    await erase({ clientIds: [ada] })
    const loader = ground.startLoader()
    try {
      await until(async () => (await partsOf('has_lightweight_delete')).length === 0)
    } finally {
      await loader.stop()
    }
    const stored = await ground.query<{ rows: number }>('SELECT count() AS rows FROM events')
    expect(await partsOf(`table = 'events'`)).toMatchObject(stored)
  })

  it('leaves no identifier in any file', async (context) => {
    // The engine takes half a minute to remove the files of former parts.
    inFullLengthOnly(context)
    await ground.append([
      ...ofAda(),
      ...ofOthers(),
      { z: 'dropped', k, d, r: now, rule: 'unknown-name', path: 'tmpId', sample: phone, m: 1 },
    ])
    await ground.load()
    expect(filesThatName(ada, phone)).not.toEqual([])
    for (const { name } of await ground.query<{ name: string }>(
      `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
    )) {
      await ground.engine.command({
        sql: `ALTER TABLE ${name}
              MODIFY SETTING old_parts_lifetime = 1, merge_tree_clear_old_parts_interval_seconds = 1, cleanup_delay_period = 1,
                max_cleanup_delay_period = 1, cleanup_delay_period_random_add = 0`,
      })
    }
    await erase({ clientIds: [ada] })
    // What is removed from all answers is rewritten afterwards. The engine keeps former parts for a while, and the log its
    // last segment until there is another one.
    const loader = ground.startLoader()
    try {
      await until(() => {
        try {
          return filesThatName(ada, phone).length === 0
        } catch (error) {
          // A file was removed while it was looked for.
          if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
          throw error
        }
      })
    } finally {
      await loader.stop()
    }
    expect(filesThatName(bob)).not.toEqual([])
  })
})
