import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventColumns, rowColumns } from '../../src/database/event-columns.ts'
import { columnarDirectory } from '../../src/database/migrate.ts'
import { orderColumns } from '../../src/features/events/loading/order-store.ts'
import { readMigrations } from '../../src/platform/migrations/migrations.ts'
import { splitStatements } from '../../src/platform/migrations/sql-statements.ts'
import { createTestColumnar, type TestEngine } from '../support/columnar.ts'

let engine: TestEngine

beforeAll(async () => {
  engine = await createTestColumnar()
})
afterAll(() => engine.close())

/** Columns of a table that are stored, each with its type. */
async function columnsOf(table: string): Promise<Record<string, string>> {
  const rows = await engine.query<{ name: string; type: string }>({
    sql: `SELECT name, type FROM system.columns
          WHERE database = currentDatabase() AND table = {table: String} AND default_kind != 'ALIAS'`,
    params: { table },
  })
  return Object.fromEntries(rows.map(({ name, type }) => [name, type]))
}

interface Entry {
  readonly type: string
  readonly column?: string
  readonly stored?: string
}

/** What a table must have of a definition, each column with its type. */
function defined(definition: Readonly<Record<string, Entry>>): Record<string, string> {
  return Object.fromEntries(
    Object.values(definition).flatMap(({ column, type, stored }) =>
      column === undefined ? [] : [[column, stored ?? type]],
    ),
  )
}

test('events have the columns of the definition, of its types, and no others', async () => {
  expect(await columnsOf('events')).toEqual(defined(rowColumns))
})

test('purchases have the same and the order that they belong to', async () => {
  expect(await columnsOf('purchases')).toEqual({ ...defined(rowColumns), purchase: 'UInt128' })
})

test('orders have the columns that merging gives them', async () => {
  expect(Object.keys(await columnsOf('orders')).sort()).toEqual(Object.keys(orderColumns).sort())
})

test('each column is made of one column of staging', () => {
  expect(Object.keys(eventColumns).sort()).toEqual(Object.keys(defined(rowColumns)).sort())
})

test('a column without entry and an entry without column are seen', async () => {
  const entry = { type: 'String', column: 'referrer' }
  expect(await columnsOf('events')).not.toEqual(defined({ ...rowColumns, rf: entry }))
  await engine.command({ sql: 'ALTER TABLE events ADD COLUMN referrer String' })
  expect(await columnsOf('events')).not.toEqual(defined(rowColumns))
  expect(await columnsOf('events')).toEqual(defined({ ...rowColumns, rf: entry }))
  await engine.command({ sql: 'ALTER TABLE events DROP COLUMN referrer' })
})

test('rows that were stored before the columns of origin and of experiments have them empty', async () => {
  const store = await createTestColumnar({ migrated: false })
  const apply = async (migration: { sql: string } | undefined) => {
    for (const { text } of splitStatements(migration?.sql ?? '')) await store.command({ sql: text })
  }
  try {
    const [baseline, ...later] = readMigrations(columnarDirectory)
    await apply(baseline)
    for (const table of ['events', 'purchases']) {
      await store.command({ sql: `INSERT INTO ${table} (company, browser) VALUES ('c', 'Firefox')` })
    }
    for (const migration of later) await apply(migration)
    for (const table of ['events', 'purchases']) {
      expect(
        await store.query({
          sql: `SELECT company, browser, referrer_host, country, exposures FROM ${table}`,
        }),
      ).toEqual([{ company: 'c', browser: 'Firefox', referrer_host: '', country: '', exposures: [] }])
    }
  } finally {
    await store.close()
  }
})
