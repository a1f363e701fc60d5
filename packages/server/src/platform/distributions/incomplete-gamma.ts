import { continuedFraction } from './continued-fraction.ts'
import { logOnePlusMinus, stirlingRemainder } from './log-gamma.ts'

/**
 * The regularised upper incomplete gamma function Q(a, x) for a > 0 and x >= 0, by the series 8.7.1 below a + 1 and
 * the continued fraction 8.9.2 above (NIST Digital Library of Mathematical Functions, dlmf.nist.gov).
 */
export function upperGamma(a: number, x: number): number {
  if (Number.isNaN(a) || Number.isNaN(x) || a <= 0 || x < 0) return Number.NaN
  if (x === 0) return 1
  if (x === Number.POSITIVE_INFINITY) return 0
  return x < a + 1 ? 1 - lowerBySeries(a, x) : upperByFraction(a, x)
}

/** x^a e^-x / Γ(a) */
function density(a: number, x: number): number {
  const scale = Math.sqrt(a / (2 * Math.PI)) * Math.exp(-stirlingRemainder(a))
  const distance = (x - a) / a
  const exponent = distance > -0.5 ? logOnePlusMinus(distance) : Math.log(x / a) - distance
  return scale * Math.exp(a * exponent)
}

function lowerBySeries(a: number, x: number): number {
  let term = 1 / a
  let sum = term
  for (let n = 1; term > sum * Number.EPSILON; n++) {
    term *= x / (a + n)
    sum += term
  }
  return density(a, x) * sum
}

function upperByFraction(a: number, x: number): number {
  // 8.9.2 in its even part: 1 / (b0 + c1 / (b1 + c2 / (b2 + ...))), each term divided through by its b.
  const b = (index: number) => x + 2 * index + 1 - a
  const fraction = continuedFraction((index) => (-index * (index - a)) / (b(index - 1) * b(index)))
  return (density(a, x) * fraction) / b(0)
}
