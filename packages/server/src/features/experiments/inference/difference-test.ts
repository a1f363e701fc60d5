import { studentSurvival, studentUpperQuantile } from '../../../platform/distributions/student.ts'
import type { Estimate } from './estimates.ts'

/** A two-sided test of a difference, by its distance from 0 in standard errors. */
export type DifferenceTest = ReturnType<typeof fixedHorizonTest>

/**
 * The test for one look. Rates: z-test with unpooled variances, the one that agrees with the interval. Means and
 * ratios: Welch's t-test (1947, doi:10.1093/biomet/34.1-2.28), which does not ask for equal variances.
 */
export function fixedHorizonTest(treatment: Estimate, baseline: Estimate) {
  const degreesOfFreedom = welchDegreesOfFreedom(treatment, baseline)
  return {
    /** The distance from which on a difference is taken for real, at a rate of false alarms. */
    criticalValue: (alpha: number): number => studentUpperQuantile(alpha / 2, degreesOfFreedom),
    pValue: (distance: number): number => 2 * studentSurvival(Math.abs(distance), degreesOfFreedom),
  }
}

function welchDegreesOfFreedom(treatment: Estimate, baseline: Estimate): number {
  const part = ({ variance, degreesOfFreedom }: Estimate) => (variance * variance) / degreesOfFreedom
  return (treatment.variance + baseline.variance) ** 2 / (part(treatment) + part(baseline))
}
