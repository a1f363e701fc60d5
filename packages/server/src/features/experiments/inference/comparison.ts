import type { DifferenceTest } from './difference-test.ts'
import type { Estimate } from './estimates.ts'
import { finite, type Interval, type Lift, liftInterval, liftOf, unbounded } from './lift.ts'

/** A variant against the baseline by one way of testing. Numbers are null where the data do not give them. */
export interface TestResult {
  readonly lift: Lift
  /** Variant minus baseline, in the unit of the metric. */
  readonly difference: Interval
  /** Two-sided. */
  readonly pValue: number | null
  /** 1 - p. */
  readonly confidence: number | null
  /** Corrected for the other comparisons of its family; equal to the raw one where there are none. */
  readonly adjusted: { readonly pValue: number | null; readonly lift: Interval }
}

/** A comparison before the others of its family are known. */
export interface OpenComparison {
  readonly pValue: number | null
  close(alpha: number, adjusted: { readonly pValue: number | null; readonly alpha: number }): TestResult
}

/** @param test null where it is too early for any */
export function compare(
  treatment: Estimate,
  baseline: Estimate,
  sharedVariance: number,
  test: DifferenceTest | null,
): OpenComparison {
  const pair = { treatment, baseline, sharedVariance }
  const difference = treatment.value - baseline.value
  const standardError = Math.sqrt(treatment.variance + baseline.variance)
  // Without any variance there is nothing to measure a difference by.
  const usable = standardError > 0 ? test : null
  const pValue = usable ? finite(usable.pValue(difference / standardError)) : null
  const liftAt = (alpha: number): Interval =>
    usable ? liftInterval(pair, usable.criticalValue(alpha)) : unbounded
  const differenceAt = (alpha: number): Interval => {
    if (!usable) return unbounded
    const reach = usable.criticalValue(alpha) * standardError
    return { low: finite(difference - reach), high: finite(difference + reach) }
  }
  return {
    pValue,
    close: (alpha, adjusted) => ({
      lift: { estimate: liftOf(pair), ...liftAt(alpha) },
      difference: differenceAt(alpha),
      pValue,
      confidence: pValue === null ? null : 1 - pValue,
      adjusted: { pValue: adjusted.pValue, lift: liftAt(adjusted.alpha) },
    }),
  }
}

/** A comparison with a variant that has no units yet. */
export const emptyComparison: OpenComparison = {
  pValue: null,
  close: () => ({
    lift: { estimate: null, ...unbounded },
    difference: unbounded,
    pValue: null,
    confidence: null,
    adjusted: { pValue: null, lift: unbounded },
  }),
}
