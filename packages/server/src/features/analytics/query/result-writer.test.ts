import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CellForm } from './compile/compile-groupings.ts'
import { createResultWriter, type ResultFormat } from './result-writer.ts'
import type { EngineCell } from './run.ts'
import { openZone } from './time/zone.ts'

function written(
  format: ResultFormat,
  columns: readonly (readonly [key: string, form: CellForm])[],
  rows: EngineCell[][],
  zone = 'UTC',
): string {
  const shape = { columns: columns.map(([key, form]) => ({ key, form })), rangeLabels: ['a - b', 'c - d'] }
  const writer = createResultWriter(format, shape, openZone(zone))
  return writer.begin() + rows.map((row) => writer.rows([row])).join('') + writer.end()
}

const columns = [
  ['compareDateRange', 'range'],
  ['events.time.day', 'date'],
  ['events.name', 'text'],
  ['events.isIdentified', 'boolean'],
  ['purchases.revenue', 'number'],
] as const

describe('JSON', () => {
  it('keeps types, shows times in the zone and absent values as null', () => {
    const text = written(
      'json',
      columns,
      [
        ['0', '2024-03-31', 'a "b"\n', true, '12.5'],
        ['1', '2024-04-01', null, false, null],
      ],
      'Europe/Paris',
    )
    expect(JSON.parse(text)).toEqual([
      {
        compareDateRange: 'a - b',
        'events.time.day': '2024-03-31T00:00:00.000+01:00',
        'events.name': 'a "b"\n',
        'events.isIdentified': true,
        'purchases.revenue': 12.5,
      },
      {
        compareDateRange: 'c - d',
        'events.time.day': '2024-04-01T00:00:00.000+02:00',
        'events.name': null,
        'events.isIdentified': false,
        'purchases.revenue': null,
      },
    ])
  })

  it('is an empty array without rows', () => {
    expect(written('json', columns, [])).toBe('[]')
    expect(written('ndjson', columns, [])).toBe('')
  })

  it('writes every number with the digits of the engine, whatever a double holds', () => {
    const numbers = [
      '0',
      '-0.5',
      '10666684.54',
      '9007199254740991',
      '18446744073709551615',
      '123456789012345678.99',
      0.1,
      1e21,
    ]
    expect(
      written(
        'json',
        [['n', 'number']],
        numbers.map((each) => [each]),
      ),
    ).toBe(
      '[{"n":0},{"n":-0.5},{"n":10666684.54},{"n":9007199254740991},{"n":18446744073709551615},' +
        '{"n":123456789012345678.99},{"n":0.1},{"n":1e+21}]',
    )
  })

  it('tells the two hours of a clock set back apart', () => {
    const hours = [['1729987200'], ['1729990800']]
    expect(written('ndjson', [['t', 'seconds']], hours, 'Europe/Paris')).toBe(
      '{"t":"2024-10-27T02:00:00.000+02:00"}\n{"t":"2024-10-27T02:00:00.000+01:00"}\n',
    )
  })

  it('survives any text in keys and cells', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), (key, cell) => {
        expect(JSON.parse(written('json', [[key, 'text']], [[cell]]))).toEqual([{ [key]: cell }])
        expect(JSON.parse(written('ndjson', [[key, 'text']], [[cell]]))).toEqual({ [key]: cell })
      }),
    )
  })
})

describe('CSV', () => {
  it('has a header, CRLF, nothing for absent values and quotes for empty texts', () => {
    expect(
      written('csv', columns, [
        ['0', '2024-03-31', '', true, '-12.5'],
        ['1', '2024-04-01', null, false, null],
      ]),
    ).toBe(
      'compareDateRange,events.time.day,events.name,events.isIdentified,purchases.revenue\r\n' +
        'a - b,2024-03-31T00:00:00.000+00:00,"",true,-12.5\r\n' +
        'c - d,2024-04-01T00:00:00.000+00:00,,false,\r\n',
    )
    expect(written('csv', [['events.name', 'text']], [])).toBe('events.name\r\n')
  })

  it.each([
    '=1+1',
    '+1+1',
    '-1-1',
    '+',
    '-',
    '-1 €',
    '-0x10',
    '-1\n',
    '-5,5',
    '+49 30 123',
    '@SUM(A1)',
    '\tx',
    '\rx',
    '\uff1d1',
    '\uff0b1',
    '\uff0d1',
    '\uff20x',
    '=1,2"3',
  ])('defuses the formula %j in a text', (text) => {
    const [, [cell]] = parse(written('csv', [['a', 'text']], [[text]])) as [string[], string[]]
    expect(cell).toBe(`'${text}`)
  })

  it.each(['-5', '+5', '-0.5', '-.5', '-5.', '-1e3', '+49301234567', '5'])(
    'leaves the number %j alone',
    (text) => {
      expect(written('csv', [['a', 'text']], [[text]])).toBe(`a\r\n${text}\r\n`)
    },
  )

  it('leaves numbers alone and defuses keys of labels', () => {
    expect(written('csv', [['=x', 'number']], [['-1']])).toBe("'=x\r\n-1\r\n")
  })

  it('gives back every other text to a reader of RFC 4180', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 2, maxLength: 2 }), (texts) => {
        const rows = parse(
          written(
            'csv',
            [
              ['a', 'text'],
              ['b', 'text'],
            ],
            [texts],
          ),
          { bom: false },
        ) as string[][]
        const defused = (text: string) =>
          /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text
        expect(rows[1]).toHaveLength(2)
        rows[1]?.forEach((cell, at) => {
          const text = texts[at] ?? ''
          expect([text, defused(text)]).toContain(cell)
        })
      }),
      { examples: [[['', "'+"]]] },
    )
  })
})
