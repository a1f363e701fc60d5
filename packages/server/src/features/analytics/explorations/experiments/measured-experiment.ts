import type { ExperimentUnit, Metric } from '@millrace/contract/resources/experiment.ts'

/** An experiment as its results are computed (docs/experiments.md, Results). Times are milliseconds since 1970. */
export interface MeasuredExperiment {
  readonly id: string
  /** What is assigned to a variant: a person, or a device by its `tmpId`. */
  readonly unit: ExperimentUnit
  readonly variants: readonly { readonly id: string; readonly tagValueId?: string }[]
  readonly metrics: readonly MeasuredMetric[]
  readonly startedAt: number
  /** Null while it runs. */
  readonly endedAt: number | null
  /** Quantile, between 0 and 1, of the revenues above 0 at which larger ones are cut; null for none. */
  readonly outlierCap: number | null
  /** Days before exposure whose revenue reduces the variance; null for none. */
  readonly cupedDays: number | null
}

export type MeasuredMetric = Pick<Metric, 'id' | 'kind' | 'source' | 'windowHours'>

export type MetricSource = Metric['source']

/** Which units a metric counts: those whose window is over, or all. */
export type CountedWindows = 'complete' | 'all'

/** What was measured of an experiment: sums over units, and no unit. */
export interface Measurement {
  readonly excluded: ExcludedExposures
  /** One for each variant and day of the company's zone on which units of it met it first; by day, then variant. */
  readonly days: readonly MeasuredDay[]
}

export interface ExcludedExposures {
  /** Exposures that did not count, each by the first of these reasons that applies. */
  readonly preview: number
  readonly unknownVariant: number
  readonly beforeStart: number
  readonly afterEnd: number
  /** Units that met several variants. */
  readonly multipleVariants: number
}

export interface MeasuredDay {
  readonly variantId: string
  /** `2026-03-10`. */
  readonly day: string
  /** Units that met the variant first on this day. */
  readonly units: number
  /** In the order of the experiment's metrics. */
  readonly metrics: readonly UnitSums[]
}

/**
 * Exact sums over the units that a metric counts. A value is 0 or 1 of `unique_conversion`, a number of facts of
 * `conversion` and `click_rate`, hundredths of an amount of `revenue_per_user`.
 */
export interface UnitSums {
  readonly units: bigint
  /** Units whose window is not over, counted or not. */
  readonly open: bigint
  /** Units with at least one fact in the window. */
  readonly converted: bigint
  readonly sum: bigint
  readonly squares: bigint
  /** Of the displays of `click_rate`, of the revenue before exposure where it reduces the variance, else 0. */
  readonly otherSum: bigint
  readonly otherSquares: bigint
  /** Of value times other. */
  readonly products: bigint
}
