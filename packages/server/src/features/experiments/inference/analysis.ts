import { alwaysValidTest, comparedSample, defaultPlannedSample } from './always-valid.ts'
import { compare, emptyComparison, type OpenComparison, type TestResult } from './comparison.ts'
import { fixedHorizonTest } from './difference-test.ts'
import { type Estimates, estimateVariants, standardErrorOf } from './estimates.ts'
import { finite } from './lift.ts'
import type { StatisticsByVariant } from './metric-statistics.ts'
import { type Correction, correctByBenjaminiHochberg, correctByHolm } from './multiple-comparisons.ts'
import { checkSampleRatio } from './sample-ratio.ts'
import { validate } from './validation.ts'

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

type MetricRole = 'success' | 'guard'

export interface Metric {
  readonly id: string
  readonly role: MetricRole
  readonly statistics: StatisticsByVariant
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
  /** Whether it rests on enough units for the p-values to be near the truth; the always-valid ones are null before. */
  readonly enoughData: boolean
  /** Null for the baseline. */
  readonly comparison: Comparison | null
}

export interface MetricResult {
  readonly id: string
  readonly role: MetricRole
  /** In the order of the design. */
  readonly variants: readonly VariantResult[]
  /** Share of the variance that CUPED took away; null without a covariate. */
  readonly varianceReduction: number | null
}

/**
 * All results of an experiment: estimates, comparisons with the baseline, the correction for their number, the check
 * of the sample ratio and what follows from all of it. The comparisons of all success metrics are one family (by
 * Holm), and those of all guard metrics (by Benjamini and Hochberg).
 * @param exposed units by id of the variant, for the check of the sample ratio
 */
export function analyseExperiment(
  design: ExperimentDesign,
  metrics: readonly Metric[],
  exposed: ReadonlyMap<string, number>,
) {
  const alpha = design.alpha ?? 0.05
  const results = analyseMetrics(design, metrics)
  const success = results.filter(({ role }) => role === 'success')
  const sampleRatio = checkSampleRatio(
    design.variants.map(({ id, allocation }) => ({ allocation, units: exposed.get(id) ?? 0 })),
  )
  return {
    sampleRatio,
    validation: validate({
      sampleRatio,
      plannedSample: design.plannedSample,
      units: success[0]?.variants.reduce((sum, { units }) => sum + units, 0) ?? 0,
      alwaysValidPValues: success.flatMap(({ variants }) =>
        variants.map(({ comparison }) => comparison?.alwaysValid.adjusted.pValue ?? null),
      ),
      alpha,
    }),
    metrics: results,
  }
}

/** The metrics alone, as for a day of the course; corrected among themselves. */
export function analyseMetrics(design: ExperimentDesign, metrics: readonly Metric[]): MetricResult[] {
  const opened = metrics.map((metric) => openMetric(design, metric))
  const closed = new Map(
    (['success', 'guard'] as const).flatMap((role) =>
      closeFamily(
        opened.filter(({ metric }) => metric.role === role).flatMap(({ comparisons }) => comparisons),
        role,
        design.alpha ?? 0.05,
      ),
    ),
  )
  return opened.map(({ metric, estimates, comparisons }) => ({
    id: metric.id,
    role: metric.role,
    variants: design.variants.map(({ id }): VariantResult => {
      const estimate = estimates.byVariant.get(id)
      const comparison = comparisons.find(({ variantId }) => variantId === id)
      return {
        variantId: id,
        units: metric.statistics.get(id)?.units ?? 0,
        estimate: estimate ? finite(estimate.value) : null,
        standardError: estimate ? finite(standardErrorOf(estimate, estimates.sharedVariance)) : null,
        enoughData: estimate?.enoughData ?? false,
        comparison: (comparison && closed.get(comparison)) ?? null,
      }
    }),
    varianceReduction: estimates.varianceReduction,
  }))
}

interface OpenVariant {
  readonly variantId: string
  readonly difference: number | null
  readonly fixedHorizon: OpenComparison
  readonly alwaysValid: OpenComparison
}

function openMetric(
  design: ExperimentDesign,
  metric: Metric,
): { metric: Metric; estimates: Estimates; comparisons: OpenVariant[] } {
  const estimates = estimateVariants(metric.statistics)
  const { byVariant, sharedVariance } = estimates
  const base = design.variants.find(({ id }) => id === design.baselineVariantId)
  const baseline = byVariant.get(design.baselineVariantId)
  const comparisons = design.variants.flatMap(({ id, allocation }): OpenVariant[] => {
    if (id === design.baselineVariantId) return []
    const treatment = byVariant.get(id)
    if (!base || !baseline || !treatment)
      return [
        { variantId: id, difference: null, fixedHorizon: emptyComparison, alwaysValid: emptyComparison },
      ]
    const alwaysValid =
      treatment.enoughData && baseline.enoughData
        ? alwaysValidTest({
            sample: comparedSample(baseline.units, treatment.units),
            plannedSample:
              (design.plannedSample ?? defaultPlannedSample) * comparedSample(base.allocation, allocation),
            tunedTo: design.alpha ?? 0.05,
          })
        : null
    return [
      {
        variantId: id,
        difference: finite(treatment.value - baseline.value),
        fixedHorizon: compare(treatment, baseline, sharedVariance, fixedHorizonTest(treatment, baseline)),
        alwaysValid: compare(treatment, baseline, sharedVariance, alwaysValid),
      },
    ]
  })
  return { metric, estimates, comparisons }
}

function closeFamily(
  family: readonly OpenVariant[],
  role: MetricRole,
  alpha: number,
): [OpenVariant, Comparison][] {
  const correct = role === 'success' ? correctByHolm : correctByBenjaminiHochberg
  const fixedHorizon = correct(
    family.map((variant) => variant.fixedHorizon.pValue),
    alpha,
  )
  const alwaysValid = correct(
    family.map((variant) => variant.alwaysValid.pValue),
    alpha,
  )
  const adjusted = ({ pValues, intervalAlpha }: Correction, at: number) => ({
    pValue: pValues[at] ?? null,
    alpha: intervalAlpha,
  })
  return family.map((variant, at) => [
    variant,
    {
      difference: variant.difference,
      fixedHorizon: variant.fixedHorizon.close(alpha, adjusted(fixedHorizon, at)),
      alwaysValid: variant.alwaysValid.close(alpha, adjusted(alwaysValid, at)),
    },
  ])
}
