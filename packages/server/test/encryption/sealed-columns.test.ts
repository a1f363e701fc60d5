import { afterAll, beforeAll, expect, test } from 'vitest'
import { everySealedColumn, tableOf } from '../../src/features/encryption/key-rotation-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})

afterAll(() => database.close())

const listed = everySealedColumn.map((sealed) => `${tableOf(sealed)}.${sealed.column.name}`).sort()

const columnsOf = async (condition: string): Promise<string[]> => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = current_schema() and ${condition}`,
  )
  return rows.map(({ name }) => name).sort()
}

/** Bytes that are no secret: digests, as the keys of counters are, and results, which are as readable as the facts. */
const isNoSecret = (column: string) => /(_hash|\.key|^saved_query_results\.content)$/.test(column)

test('every column of bytes in the database is no secret, or listed as sealed', async () => {
  const bytes = await columnsOf(`udt_name = 'bytea'`)
  expect(bytes.filter((column) => !isNoSecret(column))).toEqual(listed)
  expect(bytes.length).toBeGreaterThan(listed.length)
})

test('every column that is called sealed is listed, whatever its type', async () => {
  expect(await columnsOf(`column_name like '%sealed%'`)).toEqual(listed)
  for (const column of listed) expect(column).toMatch(/\.sealed_/)
})

test('each column has a context of its own, and so has each row of it', () => {
  const contexts = everySealedColumn.flatMap(({ contextOf }) => [contextOf('1'), contextOf('2')])
  expect(new Set(contexts).size).toBe(2 * everySealedColumn.length)
  for (const { id, column } of everySealedColumn) {
    expect(id.primary).toBe(true)
    expect(id.table).toBe(column.table)
  }
})
