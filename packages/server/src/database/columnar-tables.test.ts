import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestColumnar, startColumnarServer, type TestColumnar } from '../../test/support/columnar.ts'
import { cloneTable, copyTable, dropClones, tableNames } from './columnar-tables.ts'

let server: Awaited<ReturnType<typeof startColumnarServer>>
let own: TestColumnar
beforeAll(async () => {
  server = await startColumnarServer()
  own = await createTestColumnar({ migrated: false })
})
afterAll(async () => {
  await server?.close()
  await own?.close()
})

const both = async (sql: string) => {
  for (const each of [server, own]) await each.command({ sql })
}

test('a copy of a clone has the rows of its moment, in every partition, without those that were removed', async () => {
  await both(`CREATE TABLE facts (id UInt64, at Date, labels Map(LowCardinality(String), String),
    value Nullable(Decimal(18, 2)), twice UInt64 ALIAS id * 2) ENGINE = MergeTree PARTITION BY at ORDER BY id`)
  // More partitions than one insert may have.
  await server.command({
    sql: `INSERT INTO facts SELECT number, toDate('2026-01-01') + number % 150, map('a', toString(number)),
            if(number % 3 = 0, NULL, number / 4) FROM numbers(3000)`,
    settings: { max_partitions_per_insert_block: 200 },
  })
  await server.command({ sql: 'DELETE FROM facts WHERE id = 7' })
  const source = await cloneTable(server, 'facts')
  await server.command({ sql: 'INSERT INTO facts (id, at) VALUES (9999, today())' })
  let partitions = 0
  const onPartition = async () => void partitions++
  await copyTable(server, own, 'facts', { source, onPartition })
  const sums = (table: string) => ({
    sql: `SELECT count() AS rows, sum(id) AS ids, sum(value) AS values, countIf(value IS NULL) AS none,
            sum(cityHash64(labels)) AS labels FROM ${table}`,
  })
  expect(await own.query(sums('facts'))).toEqual(await server.query(sums(source)))
  expect(await own.query(sums('facts'))).toEqual([expect.objectContaining({ rows: 2999 })])
  expect(partitions).toBe(150)
  await dropClones(server)
  expect(await tableNames(server)).toEqual(['facts'])
})

test('a copy has the last of several rows of one key, and one that lacks rows is no copy', async () => {
  await both('CREATE TABLE named (id UInt64, name String) ENGINE = ReplacingMergeTree ORDER BY id')
  await server.command({ sql: 'SYSTEM STOP MERGES' })
  for (const name of ['first', 'second', 'third'])
    await server.command({ sql: `INSERT INTO named SELECT number, '${name}' FROM numbers(5)` })
  await copyTable(server, own, 'named')
  await own.command({ sql: 'OPTIMIZE TABLE named FINAL' })
  expect(await own.query({ sql: 'SELECT DISTINCT name FROM named' })).toEqual([{ name: 'third' }])
  await own.command({ sql: 'DELETE FROM named WHERE id = 1' })
  await expect(
    copyTable(
      {
        ...server,
        stream: (statement) => server.stream({ ...statement, sql: `${statement.sql} AND id > 1` }),
      },
      own,
      'named',
    ),
  ).rejects.toThrow('named has 4 rows after the copy, and 5 before')
})

test('a copy has more rows, and more bytes, than a usual result', async () => {
  await both('CREATE TABLE texts (id UInt64, text String) ENGINE = MergeTree ORDER BY id')
  await own.command({ sql: "INSERT INTO texts SELECT number, repeat('x', 3000) FROM numbers(200000)" })
  await own.command({ sql: "INSERT INTO texts SELECT number, '' FROM numbers(10800000)" })
  await copyTable(own, server, 'texts')
  expect(
    await server.query({ sql: 'SELECT count() AS rows, sum(length(text)) AS bytes FROM texts' }),
  ).toEqual([{ rows: 11_000_000, bytes: 600_000_000 }])
})
