import type { MetricKind } from '@millrace/contract/resources/experiment.ts'
import { courseDays, type ExperimentResults } from '@millrace/contract/resources/experiment-results.ts'
import type { Measured } from '../../analytics/explorations/experiments/experiment-measure.ts'
import type {
  CountedWindows,
  UnitSums,
} from '../../analytics/explorations/experiments/measured-experiment.ts'
import {
  analyseExperiment,
  analyseMetrics,
  type Comparison,
  type ExperimentDesign,
  type Metric,
} from '../inference/analysis.ts'
import type { MeasuredExperiment } from '../measured-experiment.ts'
import { addSums, amountOf, noSums, statisticsOfSums } from './statistics-of-sums.ts'

/** An experiment that has started. */
export type StartedExperiment = MeasuredExperiment & { readonly startedAt: number }

/** Of all intervals. */
const alpha = 0.05

/**
 * Which units are analysed: all, or, once the planned sample is complete, those that made it up. The fixed-horizon test
 * is right for one look, which is that one: choosing when to stop afterwards is to look again each day.
 */
export type AnalysedSample = 'all' | 'planned'

/** Sums of each metric by variant. */
type Sums = ReadonlyMap<string, readonly UnitSums[]>

/** Makes the results of an experiment of what was measured. */
export function analyseMeasurement(
  experiment: StartedExperiment,
  measured: Measured,
  { windows, sample = 'all' }: { readonly windows: CountedWindows; readonly sample?: AnalysedSample },
): ExperimentResults {
  const { variants, metrics, baselineVariantId, plannedSample } = experiment
  const design: ExperimentDesign = { baselineVariantId, variants, plannedSample, alpha }
  const { sums, exposed, course } = cumulate(experiment, measured, design, sample)
  const analysis = analyseExperiment(
    design,
    metrics.map((_, i) => metricOf(experiment, sums, i)),
    exposed,
  )
  const { validated, reason } = analysis.validation
  // What units have done so far still grows: it bears no decision, whatever it shows.
  const isOpen = windows === 'all' && [...sums.values()].some(([success]) => (success?.open ?? 0n) > 0n)
  return {
    experimentId: experiment.id,
    readAt: new Date(measured.at).toISOString(),
    startedAt: new Date(experiment.startedAt).toISOString(),
    endedAt: experiment.endedAt === null ? null : new Date(experiment.endedAt).toISOString(),
    timezone: measured.timezone,
    windows,
    baselineVariantId,
    plannedSample,
    confidenceLevel: 1 - alpha,
    validated: validated && !isOpen,
    validation: validated && isOpen ? 'too_early' : reason,
    sampleRatio: analysis.sampleRatio,
    excluded: measured.excluded,
    variants: variants.map(({ id, name, allocation }) => ({
      id,
      name,
      allocation,
      units: exposed.get(id) ?? 0,
    })),
    metrics: metrics.map(({ id, kind, role, direction, windowHours }, i) => ({
      id,
      kind,
      role,
      direction,
      windowHours,
      varianceReduction: analysis.metrics[i]?.varianceReduction ?? null,
      variants: variants.map((variant, place) => {
        const own = sums.get(variant.id)?.[i] ?? noSums
        const result = analysis.metrics[i]?.variants[place]
        return {
          variantId: variant.id,
          ...figuresOf(kind, own),
          estimate: result?.estimate ?? null,
          standardError: result?.standardError ?? null,
          enoughData: result?.enoughData ?? false,
          comparison: result?.comparison ? comparisonOf(result.comparison) : null,
        }
      }),
    })),
    course,
  }
}

function metricOf({ metrics, variants, cupedDays }: StartedExperiment, sums: Sums, i: number): Metric {
  const metric = metrics[i]
  if (!metric) throw new Error(`there is no metric ${i}`)
  const { id, role, kind } = metric
  const byVariant = variants.map((variant) => {
    const own = sums.get(variant.id)?.[i] ?? noSums
    return [variant.id, statisticsOfSums(kind, own, cupedDays !== null)] as const
  })
  return { id, role, statistics: new Map(byVariant) }
}

/** Adds up the days, and reads the success metric at the end of each of the last ones. */
function cumulate(
  experiment: StartedExperiment,
  { days }: Measured,
  design: ExperimentDesign,
  sample: AnalysedSample,
) {
  const { plannedSample } = experiment
  const sums = new Map<string, UnitSums[]>()
  const exposed = new Map<string, number>()
  const course: ExperimentResults['course'] = []
  const dates = [...new Set(days.map(({ day }) => day))]
  const shown = new Set(dates.slice(-courseDays))
  let counted = 0
  let isComplete = false
  for (const [i, { variantId, day, units, metrics }] of days.entries()) {
    exposed.set(variantId, (exposed.get(variantId) ?? 0) + units)
    if (isComplete) continue
    const known = sums.get(variantId)
    sums.set(
      variantId,
      metrics.map((own, place) => addSums(known?.[place] ?? noSums, own)),
    )
    counted += Number(metrics[0]?.units ?? 0)
    if (days[i + 1]?.day === day) continue
    isComplete = sample === 'planned' && plannedSample !== null && counted >= plannedSample
    if (!shown.has(day)) continue
    const [success] = analyseMetrics(design, [metricOf(experiment, sums, 0)])
    for (const variant of success?.variants ?? []) {
      if (!variant.comparison) continue
      const { fixedHorizon, alwaysValid } = variant.comparison
      const { low, high } = alwaysValid.lift
      course.push({
        day,
        variantId: variant.variantId,
        units: variant.units,
        estimate: variant.estimate,
        lift: fixedHorizon.lift,
        alwaysValidLift: { low, high },
      })
    }
  }
  return { sums, exposed, course }
}

/** What was counted, before anything is inferred. */
function figuresOf(kind: MetricKind, sums: UnitSums) {
  const [units, conversions] = [Number(sums.units), Number(sums.converted)]
  const total = kind === 'revenue_per_user' ? amountOf(sums.sum) : Number(sums.sum)
  const displays = kind === 'click_rate' ? Number(sums.otherSum) : null
  return {
    units,
    openUnits: Number(sums.open),
    conversions,
    total,
    displays,
    rate: ratio(conversions, units),
    mean: ratio(total, displays ?? units),
  }
}

function ratio(numerator: number, denominator: number): number | null {
  return denominator === 0 ? null : numerator / denominator
}

function comparisonOf({ difference, fixedHorizon, alwaysValid }: Comparison) {
  return {
    difference,
    fixedHorizon: { ...fixedHorizon, safeWhenReadDaily: false as const },
    alwaysValid: { ...alwaysValid, safeWhenReadDaily: true as const },
  }
}
