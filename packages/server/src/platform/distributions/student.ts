import { type BetaArguments, betaDensity, regularisedBeta } from './incomplete-beta.ts'
import { normalSurvival, normalUpperQuantile } from './normal.ts'
import { solveDecreasing } from './solve.ts'

/** P(T > t) of Student's distribution; with infinite degrees of freedom it is the normal distribution. */
export function studentSurvival(t: number, degreesOfFreedom: number): number {
  if (degreesOfFreedom === Number.POSITIVE_INFINITY) return normalSurvival(t)
  if (!(degreesOfFreedom > 0)) return Number.NaN
  const tail = 0.5 * regularisedBeta(betaArguments(t, degreesOfFreedom))
  return t >= 0 ? tail : 1 - tail
}

/** The t that a variable of Student's distribution exceeds with this probability. */
export function studentUpperQuantile(probability: number, degreesOfFreedom: number): number {
  if (degreesOfFreedom === Number.POSITIVE_INFINITY) return normalUpperQuantile(probability)
  if (!(probability >= 0 && probability <= 1 && degreesOfFreedom > 0)) return Number.NaN
  if (probability === 0) return Number.POSITIVE_INFINITY
  if (probability > 0.5) return -studentUpperQuantile(1 - probability, degreesOfFreedom)
  if (probability === 0.5) return 0
  return quantileNearNormal(probability, degreesOfFreedom) ?? quantileByBracket(probability, degreesOfFreedom)
}

/** Halley's method from the expansion of Abramowitz and Stegun 26.7.5; undefined where it does not settle. */
function quantileNearNormal(probability: number, degreesOfFreedom: number): number | undefined {
  const z = normalUpperQuantile(probability)
  const square = z * z
  let t =
    z +
    (z * (square + 1)) / (4 * degreesOfFreedom) +
    (z * ((5 * square + 16) * square + 3)) / (96 * degreesOfFreedom ** 2)
  for (let step = 0; step < 8; step++) {
    const density = betaDensity(betaArguments(t, degreesOfFreedom)) / t
    const newton = (studentSurvival(t, degreesOfFreedom) - probability) / density
    const curvature = ((degreesOfFreedom + 1) * t) / (degreesOfFreedom + t * t)
    const move = newton / (1 - (newton * curvature) / 2)
    t += move
    if (!(t > 0)) return undefined
    // It converges cubically: the next move would be lost in rounding.
    if (Math.abs(move) < 1e-6 * t) return t
  }
  return undefined
}

function quantileByBracket(probability: number, degreesOfFreedom: number): number {
  // Its tails are heavier than those of the normal distribution, whose quantile is therefore the lower end.
  const low = Math.log(normalUpperQuantile(probability))
  const target = Math.log(probability)
  const excess = (logT: number) => Math.log(studentSurvival(Math.exp(logT), degreesOfFreedom)) - target
  let step = 0.01
  while (excess(low + step) > 0) step *= 4
  return Math.exp(solveDecreasing(excess, { low, high: low + step }))
}

/** Those that make half the incomplete beta function the upper tail. */
function betaArguments(t: number, degreesOfFreedom: number): BetaArguments {
  const odds = (t * t) / degreesOfFreedom
  return { x: 1 / (1 + odds), y: 1 / (1 + 1 / odds), a: degreesOfFreedom / 2, b: 0.5 }
}
