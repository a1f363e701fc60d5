/** B(2k) / (2k (2k - 1)) for the Bernoulli numbers B(2) to B(16). */
const stirlingCoefficients = [
  1 / 12,
  -1 / 360,
  1 / 1_260,
  -1 / 1_680,
  1 / 1_188,
  -691 / 360_360,
  1 / 156,
  -3_617 / 122_400,
]
const seriesFrom = 12
const halfLogTwoPi = 0.5 * Math.log(2 * Math.PI)

/**
 * What Stirling's formula leaves over: ln Γ(z) - ((z - 1/2) ln z - z + ln(2π) / 2), for z > 0. Densities are computed
 * from it rather than from ln Γ itself, whose large values would cancel each other and take the last digits with them
 * (Loader 2000, Fast and accurate computation of binomial probabilities).
 */
export function stirlingRemainder(z: number): number {
  if (z >= seriesFrom) {
    const square = z * z
    return stirlingCoefficients.reduceRight((sum, coefficient) => sum / square + coefficient, 0) / z
  }
  let product = 1
  let shifted = z
  for (; shifted < seriesFrom; shifted++) product *= shifted
  return stirling(shifted) + stirlingRemainder(shifted) - Math.log(product) - stirling(z)
}

function stirling(z: number): number {
  return (z - 0.5) * Math.log(z) - z + halfLogTwoPi
}

/** ln(1 + x) - x, where x is above -1. */
export function logOnePlusMinus(x: number): number {
  if (Math.abs(x) > 0.1) return Math.log1p(x) - x
  // The series of ln(1 + x) without its first term, which would cancel.
  let sum = 0
  let power = -x
  for (let k = 2; ; k++) {
    power *= -x
    const term = power / k
    sum -= term
    if (!(Math.abs(term) > Number.EPSILON * Math.abs(sum))) return sum
  }
}
