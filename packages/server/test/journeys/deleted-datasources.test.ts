import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { statisticsTables, tablesOfEvents } from '../../src/database/event-tables.ts'
import { columnarDirectory } from '../../src/database/migrate.ts'
import { withoutDatasources } from '../../src/features/events/loading/removals/hidden-datasource-store.ts'
import { requestPurge, undoPurge } from '../../src/features/events/loading/removals/purge-ledger-store.ts'
import { newId } from '../../src/platform/ids.ts'
import { readMigrations } from '../../src/platform/migrations/migrations.ts'
import { splitStatements } from '../../src/platform/migrations/sql-statements.ts'
import { createLoadingGround, eventRow, type LoadingGround, type LogRow } from '../support/loading.ts'
import { until } from '../support/until.ts'

let ground: LoadingGround
/** A company with a datasource that is deleted and one that stays. */
let k: string
let gone: string
let kept: string

beforeAll(async () => {
  ground = await createLoadingGround()
})
afterAll(() => ground.close())
beforeEach(() => {
  k = newId()
  gone = newId()
  kept = newId()
})

const now = Date.now()
const hour = 3_600_000
const event = (d: string, fields: LogRow = {}): LogRow =>
  eventRow({ k, d, r: now, t: now - 5 * hour, ...fields })
const purchase = (d: string, hoursAgo: number, value: string, fields: LogRow = {}): LogRow =>
  event(d, { n: 'purchase', x: 'order', v: value, t: now - hoursAgo * hour, ...fields })

/** One of everything that a datasource can tell. */
const all = (d: string): LogRow[] => [
  event(d, { n: 'identify', p: 'device', c: `client of ${d}`, l: { [`label of ${d}`]: '1', shared: '1' } }),
  event(d, { n: 'workflow_click', l: { workflowId: newId(), 'parameter.name': 'x' } }),
  event(d, { t: Date.UTC(2026, 1, 1) }),
  purchase(d, 1, '5', { x: `order of ${d}` }),
  { z: 'dropped', k, d, r: now, rule: 'unknown-name', path: 'name', sample: 'x', m: 1, fault: '' },
]

const deleteDatasource = (undoDays = 0) =>
  requestPurge(ground.database.db, { companyId: k, datasourceId: gone }, { undoDays })
/** Until its orders are computed without it. */
async function uncounted(): Promise<void> {
  const loader = ground.startLoader()
  try {
    await until(async () => (await ground.purges.listOpen()).every((each) => each.isUncounted))
    await ground.loaded()
  } finally {
    await loader.stop()
  }
}
const rowsOnDisk = async (d: string): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const table of tablesOfEvents) {
    const final = ['orders', 'identities', 'label_keys'].includes(table) ? 'FINAL' : ''
    const [row] = await ground.query<{ n: number }>(
      `SELECT count() AS n FROM ${table} ${final} WHERE company = '${k}' AND datasource = '${d}'`,
    )
    if (row?.n) counts[table] = row.n
  }
  return counts
}
/** Until the purges that were asked for are done. */
async function purged(): Promise<void> {
  const loader = ground.startLoader()
  try {
    await ground.loaded()
    await ground.hidden.refresh()
    while (ground.hidden.ids().length > 0) await ground.hidden.changed(AbortSignal.timeout(60_000))
  } finally {
    await loader.stop()
  }
}
const orders = (columnar: Pick<typeof ground.engine, 'query'> = ground.engine) =>
  columnar.query({
    sql: `SELECT trans_id, datasource, toString(value) AS value, version FROM orders FINAL
          WHERE company = '${k}' ORDER BY trans_id`,
  })

