import fc from 'fast-check'
import { expect, test } from 'vitest'
import { missesNextCent, truncateAmount } from './amounts.ts'

function textOf(value: unknown): string {
  const amount = truncateAmount(value)
  return typeof amount === 'string' ? amount : amount[0]
}

test.each([
  [19.99, '19.99'],
  [4.35, '4.35'],
  [-1.239, '-1.23'],
  [0.29, '0.29'],
  [8.2, '8.20'],
  [129.9, '129.90'],
  ['129.9', '129.90'],
  [1e3, '1000.00'],
  ['1e3', '1000.00'],
  ['1E+3', '1000.00'],
  ['12.5e-1', '1.25'],
  ['.5', '0.50'],
  ['5.', '5.00'],
  [' 12 ', '12.00'],
  ['\t-0.5\r\n', '-0.50'],
  ['+5', '5.00'],
  ['007', '7.00'],
  [-5, '-5.00'],
  [0, '0.00'],
  [-0, '0.00'],
  ['-0.009', '0.00'],
  [1e-7, '0.00'],
  ['0e999999999999', '0.00'],
  ['1e-999999999999', '0.00'],
  [9999999999999998, '9999999999999998.00'],
  ['9999999999999999.999', '9999999999999999.99'],
  ['000000000000000000000000012.5', '12.50'],
])('truncates %j to %s', (value, expected) => {
  expect(textOf(value)).toBe(expected)
})

test.each([
  ['0x10'],
  ['１２'],
  [''],
  [' '],
  ['.'],
  ['-'],
  ['e5'],
  ['1e'],
  ['1e+'],
  ['1 2'],
  ['+-1'],
  ['1.2.3'],
  ['NaN'],
])('takes %j for no number', (value) => expect(textOf(value)).toBe('not-number'))

test.each([[Number.NaN], [Infinity], [null], [undefined], [true], [{}], [[5]], ['12 EUR']])(
  'takes %j for no number',
  (value) => expect(textOf(value)).toBe('not-number'),
)

test.each([['12,5'], ['1;2'], ['1|2'], ['1,234.50']])('tells that %j joins several', (value) => {
  expect(textOf(value)).toBe('joined')
})

test.each([[1e21], [-1e21], ['10000000000000000'], ['1e17'], ['1e999999999999'], [1e16]])(
  'refuses %j, which Decimal(18, 2) cannot hold',
  (value) => expect(textOf(value)).toBe('out-of-range'),
)

// A pattern that tries each beginning with each end would need hours for them.
test.each([
  [' '.repeat(2_000_000)],
  ['1'.repeat(2_000_000)],
  ['0.'.padEnd(2_000_000, '0')],
  ['1e'.padEnd(2_000_000, '0')],
  ['1'.padEnd(2_000_000, ' ')],
])('refuses a text of two million characters in one pass (%#)', (beginning) => {
  expect(textOf(`${beginning}x`)).toBe('not-number')
})

test('marks amounts that a sum of binary numbers left below the next cent', () => {
  const tailOf = (value: unknown) => {
    const amount = truncateAmount(value)
    return typeof amount === 'object' && [amount[0], missesNextCent(amount)]
  }
  expect(tailOf(0.28999999165534973)).toEqual(['0.28', true])
  expect(tailOf(129.89999999999998)).toEqual(['129.89', true])
  expect(tailOf(0.009999999776482582)).toEqual(['0.00', true])
  expect(tailOf('0.00999999')).toEqual(['0.00', true])
  expect(tailOf(3.3000000000000003)).toEqual(['3.30', false])
  expect(tailOf(0.0000099999)).toEqual(['0.00', false])
  expect(tailOf('1.239')).toEqual(['1.23', false])
  expect(tailOf('9999.999e-4')).toEqual(['0.99', true])
})

test('agrees with whole numbers of cents for every decimal text', () => {
  const decimal = fc.tuple(
    fc.boolean(),
    fc.bigInt({ min: 0n, max: 10n ** 19n }),
    fc.integer({ min: 0, max: 25 }),
    fc.integer({ min: -30, max: 30 }),
  )
  fc.assert(
    fc.property(decimal, ([negative, digits, decimals, exponent]) => {
      const padded = digits.toString().padStart(decimals + 1, '0')
      const point = padded.length - decimals
      const text = `${negative ? '-' : ''}${padded.slice(0, point)}.${padded.slice(point)}e${exponent}`
      // The value is digits × 10^(exponent − decimals); in cents, division of whole numbers truncates.
      const shift = exponent - decimals + 2
      const cents = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift)
      if (cents >= 10n ** 18n) return textOf(text) === 'out-of-range'
      const sign = negative && cents > 0n ? '-' : ''
      return textOf(text) === `${sign}${cents / 100n}.${(cents % 100n).toString().padStart(2, '0')}`
    }),
    { numRuns: 500 },
  )
})

test('reads a number as its shortest decimal form', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(textOf(value)).toBe(textOf(String(value)))
    }),
    { numRuns: 500 },
  )
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), (cents) => {
      const sign = cents < 0 ? '-' : ''
      const digits = String(Math.abs(cents)).padStart(3, '0')
      expect(textOf(cents / 100)).toBe(`${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`)
    }),
  )
})
