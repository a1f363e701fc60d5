const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** What other programs read as a number besides. */
const otherNumber = /^[+-]?(?:inf|infinity|nan|0[box][\da-f]+)$/i

/** The number that a text is wholly, spaces around it aside, or nothing. */
export function numberOf(text: string): number | undefined {
  const trimmed = text.trim()
  const value = decimal.test(trimmed) ? Number(trimmed) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

/** Whether a text that is no number here was surely meant as one. */
export function isUnreadableNumber(text: string): boolean {
  const trimmed = text.trim()
  return otherNumber.test(trimmed) || (decimal.test(trimmed) && numberOf(trimmed) === undefined)
}
