import { localeOf } from './locales.ts'
import {
  constant,
  optional,
  remembered,
  type TransformFunction,
  takes,
  WrongArgument,
  withVariables,
} from './transform-function.ts'

/** Without what binary fractions leave behind: 0.1 + 0.2 is 0.3. */
const decimal = (value: number): number => Number(value.toPrecision(15))

const numbers = (values: readonly unknown[]): readonly number[] => values as readonly number[]

function divide(dividend: unknown, divisor: unknown): number {
  if (divisor === 0) throw new WrongArgument('cannot divide by 0')
  return (dividend as number) / (divisor as number)
}

/** Shifted by text, so that 1.005 is rounded as it is written. */
function shifted(value: number, digits: number): number {
  const [mantissa, exponent = '0'] = String(value).split('e')
  return Number(`${mantissa}e${Number(exponent) + digits}`)
}

function rounded(value: number, mode: unknown, digits: number): number {
  const large = shifted(value, digits)
  const whole =
    mode === 'up'
      ? Math.ceil(large)
      : mode === 'down'
        ? Math.floor(large)
        : Math.sign(large) * Math.round(Math.abs(large))
  return shifted(whole, -digits)
}

const maxDigits = 20

function digitsOf(digits: unknown): number | undefined {
  if (digits === undefined) return undefined
  const count = digits as number
  if (!Number.isInteger(count) || count < 0 || count > maxDigits)
    throw new WrongArgument(`digits must be a whole number from 0 to ${maxDigits}`)
  return count
}

/** Keys are made of resolved locales and of words that are validated, as far as visitors choose them. */
const formatterOf = remembered((key: string): Intl.NumberFormat => {
  const [locale, options] = JSON.parse(key) as [string, Intl.NumberFormatOptions]
  try {
    return new Intl.NumberFormat(locale, options)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new WrongArgument('the unit is not known; give one as kilometer or liter')
  }
})

function formatter(locale: unknown, digits: unknown, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const count = digitsOf(digits)
  const exact = count === undefined ? {} : { minimumFractionDigits: count, maximumFractionDigits: count }
  return formatterOf(JSON.stringify([localeOf(locale), { ...options, ...exact }]))
}

/** Longer than any unit: what is remembered stays small. */
const maxUnitLength = 60

function styleOf(style: unknown, unit: unknown): Intl.NumberFormatOptions {
  if (style !== 'unit') return { style: style === 'percent' ? 'percent' : 'decimal' }
  if (unit === undefined) throw new WrongArgument('the style unit needs a unit, as kilometer')
  return { style: 'unit', unit: String(unit).slice(0, maxUnitLength) }
}

function currencyOf(currency: unknown): Intl.NumberFormatOptions {
  const code = String(currency)
  if (!/^[A-Z]{3}$/.test(code))
    throw new WrongArgument(`"${code.slice(0, 20)}" is no currency; give its three letters, as EUR`)
  return { style: 'currency', currency: code }
}

const formatCurrency: TransformFunction = {
  description: 'A number as an amount of a currency (ISO 4217); in `en_US` when `locale` is absent',
  parameters: [takes.number, constant('currency', 'text'), takes.locale, takes.digits],
  result: 'text',
  evaluate: ([number, currency, locale, digits]) =>
    formatter(locale, digits, currencyOf(currency)).format(number as number),
  check([, currency, locale, digits]) {
    formatter(locale, digits, currency === undefined ? {} : currencyOf(currency))
  },
}

/** Marks that group digits, in any of the usual spellings. */
const groupMarks = /[\s'’.,]/gu

const maxNumberLength = 1_000

function parseNumber(text: string, mark: string): number {
  const plain = [...text.slice(0, maxNumberLength + 1).trim()]
    .map((character) => (character === mark ? '!' : character.replace(groupMarks, '')))
    .join('')
    .replace('−', '-')
  if (text.length > maxNumberLength || !/^[+-]?\d{1,300}(?:!\d{0,300})?$/.test(plain))
    throw new WrongArgument(`"${text.slice(0, 40)}" is no number with the decimal mark "${mark}"`)
  return Number(plain.replace('!', '.'))
}

function aggregate(values: readonly number[], mode: unknown): number | undefined {
  if (values.length === 0) return mode === 'sum' ? 0 : undefined
  const sum = values.reduce((total, value) => total + value, 0)
  if (mode === 'sum') return decimal(sum)
  if (mode === 'average') return decimal(sum / values.length)
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] as number
  return sorted.length % 2 === 1 ? upper : decimal(((sorted[middle - 1] as number) + upper) / 2)
}

