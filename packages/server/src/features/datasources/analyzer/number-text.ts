import type { FieldLocale } from './field-types.ts'

export type DecimalMark = '.' | ','

const currency =
  '€|\\$|US\\$|R\\$|£|¥|円|元|₹|₽|₴|₺|₩|zł|Kč|kr\\.?|CHF|EUR|USD|GBP|JPY|CNY|RUB|UAH|BRL|PLN|руб\\.?|грн\\.?|Fr\\.'
const gap = '[\\s\\u00a0\\u202f]?'
const whole = new RegExp(
  `^(-|\\u2212)?(?:(${currency})${gap})?(-|\\u2212)?((?:\\d|[.,]\\d)[\\d.,'’ \\u00a0\\u202f]*(?:[eE][+-]?\\d{1,3})?)(?:${gap}(%|${currency}))?$`,
)
const plain = /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/
const spacing = /^\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?:([.,])\d+)?$/
const dotGroups = /^\d{1,3}(?:\.\d{3})+,\d+$/
const commaGroups = /^\d{1,3}(?:,\d{2,3})+\.\d+$/
const onlyDotGroups = /^\d{1,3}(?:\.\d{3}){2,}$/
const onlyCommaGroups = /^\d{1,3}(?:,\d{2,3})*,\d{3}$/
const singleMark = /^(\d*)([.,])(\d+)$/
const exponent = /^\d+(?:[.,]\d+)?[eE][+-]?\d{1,3}$/

/** What the form of a number says about how it is written. */
export interface NumberForm {
  /** What the digits and marks are without signs: `1.234,56`. */
  readonly digits: string
  readonly isNegative: boolean
  /** The decimal mark, where the text alone decides it. */
  readonly mark: DecimalMark | undefined
  /** Whether the only mark may group thousands or not: `1.234`. */
  readonly isAmbiguous: boolean
  readonly grouping: '.' | ',' | ' ' | "'" | undefined
  readonly currency: string | undefined
  readonly isPercent: boolean
  /** Whether it begins with a zero that a number would lose. */
  readonly hasLeadingZero: boolean
}

/** Reads a text as a number with currency, grouped thousands and either decimal mark; `undefined` where it is none. */
export function numberForm(given: string): NumberForm | undefined {
  const text = given.trim()
  if (text.length > 40) return undefined
  const match = whole.exec(text)
  if (match === null) return undefined
  const [, minus, prefix, innerMinus, rest = '', suffix] = match
  const digits = rest.trim()
  const marks = marksOf(digits)
  if (marks === undefined) return undefined
  return {
    digits,
    ...marks,
    isNegative: minus !== undefined || innerMinus !== undefined,
    currency: prefix ?? (suffix === '%' ? undefined : suffix),
    isPercent: suffix === '%',
    hasLeadingZero: /^0\d/.test(digits),
  }
}

type Marks = Pick<NumberForm, 'mark' | 'isAmbiguous' | 'grouping'>

function marksOf(digits: string): Marks | undefined {
  const marks = (
    mark: DecimalMark | undefined,
    grouping?: NumberForm['grouping'],
    isAmbiguous = false,
  ): Marks => ({
    mark,
    grouping,
    isAmbiguous,
  })
  if (/^\d+$/.test(digits)) return marks(undefined)
  if (exponent.test(digits)) return marks(digits.includes(',') ? ',' : digits.includes('.') ? '.' : undefined)
  const spaced = spacing.exec(digits)
  if (spaced) return marks(spaced[1] as DecimalMark | undefined, /['’]/.test(digits) ? "'" : ' ')
  if (dotGroups.test(digits)) return marks(',', '.')
  if (commaGroups.test(digits)) return marks('.', ',')
  if (onlyDotGroups.test(digits)) return marks(',', '.')
  const single = singleMark.exec(digits)
  if (single) {
    const [, integer = '', mark, fraction = ''] = single
    const isAmbiguous = fraction.length === 3 && /^[1-9]\d{0,2}$/.test(integer)
    return isAmbiguous ? marks(undefined, undefined, true) : marks(mark as DecimalMark)
  }
  if (onlyCommaGroups.test(digits)) return marks('.', ',')
  return undefined
}

/** The decimal mark of numbers in a language. */
export function decimalMarkOf(locale: FieldLocale | undefined): DecimalMark {
  return locale === undefined || locale === 'en' || locale === 'ja' || locale === 'zh' ? '.' : ','
}

/**
 * The number that a text is, `12.5` for `12,50 €` and for `12.5 %`. The language decides only what the text leaves
 * open: `1.234`. `undefined` where the text is no number, or one beyond what a double holds exactly.
 */
export function readNumber(given: string, locale: FieldLocale | undefined): number | undefined {
  const usual = decimalMarkOf(locale)
  if (usual === '.' && plain.test(given)) return Number(given)
  const form = numberForm(given)
  if (form === undefined) return undefined
  const mark = form.mark ?? usual
  let digits = form.digits.replace(/[ \u00a0\u202f'’]/g, '')
  digits = mark === ',' ? digits.replaceAll('.', '').replace(',', '.') : digits.replaceAll(',', '')
  const number = Number(digits)
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))
    return undefined
  return form.isNegative ? -number : number
}
