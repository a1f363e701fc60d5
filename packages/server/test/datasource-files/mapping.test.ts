import { fieldLocales, fieldTypes } from '@millrace/contract/resources/datasource-field.ts'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { analyzeRows } from '../../src/features/datasources/analyzer/analyze-rows.ts'
import { readDate } from '../../src/features/datasources/analyzer/date-text.ts'
import { type FieldLocale, primitiveOfType } from '../../src/features/datasources/analyzer/field-types.ts'
import { readNumber } from '../../src/features/datasources/analyzer/number-text.ts'
import { rowMapper, ruleFaults } from '../../src/features/datasources/analyzer/row-mapper.ts'
import type { RawRow } from '../../src/features/datasources/formats/source-options.ts'
import { times } from '../support/long.ts'

type Rule = WorkerField['rulesPerSources'][string][number]

function field(
  type: WorkerField['type'],
  rules: readonly Rule[] | string,
  { locale, optional = false }: { locale?: FieldLocale; optional?: boolean } = {},
): WorkerField {
  return {
    name: 'f',
    type,
    selected: true,
    primitive: primitiveOfType[type],
    rulesPerSources: {
      '0': typeof rules === 'string' ? [{ name: 'path', params: { value: rules } }] : [...rules],
    },
    source: 'user',
    ...(optional && { ignoreIfMissing: true }),
    ...(locale && { metadata: { locale } }),
  }
}

/** The value of a field in an entry, or the rule and the sample of its fault. */
function mappedValue(given: WorkerField, raw: RawRow): unknown {
  const { row, faults } = rowMapper([given])(raw)
  return faults[0] === undefined ? row?.f : [faults[0].rule, faults[0].sample]
}

describe('Numbers by the language of their column', () => {
  test.each<[string, FieldLocale | undefined, number | undefined]>([
    ['1234', undefined, 1234],
    ['-12.50', undefined, -12.5],
    ['1,234.5', undefined, 1234.5],
    ['1,234', undefined, 1234],
    ['1,234', 'de', 1.234],
    ['1.234', 'de', 1234],
    ['1.234', 'en', 1.234],
    ['1.234.567,8', undefined, 1_234_567.8],
    ['1.234.567', 'en', 1_234_567],
    ['12,5', 'en', 12.5],
    ['1 234,50 €', 'fr', 1234.5],
    ['1\u202f234\u00a0€', 'fr', 1234],
    ["CHF 1'234.50", 'de', 1234.5],
    ['$-5', 'en', -5],
    ['-$5.00', 'en', -5],
    ['R$ 1.299,90', 'pt', 1299.9],
    ['12,5 %', 'de', 12.5],
    ['1e3', undefined, 1000],
    ['\u22125', undefined, -5],
    ['.5', undefined, 0.5],
    ['1,00,000.00', 'en', 100_000],
    ['12.34.56', undefined, undefined],
    ['1,2,3', undefined, undefined],
    ['12345678901234567890', undefined, undefined],
    ['0x10', undefined, undefined],
    ['', undefined, undefined],
    ['12 apples', undefined, undefined],
  ])('%j read as %s is %s', (text, locale, number) => {
    expect(readNumber(text, locale)).toBe(number)
  })

  test('any amount, written as a language writes it, is read back', () => {
    const written = fc.constantFrom<readonly [string, FieldLocale]>(
      ['de-DE', 'de'],
      ['fr-FR', 'fr'],
      ['es-ES', 'es'],
      ['pt-BR', 'pt'],
      ['nl-NL', 'nl'],
      ['ru-RU', 'ru'],
      ['uk-UA', 'uk'],
      ['en-US', 'en'],
      ['ja-JP', 'ja'],
      ['zh-CN', 'zh'],
    )
    fc.assert(
      fc.property(
        fc.integer({ min: -1e9, max: 1e9 }),
        fc.nat(99),
        written,
        (whole, cents, [intl, locale]) => {
          const number = whole + Math.sign(whole || 1) * (cents / 100)
          const text = new Intl.NumberFormat(intl, { minimumFractionDigits: 2 }).format(number)
          expect(readNumber(text, locale)).toBeCloseTo(number, 2)
        },
      ),
      { numRuns: times(10_000, 500) },
    )
  })
})

