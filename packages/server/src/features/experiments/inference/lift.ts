/** From `low` to `high`; both null where the data bound nothing. */
export interface Interval {
  readonly low: number | null
  readonly high: number | null
}

/** Relative difference to the baseline: 0.1 is ten percent more. Null where the baseline is not clearly above 0. */
export interface Lift extends Interval {
  readonly estimate: number | null
}

/** An estimate and what is known of its error. */
export interface UncertainValue {
  readonly value: number
  /** Variance of its own part, which is independent of other variants. */
  readonly variance: number
  /** Covariance of its own part with the part that all variants share. */
  readonly sharedCovariance: number
}

/** Two estimates with a part that both share: CUPED's common centre. */
export interface EstimatePair {
  readonly treatment: UncertainValue
  readonly baseline: UncertainValue
  /** Variance of the shared part, which cancels in a difference. */
  readonly sharedVariance: number
}

/** Treatment over baseline, minus 1; null for a baseline that is not above 0. */
export function liftOf({ treatment, baseline }: EstimatePair): number | null {
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
  // The variance of treatment - (1 + l) baseline is v_t + (1 + l)^2 v_b, and of the shared part, which does not cancel
  // unless l is 0, l^2 w - 2 l c_t + 2 l (1 + l) c_b. Sorted by powers of l that gives a l^2 - 2 h l + c <= 0.
  const a =
    baseline.value ** 2 - factor * (baseline.variance + sharedVariance + 2 * baseline.sharedCovariance)
  const h =
    difference * baseline.value +
    factor * (baseline.variance + baseline.sharedCovariance - treatment.sharedCovariance)
  const c = difference ** 2 - factor * (treatment.variance + baseline.variance)
  if (!(baseline.value > 0 && a > 0)) return unbounded
  // The root with the larger sum first: the other follows from the product of both without losing digits.
  const root = Math.sqrt(Math.max(0, h * h - a * c))
  const far = h >= 0 ? h + root : h - root
  const [first, second] = far === 0 ? [0, 0] : [far / a, c / far]
  return { low: finite(Math.min(first, second)), high: finite(Math.max(first, second)) }
}

export const unbounded: Interval = { low: null, high: null }

/** JSON holds no number that is not finite (docs/faults.md, X02). */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
