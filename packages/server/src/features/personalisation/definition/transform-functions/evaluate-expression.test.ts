import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import type { Binding, Expression } from '@millrace/contract/resources/workflow-definition.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { transformFunctions } from './catalogue.ts'
import { evaluateExpression } from './evaluate-expression.ts'
import { TransformFault } from './transform-function.ts'

type Value = Extract<Binding, { value: unknown }>['value']
const call = (name: string, ...values: unknown[]): Expression => ({
  function: name,
  arguments: values.map((value) => ({ value: value as Value })),
})
const evaluate = (name: string, ...values: unknown[]): unknown =>
  evaluateExpression(call(name, ...values), () => undefined)

const fault = (name: string, ...values: unknown[]): string => {
  try {
    evaluate(name, ...values)
  } catch (error) {
    if (error instanceof TransformFault) return error.message
    throw error
  }
  return 'no fault'
}

test.each<[unknown, string, ...unknown[]]>([
  ['héll…', 'truncate', 'héllo wörld', 5],
  ['hé...', 'truncate', 'héllo wörld', 5, '...'],
  ['..', 'truncate', 'héllo', 2, '...'],
  ['same', 'truncate', 'same', 4],
  ['😀😀…', 'truncate', '😀😀😀😀', 3],
  ['ÉCOLE', 'case', 'école', 'upper'],
  ['école', 'case', 'École', 'lower'],
  ['École de nuit', 'case', 'éCOLE DE NUIT', 'capitalize'],
  ['İZMİR', 'case', 'izmir', 'upper', 'tr_TR'],
  ['a-b-c', 'replace', 'a.b.c', '.', '-'],
  ['a$&c', 'replace', 'abc', 'b', '$&'],
  ['😀a#b#', 'replace', '😀a1b22', '[0-9]+', '#', 'pattern'],
  ['$1', 'replace', 'a', '(a)', '$1', 'pattern'],
  ['-a-b-', 'replace', 'ab', 'x*', '-', 'pattern'],
  [['a', 'b', ''], 'split', 'a,b,', ','],
  ['42', 'extract', 'order 😀 nr 42!', 'nr (\\d+)'],
  ['nr 42', 'extract', 'order nr 42!', 'nr \\d+'],
  [undefined, 'extract', 'order', '\\d+'],
  ['Ada has 3 items for 4.50 €', 'template', '%s has %d items for %.2f €', 'Ada', 3, 4.5],
  ['00042|ab   |+7|100%|-0007', 'template', '%05d|%-5s|%+d|100%%|%05d', 42, 'ab', 7, -7],
  ['b a', 'template', '%2$s %1$s', 'a', 'b'],
  ['Hi !', 'template', 'Hi %s!', null],
  [2, 'length', '😀a'],
  [3, 'length', [1, 2, 3]],
  ['007', 'pad', 7, 3, '0'],
  ['7--', 'pad', '7', 3, '-', 'end'],
  ['abcd', 'pad', 'abcd', 3],
  [1234.56, 'parse-number', '1,234.56'],
  [1234.56, 'parse-number', ' 1 234,56 ', ','],
  [-1234567, 'parse-number', "−1'234'567"],
  ['1\u202f234,50', 'format-number', 1234.5, 'decimal', 'fr_FR', 2],
  ['26%', 'format-number', 0.256, 'percent'],
  ['12 km', 'format-number', 12, 'unit', 'en', 0, 'kilometer'],
  ['12,50\u00a0€', 'format-currency', 12.5, 'EUR', 'de_DE'],
  ['$12.50', 'format-currency', 12.5, 'USD'],
  ['￥13', 'format-currency-locale-var', 12.5, 'JPY', 'ja_JP'],
  ['£1', 'format-currency-locale-currency-var', 1.4, 'GBP', 'en_GB', 0],
  [25, 'percentage', 1, 4],
  [3, 'absolute', -3],
  [1.01, 'round', 1.005, 'round', 2],
  [-3, 'round', -2.5],
  [-2, 'round', -2.5, 'up'],
  [2, 'round', 2.9, 'down'],
  [1251, 'round', 1250.5, 'up', 0],
  [0.75, 'divide', 3, 4],
  [60, 'multiply', 3, 4, 5],
  [0.1, 'subtract', 1, 0.9],
  [0.3, 'sum', 0.1, 0.2],
  [3, 'sum', 1, null, 2],
  [6, 'aggregate-numbers', [1, 2, 3], 'sum'],
  [2, 'aggregate-numbers', [1, 2, 3], 'average'],
  [2.5, 'aggregate-numbers', [3, 1, 2, 10], 'median'],
  [3, 'aggregate-numbers', [10, 3, 1], 'median'],
  [undefined, 'aggregate-numbers', [], 'average'],
  [0, 'aggregate-numbers', [], 'sum'],
  [3, 'array-get', [1, 2, 3], -1],
  [1, 'array-get-var', [1, 2, 3], 0],
  [undefined, 'array-get', [1], 5],
  [[3, 1], 'intersection', [3, 1, 3, 2], [1, 3]],
  [[1, '1', 2], 'unique', [1, '1', 1, 2]],
  [['c', 'b'], 'unique-rank', ['a', 'b', 'b', 'c', 'c', 'c'], 2],
  [['b', 'a', 'c'], 'unique-rank', ['b', 'a', 'c']],
  ['a1true', 'concat', 'a', 1, true, null],
  [['a', 'b', 1], 'concat', ['a'], 'b', [1]],
  ['Salut', 'lookup', 'fr', ['de', 'fr'], ['Hallo', 'Salut'], 'Hi'],
  ['Hi', 'lookup', 'xx', ['de', 'fr'], ['Hallo', 'Salut'], 'Hi'],
  ['Hi', 'lookup', null, ['de'], ['Hallo'], 'Hi'],
  [undefined, 'lookup', 'xx', ['de'], ['Hallo']],
])('%j is %s of %j', (result, name, ...values) => {
  expect(evaluate(name, ...values)).toEqual(result)
})