describe('Dates by the language of their column', () => {
  test.each<[string, FieldLocale | undefined, string | undefined]>([
    ['2025-12-31', undefined, '2025-12-31T00:00:00.000Z'],
    ['2025-12-31 08:26:00', undefined, '2025-12-31T08:26:00.000Z'],
    ['2025-12-31T08:26:00.123+02:00', undefined, '2025-12-31T06:26:00.123Z'],
    ['2025/1/2', undefined, '2025-01-02T00:00:00.000Z'],
    ['31.12.2025', 'en', '2025-12-31T00:00:00.000Z'],
    ['1/2/2025', 'en', '2025-01-02T00:00:00.000Z'],
    ['1/2/2025', 'fr', '2025-02-01T00:00:00.000Z'],
    ['1/2/25 3:05 PM', 'en', '2025-01-02T15:05:00.000Z'],
    ['12/31/2025 12:00 am', 'en', '2025-12-31T00:00:00.000Z'],
    ['31-12-99', 'nl', '1999-12-31T00:00:00.000Z'],
    ['31. Dezember 2025', 'de', '2025-12-31T00:00:00.000Z'],
    ['31 de diciembre de 2025', 'es', '2025-12-31T00:00:00.000Z'],
    ['Dec 31, 2025', 'en', '2025-12-31T00:00:00.000Z'],
    ['Wed, 31 Dec 2025 10:00:00 +0100', 'en', '2025-12-31T09:00:00.000Z'],
    ['2025年12月31日', 'ja', '2025-12-31T00:00:00.000Z'],
    ['31 декабря 2025 г.', 'ru', '2025-12-31T00:00:00.000Z'],
    ['20251231T235959Z', undefined, '2025-12-31T23:59:59.000Z'],
    ['31/12/2025', 'en', undefined],
    ['01.01.0001', 'de', undefined],
    ['1/1/0001 12:00:00 AM', 'en', undefined],
    ['0050年1月1日', 'ja', undefined],
    ['2025-02-30', undefined, undefined],
    ['2025-12-31 25:00', undefined, undefined],
    ['2025', undefined, undefined],
    ['yesterday', undefined, undefined],
  ])('%j read as %s is %s', (text, locale, iso) => {
    const time = readDate(text, locale)
    expect(time === undefined ? undefined : new Date(time).toISOString()).toBe(iso)
  })
})

