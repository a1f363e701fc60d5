import { type Static, Type } from 'typebox'
import { experimentLimits, metricKinds } from './experiment.ts'
import { dateTime, flag, integer, listOf, named, nullable, object, oneOf, text } from './formats.ts'

/** A number that statistics give: null where it is not defined (a ratio over 0, too little data), never NaN. */
const statistic = (description: string) => nullable(Type.Number({ description }))
const share = (description: string) =>
  nullable(Type.Number({ minimum: 0, maximum: 1, description, examples: [0.05] }))
const countOf = (description: string) => Type.Integer({ minimum: 0, description, examples: [12_000] })

const bounds = { low: statistic('Lower bound'), high: statistic('Upper bound') }
const Interval = object(bounds)
const Lift = object({
  estimate: statistic('Relative difference to the baseline: 0.1 is ten percent more'),
  ...bounds,
})

const test = {
  lift: Lift,
  difference: Interval,
  pValue: share('Two-sided'),
  confidence: share('1 - p'),
  adjusted: object(
    { pValue: share('Two-sided'), lift: Interval },
    'Corrected for the other comparisons of its family',
  ),
}

const Comparison = named('ExperimentComparison', {
  difference: statistic('Variant minus baseline, in the unit of the metric'),
  fixedHorizon: object(
    { ...test, safeWhenReadDaily: Type.Literal(false) },
    'Right for one look, when the planned sample is reached',
  ),
  alwaysValid: object(
    { ...test, safeWhenReadDaily: Type.Literal(true) },
    'Right at any time, however often it is looked at',
  ),
})

const MetricOfVariant = named('ExperimentMetricOfVariant', {
  variantId: Type.String(),
  units: countOf('Units that the metric counts: those whose window is over, or all'),
  openUnits: countOf('Units whose window is not over'),
  conversions: countOf('Units with at least one in the window'),
  total: statistic(
    'Sum over the units: of conversions, of clicks, of amounts with two decimals; amounts above the cap as the cap',
  ),
  displays: nullable(
    Type.Integer({ minimum: 0 }),
    'Displays in the windows of the units; null but for `click_rate`',
  ),
  rate: share('conversions / units'),
  mean: statistic('total / units; of `click_rate` total / displays'),
  estimate: statistic('What is compared: rate or mean, adjusted where the variance is reduced'),
  standardError: statistic('Of the estimate'),
  enoughData: flag('Whether p-values are near the truth'),
  comparison: nullable(Comparison, 'With the baseline; null for the baseline itself'),
})

const MetricResults = named('ExperimentMetricResults', {
  id: Type.String(),
  kind: oneOf(metricKinds),
  role: oneOf(['success', 'guard']),
  direction: oneOf(['increase', 'decrease']),
  windowHours: Type.Integer(),
  varianceReduction: statistic('Share of the variance that revenue before exposure took away'),
  variants: listOf(MetricOfVariant, 'In the order of the experiment'),
})

const CoursePoint = named('ExperimentCoursePoint', {
  day: text('Day of the company’s time zone; units exposed first up to its end are counted', '2026-03-10', {
    format: 'date',
  }),
  variantId: Type.String(),
  units: countOf('Units of the variant that the metric counts'),
  estimate: statistic('Rate or mean'),
  lift: Lift,
  alwaysValidLift: Interval,
})

export const countedWindows = ['complete', 'all'] as const

/** Days of a course, the last ones of a longer experiment. */
export const courseDays = 400

