/** From `low` to `high`; both null where the data bound nothing. */
export interface Interval {
  readonly low: number | null
  readonly high: number | null
}

/** Relative difference to the baseline: 0.1 is ten percent more. Null where the baseline is not clearly above 0. */
export interface Lift extends Interval {
  readonly estimate: number | null
}

/** Two estimates whose errors are independent but for a part that both share (CUPED's centre). */
export interface EstimatePair {
  readonly treatment: { readonly value: number; readonly variance: number }
  readonly baseline: { readonly value: number; readonly variance: number }
  /** Variance of the shared part, which adds to either and cancels in their difference. */
  readonly sharedVariance: number
}

/** Treatment over baseline, minus 1; null for a baseline that is not above 0. */
export function liftOf({ treatment, baseline }: Pick<EstimatePair, 'treatment' | 'baseline'>): number | null {
  return baseline.value > 0 ? finite((treatment.value - baseline.value) / baseline.value) : null
}

/**
 * All lifts that the data do not reject (Fieller 1954, doi:10.1111/j.2517-6161.1954.tb00159.x): those l for which the
 * difference of treatment and (1 + l) times baseline stays within `criticalValue` of its own standard errors. It holds
 * 0 exactly when the test of the difference does not reject it, which the delta method does not promise. Where the
 * baseline is within as many standard errors of 0, the lift has no bounds.
 */
export function liftInterval(pair: EstimatePair, criticalValue: number): Interval {
  const { treatment, baseline, sharedVariance } = pair
  const factor = criticalValue * criticalValue
  const difference = treatment.value - baseline.value
  // a l^2 - 2 h l + c <= 0
  const a = baseline.value ** 2 - factor * (baseline.variance + sharedVariance)
  const h = difference * baseline.value + factor * baseline.variance
  const c = difference ** 2 - factor * (treatment.variance + baseline.variance)
  if (!(baseline.value > 0 && a > 0) || treatment.variance + baseline.variance === 0) return unbounded
  // The root with the larger sum first: the other follows from the product of both without losing digits.
  const root = Math.sqrt(Math.max(0, h * h - a * c))
  const far = h >= 0 ? h + root : h - root
  const [first, second] = far === 0 ? [0, 0] : [far / a, c / far]
  return { low: finite(Math.min(first, second)), high: finite(Math.max(first, second)) }
}

export const unbounded: Interval = { low: null, high: null }

/** JSON has no word for what is not a finite number (docs/faults.md, X02). */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
