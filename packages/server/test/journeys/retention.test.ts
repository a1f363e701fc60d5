import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { timeColumns } from '../../src/database/event-tables.ts'
import { createExpiryStore } from '../../src/features/events/loading/removals/expiry-store.ts'
import { newId } from '../../src/platform/ids.ts'
import { createLoadingGround, eventRow, type LoadingGround, type LogRow } from '../support/loading.ts'
import { until } from '../support/until.ts'

let ground: LoadingGround
let k: string
let short: string
let long: string
/** Midnight of UTC, 30 days ago. */
let cutoff: number

const day = 86_400_000

beforeAll(async () => {
  ground = await createLoadingGround()
})
afterAll(() => ground.close())
beforeEach(async () => {
  ;[k, short, long] = [newId(), newId(), newId()]
  cutoff = Math.floor(Date.now() / day) * day - 30 * day
  const { pool } = ground.database
  // Of the test before nothing expires any more.
  await pool.query('update companies set event_retention_days = null')
  await pool.query('update datasources set event_retention_days = null')
  await pool.query(`insert into companies (id, name) values ($1, 'Acme')`, [k])
  await pool.query(
    `insert into datasources (id, company_id, name) values ($1, $3, 'Short'), ($2, $3, 'Long')`,
    [short, long, k],
  )
})

/** Events that happened at these milliseconds after the cutoff, received now. */
const event = (d: string, sinceCutoff: number, fields: LogRow = {}): LogRow =>
  eventRow({ k, d, r: Date.now(), t: cutoff + sinceCutoff, ...fields })
const purchase = (d: string, sinceCutoff: number, x: string, v: string): LogRow =>
  event(d, sinceCutoff, { n: 'purchase', x, v })

/** Says how long events are kept, as if it had been said two days ago. */
async function keep(table: 'companies' | 'datasources', id: string, days: number | null): Promise<void> {
  const { pool } = ground.database
  await pool.query(`update ${table} set event_retention_days = $2 where id = $1`, [id, days])
  for (const each of ['companies', 'datasources']) {
    await pool.query(`update ${each} set event_retention_since = now() - interval '2 days'`)
  }
}

const due = () => createExpiryStore(ground.database.db).listDue()
const dueHere = async () => (await due()).filter(({ companyIds }) => companyIds.includes(k))

/** Until a loader that was started has removed what there is to be removed. */
async function expired(): Promise<void> {
  const loader = ground.startLoader()
  try {
    await ground.loaded()
    await until(async () => (await oldRows()).length === 0)
  } finally {
    await loader.stop()
  }
}

/** Rows of tables that are older than their datasource keeps them. */
async function oldRows() {
  const found: unknown[] = []
  for (const { datasourceIds, before } of await dueHere()) {
    for (const [table, column] of Object.entries(timeColumns)) {
      const rows = await ground.query<{ datasource: string }>(
        `SELECT datasource, count() AS n FROM ${table}
         WHERE datasource IN (${datasourceIds.map((id) => `'${id}'`)})
           AND ${column} < fromUnixTimestamp64Milli(${before.getTime()}, 'UTC') GROUP BY datasource`,
      )
      found.push(...rows.map((row) => ({ table, ...row })))
    }
  }
  return found
}