describe('Conversion by type', () => {
  test.each<[WorkerField['type'], unknown, unknown]>([
    ['string', ' x ', 'x'],
    ['string', 17, '17'],
    ['zipcode', '01103', '01103'],
    ['price', '9.99', 9.99],
    ['price', '-1', ['invalid_type', '-1']],
    ['latitude', '91', ['invalid_type', '91']],
    ['boolean', 'Oui', true],
    ['boolean', 0, false],
    ['boolean', 'maybe', ['invalid_type', 'maybe']],
    ['datetime', '2025-01-01', Date.UTC(2025, 0, 1)],
    ['datetime', 1_735_689_600, Date.UTC(2025, 0, 1)],
    ['datetime', '1735689600000', Date.UTC(2025, 0, 1)],
    ['datetime', 1_735_689_600_000.25, Date.UTC(2025, 0, 1)],
    ['datetime', 1_735_689_600.4567, Date.UTC(2025, 0, 1) + 457],
    ['datetime_iso', '1.1.2025', '2025-01-01T00:00:00.000Z'],
    ['datetime', 'soon', ['invalid_type', 'soon']],
    ['array_string', ['a', 2, null, ''], ['a', '2']],
    ['array_string', 'a', ['a']],
    ['array_number', ['1', 2.5], [1, 2.5]],
    ['array_number', ['1', 'x'], ['invalid_type', '["1","x"]']],
    ['record_string', { a: 1, b: null, c: 'x' }, { a: '1', c: 'x' }],
    ['record_string', '{"a":"b"}', { a: 'b' }],
    ['record_number', { a: '1' }, { a: 1 }],
    ['record_number', { a: 'x' }, ['invalid_type', '{"a":"x"}']],
    ['record_string', 'x', ['invalid_type', 'x']],
  ])('%s takes %j as %j', (type, raw, expected) => {
    expect(mappedValue(field(type, 'v'), { v: raw })).toEqual(expected)
  })

  test.each(['', '  ', 'NULL', 'n/a', '-', null, undefined, [], {}])('%j is no value', (empty) => {
    expect(mappedValue(field('number', 'v'), { v: empty })).toEqual(['required_values_empty', undefined])
    expect(rowMapper([field('number', 'v', { optional: true })])({ v: empty })).toEqual({
      row: {},
      faults: [],
    })
  })

  test('an entry is left out where a required field has no valid value, and only then', () => {
    const map = rowMapper([
      { ...field('reference_id', 'id'), name: 'id' },
      { ...field('price', 'p', { optional: true, locale: 'de' }), name: 'price' },
      { ...field('string', 'x'), name: 'ignored', selected: false },
    ])
    expect(map({ id: 'a', p: '1.234,50' })).toEqual({ row: { id: 'a', price: 1234.5 }, faults: [] })
    expect(map({ id: 'a', p: 'free' })).toEqual({
      row: { id: 'a' },
      faults: [
        {
          field: 'price',
          rule: 'invalid_type',
          message: 'price (price, read as de) is a number of at least 0, not free',
          sample: 'free',
        },
      ],
    })
    expect(map({ p: '1' })).toEqual({
      faults: [
        {
          field: 'id',
          rule: 'required_values_empty',
          message: 'id has no value: give one, or let the field be missing (ignoreIfMissing)',
        },
      ],
    })
  })
})