/** What an experiment has shown so far (docs/experiments.md, Results). */
export const ExperimentResults = named('ExperimentResults', {
  experimentId: Type.String(),
  readAt: dateTime('When the results were computed'),
  startedAt: dateTime('When the experiment started'),
  endedAt: nullable(dateTime('When it ended')),
  timezone: text('Of the company, by which days are told', 'Europe/Paris'),
  windows: oneOf(countedWindows, 'Which units are counted'),
  baselineVariantId: Type.String(),
  plannedSample: nullable(Type.Integer()),
  confidenceLevel: Type.Number({ description: 'Of all intervals', examples: [0.95] }),
  validated: flag('Planned sample or always-valid bound reached, and the sample ratio holds'),
  validation: oneOf(
    ['planned_sample', 'always_valid_bound', 'too_early', 'sample_ratio', 'too_few_units'],
    'What decided about `validated`',
  ),
  sampleRatio: object({
    pValue: share('Of the chi-square test of exposed units against allocations; null with too few'),
    holds: nullable(Type.Boolean(), 'False below 0.001: no figure can be relied on'),
  }),
  excluded: object({
    multipleVariants: countOf('Units that met several variants'),
    preview: countOf('Exposures of previews'),
    unknownVariant: countOf('Exposures to a variant that the experiment does not have'),
    beforeStart: countOf('Exposures in the week before the start'),
    afterEnd: countOf('Exposures in the week after the end, or as long as the longest window'),
  }),
  variants: Type.Array(
    object({
      id: Type.String(),
      name: Type.String(),
      allocation: Type.Number(),
      units: countOf('Units that were exposed to it alone'),
    }),
    { maxItems: experimentLimits.variants },
  ),
  metrics: Type.Array(MetricResults, { maxItems: experimentLimits.metrics }),
  course: listOf(
    CoursePoint,
    `The success metric day by day, cumulated over the days of first exposure: the last ${courseDays} of them, each with every variant but the baseline`,
  ),
})
export type ExperimentResults = Static<typeof ExperimentResults>

const proportion = (description: string, example: number) =>
  Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1, description, examples: [example] })
const amount = (description: string, example: number) =>
  Type.Number({ exclusiveMinimum: 0, maximum: 1e15, description, examples: [example] })

export const ExperimentPlanRequest = named('ExperimentPlanRequest', {
  baseline: Type.Union(
    [
      object({ rate: proportion('Share of units that convert', 0.05) }),
      object({
        mean: amount('Of all units, those without any included', 4.2),
        standardDeviation: amount('Of all units', 21),
      }),
    ],
    {
      description: 'What the units of the baseline are expected to do: a rate, or a mean with its deviation',
    },
  ),
  effect: Type.Number({
    minimum: -1,
    maximum: 100,
    description: 'The smallest relative change to find: 0.1 is ten percent more; not 0',
    examples: [0.1],
  }),
  allocations: Type.Optional(
    Type.Array(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }), {
      minItems: 2,
      maxItems: experimentLimits.variants,
      description: 'Shares of the variants, the baseline’s first; they add up to 1. Two halves when absent',
      examples: [[0.5, 0.5]],
    }),
  ),
  power: Type.Optional(
    Type.Number({
      minimum: 0.5,
      maximum: 0.999,
      description: 'Chance to find the effect where there is one, 0.8 when absent',
      examples: [0.8],
    }),
  ),
  alpha: Type.Optional(
    Type.Number({
      minimum: 0.0001,
      maximum: 0.2,
      description: 'Accepted rate of false alarms over all variants, 0.05 when absent',
      examples: [0.05],
    }),
  ),
  dailyUnits: Type.Optional(
    integer(
      1,
      experimentLimits.plannedSample,
      'Units that are exposed for the first time on a day, over all variants',
      2_000,
    ),
  ),
})
export type ExperimentPlanRequest = Static<typeof ExperimentPlanRequest>

const plannedUnits = {
  units: Type.Number({
    description: 'Over all variants; the `plannedSample` of an experiment',
    examples: [62_462],
  }),
  unitsByVariant: listOf(Type.Number(), 'In the order of the allocations; they sum to `units`'),
  days: nullable(Type.Number(), 'Null without `dailyUnits`'),
}

export const ExperimentPlan = named('ExperimentPlan', {
  fixedHorizon: object(plannedUnits, 'For one look, when all units are there'),
  alwaysValid: object(
    {
      ...plannedUnits,
      typicalUnits: Type.Number({ description: 'Units at which the expected course reaches the bound' }),
      ratio: Type.Number({ description: 'Its units over those of one look' }),
    },
    'For looks at any time',
  ),
})
export type ExperimentPlan = Static<typeof ExperimentPlan>