test.each<[unknown, string, ...unknown[]]>([
  ['2026-03-29T03:30:00.000+02:00', 'format-date', '2026-03-29T01:30:00Z', 'iso', 'en', 'Europe/Paris'],
  ['2026-03-28', 'format-date', Date.UTC(2026, 2, 29, 1), 'iso-date', 'en', 'America/New_York'],
  ['29 mars', 'format-date', '2026-03-29', 'day-month', 'fr_FR'],
  ['Sonntag', 'format-date', '2026-03-29', 'weekday', 'de'],
  ['3/29/2026', 'format-date', '2026-03-29', 'date-short'],
  ['29/03/2026', 'format-date-locale-var', '2026-03-29', 'date-short', 'fr_FR'],
  ['1774742400000', 'format-date', '2026-03-29', 'timestamp'],
  // The clock of Paris goes from 2 to 3 o'clock in this night.
  ['2026-03-29T01:30:00.000Z', 'parse-date', '29/03/2026 02:30', 'dd/MM/yyyy HH:mm', 'Europe/Paris'],
  ['2026-01-31T00:00:00.000Z', 'parse-date', '2026-01-31', 'iso'],
  ['2026-01-04T00:00:00.000Z', 'parse-date', '4 janvier 2026', 'd MMMM yyyy', 'UTC', 'fr_FR'],
  [1, 'diff-dates', '2026-01-31', '2026-03-01', 'months'],
  [-48, 'diff-dates', '2026-01-03', '2026-01-01', 'hours'],
  // A day of 23 hours is a day.
  [1, 'diff-dates', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', 'days', 'Europe/Paris'],
  [0, 'diff-dates', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', 'days'],
  ['2026-02-28T00:00:00.000Z', 'add-to-date', '2026-01-31', 1, 'months'],
  ['2026-03-29T22:00:00.000Z', 'add-to-date', '2026-03-28T23:00:00Z', 1, 'days', 'Europe/Paris'],
  ['2025-01-31T00:00:00.000Z', 'sub-to-date', '2026-01-31', 1, 'years'],
  ['2026-05-04T00:00:00.000Z', 'get-date-occurence', '1980-05-04', '2026-05-04'],
  ['2027-05-04T00:00:00.000Z', 'get-date-occurence', '1980-05-04', '2026-05-05'],
  ['2027-02-28T00:00:00.000Z', 'get-date-occurence', '2000-02-29', '2026-03-01'],
  ['2028-02-29T00:00:00.000Z', 'get-date-occurence', '2000-02-29', '2027-03-01'],
])('%s is %s of %j', (result, name, ...values) => {
  expect(evaluate(name, ...values)).toBe(result)
})

test('there are all the functions that the editor knows, and 21 formats of dates', () => {
  const names =
    'truncate case replace replace-var split extract template length pad create-hash aes-decrypt parse-number format-number format-currency format-currency-locale-var format-currency-locale-currency-var percentage absolute round divide multiply subtract sum aggregate-numbers format-date format-date-locale-var parse-date diff-dates add-to-date sub-to-date get-date-occurence array-get array-get-var intersection unique unique-rank concat lookup'
  expect([...transformFunctions.keys()].sort()).toEqual(names.split(' ').sort())
  const formats = transformFunctions.get('format-date')?.parameters[1]?.words ?? []
  expect(formats).toHaveLength(21)
  for (const format of formats) expect(evaluate('format-date', '2026-03-29', format)).toMatch(/./)
})

test.each(['sha256', 'sha512', 'sha1', 'md5', 'sha224'])('hashes by %s', (algorithm) => {
  const hash = () => createHash(algorithm).update('héllo')
  expect(evaluate('create-hash', 'héllo', algorithm)).toBe(hash().digest('hex'))
  expect(evaluate('create-hash', 'héllo', algorithm, 'base64')).toBe(hash().digest('base64'))
})

test.each([128, 192, 256])('decrypts AES with %i bits, and names a key that is not the right one', (bits) => {
  const key = randomBytes(bits / 8)
  const iv = randomBytes(16)
  const cbc = createCipheriv(`aes-${bits}-cbc`, key, iv)
  const inCbc = Buffer.concat([iv, cbc.update('héllo'), cbc.final()])
  expect(evaluate('aes-decrypt', inCbc.toString('base64'), key.toString('hex'))).toBe('héllo')
  const nonce = iv.subarray(0, 12)
  const gcm = createCipheriv(`aes-${bits}-gcm` as 'aes-256-gcm', key, nonce)
  const inGcm = Buffer.concat([nonce, gcm.update('héllo'), gcm.final(), gcm.getAuthTag()])
  expect(evaluate('aes-decrypt', inGcm.toString('hex'), key.toString('hex'), 'gcm', 'hex')).toBe('héllo')
  const other = randomBytes(bits / 8).toString('hex')
  expect(fault('aes-decrypt', inGcm.toString('hex'), other, 'gcm', 'hex')).toBe(
    'aes-decrypt: the text is not encrypted with this key and mode',
  )
  expect(fault('aes-decrypt', '', other)).toContain('is not encrypted with this key')
  expect(fault('aes-decrypt', 'x', 'short')).toContain('key must be 32, 48 or 64 hexadecimal digits')
})

test.each<[string, string, ...unknown[]]>([
  ['divide: cannot divide by 0', 'divide', 1, 0],
  ['percentage: cannot divide by 0', 'percentage', 1, 0],
  ['absolute: number must be a number; parse-number reads one from a text', 'absolute', '3'],
  ['sum: argument 2 must be a number', 'sum', 1, 'x'],
  ['unique: list must be a list', 'unique', 'x'],
  ['unique: list must be a list of at most 1000 items', 'unique', Array.from({ length: 1_001 }, () => 1)],
  ['case: mode must be one of upper, lower, capitalize', 'case', 'x', 'uper'],
  ['case: "x_y_z" is no locale; give one as fr_FR or en', 'case', 'x', 'upper', 'x_y_z'],
  ['parse-number: "about 3" is no number with the decimal mark "."', 'parse-number', 'about 3'],
  ['parse-date: "soon" is no date of the format "iso"', 'parse-date', 'soon', 'iso'],
  ['format-date: date must be a date; parse-date reads one from a text', 'format-date', 'soon', 'iso'],
  ['format-date: "Mars/Base" is no time zone', 'format-date', 0, 'iso', 'en', 'Mars/Base'],
  ['format-currency: "EURO" is no currency; give its three letters, as EUR', 'format-currency', 1, 'EURO'],
  ['format-number: the unit is not known', 'format-number', 1, 'unit', 'en', 0, 'parsec'],
  ['format-number: the style unit needs a unit', 'format-number', 1, 'unit'],
  ['round: digits must be a whole number from 0 to 20', 'round', 1, 'up', 21],
  ['extract: the pattern is not valid', 'extract', 'x', '(?=x)'],
  ['extract: the pattern is not valid', 'extract', 'x', '(x)\\1'],
  ['extract: a pattern is searched in at most 10000 characters', 'extract', 'x'.repeat(10_001), 'x'],
  [
    'extract: the pattern repeats too much to be searched in 9000 characters',
    'extract',
    'x'.repeat(9_000),
    'x{200}',
  ],
  ['replace-var: the pattern repeats too much', 'replace-var', 'x', 'a{1000}'.repeat(142), '', 'pattern'],
  ['parse-date: format must have at most 10 fields', 'parse-date', '1'.repeat(99), 'dM'.repeat(50)],
  ['parse-number: "1 1 1', 'parse-number', '1 '.repeat(501)],
  ['template: "%q" is not known; conversions are %s, %d, %f and %%', 'template', '%q', 1],
  ['template: %d takes a number', 'template', '%d', 'x'],
  ['pad: length must be between 0 and 1000', 'pad', 'x', 1e9],
  [
    'replace: the result must have at most 100000 characters',
    'replace',
    'x'.repeat(1e4),
    'x',
    'y'.repeat(100),
  ],
  ['replace: the text must have at most 100000', 'replace', 'x'.repeat(1e4), 'x', 'y'.repeat(100), 'pattern'],
  ['concat: the text must have at most 100000', 'concat', 'x'.repeat(6e4), 'x'.repeat(6e4)],
  ['split: the text must have at most 1000 parts', 'split', ','.repeat(1_000), ','],
  ['multiply: the result is too large for a number', 'multiply', 1e308, 1e308],
  ['add-to-date: the amount leads out of the range of dates', 'add-to-date', 0, 1e9, 'years'],
  ['lookup: keys must be a list', 'lookup', 'x', 'a', []],
  ['truncat: is not known; did you mean "truncate"?', 'truncat', 'x'],
  ['constructor: is not known', 'constructor'],
])('%s', (message, name, ...values) => {
  expect(fault(name, ...values)).toContain(message)
})

test('an argument that is absent makes the result absent', () => {
  expect(evaluate('case', null, 'upper')).toBeUndefined()
  expect(evaluate('divide', 1, undefined)).toBeUndefined()
})

test('functions take what others give, and the values of nodes', () => {
  const expression: Expression = {
    function: 'concat',
    arguments: [
      { function: 'case', arguments: [{ node: 'products', field: 'title' }, { value: 'upper' }] },
      { value: ' ' },
      { function: 'format-date', arguments: [{ node: 'day' }, { value: 'year' }] },
    ],
  }
  const values = (reference: { node: string; field?: string }) =>
    reference.node === 'day' ? new Date('2026-03-29T00:00:00Z') : `red ${reference.field}`
  expect(evaluateExpression(expression, values)).toBe('RED TITLE 2026')
})

const anyValue = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(
    null,
    '',
    'upper',
    'EUR',
    'fr_FR',
    'UTC',
    'Europe/Paris',
    'iso',
    'days',
    'pattern',
    '%5d %s',
    8.64e15,
  ),
  fc.date({ noInvalidDate: false }),
  fc.array(fc.oneof(fc.string({ maxLength: 5 }), fc.double()), { maxLength: 6 }),
  fc.object({ maxDepth: 1 }),
)

test('W14: every function gives a value or a fault that names it, whatever it gets', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...transformFunctions.keys()),
      fc.array(anyValue, { maxLength: 5 }),
      (name, values) => {
        const expression = { function: name, arguments: values.map((_, place) => ({ node: `${place}` })) }
        try {
          const result = evaluateExpression(expression, ({ node }) => values[Number(node)])
          if (typeof result === 'string') expect(result.length).toBeLessThanOrEqual(100_000)
          if (typeof result === 'number') expect(Number.isFinite(result)).toBe(true)
          if (transformFunctions.get(name)?.result === 'date' && result !== undefined)
            expect(new Date(result as string).toISOString()).toBe(result)
        } catch (error) {
          if (!(error instanceof TransformFault)) throw error
          expect(error.function).toBe(name)
        }
      },
    ),
    { numRuns: 1_000 },
  )
})

test('W14: a pattern that others would backtrack in costs as much as it is long', async () => {
  const search = (length: number, times: number) => () => {
    const text = `${'a'.repeat(length)}!`
    for (let turn = 0; turn < times; turn++) evaluate('extract', text, '(a+)+$')
  }
  await expect(search(9_000, 20)).toCostAtMost(4, search(900, 200))
})
