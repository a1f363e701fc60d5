import { regularisedBeta } from './incomplete-beta.ts'
import { normalSurvival, normalUpperQuantile } from './normal.ts'
import { solveDecreasing } from './solve.ts'

/** P(T > t) of Student's distribution; an infinite number of degrees of freedom is the normal distribution. */
export function studentSurvival(t: number, degreesOfFreedom: number): number {
  if (degreesOfFreedom === Number.POSITIVE_INFINITY) return normalSurvival(t)
  if (!(degreesOfFreedom > 0)) return Number.NaN
  const square = t * t
  const x = square === Number.POSITIVE_INFINITY ? 0 : degreesOfFreedom / (degreesOfFreedom + square)
  const y = square === Number.POSITIVE_INFINITY ? 1 : square / (degreesOfFreedom + square)
  const tail = 0.5 * regularisedBeta({ x, y, a: degreesOfFreedom / 2, b: 0.5 })
  return t >= 0 ? tail : 1 - tail
}

/** The t that a variable of Student's distribution exceeds with this probability. */
export function studentUpperQuantile(probability: number, degreesOfFreedom: number): number {
  if (degreesOfFreedom === Number.POSITIVE_INFINITY) return normalUpperQuantile(probability)
  if (!(probability >= 0 && probability <= 1 && degreesOfFreedom > 0)) return Number.NaN
  if (probability === 0) return Number.POSITIVE_INFINITY
  if (probability > 0.5) return -studentUpperQuantile(1 - probability, degreesOfFreedom)
  if (probability === 0.5) return 0
  // Its tails are heavier than those of the normal distribution, whose quantile is therefore the lower end.
  const low = Math.log(Math.max(normalUpperQuantile(probability), Number.MIN_VALUE))
  const target = Math.log(probability)
  const excess = (logT: number) => Math.log(studentSurvival(Math.exp(logT), degreesOfFreedom)) - target
  let step = 0.01
  while (excess(low + step) > 0) step *= 4
  return Math.exp(solveDecreasing(excess, { low, high: low + step }))
}
