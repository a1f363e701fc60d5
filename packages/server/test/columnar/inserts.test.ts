import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { lines, onBothHomes, outcome } from '../support/columnar-homes.ts'

onBothHomes('inserts', (columnar) => {
  describe('inserts', () => {
    test('take 100,000 rows from a buffer', async () => {
      await columnar.command({
        sql: 'CREATE TABLE many (id UInt64, text String) ENGINE = MergeTree ORDER BY id',
      })
      const body = lines(100_000, (id) => ({ id, text: `row ${id} "quoted" \\ \t é 😀` }))
      await columnar.insert({ table: 'many', columns: ['id', 'text'], format: 'JSONEachRow', body })
      const rows = await columnar.query({
        sql: 'SELECT count() AS n, uniqExact(id) AS ids, max(id) AS last, anyIf(text, id = 7) AS text FROM many',
      })
      expect(rows).toEqual([{ n: 100_000, ids: 100_000, last: 99_999, text: 'row 7 "quoted" \\ \t é 😀' }])
    })

    test('take rows from a stream, whatever its pieces', async () => {
      await columnar.command({
        sql: 'CREATE TABLE pieces (id UInt64, text String) ENGINE = MergeTree ORDER BY id',
      })
      const bytes = lines(5000, (id) => ({ id, text: 'é'.repeat(id % 50) }))
      const pieces = Array.from({ length: Math.ceil(bytes.length / 777) }, (_, i) =>
        bytes.subarray(i * 777, (i + 1) * 777),
      )
      const body = Readable.from(pieces, { objectMode: false })
      await columnar.insert({ table: 'pieces', format: 'JSONEachRow', body })
      expect(
        await columnar.query({ sql: 'SELECT count() AS n, sum(lengthUTF8(text)) AS length FROM pieces' }),
      ).toEqual([{ n: 5000, length: 122_500 }])
    })

    test('fill absent columns with their defaults', async () => {
      await columnar.command({
        sql: `CREATE TABLE defaults (id UInt64, text String DEFAULT concat('row ', toString(id)), twice UInt64 MATERIALIZED id * 2,
                value Nullable(Decimal(18, 2)), labels Map(LowCardinality(String), String), ids Array(String))
              ENGINE = MergeTree ORDER BY id`,
      })
      const body = Buffer.from(
        '{"id":1}\n{"id":2,"text":"given","value":"4.35","labels":{"a":"b"},"ids":["x","y"]}',
      )
      const columns = ['labels', 'value', 'ids', 'id', 'text']
      await columnar.insert({ table: 'defaults', columns, format: 'JSONEachRow', body })
      expect(await columnar.query({ sql: 'SELECT *, twice FROM defaults ORDER BY id' })).toEqual([
        { id: 1, text: 'row 1', value: null, labels: {}, ids: [], twice: 2 },
        { id: 2, text: 'given', value: 4.35, labels: { a: 'b' }, ids: ['x', 'y'], twice: 4 },
      ])
    })

    test('of nothing store nothing', async () => {
      await columnar.insert({ table: 'facts', format: 'JSONEachRow', body: Buffer.alloc(0) })
      expect(await columnar.query({ sql: 'SELECT count() AS n FROM facts' })).toEqual([{ n: 0 }])
    })

    test('into a table that does not exist fail without reading the rows', async () => {
      const body = lines(100_000, (id) => ({ id, text: 'x'.repeat(100) }))
      expect(await outcome(columnar.insert({ table: 'nowhere', format: 'JSONEachRow', body }))).toMatchObject(
        {
          code: 60,
        },
      )
      expect(await columnar.query({ sql: 'SELECT 1 AS n' })).toEqual([{ n: 1 }])
    })

    test('whose source breaks off store nothing', async () => {
      await columnar.command({
        sql: 'CREATE TABLE broken (id UInt64, text String) ENGINE = MergeTree ORDER BY id',
      })
      const body = Readable.from(
        (async function* () {
          yield lines(50_000, (id) => ({ id, text: 'x'.repeat(100) }))
          await sleep(100)
          throw new Error('the disk is on fire')
        })(),
        { objectMode: false },
      )
      expect(await outcome(columnar.insert({ table: 'broken', format: 'JSONEachRow', body }))).toBeInstanceOf(
        Error,
      )
      await sleep(200)
      expect(await columnar.query({ sql: 'SELECT count() AS n FROM broken' })).toEqual([{ n: 0 }])
    })

    test('that are aborted store nothing', async () => {
      await columnar.command({
        sql: 'CREATE TABLE aborted (id UInt64, text String) ENGINE = MergeTree ORDER BY id',
      })
      const abort = new AbortController()
      const body = Readable.from(
        (async function* () {
          yield lines(50_000, (id) => ({ id, text: 'x'.repeat(100) }))
          setTimeout(() => abort.abort(new Error('enough')), 50)
          await sleep(60_000, undefined, { signal: abort.signal }).catch(() => {})
        })(),
        { objectMode: false },
      )
      const error = await outcome(
        columnar.insert({ table: 'aborted', format: 'JSONEachRow', body, signal: abort.signal }),
      )
      expect(error).toMatchObject({ message: 'enough' })
      await sleep(200)
      expect(await columnar.query({ sql: 'SELECT count() AS n FROM aborted' })).toEqual([{ n: 0 }])
    })
  })
})
