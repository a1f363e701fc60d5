import type { DifferenceTest } from './difference-test.ts'

/** Units over all variants that an always-valid test is tuned to where an experiment has no planned sample. */
export const defaultPlannedSample = 10_000

/**
 * A test that may be read at any time and any number of times: the asymptotic confidence sequence of Waudby-Smith,
 * Arbour, Sinha, Kennedy and Ramdas (2024, Time-uniform central limit theory and asymptotic confidence sequences,
 * doi:10.1214/24-AOS2408, Theorem 2.2), which is Robbins' normal mixture (1970, doi:10.1214/aoms/1177696786) with the
 * estimated standard error. Over the whole course of an experiment the rate of false alarms is at most `alpha`.
 *
 * With x, the part of the planned information that is there times `tunedMixture(alpha)`, the bound on the distance
 * from 0 in standard errors is sqrt((1 + x) / x * ln((1 + x) / alpha^2)), and the p-value of a distance z is
 * sqrt(1 + x) * exp(-z^2 / 2 * x / (1 + x)).
 * @param tunedTo rate of false alarms for which the bound is narrowest at the planned sample
 */
export function alwaysValidTest({
  sample,
  plannedSample,
  tunedTo,
}: {
  readonly sample: number
  readonly plannedSample: number
  readonly tunedTo: number
}): DifferenceTest {
  const x = (tunedMixture(tunedTo) * sample) / plannedSample
  return {
    criticalValue: (alpha) => Math.sqrt(((1 + x) / x) * (Math.log1p(x) - 2 * Math.log(alpha))),
    pValue: (z) => Math.min(1, Math.exp(Math.log1p(x) / 2 - ((z * z) / 2) * (x / (1 + x)))),
  }
}

/**
 * The x for which the bound is narrowest: where the derivative of (1 + x) / x * ln((1 + x) / alpha^2) is 0, which is
 * x = ln(1 + x) - 2 ln alpha. Each step of the iteration divides its error by about 1 + x.
 */
export function tunedMixture(alpha: number): number {
  let x = -2 * Math.log(alpha)
  for (let step = 0; step < 60; step++) x = Math.log1p(x) - 2 * Math.log(alpha)
  return x
}

/**
 * The sample of a comparison of two variants, as units of one group whose mean varies as much as their difference:
 * 1 / (1 / n + 1 / m).
 */
export function comparedSample(baselineUnits: number, units: number): number {
  return 1 / (1 / baselineUnits + 1 / units)
}
