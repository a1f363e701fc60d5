import { upperGamma } from './incomplete-gamma.ts'

/** P(X > x) of the chi-square distribution. */
export function chiSquareSurvival(x: number, degreesOfFreedom: number): number {
  return upperGamma(degreesOfFreedom / 2, x / 2)
}
