import { separators } from './separators.ts'

/** Why a value is no amount. */
export type AmountFault = 'not-number' | 'joined' | 'out-of-range'

/**
 * Two decimals within Decimal(18, 2), all digits that were sent without leading zeros, and how many of these, counted
 * from the first, make the whole cents: fewer than none where zeros come before them.
 */
export type Amount = readonly [text: string, digits: string, places: number]

/** Digits of the cents that a Decimal(18, 2) holds. */
const maxPlaces = 18

/**
 * Sign, digits, fraction, exponent. It takes time linear in the text: no part matches what the next one could.
 */
const decimal = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i

/**
 * Truncates an amount toward zero to two decimals, exactly: on the decimal digits that were sent, never by
 * multiplying a binary number (docs/interface.md, Limits: "truncated to two decimals"). A number is read by its
 * shortest decimal form, so 4.35 is 4.35 and -1.239 is -1.23.
 *
 * A text is decimal digits with an optional sign, point, exponent and surrounding spaces.
 */
export const truncateAmount = (value: unknown): Amount | AmountFault => {
  // Nothing but numbers and texts reads as digits, save for lists.
  const text = typeof value === 'object' ? '' : `${value}`.trim()
  const match = decimal.exec(text)
  // Joined amounts and plain nonsense are different mistakes, which the datasource log names.
  if (!match) return separators.test(text) ? 'joined' : 'not-number'
  const [, sign, whole, fraction = '', exponent = 0] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  const places = digits.length - fraction.length + +exponent + 2
  const length = digits && places > 0 ? places : 0
  if (length > maxPlaces) return 'out-of-range'
  const cents = digits.slice(0, length).padEnd(length, '0').padStart(3, '0')
  return [(sign === '-' && +cents ? sign : '') + cents.replace(/..$/, '.$&'), digits, places]
}

/** Whether the digits that were cut off begin with five nines: a sum of binary numbers that missed the next cent. */
export function missesNextCent([, digits, places]: Amount): boolean {
  return places >= 0 && digits.startsWith('99999', places)
}
