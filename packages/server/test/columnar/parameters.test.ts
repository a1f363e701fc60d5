import { describe, expect, test } from 'vitest'
import type { ColumnarParam } from '../../src/platform/stores/columnar.ts'
import { onBothHomes, outcome } from '../support/columnar-homes.ts'

onBothHomes('parameters', (columnar) => {
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
          const sql = 'SELECT {p: String} AS p, count() AS n FROM numbers(50000) WHERE number != {n: UInt64}'
          return columnar.query({ sql, params: { p: `value ${i}`, n: i } })
        }),
      )
      expect(results).toEqual(results.map((_, i) => [{ p: `value ${i}`, n: 49_999 }]))
    })
  })
})