describe('events that are older than they are kept', () => {
  it('are removed, and all that rests on them is as if they had never come', async () => {
    const kept = [
      event(short, 0),
      event(short, 5 * day),
      event(long, -1),
      event(long, -400 * day),
      event(short, 20, { n: 'identify', p: 'new device', c: 'client' }),
      event(short, 30, { n: 'workflow_click', l: { workflowId: newId() } }),
      // The later part of orders whose first part goes, and orders that go or stay whole.
      purchase(short, 10, 'both', '20'),
      purchase(short, 11, 'both', '21'),
      purchase(long, -50, 'of two datasources', '5'),
      purchase(short, 60, 'stays', '9'),
    ]
    const old = [
      event(short, -1),
      event(short, -100 * day),
      event(short, -2, { n: 'identify', p: 'old device', c: 'client' }),
      event(short, -3, { n: 'workflow_click', l: { workflowId: newId() } }),
      purchase(short, -10, 'both', '10'),
      purchase(short, -70 * day, 'of two datasources', '50'),
      purchase(short, -40, 'goes', '7'),
      purchase(short, -40 * day, 'goes', '8'),
    ]
    // The order in which parts of an order come moves it: the later one first.
    await ground.append(kept)
    await ground.load()
    const expected = await ground.stored(k)
    await ground.append(old)
    await ground.load()
    expect(await ground.stored(k)).not.toEqual(expected)
    await keep('datasources', short, 30)
    await expired()
    expect(await ground.stored(k)).toEqual(expected)
    // What comes late for an order that has lost a part counts what is left.
    await ground.append([purchase(short, 70, 'both', '1')])
    await ground.load()
    const { orders } = await ground.stored(k)
    expect(orders).toContainEqual(expect.objectContaining({ trans_id: 'both', value: 20, version: 3 }))
  })

  it('are counted in the audit log before they go', async () => {
    await ground.append([event(short, -1), event(short, -40 * day), event(short, 1)])
    await ground.load()
    await keep('companies', k, 30)
    await expired()
    const { rows } = await ground.database.pool.query(
      `select action, actor_kind, target_id, details from audit_entries where company_id = $1`,
      [k],
    )
    expect(rows).toEqual([
      {
        action: 'datasource-expire',
        actor_kind: 'platform',
        target_id: short,
        details: { before: new Date(cutoff).toISOString(), events: 2 },
      },
    ])
  })

  it('leave whole months at once, but none to which another datasource has added', async () => {
    const month = Date.UTC(2024, 4, 10)
    const at = (d: string, time: number) => event(d, time - cutoff)
    const partition = async (name: string) =>
      ground.query<{ datasource: string; n: number }>(
        `SELECT datasource, count() AS n FROM events WHERE _partition_id = '${name}' GROUP BY datasource`,
      )
    await ground.append([at(short, month), at(short, Date.UTC(2024, 5, 10)), at(long, Date.UTC(2024, 5, 9))])
    await ground.load()
    await keep('datasources', short, 30)
    await expired()
    expect(await partition('202405')).toEqual([])
    expect(await partition('202406')).toEqual([{ datasource: long, n: 1 }])
  })

  it('stay while a batch is being stored that could add to what is dropped', async () => {
    const time = Date.UTC(2023, 1, 10) - cutoff
    await ground.append([event(short, time)])
    await ground.load()
    await keep('datasources', short, 30)
    await ground.append([event(long, time)])
    const { promise: storing, resolve: began } = Promise.withResolvers<void>()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const loader = ground.startLoader({
      store: {
        ...ground.store,
        async insertEvents(months, selection) {
          began()
          await released
          await ground.store.insertEvents(months, selection)
        },
      },
    })
    try {
      await storing
      release()
      await ground.loaded()
      await until(async () => (await oldRows()).length === 0)
    } finally {
      await loader.stop()
    }
    expect((await ground.stored(k)).events).toMatchObject([{ datasource: long }])
  })

  it('are removed by the next process where one was killed in between', async () => {
    await ground.append([
      purchase(short, 10, 'both', '20'),
      purchase(short, -10, 'both', '10'),
      event(short, -40 * day),
    ])
    await ground.load()
    await keep('datasources', short, 30)
    // Killed when the orders were removed and not yet computed again.
    await ground.engine.command({
      sql: `ALTER TABLE orders DELETE WHERE company = '${k}' SETTINGS mutations_sync = 1`,
    })
    await ground.killEngine()
    await expired()
    expect(await ground.stored(k)).toMatchObject({
      events: [{ datasource: short, value: 20 }],
      orders: [{ trans_id: 'both', value: 20, version: 1 }],
    })
  })
})

describe('when events expire', () => {
  it('is not before a day has passed in which it can be undone', async () => {
    const { pool } = ground.database
    await pool.query('update companies set event_retention_days = 30 where id = $1', [k])
    expect(await dueHere()).toEqual([])
    await keep('companies', k, 30)
    expect(await dueHere()).toEqual([
      { companyIds: [k], datasourceIds: [short, long].sort(), before: new Date(cutoff) },
    ])
    // A change that says the same again does not put it off.
    await pool.query('update companies set event_retention_days = 30 where id = $1', [k])
    expect(await dueHere()).toHaveLength(1)
    await pool.query('update companies set event_retention_days = 31 where id = $1', [k])
    expect(await dueHere()).toEqual([])
  })

  it('is what the datasource says, else the company, and never without either', async () => {
    expect(await dueHere()).toEqual([])
    await keep('companies', k, 60)
    await keep('datasources', short, 30)
    expect(await dueHere()).toEqual([
      { companyIds: [k], datasourceIds: [long], before: new Date(cutoff - 30 * day) },
      { companyIds: [k], datasourceIds: [short], before: new Date(cutoff) },
    ])
    // Back to the company's: that was said just now.
    await ground.database.pool.query('update datasources set event_retention_days = null where id = $1', [
      short,
    ])
    expect(await dueHere()).toMatchObject([{ datasourceIds: [long] }])
  })

  it('waits for experiments that need them', async () => {
    const { pool } = ground.database
    await keep('companies', k, 30)
    const [id, user, role] = [newId(), newId(), newId()]
    await pool.query(`insert into roles (id, company_id, name) values ($1, $2, 'All')`, [role, k])
    await pool.query(
      `insert into users (id, company_id, role_id, email, status) values ($1, $2, $3, 'a@acme.example', 'active')`,
      [user, k, role],
    )
    await pool.query(
      `insert into experiments (id, company_id, name, created_by, type, unit, baseline_variant_id, metrics,
         conversion_window_hours, salt, status, started_at, cuped_days)
       values ($1, $2, 'Prices', $3, 'ab', 'user', 'a', '[{}]', 24, 'x', 'running', now() - interval '50 days', 14)`,
      [id, k, user],
    )
    const held = new Date(cutoff - (50 + 7 + 14 - 30) * day)
    expect(await dueHere()).toMatchObject([{ before: held }])
    const { planFor } = createExpiryStore(ground.database.db)
    expect(await planFor({ companyId: k, days: 30 })).toMatchObject({
      expiry: { before: held },
      held: [{ id, name: 'Prices' }],
    })
    expect(await planFor({ companyId: k, days: 100 })).toMatchObject({ held: [] })
    await pool.query(
      `update experiments set status = 'decided', ended_at = now(), decided_at = now(), outcome = '{}' where id = $1`,
      [id],
    )
    expect(await dueHere()).toMatchObject([{ before: new Date(cutoff) }])
  })
})
