import { continuedFraction } from './continued-fraction.ts'
import { logOnePlusMinus, stirlingRemainder } from './log-gamma.ts'

export interface BetaArguments {
  readonly x: number
  /** 1 - x, given beside it because the subtraction would lose the digits of a small one. */
  readonly y: number
  readonly a: number
  readonly b: number
}

/**
 * The regularised incomplete beta function I_x(a, b) by the continued fraction (9) of DiDonato and Morris (1992,
 * Algorithm 708, doi:10.1145/131766.131776), in whichever tail it converges fast. Unlike the better known 8.17.22 of
 * dlmf.nist.gov it does not lose digits where x is near 1, as in Student's distribution with many units.
 */
export function regularisedBeta({ x, y, a, b }: BetaArguments): number {
  if ([x, y, a, b].some(Number.isNaN) || a <= 0 || b <= 0 || x < 0 || y < 0) return Number.NaN
  if (x === 0) return 0
  if (y === 0) return 1
  return x <= (a + 1) / (a + b + 2) ? lowerTail(x, y, a, b) : 1 - lowerTail(y, x, b, a)
}

function lowerTail(x: number, y: number, a: number, b: number): number {
  // 1 / (b0 + c1 / (b1 + c2 / (b2 + ...))), each term divided through by its b.
  const denominator = (m: number) => {
    const step = m === 0 ? 0 : m + (m * (b - m) * x) / (a + 2 * m - 1)
    return step + ((a + m) * (a * y - b * x + 1 + m * (1 + y))) / (a + 2 * m + 1)
  }
  const numerator = (m: number) =>
    (((a + m - 1) * (a + b + m - 1)) / (a + 2 * m - 1) ** 2) * m * (b - m) * x * x
  const fraction = continuedFraction((m) => numerator(m) / (denominator(m - 1) * denominator(m)))
  return (betaDensity({ x, y, a, b }) * fraction) / denominator(0)
}

/** x^a y^b / B(a, b) */
export function betaDensity({ x, y, a, b }: BetaArguments): number {
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
