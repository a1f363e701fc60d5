import fc from 'fast-check'
import { expect, test } from 'vitest'
import { columnNames } from '../../src/features/datasources/formats/csv-reader.ts'
import type { SourceEncoding } from '../../src/features/datasources/formats/source-options.ts'
import { times } from '../support/long.ts'
import { readAll, utf16be } from '../support/source-files.ts'

const delimiters = [',', ';', '\t', '|']
const lineEnds = ['\n', '\r\n', '\r']

const encodings: readonly [SourceEncoding | undefined, (text: string) => Buffer, fc.Arbitrary<string>][] = [
  ['utf-8', (text) => Buffer.from(text), fc.string({ unit: 'grapheme', maxLength: 12 })],
  [undefined, (text) => Buffer.from(`\ufeff${text}`), fc.string({ unit: 'grapheme', maxLength: 12 })],
  ['utf-16le', (text) => Buffer.from(text, 'utf16le'), fc.string({ unit: 'grapheme', maxLength: 12 })],
  [undefined, (text) => utf16be(`\ufeff${text}`), fc.string({ unit: 'grapheme', maxLength: 12 })],
  [
    'windows-1252',
    (text) => Buffer.from(text, 'latin1'),
    fc.string({ unit: fc.constantFrom(...'abz é\u00fc\u00df"\n\r,;|\t 0') }),
  ],
]

const table = (value: fc.Arbitrary<string>) =>
  fc
    .integer({ min: 2, max: 6 })
    .chain((columns) =>
      fc.array(fc.array(value, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 8 }),
    )

const file = fc.constantFrom(...encodings).chain(([encoding, encode, value]) =>
  fc.record({
    encoding: fc.constant(encoding),
    encode: fc.constant(encode),
    rows: table(value),
    delimiter: fc.constantFrom(...delimiters),
    ends: fc.array(fc.constantFrom(...lineEnds), { minLength: 1, maxLength: 3 }),
    quotesAll: fc.boolean(),
    pieceBytes: fc.integer({ min: 1, max: 40 }),
  }),
)

