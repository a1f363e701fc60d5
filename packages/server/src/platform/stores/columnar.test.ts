import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createServerColumnar,
  createTestColumnar,
  type TestColumnar,
} from '../../../test/support/columnar.ts'
import { type Columnar, ColumnarError, type ColumnarParam, ColumnarTimeout } from './columnar.ts'

const serverUrl = process.env.CLICKHOUSE_URL

const homes: { name: string; open: () => Promise<TestColumnar> }[] = [
  { name: 'chDB in a child process', open: () => createTestColumnar({ migrated: false }) },
]
if (serverUrl === undefined) {
  test('columnar store on a ClickHouse server', ({ skip }) => skip('CLICKHOUSE_URL is not set'))
} else {
  homes.push({
    name: 'a ClickHouse server',
    open: () => createServerColumnar(serverUrl, { migrated: false }),
  })
}

/** Computes for minutes in many blocks. */
const endless = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)'

const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error) => error,
  )

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Whether a statement is gone from the engine, and how soon: at most `ms`. */
async function goneWithin(columnar: Columnar, marker: string, ms: number): Promise<boolean> {
  const end = performance.now() + ms
  for (;;) {
    const [row] = await columnar.query<{ n: number }>({
      sql: 'SELECT count() AS n FROM system.processes WHERE query LIKE {like: String} AND query NOT LIKE {own: String}',
      params: { like: `%${marker}%`, own: '%system.processes%' },
    })
    if (row?.n === 0) return true
    if (performance.now() > end) return false
    await sleep(20)
  }
}

const marked = (sql: string): { sql: string; marker: string } => {
  const marker = randomUUID()
  return { sql: `${sql} /* ${marker} */`, marker }
}

async function running(columnar: Columnar, marker: string): Promise<void> {
  const end = performance.now() + 5000
  while (performance.now() < end) {
    if (!(await goneWithin(columnar, marker, 0))) return
  }
  throw new Error('the statement did not start')
}

function lines(count: number, row: (i: number) => object): Buffer {
  return Buffer.from(`${Array.from({ length: count }, (_, i) => JSON.stringify(row(i))).join('\n')}\n`)
}

