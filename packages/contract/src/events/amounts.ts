/** What became of an amount: two decimals as text, or why not. */
export type Amount =
  | { kind: 'amount'; text: string; floatTail: boolean }
  | { kind: 'not-number' }
  | { kind: 'joined' }
  | { kind: 'out-of-range' }

const notNumber: Amount = { kind: 'not-number' }
const joined: Amount = { kind: 'joined' }
const outOfRange: Amount = { kind: 'out-of-range' }

/** Digits before the point that a Decimal(18, 2) holds. */
const integerDigits = 16
/** Beyond any exponent that can bring digits into or out of range; keeps arithmetic on it exact. */
const exponentBound = 1_000_000

/**
 * Truncates an amount toward zero to two decimals, exactly: on the decimal digits that were sent, never by
 * multiplying a binary number (docs/interface.md, Limits: "truncated to two decimals"). A number is read by its
 * shortest decimal form, so 4.35 is 4.35 and -1.239 is -1.23.
 *
 * A text is decimal digits with an optional sign, point, exponent and surrounding spaces. `floatTail` says
 * that the digits cut off begin with five nines: a sum of binary numbers that missed the next cent.
 */
export function truncateAmount(value: unknown): Amount {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return notNumber
    // Up to here integers are exact and print without an exponent.
    if (Number.isSafeInteger(value)) return { kind: 'amount', text: `${value}.00`, floatTail: false }
    return truncateDecimal(String(value))
  }
  return typeof value === 'string' ? truncateDecimal(value) : notNumber
}

function truncateDecimal(text: string): Amount {
  let from = 0
  let to = text.length
  while (from < to && isSpace(text.charCodeAt(from))) from++
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--

  let at = from
  const negative = text.charCodeAt(at) === minus
  if (negative || text.charCodeAt(at) === plus) at++

  const integerStart = at
  while (at < to && isDigit(text.charCodeAt(at))) at++
  let digits = text.slice(integerStart, at)
  let point = digits.length
  if (at < to && text.charCodeAt(at) === dot) {
    const fractionStart = ++at
    while (at < to && isDigit(text.charCodeAt(at))) at++
    digits += text.slice(fractionStart, at)
  }
  if (digits === '') return refuse(text)
  if (at < to && (text.charCodeAt(at) | 0x20) === letterE) {
    const exponent = readExponent(text, at + 1, to)
    if (exponent === undefined) return refuse(text)
    point += exponent
    at = to
  }
  return at === to ? shape(negative, digits, point) : refuse(text)
}

/** The value of `[+-]digits` that fills text[from, to), clamped; undefined where something else stands there. */
function readExponent(text: string, from: number, to: number): number | undefined {
  let at = from
  const negative = text.charCodeAt(at) === minus
  if (negative || text.charCodeAt(at) === plus) at++
  if (at === to) return undefined
  let exponent = 0
  for (; at < to; at++) {
    const code = text.charCodeAt(at)
    if (!isDigit(code)) return undefined
    exponent = Math.min(exponent * 10 + code - zero, exponentBound)
  }
  return negative ? -exponent : exponent
}

/** Cuts `0.digits × 10^point` after two decimals. */
function shape(negative: boolean, digits: string, point: number): Amount {
  let leading = 0
  while (leading < digits.length && digits.charCodeAt(leading) === zero) leading++
  const significant = digits.slice(leading)
  const length = point - leading
  if (significant === '') return { kind: 'amount', text: '0.00', floatTail: false }
  if (length > integerDigits) return outOfRange

  const whole = length > 0 ? significant.slice(0, length).padEnd(length, '0') : '0'
  // Zeros between the point and the first digit; more than two and no digit of the cents is left.
  const gap = length < 0 ? Math.min(-length, 2) : 0
  const rest = length > 0 ? significant.slice(length) : significant
  const cents = ('0'.repeat(gap) + rest).slice(0, 2).padEnd(2, '0')
  const floatTail = -length <= 2 && rest.startsWith('99999', 2 - gap)
  const isZero = whole === '0' && cents === '00'
  return { kind: 'amount', text: `${negative && !isZero ? '-' : ''}${whole}.${cents}`, floatTail }
}

/** Tells joined amounts from plain nonsense, for the datasource log. */
function refuse(text: string): Amount {
  return text.includes(';') || text.includes(',') || text.includes('|') ? joined : notNumber
}

const zero = 0x30
const plus = 0x2b
const minus = 0x2d
const dot = 0x2e
const letterE = 0x65

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}
