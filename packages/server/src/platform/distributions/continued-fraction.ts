const tiny = 1e-300
/** Arguments in use take less than a thousand: this only ends what does not converge. */
const maxSteps = 100_000

/**
 * The continued fraction 1 / (1 + d1 / (1 + d2 / (1 + ...))) by the modified method of Lentz (Thompson and Barnett
 * 1986, doi:10.1016/0021-9991(86)90046-X).
 * @param coefficient d of an index from 1
 * @returns NaN where it does not converge
 */
export function continuedFraction(coefficient: (index: number) => number): number {
  let c = 1
  let d = 0
  let value = 1
  for (let index = 1; index < maxSteps; index++) {
    const term = coefficient(index)
    d = 1 / nonZero(1 + term * d)
    c = nonZero(1 + term / c)
    const step = c * d
    value *= step
    if (Math.abs(step - 1) < Number.EPSILON) return 1 / value
  }
  return Number.NaN
}

function nonZero(value: number): number {
  return Math.abs(value) < tiny ? tiny : value
}