for (const home of homes) {
  describe(`columnar store on ${home.name}`, () => {
    let columnar: TestColumnar

    beforeAll(async () => {
      columnar = await home.open()
      await columnar.command({
        sql: 'CREATE TABLE facts (id UInt64, text String) ENGINE = MergeTree ORDER BY id',
      })
    })

    afterAll(async () => columnar?.close())

    describe('parameters', () => {
      const texts = [
        'plain',
        "it's",
        'tab\there',
        'line\nfeed',
        'carriage\rreturn',
        'back\\slash',
        '\\N',
        '\\n',
        'emoji 😀',
        'zero\0byte',
        "' OR 1 = 1 --",
        "\\' OR 1 = 1 --",
        "'); DROP TABLE facts; --",
        '{text: String}',
        '$tag$ body $tag$',
        '\u2028 and \u00a0',
        '“typographic” ‘quotes’',
        '%_`"',
        '',
        ' ',
        'x'.repeat(100_000),
      ]

      test.each(texts.map((text) => [JSON.stringify(text).slice(0, 40), text]))(
        'come back as they were: %s',
        async (_name, text) => {
          const rows = await columnar.query({ sql: 'SELECT {text: String} AS text', params: { text } })
          expect(rows).toEqual([{ text }])
        },
      )

      test('come back inside arrays and maps', async () => {
        const map = new Map(texts.slice(0, 18).map((text) => [text, text]))
        const rows = await columnar.query({
          sql: 'SELECT {list: Array(String)} AS list, {map: Map(String, String)} AS map',
          params: { list: texts, map },
        })
        expect(rows).toEqual([{ list: texts, map: Object.fromEntries(map) }])
      })

      const typed: readonly [string, ColumnarParam, unknown][] = [
        ['Nullable(String)', null, null],
        ['Nullable(String)', '\\N', '\\N'],
        ['Nullable(Int64)', null, null],
        ['UInt8', 7, 7],
        ['Int64', -5, -5],
        ['Float64', 0.1, 0.1],
        ['Bool', true, true],
        ['Decimal(18, 2)', '4.35', 4.35],
        ['String', 18_446_744_073_709_551_615n, '18446744073709551615'],
        ["DateTime64(3, 'UTC')", new Date('2024-02-29T12:34:56.789Z'), '2024-02-29 12:34:56.789'],
        ["DateTime64(3, 'UTC')", new Date('1970-01-02T00:00:00.000Z'), '1970-01-02 00:00:00.000'],
        ['Array(Nullable(UInt16))', [1, null, 3], [1, null, 3]],
      ]
      test.each(typed)('of type %s are bound as such', async (type, value, expected) => {
        expect(await columnar.query({ sql: `SELECT {value: ${type}} AS v`, params: { value } })).toEqual([
          { v: expected },
        ])
      })

      test('name tables and columns as identifiers', async () => {
        const rows = await columnar.query({
          sql: 'SELECT count() AS n FROM {table: Identifier} WHERE {column: Identifier} > 0',
          params: { table: 'facts', column: 'id' },
        })
        expect(rows).toEqual([{ n: 0 }])
      })

      test('of another type, and missing ones, are refused', async () => {
        const wrong = columnar.query({ sql: 'SELECT {n: UInt8}', params: { n: '12abc' } })
        expect(await outcome(wrong)).toMatchObject({ name: 'ColumnarError', code: 457 })
        const missing = columnar.query({ sql: 'SELECT {n: UInt8}' })
        expect(await outcome(missing)).toMatchObject({ code: 456, type: 'UNKNOWN_QUERY_PARAMETER' })
      })

      test('of one statement are not seen by the next', async () => {
        await columnar.query({ sql: 'SELECT {secret: String}', params: { secret: 'mine' } })
        expect(await outcome(columnar.query({ sql: 'SELECT {secret: String}' }))).toMatchObject({ code: 456 })
      })

      test('stay apart in 12 statements at once', async () => {
        const results = await Promise.all(
          Array.from({ length: 60 }, async (_, i) => {
            const sql =
              'SELECT {p: String} AS p, count() AS n FROM numbers(50000) WHERE number != {n: UInt64}'
            return columnar.query({ sql, params: { p: `value ${i}`, n: i } })
          }),
        )
        expect(results).toEqual(results.map((_, i) => [{ p: `value ${i}`, n: 49_999 }]))
      })
    })

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
        const before = process.memoryUsage().rss
        const stream = await columnar.stream({
          sql: "SELECT repeat('x', 1000) FROM numbers(200000)",
          format: 'TabSeparated',
        })
        let size = 0
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          if (size === 0) await sleep(300)
          size += chunk.length
        }
        expect(size).toBe(200_000 * 1001)
        expect(process.memoryUsage().rss - before).toBeLessThan(150e6)
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
        expect(
          await outcome(columnar.insert({ table: 'nowhere', format: 'JSONEachRow', body })),
        ).toMatchObject({
          code: 60,
        })
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
        expect(
          await outcome(columnar.insert({ table: 'broken', format: 'JSONEachRow', body })),
        ).toBeInstanceOf(Error)
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

    describe('limits', () => {
      test('of time end a statement within a second', async () => {
        const { sql, marker } = marked(endless)
        const began = performance.now()
        const error = await outcome(columnar.query({ sql, settings: { max_execution_time: 1 } }))
        expect(error).toBeInstanceOf(ColumnarTimeout)
        expect(error).toMatchObject({ code: 159, passing: true })
        expect(performance.now() - began).toBeLessThan(2000)
        expect(await goneWithin(columnar, marker, 1000)).toBe(true)
      })

      test('of time end a stream that nobody reads', async () => {
        const { sql, marker } = marked('SELECT number FROM numbers(1000000000000)')
        const settings = { max_execution_time: 1, max_result_rows: 0, max_result_bytes: 0 }
        const stream = await columnar.stream({ sql, format: 'CSV', settings })
        await sleep(2200)
        expect(await goneWithin(columnar, marker, 500)).toBe(true)
        expect(await outcome(textOf(stream))).toBeInstanceOf(ColumnarTimeout)
      })

      test('of memory fail with the name of the limit', async () => {
        const error = await outcome(
          columnar.query({
            sql: 'SELECT count() FROM (SELECT sipHash64(number) AS k FROM numbers(30000000) GROUP BY k)',
            settings: { max_memory_usage: 50_000_000 },
          }),
        )
        expect(error).toMatchObject({ code: 241, type: 'MEMORY_LIMIT_EXCEEDED', passing: true })
      })

      test('of rows fail with the name of the limit', async () => {
        const sql = 'SELECT number FROM numbers(11)'
        expect(await outcome(columnar.query({ sql, settings: { max_result_rows: 10 } }))).toMatchObject({
          code: 396,
        })
        expect(await columnar.query({ sql, settings: { max_result_rows: 11 } })).toHaveLength(11)
      })
    })

    describe('cancellation', () => {
      test('by the signal ends the statement in the engine', async () => {
        const { sql, marker } = marked(endless)
        const abort = new AbortController()
        const query = outcome(columnar.query({ sql, signal: abort.signal }))
        await running(columnar, marker)
        const began = performance.now()
        abort.abort(new Error('changed my mind'))
        expect(await query).toMatchObject({ message: 'changed my mind' })
        expect(await goneWithin(columnar, marker, 1000)).toBe(true)
        expect(performance.now() - began).toBeLessThan(1000)
      })

      test('by a signal that aborted before sends nothing', async () => {
        const signal = AbortSignal.abort(new Error('too late'))
        expect(await outcome(columnar.query({ sql: 'SELECT 1', signal }))).toMatchObject({
          message: 'too late',
        })
      })

      test('by leaving a stream ends the statement in the engine', async () => {
        const { sql, marker } = marked('SELECT number FROM numbers(1000000000000)')
        const settings = { max_result_rows: 0, max_result_bytes: 0 }
        const stream = await columnar.stream({ sql, format: 'CSV', settings })
        for await (const chunk of stream) if ((chunk as Buffer).length > 0) break
        expect(await goneWithin(columnar, marker, 1000)).toBe(true)
      })

      test('by the signal destroys a stream with its reason', async () => {
        const { sql, marker } = marked('SELECT number FROM numbers(1000000000000)')
        const abort = new AbortController()
        const settings = { max_result_rows: 0, max_result_bytes: 0 }
        const stream = await columnar.stream({ sql, format: 'CSV', settings, signal: abort.signal })
        setTimeout(() => abort.abort(new Error('enough')), 100)
        expect(await outcome(textOf(stream))).toMatchObject({ message: 'enough' })
        expect(await goneWithin(columnar, marker, 1000)).toBe(true)
      })

      test('by KILL QUERY names the query id', async () => {
        const { sql, marker } = marked(endless)
        const queryId = `kill-${marker}`
        const query = outcome(columnar.query({ sql, queryId }))
        await running(columnar, marker)
        await columnar.command({
          sql: 'KILL QUERY WHERE query_id = {id: String} ASYNC',
          params: { id: queryId },
        })
        expect(await query).toMatchObject({ code: 394, passing: true })
        expect(await goneWithin(columnar, marker, 1000)).toBe(true)
      })

      test('of a write ends it in the engine', async () => {
        const { sql, marker } = marked(
          'INSERT INTO facts SELECT number, toString(number) FROM numbers(1000000000000)',
        )
        const abort = new AbortController()
        // One block that never fills: nothing is stored before it ends.
        const settings = { min_insert_block_size_rows: 1e12, min_insert_block_size_bytes: 1e12 }
        const command = outcome(columnar.command({ sql, settings, signal: abort.signal }))
        await running(columnar, marker)
        abort.abort(new Error('enough'))
        expect(await command).toMatchObject({ message: 'enough' })
        expect(await goneWithin(columnar, marker, 1000)).toBe(true)
        expect(await columnar.query({ sql: 'SELECT count() AS n FROM facts' })).toEqual([{ n: 0 }])
      })
    })

    test('a query id can be used again, but not twice at once', async () => {
      const queryId = randomUUID()
      const abort = new AbortController()
      const { sql, marker } = marked(endless)
      const first = outcome(columnar.query({ sql, queryId, signal: abort.signal }))
      await running(columnar, marker)
      expect(await outcome(columnar.query({ sql: 'SELECT 1', queryId }))).toMatchObject({ code: 216 })
      abort.abort()
      await first
      expect(await goneWithin(columnar, marker, 1000)).toBe(true)
      expect(await columnar.query({ sql: 'SELECT 1 AS n', queryId })).toEqual([{ n: 1 }])
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

    test('a short statement does not wait behind 8 long ones', async () => {
      const abort = new AbortController()
      const long = Array.from({ length: 8 }, () =>
        outcome(columnar.query({ sql: endless, signal: abort.signal, settings: { max_threads: 1 } })),
      )
      await sleep(300)
      const began = performance.now()
      await columnar.ping()
      await columnar.query({ sql: 'SELECT 1', settings: { max_execution_time: 5 } })
      expect(performance.now() - began).toBeLessThan(500)
      abort.abort()
      await Promise.all(long)
    })
  })
}
