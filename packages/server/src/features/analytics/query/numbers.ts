const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** Other forms that programs read as a number. */
const otherNumber = /^[+-]?(?:inf|infinity|nan|0[box][\da-f]+)$/i

/** The number that the whole text is, apart from spaces around it; undefined if it is none. */
export function numberOf(text: string): number | undefined {
  const trimmed = text.trim()
  const value = decimal.test(trimmed) ? Number(trimmed) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

/** Whether a text that is not a number here was certainly meant as one. */
export function isUnreadableNumber(text: string): boolean {
  const trimmed = text.trim()
  return otherNumber.test(trimmed) || (decimal.test(trimmed) && numberOf(trimmed) === undefined)
}
