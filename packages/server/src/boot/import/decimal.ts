/** A decimal number as an integer and how many of its digits stand behind the point: exact, unlike binary numbers. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

export const zero: Decimal = { digits: 0n, scale: 0 }

/** Reads `12`, `-0.55`, `.5`; undefined where the text is anything else. */
export function parseDecimal(text: string): Decimal | undefined {
  const found = /^\s*([+-]?)(\d*)(?:\.(\d*))?\s*$/.exec(text)
  if (!found || `${found[2]}${found[3] ?? ''}` === '') return undefined
  const fraction = found[3] ?? ''
  const digits = BigInt(`${found[2]}${fraction}`)
  return { digits: found[1] === '-' ? -digits : digits, scale: fraction.length }
}

function atScale({ digits, scale }: Decimal, wanted: number): bigint {
  return digits * 10n ** BigInt(wanted - scale)
}

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { digits: atScale(a, scale) + atScale(b, scale), scale }
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, scale: a.scale + b.scale }
}

export function formatDecimal({ digits, scale }: Decimal): string {
  const negative = digits < 0n
  const text = (negative ? -digits : digits).toString().padStart(scale + 1, '0')
  const whole = text.slice(0, text.length - scale)
  const fraction = scale > 0 ? `.${text.slice(text.length - scale)}` : ''
  return `${negative ? '-' : ''}${whole}${fraction}`
}