describe('a deleted datasource', () => {
  it('is hidden in every table at once, and costs statements of others nothing', async () => {
    const columnar = withoutDatasources(ground.engine, ground.hidden)
    await ground.append([...all(gone), ...all(kept)])
    await ground.load()
    const before = await rowsOnDisk(kept)
    expect(Object.keys(before)).toEqual(expect.arrayContaining([...statisticsTables]))
    await deleteDatasource()
    await ground.hidden.refresh()
    for (const table of statisticsTables) {
      const rows = await columnar.query({
        sql: `SELECT DISTINCT datasource FROM ${table} WHERE company = '${k}'`,
      })
      expect({ table, rows }).toEqual({ table, rows: [{ datasource: kept }] })
    }
    const statement = { sql: 'SELECT 1' }
    const asked: unknown[] = []
    const watched = { ...ground.engine, query: async (each: unknown) => void asked.push(each) as never }
    await withoutDatasources(watched, { ids: () => [] }).query(statement)
    expect(asked[0]).toBe(statement)
    await purged()
    expect(await rowsOnDisk(kept)).toEqual(before)
    expect(await rowsOnDisk(gone)).toEqual({})
  })

  it('leaves orders that others have told of too as these tell them', async () => {
    await ground.append([
      purchase(gone, 4, '10', { l: { first: '1' } }),
      purchase(kept, 3, '20'),
      purchase(gone, 9, '30', { x: 'second' }),
      purchase(kept, 9, '40', { x: 'second', t: now - 9 * hour - 1 }),
      purchase(gone, 2, '50', { x: 'its own' }),
    ])
    await ground.load()
    expect(await orders()).toMatchObject([
      { trans_id: 'its own' },
      { trans_id: 'order', datasource: gone, value: '10', version: 2 },
      { trans_id: 'second', datasource: kept, value: '40', version: 2 },
    ])
    await deleteDatasource()
    // Events of these orders that are loaded meanwhile, of both.
    await ground.append([
      purchase(kept, 2, '25'),
      purchase(gone, 1, '60'),
      purchase(kept, 1, '45', { x: 'second' }),
    ])
    await purged()
    expect(await orders()).toEqual([
      { trans_id: 'order', datasource: kept, value: '20', version: 2 },
      { trans_id: 'second', datasource: kept, value: '40', version: 2 },
    ])
    await ground.append([purchase(kept, 6, '70')])
    await ground.load()
    expect(await orders()).toMatchObject([{ value: '70', version: 3 }, { value: '40' }])
  })

  it('gets none of the events that wait in the log, or come in a batch that is under way', async () => {
    await ground.append([...all(gone), ...all(kept)])
    const insertKeys: typeof ground.store.insertKeys = async (selection) => {
      await ground.store.insertKeys(selection)
      await deleteDatasource()
    }
    const loader = ground.startLoader({ store: { ...ground.store, insertKeys } })
    await ground.loaded()
    await loader.stop()
    await purged()
    expect(await rowsOnDisk(gone)).toEqual({})
    await ground.append([...all(gone), ...all(kept)])
    await ground.load()
    expect(await rowsOnDisk(gone)).toEqual({})
    expect(await rowsOnDisk(kept)).toMatchObject({ events: 8, purchases: 2, orders: 1, identities: 1 })
    const counters = await ground.counters(gone)
    expect(counters).toMatchObject({ accepted: 4, dropped: 1 + 4 + 1 })
  })

  it('is removed by the next process where one has ended in between', async () => {
    await ground.append([...all(gone), purchase(gone, 4, '10'), purchase(kept, 3, '20')])
    await ground.load()
    await deleteDatasource()
    // Ends as soon as something was removed.
    await ground.engine.command({
      sql: `ALTER TABLE orders DELETE WHERE purchase IN
              (SELECT purchase FROM purchases WHERE datasource = '${gone}') SETTINGS mutations_sync = 1`,
    })
    expect(await orders()).toEqual([])
    await ground.killEngine()
    await purged()
    expect(await orders()).toEqual([{ trans_id: 'order', datasource: kept, value: '20', version: 1 }])
    expect(await rowsOnDisk(gone)).toEqual({})
  })
})