describe('Rules', () => {
  const path = (value: string, more = {}): Rule => ({ name: 'path', params: { value, ...more } })
  const entry: RawRow = {
    name: ' Shirt ',
    price: {
      amount: '12',
      list: [
        { c: 'EUR', v: 10 },
        { c: 'USD', v: 11 },
      ],
    },
    tags: 'a, b,,c',
    'a.b': 'dotted',
    '*': 'star',
    empty: '',
    stock: 3,
    record: { a: 1, b: 2 },
    currency: 'USD',
  }

  test.each<[string, WorkerField['type'], readonly Rule[], unknown]>([
    ['path', 'string', [path('price.amount')], '12'],
    ['path with an escaped dot', 'string', [path('a\\.b')], 'dotted'],
    ['path with an escaped star', 'string', [path('\\*')], 'star'],
    ['path through a list', 'array_string', [path('price.list.*.c')], ['EUR', 'USD']],
    ['path by index', 'number', [path('price.list.1.v')], 11],
    ['path of the value so far', 'string', [path('price'), path('amount')], '12'],
    ['path from the root', 'string', [path('price'), path('currency', { fromRoot: true })], 'USD'],
    ['static', 'number', [{ name: 'static', params: { value: 5 } }], 5],
    ['split', 'array_string', [path('tags'), { name: 'split', params: { separator: ',' } }], ['a', 'b', 'c']],
    ['fallback', 'string', [path('empty'), { name: 'fallback', params: { path: 'currency' } }], 'USD'],
    [
      'fallback that is not needed',
      'string',
      [path('name'), { name: 'fallback', params: { staticValue: 'x' } }],
      'Shirt',
    ],
    [
      'fallback with a value path',
      'string',
      [path('none'), { name: 'fallback', params: { path: 'price', valuePath: 'amount' } }],
      '12',
    ],
    [
      'fallback with exit',
      'string',
      [
        path('empty'),
        { name: 'fallback', params: { staticValue: 'none', exit: true } },
        { name: 'interpolate', params: { value: '<{{.}}>' } },
      ],
      'none',
    ],
    [
      'fallback_if',
      'number',
      [
        path('stock'),
        {
          name: 'fallback_if',
          params: {
            staticValue: 0,
            conditions: [
              { key: 'stock', operator: '<=', value: 3 },
              { key: 'currency', operator: '!=', value: 'EUR' },
            ],
          },
        },
      ],
      0,
    ],
    [
      'case',
      'string',
      [
        path('stock'),
        {
          name: 'case',
          params: {
            cases: [
              { conditions: [{ key: 'stock', operator: '>=', value: 10 }], value: 'many' },
              { conditions: [{ key: 'stock', operator: '>=', value: 1 }], value: 'few' },
            ],
          },
        },
      ],
      'few',
    ],
    [
      'array_find',
      'number',
      [
        path('price.list'),
        { name: 'array_find', params: { key: 'c', operator: '=', value: 'USD' } },
        path('v'),
      ],
      11,
    ],
    [
      'array_find by a value of the entry',
      'number',
      [
        path('price.list'),
        { name: 'array_find', params: { key: 'c', operator: '=', valuePath: 'currency' } },
        path('v'),
      ],
      11,
    ],
    [
      'array_find with conditions',
      'number',
      [
        path('price.list'),
        { name: 'array_find', params: { conditions: [{ key: 'c', operator: '!=', value: 'EUR' }] } },
        path('v'),
      ],
      11,
    ],
    [
      'exclude_from_record',
      'record_number',
      [path('record'), { name: 'exclude_from_record', params: { keys: ['a'] } }],
      { b: 2 },
    ],
    [
      'interpolate',
      'string',
      [path('stock'), { name: 'interpolate', params: { value: '{{ price.amount }} {{currency}} ({{.}})' } }],
      '12 USD (3)',
    ],
    [
      'hash',
      'string',
      [path('currency'), { name: 'hash', params: { algorithm: 'sha256', salt: 's' } }],
      // printf sUSD | sha256sum
      'e36c044937e4bcd886e94bfdfde405093bb5b9d0eb9858265a9b31759cdeff97',
    ],
  ])('%s', (_name, type, rules, expected) => {
    expect(mappedValue(field(type, rules), entry)).toEqual(expected)
  })

  test.each<[readonly Rule[], string]>([
    [[], 'f: There is no rule: begin with path or static'],
    [
      [{ name: 'split', params: { separator: ',' } }],
      'f: The rule split comes first: begin with path or static',
    ],
    [
      [path('a'), { name: 'custom', params: { value: 'process.exit()' } }],
      'f: The rule custom is not applied: code of users is not run: combine path, split, case and interpolate',
    ],
    [
      [path('a'), { name: 'decrypt', params: {} }],
      'f: The rule decrypt is not applied: send the values decrypted',
    ],
    [
      [path('a'), { name: 'constructor', params: {} }],
      'f: There is no rule constructor: the rules are path, static, split, fallback, fallback_if, case, array_find, exclude_from_record, interpolate and hash',
    ],
    [
      [{ name: 'custom', params: {} }],
      'f: The rule custom is not applied: code of users is not run: combine path, split, case and interpolate',
    ],
    [[{ name: 'path', params: {} }], 'f: The rule path needs value, a text'],
    [
      [path('a'), { name: 'split', params: { separator: '' } }],
      'f: The rule split needs a separator of at least one character',
    ],
    [
      [path('a'), { name: 'hash', params: { algorithm: 'crc' } }],
      'f: The rule hash does not know crc: use sha256, sha512, sha1 or md5',
    ],
    [
      [
        path('a'),
        {
          name: 'case',
          params: { cases: [{ conditions: [{ key: 'a', operator: '~', value: 1 }], value: 1 }] },
        },
      ],
      'f: The rule case does not know the operator ~: use =, !=, >= or <=',
    ],
    [
      [path('a'), { name: 'array_find', params: { key: 'a', operator: 'valueOf', value: 1 } }],
      'f: The rule array_find does not know the operator valueOf: use =, !=, >= or <=',
    ],
    [[path('a'), { name: 'fallback', params: {} }], 'f: The rule fallback needs path or staticValue'],
    [Array.from({ length: 21 }, () => path('a')), 'f: 21 rules: at most 20 are applied'],
  ])('%j is refused', (rules, message) => {
    expect(ruleFaults([field('string', rules)])).toEqual([{ field: 'f', source: '0', message }])
    if (rules.length > 0) expect(() => rowMapper([field('string', rules)])).toThrow(message)
  })

  test('a field that another source gives has no value in this one', () => {
    const given = { ...field('string', 'a'), rulesPerSources: { '1': [path('a')] } }
    expect(rowMapper([given], 1)({ a: 'x' })).toEqual({ row: { f: 'x' }, faults: [] })
    expect(rowMapper([given], 0)({ a: 'x' }).faults).toMatchObject([{ rule: 'required_values_empty' }])
  })
})

