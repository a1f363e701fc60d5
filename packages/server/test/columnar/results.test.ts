import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ColumnarError } from '../../src/platform/stores/columnar.ts'
import { lines, onBothHomes, outcome, textOf } from '../support/columnar-homes.ts'

onBothHomes('results and errors', (columnar) => {
  describe('results', () => {
    test('hold numbers, null for NaN, and times in UTC', async () => {
      const [row] = await columnar.query({
        sql: `SELECT toUInt64(9007199254740991) AS big, toDecimal64('12.30', 2) AS money, 0 / 0 AS nan,
                toDateTime64('2024-01-02 03:04:05.678', 3) AS time, [1, 2] AS list, now() - now('UTC') AS zone`,
      })
      expect(row).toEqual({
        big: 9_007_199_254_740_991,
        money: 12.3,
        nan: null,
        time: '2024-01-02 03:04:05.678',
        list: [1, 2],
        zone: 0,
      })
    })

    test('of 200,000 rows arrive whole', async () => {
      const rows = await columnar.query<{ n: number; t: string }>({
        sql: "SELECT number AS n, concat('é', toString(number)) AS t FROM numbers(200000) ORDER BY n",
      })
      expect(rows).toHaveLength(200_000)
      expect(rows.at(-1)).toEqual({ n: 199_999, t: 'é199999' })
    })

    test('stream as bytes of the format asked for', async () => {
      const sql = "SELECT number AS n, if(n = 1, 'a \"b\", c', '') AS t FROM numbers(2)"
      expect(await textOf(await columnar.stream({ sql, format: 'CSVWithNames' }))).toBe(
        '"n","t"\n0,""\n1,"a ""b"", c"\n',
      )
      expect(await textOf(await columnar.stream({ sql, format: 'JSONCompactEachRow' }))).toBe(
        '[0, ""]\n[1, "a \\"b\\", c"]\n',
      )
      expect(JSON.parse(await textOf(await columnar.stream({ sql, format: 'JSON' })))).toMatchObject({
        rows: 2,
      })
    })

    test('have one header however many blocks they have', async () => {
      const stream = await columnar.stream({
        sql: 'SELECT number FROM numbers(500000)',
        format: 'CSVWithNames',
      })
      const text = await textOf(stream)
      expect(text.split('\n')).toHaveLength(500_002)
      expect(text.match(/number/g)).toHaveLength(1)
    })

    test('that are empty have a header or nothing', async () => {
      const sql = 'SELECT number FROM numbers(0)'
      expect(await textOf(await columnar.stream({ sql, format: 'CSVWithNames' }))).toBe('"number"\n')
      expect(await textOf(await columnar.stream({ sql, format: 'JSONEachRow' }))).toBe('')
      expect(await columnar.query({ sql })).toEqual([])
    })

    test('wait for a slow reader', async () => {
      const before = process.memoryUsage().arrayBuffers
      let held = 0
      const stream = await columnar.stream({
        sql: "SELECT repeat('x', 1000) FROM numbers(200000)",
        format: 'TabSeparated',
        settings: { max_execution_time: 600 },
      })
      let size = 0
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        if (size === 0) {
          await sleep(300)
          held = process.memoryUsage().arrayBuffers - before
        }
        size += chunk.length
      }
      expect(size).toBe(200_000 * 1001)
      expect(held).toBeLessThan(size / 4)
    })
  })

  describe('errors', () => {
    test('carry code, name and message', async () => {
      const error = await outcome(columnar.query({ sql: 'SELECT * FROM nowhere' }))
      expect(error).toBeInstanceOf(ColumnarError)
      expect(error).toMatchObject({ code: 60, type: 'UNKNOWN_TABLE', passing: false })
      expect((error as Error).message).toMatch(/nowhere/)
      expect(await outcome(columnar.query({ sql: 'SELEC 1' }))).toMatchObject({
        code: 62,
        type: 'SYNTAX_ERROR',
      })
      expect(await outcome(columnar.query({ sql: 'SELECT nothing' }))).toMatchObject({ code: 47 })
      expect(await outcome(columnar.query({ sql: '' }))).toMatchObject({ code: 62 })
      expect(
        await outcome(columnar.query({ sql: 'SELECT 1', settings: { no_such_setting: 1 } })),
      ).toMatchObject({ code: 115 })
    })

    test('after the first bytes destroy the stream', async () => {
      const stream = await columnar.stream({
        sql: "SELECT number, throwIf(number = 3000000, 'too far') FROM numbers(5000000)",
        format: 'TabSeparated',
        settings: { max_result_rows: 0 },
      })
      let size = 0
      const error = await outcome(
        (async () => {
          for await (const chunk of stream as AsyncIterable<Buffer>) size += chunk.length
        })(),
      )
      expect(size).toBeGreaterThan(1_000_000)
      expect(error).toMatchObject({ name: 'ColumnarError', code: 395 })
      expect((error as Error).message).toContain('too far')
    })

    test('before the first bytes reject the stream', async () => {
      const stream = columnar.stream({ sql: 'SELECT throwIf(1)', format: 'CSV' })
      expect(await outcome(stream)).toMatchObject({ code: 395 })
    })

    test('leave nothing behind in the next result', async () => {
      for (const format of ['CSVWithNames', 'JSON', 'JSONEachRow']) {
        const failing = { sql: 'SELECT number, throwIf(number = 150000) FROM numbers(200000)', format }
        await outcome(columnar.stream(failing).then(textOf))
        await outcome(columnar.query({ sql: failing.sql }))
        expect(await columnar.query({ sql: 'SELECT 1 AS one' })).toEqual([{ one: 1 }])
        expect(await textOf(await columnar.stream({ sql: 'SELECT 2', format: 'CSV' }))).toBe('2\n')
      }
    })

    test('say which row of an insert is bad, and store none of it', async () => {
      await columnar.command({
        sql: 'CREATE TABLE bad_rows (id UInt64, text String) ENGINE = MergeTree ORDER BY id',
      })
      const body = Buffer.concat([
        lines(60_000, (id) => ({ id, text: 'x'.repeat(100) })),
        Buffer.from('{"id":"poison","text":""}\n'),
        lines(1000, (id) => ({ id, text: 'after' })),
      ])
      const error = await outcome(columnar.insert({ table: 'bad_rows', format: 'JSONEachRow', body }))
      expect(error).toMatchObject({ name: 'ColumnarError', passing: false })
      expect((error as Error).message).toContain('(at row 60001)')
      expect((error as Error).message).not.toMatch(/pipe|\/run\//)
      expect(await columnar.query({ sql: 'SELECT count() AS n FROM bad_rows' })).toEqual([{ n: 0 }])
    })
  })

  describe('a reading statement', () => {
    const refused = [
      "SELECT * FROM file('/etc/passwd', 'LineAsString')",
      "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
      "SELECT * FROM s3('http://127.0.0.1:1/bucket/key', 'CSV')",
      "SELECT * FROM remote('127.0.0.1:1', system.one)",
      "SELECT * FROM executable('id', 'CSV', 'a String')",
      "INSERT INTO facts VALUES (1, '')",
      "INSERT INTO FUNCTION file('/tmp/out.csv') SELECT 1",
      'CREATE TABLE t (a UInt8) ENGINE = Memory',
      'CREATE TEMPORARY TABLE t (a UInt8)',
      'ATTACH TABLE facts',
      'DROP TABLE facts',
      'TRUNCATE TABLE facts',
      'ALTER TABLE facts DELETE WHERE 1',
      'OPTIMIZE TABLE facts',
      'SYSTEM FLUSH LOGS',
      'SELECT 1 SETTINGS readonly = 0',
      'SELECT 1 SETTINGS max_memory_usage = 0',
    ]
    test.each(refused)('refuses %s', async (sql) => {
      expect(await outcome(columnar.query({ sql }))).toBeInstanceOf(ColumnarError)
      expect(await outcome(columnar.stream({ sql, format: 'CSV' }))).toBeInstanceOf(ColumnarError)
    })

    test('refuses several statements at once', async () => {
      expect(await outcome(columnar.query({ sql: 'SELECT 1; DROP TABLE facts' }))).toMatchObject({
        code: 62,
      })
      expect(await columnar.query({ sql: "SELECT ';' AS s -- ; \n ;" })).toEqual([{ s: ';' }])
    })

    test('may look at tables', async () => {
      expect(await columnar.query({ sql: 'EXISTS TABLE facts' })).toEqual([{ result: 1 }])
      expect(await columnar.query({ sql: 'DESCRIBE TABLE facts' })).toHaveLength(2)
      expect(await columnar.query({ sql: 'WITH 1 AS x SELECT x' })).toEqual([{ x: 1 }])
    })
  })
})