describe('a deletion that can be undone', () => {
  const seen = async () => {
    await ground.hidden.refresh()
    const columnar = withoutDatasources(ground.engine, ground.hidden)
    const events = await columnar.query({
      sql: `SELECT datasource, name, seq FROM events WHERE company = '${k}' ORDER BY seq`,
    })
    return { events, orders: await orders(columnar) }
  }
  const rows = () => [
    ...all(gone),
    ...all(kept),
    purchase(gone, 4, '10'),
    purchase(kept, 3, '20'),
    purchase(gone, 2, '30', { x: 'its own' }),
  ]

  it('hides the datasource at once and leaves everything on disk, also what waited in the log', async () => {
    await ground.append(rows())
    await ground.load()
    const before = await seen()
    const disk = await rowsOnDisk(gone)
    await deleteDatasource(7)
    await ground.append([event(gone), purchase(gone, 1, '40', { x: 'waited' }), purchase(gone, 5, '50')])
    await uncounted()
    const hidden = await seen()
    expect(hidden.events).toEqual(
      before.events.filter((each) => (each as { datasource: string }).datasource === kept),
    )
    expect(hidden.orders).toMatchObject([
      { trans_id: 'order', datasource: kept, value: '20', version: 1 },
      { trans_id: `order of ${kept}` },
    ])
    expect((await rowsOnDisk(gone)).events).toBe((disk.events ?? 0) + 3)
    // Another event of an order that both have told, while one of them is hidden.
    await ground.append([purchase(kept, 2.5, '25')])
    await ground.load()
    expect((await seen()).orders).toMatchObject([{ datasource: kept, value: '20', version: 2 }, {}])

    expect(await undoPurge(ground.database.db, gone)).toEqual({ wasPaused: false })
    await purged()
    const after = await seen()
    expect(after.events).toHaveLength(before.events.length + 4)
    expect(after.orders).toMatchObject([
      { trans_id: 'its own', datasource: gone, value: '30' },
      { trans_id: 'order', datasource: gone, value: '50', version: 4 },
      { trans_id: `order of ${gone}` },
      { trans_id: `order of ${kept}` },
      { trans_id: 'waited', datasource: gone, value: '40' },
    ])
    expect(await undoPurge(ground.database.db, gone)).toBeUndefined()
  })

  it('is carried out once its days are over', async () => {
    await ground.append(rows())
    await ground.load()
    await deleteDatasource(7)
    await uncounted()
    await ground.database.pool.query('update event_purges set purge_after = now() where datasource_id = $1', [
      gone,
    ])
    expect(await undoPurge(ground.database.db, gone)).toBeUndefined()
    await purged()
    expect(await rowsOnDisk(gone)).toEqual({})
    expect(await orders()).toMatchObject([
      { trans_id: 'order', datasource: kept },
      { trans_id: `order of ${kept}` },
    ])
  })

  it('holds where it is asked for again before the first one is undone', async () => {
    await ground.append(rows())
    await ground.load()
    const before = await rowsOnDisk(gone)
    await deleteDatasource(7)
    await uncounted()
    await undoPurge(ground.database.db, gone)
    await deleteDatasource(7)
    await uncounted()
    expect((await seen()).orders).toMatchObject([{ datasource: kept }, { trans_id: `order of ${kept}` }])
    const { orders: _orders, ...others } = await rowsOnDisk(gone)
    expect(before).toMatchObject(others)
    await undoPurge(ground.database.db, gone)
    await purged()
    expect(await rowsOnDisk(gone)).toEqual(before)
  })
})

it('a migration brings what datasources told before, however often it is repeated', async () => {
  await ground.append([...all(gone), ...all(kept)])
  await ground.load()
  const told = async () => ({
    bindings: await ground.query(`SELECT * FROM identities FINAL WHERE company = '${k}' ORDER BY ALL`),
    keys: await ground.query(`SELECT * FROM label_keys FINAL WHERE company = '${k}' ORDER BY ALL`),
  })
  const before = await told()
  expect(before.bindings).toHaveLength(2)
  expect(before.keys).toHaveLength(8)
  for (const table of ['identities', 'label_keys']) {
    await ground.engine.command({
      sql: `INSERT INTO ${table} SELECT * REPLACE ('' AS datasource) FROM ${table} WHERE company = '${k}'`,
    })
    await ground.engine.command({
      sql: `ALTER TABLE ${table} DELETE WHERE company = '${k}' AND datasource != '' SETTINGS mutations_sync = 1`,
    })
  }
  const migration = readMigrations(columnarDirectory).find(({ number }) => number === 7)
  for (let time = 0; time < 2; time++) {
    for (const { text } of splitStatements(migration?.sql ?? '')) await ground.engine.command({ sql: text })
  }
  expect(await told()).toEqual(before)
})

it('every table with a datasource is one whose rows are removed', async () => {
  const tables = await ground.query<{ table: string }>(
    `SELECT table FROM system.columns
     WHERE database = currentDatabase() AND name = 'datasource' AND NOT startsWith(table, 'staging') ORDER BY table`,
  )
  expect(tables.map(({ table }) => table)).toEqual([...tablesOfEvents].sort())
})
