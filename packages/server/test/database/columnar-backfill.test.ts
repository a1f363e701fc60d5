import { afterAll, beforeAll, expect, test } from 'vitest'
import { columnarDirectory } from '../../src/database/migrate.ts'
import { createOrderStore } from '../../src/features/loading/order-store.ts'
import { readMigrations } from '../../src/platform/migrations/migrations.ts'
import { splitStatements } from '../../src/platform/migrations/sql-statements.ts'
import { createTestColumnar, type TestEngine } from '../support/columnar.ts'
import { testCompany, testDatasource } from '../support/statistics-events.ts'

let engine: TestEngine

beforeAll(async () => {
  engine = await createTestColumnar({ migrated: false })
})
afterAll(() => engine.close())

const statementsOf = (numbers: (number: number) => boolean): string[] =>
  readMigrations(columnarDirectory)
    .filter(({ number }) => numbers(number))
    .flatMap(({ sql }) => splitStatements(sql).map(({ text }) => text))

/** 3,000 events of about 1,000 orders in two companies, of every kind that merging distinguishes. */
const stored = `
  SELECT if(n % 7 = 0, '64b7f0a1c2d3e4f5a6b7c8da', '${testCompany}') AS company, '${testDatasource}' AS datasource,
    toDateTime64('2026-01-01 00:00:00', 3, 'UTC') + toIntervalMinute(sipHash64(n) % 100000) AS time, time AS received, n AS seq,
    toString(n) AS event_text, if(n % 3 = 0, 'purchase_references', 'purchase') AS name, 'https://shop.example/' AS url,
    concat('device-', toString(n % 50)) AS tmp_id, if(n % 4 = 0, concat('client-', toString(n % 9)), '') AS client_id,
    sipHash64(tmp_id) AS device, if(client_id = '', 0, sipHash64(client_id)) AS client,
    if(n % 5 = 0, [], [toString(n % 20)]) AS ids, if(n % 3 = 0, NULL, toDecimal64(n % 100, 2)) AS value,
    if(n % 10 = 0, '', concat('order-', toString(sipHash64(n, 1) % 1000))) AS trans_id,
    map(concat('key-', toString(n % 6)), toString(n)) AS labels, 'desktop' AS device_type, 'Linux' AS os
  FROM (SELECT number + 1 AS n FROM numbers(3000))`

const columns = 'SELECT * FROM orders FINAL ORDER BY company, time, purchase'

test('what was stored before becomes orders as loading makes them, however often the migration is interrupted', async () => {
  for (const sql of statementsOf((number) => number <= 3)) await engine.command({ sql })
  for (const table of ['events', 'purchases']) {
    const names = (await engine.query<{ name: string }>({ sql: `DESCRIBE (${stored})` })).map(
      ({ name }) => name,
    )
    await engine.command({ sql: `INSERT INTO ${table} (${names.join(', ')}) ${stored}` })
  }
  // Each statement twice: its record was lost, and it is run again.
  for (const sql of statementsOf((number) => number > 3)) {
    await engine.command({ sql })
    await engine.command({ sql })
  }
  const migrated = await engine.query({ sql: columns })
  expect(migrated.length).toBeGreaterThan(1_000)
  const [sums] = await engine.query<{ pieces: number; orders: number }>({
    sql: `SELECT (SELECT sum(version) FROM orders FINAL) AS pieces, (SELECT uniqExact(purchase) FROM purchases) AS orders`,
  })
  expect(sums).toEqual({ pieces: 3_000, orders: migrated.length })
  expect(
    await engine.query({ sql: 'SELECT DISTINCT company, source, key FROM label_keys ORDER BY ALL' }),
  ).toHaveLength(2 * 2 * 6)

  // The same from nothing, by the loader, of events that are staged.
  await engine.command({ sql: 'TRUNCATE TABLE orders' })
  await engine.command({ sql: 'TRUNCATE TABLE order_events' })
  await engine.command({
    sql: `INSERT INTO staging (q, z, k, d, t, r, n, u, p, c, event_text, x, sound)
          SELECT seq, 'e', company, datasource, toUnixTimestamp64Milli(time), toUnixTimestamp64Milli(time), name, url, tmp_id,
            client_id, event_text, trans_id, true FROM (${stored})`,
  })
  const store = createOrderStore({
    run: (statement) => engine.command(statement),
    empty: (table) => engine.command({ sql: `TRUNCATE TABLE ${table}` }),
    settingsOf: () => ({ optimize_on_insert: 0 }),
  })
  const staging = { table: 'staging', size: 'small' } as const
  await store.findOrderEvents(staging)
  await store.insertOrders(staging)
  await store.insertOrders(staging)
  expect(await engine.query({ sql: columns })).toEqual(migrated)
})
