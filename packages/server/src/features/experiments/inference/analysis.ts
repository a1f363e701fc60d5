import type { MetricStatistics } from './metric-statistics.ts'

/** From `low` to `high`; both null where the data bound nothing. */
export interface Interval {
  readonly low: number | null
  readonly high: number | null
}

/** Relative difference to the baseline: 0.1 is ten percent more. Null where the baseline is not clearly above 0. */
export interface Lift extends Interval {
  readonly estimate: number | null
}

/** A variant against the baseline by one way of testing. Numbers are null where the data are too few. */
export interface TestResult {
  readonly lift: Lift
  /** Variant minus baseline, in the unit of the metric. */
  readonly difference: Interval
  /** Two-sided. */
  readonly pValue: number | null
  /** 1 - p. */
  readonly confidence: number | null
  /** Corrected for the other comparisons of the experiment; equal to the raw one where there are none. */
  readonly adjusted: { readonly pValue: number | null; readonly lift: Interval }
}

export interface Comparison {
  /** Variant minus baseline, in the unit of the metric. */
  readonly difference: number | null
  /** Right for one look, at the planned sample. */
  readonly fixedHorizon: TestResult
  /** Right at any time, however often it is looked at. */
  readonly alwaysValid: TestResult
}

export interface VariantResult {
  readonly variantId: string
  readonly units: number
  /** Rate, mean or ratio per unit; adjusted by CUPED where there is a covariate. */
  readonly estimate: number | null
  readonly standardError: number | null
  /** Null for the baseline. */
  readonly comparison: Comparison | null
}

export interface MetricResult {
  readonly variants: readonly VariantResult[]
  /** Share of the variance that CUPED took away; null without a covariate. */
  readonly varianceReduction: number | null
}

/** What is settled before the first unit is exposed. */
export interface ExperimentDesign {
  readonly baselineVariantId: string
  /** Shares of the traffic, which sum to 1. */
  readonly variants: readonly { readonly id: string; readonly allocation: number }[]
  /** Units over all variants; tunes the always-valid test. Null takes `defaultPlannedSample`. */
  readonly plannedSample: number | null
  /** Accepted rate of false alarms; 0.05 when absent. */
  readonly alpha?: number
}

/** Statistics of a metric by id of the variant, one kind for all; a variant that is missing has no units. */
export type StatisticsByVariant = ReadonlyMap<string, MetricStatistics>

export interface MetricOfExperiment {
  readonly id: string
  readonly role: 'success' | 'guard'
  readonly statistics: StatisticsByVariant
}

export interface SampleRatio {
  /** Chi-square over the exposed units; null with too few of them. */
  readonly pValue: number | null
  /** False below 0.001; null as the p-value. */
  readonly holds: boolean | null
}

export interface Validation {
  readonly validated: boolean
  /** What decided it. */
  readonly reason: 'planned_sample' | 'always_valid_bound' | 'sample_ratio' | 'too_early' | 'too_few_units'
}

export interface ExperimentAnalysis {
  readonly sampleRatio: SampleRatio
  readonly validation: Validation
  readonly metrics: readonly (MetricResult & { readonly id: string; readonly role: 'success' | 'guard' })[]
}