test('the mapper throws for no entry, and its values have the primitive of their field', () => {
  const raw = fc.dictionary(
    fc.constantFrom('a', 'b', '__proto__', 'c.d'),
    fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string()),
  )
  const anyField = fc
    .tuple(
      fc.constantFrom(...fieldTypes),
      fc.constantFrom('a', 'b.*', 'a.b', '__proto__', 'c\\.d'),
      fc.constantFrom(undefined, ...fieldLocales),
      fc.boolean(),
    )
    .map(([type, path, locale, optional]) => field(type, path, { optional, ...(locale && { locale }) }))
  const shapes: Record<WorkerField['primitive'], (value: unknown) => boolean> = {
    string: (value) => typeof value === 'string' && value !== '',
    number: Number.isFinite,
    boolean: (value) => typeof value === 'boolean',
    datetime: Number.isInteger,
    datetime_iso: (value) => new Date(value as string).toISOString() === value,
    'string[]': (value) => (value as unknown[]).every((each) => typeof each === 'string'),
    'number[]': (value) => (value as unknown[]).every(Number.isFinite),
    'string{}': (value) => Object.values(value as object).every((each) => typeof each === 'string'),
    'number{}': (value) => Object.values(value as object).every(Number.isFinite),
  }
  fc.assert(
    fc.property(anyField, raw, (given, entry) => {
      const { row, faults } = rowMapper([given])(entry)
      if (row?.f !== undefined) expect(shapes[given.primitive](row.f)).toBe(true)
      expect(row === undefined).toBe(faults.length > 0 && given.ignoreIfMissing !== true)
    }),
    { numRuns: times(20_000, 1500) },
  )
})

test('what the analysis proposes maps the rows that it has seen', () => {
  const rows: RawRow[] = [
    { id: '1', preis: '1.234,50', datum: '31.12.2025', da: 'ja', tags: 'a|b', o: { x: '1' } },
    { id: '2', preis: '7,90', datum: '1.2.2025', da: 'nein', tags: 'c', o: {} },
  ]
  const map = rowMapper(analyzeRows(rows).map((each) => ({ ...each, selected: true })))
  expect(rows.map(map)).toEqual([
    {
      row: { id: '1', preis: 1234.5, datum: Date.UTC(2025, 11, 31), da: true, tags: ['a', 'b'], o_x: 1 },
      faults: [],
    },
    { row: { id: '2', preis: 7.9, datum: Date.UTC(2025, 1, 1), da: false, tags: ['c'] }, faults: [] },
  ])
})
