import { continuedFraction } from './continued-fraction.ts'
import { logOnePlusMinus, stirlingRemainder } from './log-gamma.ts'

/**
 * The regularised incomplete beta function I_x(a, b) by the continued fraction 8.17.22 (NIST Digital Library of
 * Mathematical Functions, dlmf.nist.gov), in whichever tail it converges fast.
 * @param y 1 - x, given beside it because the subtraction would lose the digits of a small one
 */
export function regularisedBeta({ x, y, a, b }: { x: number; y: number; a: number; b: number }): number {
  if ([x, y, a, b].some(Number.isNaN) || a <= 0 || b <= 0 || x < 0 || y < 0) return Number.NaN
  if (x === 0) return 0
  if (y === 0) return 1
  return x <= (a + 1) / (a + b + 2) ? lowerTail(x, y, a, b) : 1 - lowerTail(y, x, b, a)
}

function lowerTail(x: number, y: number, a: number, b: number): number {
  const fraction = continuedFraction((index) => {
    const m = index >> 1
    return index % 2 === 0
      ? (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
      : (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
  })
  return (density(x, y, a, b) * fraction) / a
}

/** x^a y^b / B(a, b) */
function density(x: number, y: number, a: number, b: number): number {
  const total = a + b
  const scale =
    Math.sqrt(((a / total) * b) / (2 * Math.PI)) *
    Math.exp(stirlingRemainder(total) - stirlingRemainder(a) - stirlingRemainder(b))
  return scale * Math.exp(a * logRatio(x, y, a, b) + b * logRatio(y, x, b, a))
}

/** ln(x (a + b) / a) less its linear term, which the two sides of the density cancel between them. */
function logRatio(x: number, y: number, a: number, b: number): number {
  const distance = (b * x - a * y) / a
  return distance > -0.5 ? logOnePlusMinus(distance) : Math.log((x * (a + b)) / a) - distance
}
