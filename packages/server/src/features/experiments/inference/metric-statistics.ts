/**
 * What the inference needs of the units of a variant: sums, whatever their number. A unit counts once, with its value
 * of the metric; units without any (no conversion, no purchase) count with 0.
 */

/** A metric that a unit meets or not: `unique_conversion`. */
export interface RateStatistics {
  readonly kind: 'rate'
  readonly units: number
  /** Units that met it. */
  readonly conversions: number
}

/** A metric with a value per unit: `conversion`, `revenue_per_user`, or a rate with a covariate (values 0 and 1). */
export interface MeanStatistics {
  readonly kind: 'mean'
  readonly units: number
  readonly sum: number
  readonly sumSquares: number
  /** What the same units did before exposure, for CUPED; all variants of a metric have it, or none. */
  readonly covariate?: {
    readonly sum: number
    readonly sumSquares: number
    /** Sum of value times covariate. */
    readonly sumProducts: number
  }
}

/** A metric that divides one sum over units by another, `click_rate`: clicks over displays. */
export interface RatioStatistics {
  readonly kind: 'ratio'
  readonly units: number
  readonly numerator: { readonly sum: number; readonly sumSquares: number }
  readonly denominator: { readonly sum: number; readonly sumSquares: number }
  /** Sum of numerator times denominator. */
  readonly sumProducts: number
}

export type MetricStatistics = RateStatistics | MeanStatistics | RatioStatistics

/** Statistics of a metric by id of the variant, one kind for all; a variant that is missing has no units. */
export type StatisticsByVariant = ReadonlyMap<string, MetricStatistics>