/** Functions over numbers (docs/workflows.md, Transform functions). */
export const numberFunctions = {
  'parse-number': {
    description:
      'The number that a text writes with `.`, or another decimal mark, and any marks between groups',
    parameters: [takes.text, optional(constant('decimalMark', 'text', ['.', ',']))],
    result: 'number',
    evaluate: ([text, mark = '.']) => parseNumber(text as string, mark as string),
  },
  'format-number': {
    description:
      'A number as a locale writes it, also as percent (0.5 is 50%) or with a unit; `en_US` when absent',
    parameters: [
      takes.number,
      constant('style', 'text', ['decimal', 'percent', 'unit']),
      takes.locale,
      takes.digits,
      optional(constant('unit', 'text')),
    ],
    result: 'text',
    evaluate: ([number, style, locale, digits, unit]) =>
      formatter(locale, digits, styleOf(style, unit)).format(number as number),
    check([, style, locale, digits, unit]) {
      formatter(locale, digits, styleOf(style, unit))
    },
  },
  'format-currency': formatCurrency,
  'format-currency-locale-var': withVariables(formatCurrency, ['locale']),
  'format-currency-locale-currency-var': withVariables(formatCurrency, ['locale', 'currency']),
  percentage: {
    description: 'How many percent `part` is of `whole`',
    parameters: [
      { name: 'part', type: 'number' },
      { name: 'whole', type: 'number' },
    ],
    result: 'number',
    evaluate: ([part, whole]) => decimal(divide((part as number) * 100, whole)),
  },
  absolute: {
    description: 'The number without its sign',
    parameters: [takes.number],
    result: 'number',
    evaluate: ([number]) => Math.abs(number as number),
  },
  round: {
    description: 'Rounded to `digits` after the decimal mark (0 when absent): half away from 0, up, or down',
    parameters: [takes.number, optional(constant('mode', 'text', ['round', 'up', 'down'])), takes.digits],
    result: 'number',
    evaluate: ([number, mode, digits]) => rounded(number as number, mode, digitsOf(digits) ?? 0) + 0,
    check: ([, , digits]) => void digitsOf(digits),
  },
  divide: {
    description: 'The first divided by the second, which must not be 0',
    parameters: [
      { name: 'dividend', type: 'number' },
      { name: 'divisor', type: 'number' },
    ],
    result: 'number',
    evaluate: ([dividend, divisor]) => decimal(divide(dividend, divisor)),
    check([, divisor]) {
      if (divisor !== undefined) divide(0, divisor)
    },
  },
  multiply: {
    description: 'The product of the numbers',
    parameters: [takes.number],
    rest: 'number',
    result: 'number',
    evaluate: (values) => decimal(numbers(values).reduce((product, value) => product * value, 1)),
  },
  subtract: {
    description: 'The first without the second',
    parameters: [
      { name: 'minuend', type: 'number' },
      { name: 'subtrahend', type: 'number' },
    ],
    result: 'number',
    evaluate: ([minuend, subtrahend]) => decimal((minuend as number) - (subtrahend as number)),
  },
  sum: {
    description: 'The sum of the numbers',
    parameters: [],
    rest: 'number',
    result: 'number',
    evaluate: (values) => decimal(numbers(values).reduce((total, value) => total + value, 0)),
  },
  'aggregate-numbers': {
    description: 'Sum, average or median of a list; average and median of an empty one are absent',
    parameters: [takes.list, constant('mode', 'text', ['sum', 'average', 'median'])],
    result: 'number',
    evaluate([list, mode]) {
      const values = list as readonly unknown[]
      if (!values.every((value) => typeof value === 'number'))
        throw new WrongArgument('every item of the list must be a number')
      return aggregate(values, mode)
    },
  },
} as const satisfies Record<string, TransformFunction>