function needsQuotes(value: string, delimiter: string): boolean {
  return /["\n\r]|^ *"/.test(value) || value.includes(delimiter)
}

test('any table is read back exactly, whatever its delimiter, quotes, line ends, encoding and pieces', async () => {
  await fc.assert(
    fc.asyncProperty(file, async ({ encoding, encode, rows, delimiter, ends, quotesAll, pieceBytes }) => {
      const header = (rows[0] as string[]).map((_, index) => `c${index}`)
      const line = (values: readonly string[], index: number) =>
        values
          .map((value) =>
            quotesAll || needsQuotes(value, delimiter) ? `"${value.replaceAll('"', '""')}"` : value,
          )
          .join(delimiter) + ends[index % ends.length]
      const bytes = encode([header, ...rows].map(line).join(''))
      const options = { format: 'csv', csvDelimiter: delimiter, ...(encoding && { encoding }) } as const
      const read = await readAll(bytes, options, { pieceBytes })
      const kept = rows.filter((values) => values.some((value) => value !== ''))
      expect(read.faults).toEqual([])
      expect(read.rows.map((row) => header.map((name) => row[name]))).toEqual(kept)
    }),
    { numRuns: times(1000, 100) },
  )
})

test('any bytes at all give rows, faults or a refusal, the same in whatever pieces they come', async () => {
  const dirt = fc.string({ unit: fc.constantFrom('"', '""', ',', ';', '\n', '\r', 'a', ' ', '\u00e9', '5') })
  await fc.assert(
    fc.asyncProperty(dirt, fc.integer({ min: 1, max: 7 }), async (text, pieceBytes) => {
      const bytes = Buffer.from(`a,b\n${text}`)
      const outcome = (size: number) =>
        readAll(bytes, { format: 'csv', csvDelimiter: ',' }, { pieceBytes: size }).catch(
          (error: Error) => error.message,
        )
      expect(await outcome(pieceBytes)).toEqual(await outcome(1 << 20))
    }),
    { numRuns: times(2000, 200) },
  )
})

const csv = (text: string, options = {}) => readAll(Buffer.from(text), { format: 'csv', ...options })

test.each([
  ['a,b\n1,2\n', ','],
  ['a;b\n1,5;2,5\n', ';'],
  ['a\tb, c\n1\t2, 3\n', '\t'],
  ['a|b;c|d\n1|2;3|4\n', '|'],
  ['"a;x","b"\n"1;2","3"\n', ','],
])('the delimiter of %j is found', async (text, delimiter) => {
  const { rows } = await csv(text)
  expect(rows).toEqual((await csv(text, { csvDelimiter: delimiter })).rows)
  expect(Object.keys(rows[0] as object).length).toBeGreaterThan(1)
})

test('a line that names the delimiter is no header', async () => {
  expect((await csv('sep=;\r\na;b\r\n1;2\r\n')).rows).toEqual([{ a: '1', b: '2' }])
})

test('names of columns are trimmed, unique and never empty, dangerous ones harmless (D07)', async () => {
  expect(columnNames([' a ', 'a', '', 'a_2', 'a'])).toEqual(['a', 'a_2', 'column_3', 'a_2_2', 'a_3'])
  const { rows } = await csv('__proto__,constructor,=cmd|calc\nx,y,z\n')
  expect(Object.getPrototypeOf(rows[0])).toBe(Object.prototype)
  expect(Object.entries(rows[0] as object)).toEqual([
    ['__proto__', 'x'],
    ['constructor', 'y'],
    ['=cmd|calc', 'z'],
  ])
})

test('csvColumns: every line is data, and lines of another number of values are left out', async () => {
  const { rows, faults } = await csv('1,2\n3\n4,5,6\n7,8\n', { csvDelimiter: ',', csvColumns: ['x', 'y'] })
  expect(rows).toEqual([
    { x: '1', y: '2' },
    { x: '7', y: '8' },
  ])
  expect(faults.map(({ entry, line }) => [entry, line])).toEqual([
    [2, 2],
    [3, 3],
  ])
})

test('ragged lines: missing values at the end are absent, surplus empty ones ignored, others a fault of the line', async () => {
  const { rows, faults } = await csv('a,b,c\n1\n1,2,3,,\n1,2,3,4\n\n\n5,6,7\n')
  expect(rows).toEqual([{ a: '1' }, { a: '1', b: '2', c: '3' }, { a: '5', b: '6', c: '7' }])
  expect(faults).toEqual([
    {
      rule: 'invalid_line',
      entry: 3,
      line: 4,
      message: 'Line 4: 4 values for 3 columns: quote values that contain the delimiter or a line end',
    },
  ])
})

test('a wrong quote costs its line only, and lines within quoted values are counted', async () => {
  const { rows, faults } = await csv('a,b\n"x\ny",1\n"5" pipe,2\nz,3\n"never closed,4\nlast,5\n')
  expect(rows).toEqual([
    { a: 'x\ny', b: '1' },
    { a: 'z', b: '3' },
    { a: 'last', b: '5' },
  ])
  expect(faults.map(({ line, message }) => [line, message])).toEqual([
    [4, 'Line 4: a quote closes a value and text follows it: write a quote within a value twice ("")'],
    [6, 'Line 6: the quote that opens a value is not closed before the end of the file'],
  ])
})

test('a quote within an unquoted value stands for itself', async () => {
  expect((await csv('a,b\n5" pipe,x"y"\n')).rows).toEqual([{ a: '5" pipe', b: 'x"y"' }])
})

test('a line without end is refused by its length, as is a header of too many columns (D06)', async () => {
  const endless = Buffer.alloc(3 * 1024 * 1024, 'x')
  await expect(readAll(endless, { format: 'csv', csvDelimiter: ',' })).rejects.toMatchObject({
    rule: 'too_large',
    message: 'Line 1 is longer than 1 MB: is this CSV, with a line end after each entry?',
  })
  const wide = Buffer.from(`${Array.from({ length: 100_000 }, (_, index) => `c${index}`).join(',')}\n`)
  await expect(readAll(wide, { format: 'csv', csvDelimiter: ',' })).rejects.toMatchObject({
    rule: 'too_large',
    message: 'Line 1 has 100000 values: at most 2000 are read. Is the delimiter right?',
  })
})

test('a quote that is never closed costs one line, however long the rest; many of them are refused', async () => {
  const rest = 'b,2\n'.repeat(400_000)
  const { rows, faults } = await csv(`k,v\n"a,1\n${rest}`)
  expect([rows.length, faults.length]).toEqual([400_000, 1])
  const many = `k,v\n${`"a\n${'""b,2\n'.repeat(200_000)}`.repeat(60)}`
  await expect(csv(many)).rejects.toMatchObject({ rule: 'malformed' })
})

test('the entry of a fault counts entries, not lines', async () => {
  const { faults } = await csv('a,b\n\n\n1,2\n"x" y,2\n')
  expect(faults).toMatchObject([{ entry: 2, line: 5 }])
})
