import { type Static, Type } from 'typebox'
import { experimentLimits, metricKinds } from './experiment.ts'
import { dateTime, nullable, oneOf, strict } from './formats.ts'

/** A number that statistics give: null where it is not defined (a ratio over 0, too little data), never NaN. */
const statistic = (description: string) => nullable(Type.Number({ description }))
const share = (description: string) =>
  nullable(Type.Number({ minimum: 0, maximum: 1, description, examples: [0.05] }))
const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [12_000] })

const bounds = { low: statistic('Lower bound'), high: statistic('Upper bound') }
const Interval = Type.Object(bounds, strict)
const Lift = Type.Object(
  { estimate: statistic('Relative difference to the baseline: 0.1 is ten percent more'), ...bounds },
  strict,
)

const test = {
  lift: Lift,
  difference: Interval,
  pValue: share('Two-sided'),
  confidence: share('1 - p'),
  adjusted: Type.Object(
    { pValue: share('Two-sided'), lift: Interval },
    { ...strict, description: 'Corrected for the other comparisons of its family' },
  ),
}

const Comparison = Type.Object(
  {
    difference: statistic('Variant minus baseline, in the unit of the metric'),
    fixedHorizon: Type.Object(
      { ...test, safeWhenReadDaily: Type.Literal(false) },
      { ...strict, description: 'Right for one look, when the planned sample is reached' },
    ),
    alwaysValid: Type.Object(
      { ...test, safeWhenReadDaily: Type.Literal(true) },
      { ...strict, description: 'Right at any time, however often it is looked at' },
    ),
  },
  { ...strict, title: 'ExperimentComparison' },
)

const MetricOfVariant = Type.Object(
  {
    variantId: Type.String(),
    units: count('Units that the metric counts: those whose window is over, or all'),
    openUnits: count('Units whose window is not over'),
    conversions: count('Units with at least one in the window'),
    total: statistic(
      'Sum over the units: of conversions, of clicks, of amounts with two decimals; amounts above the cap as the cap',
    ),
    displays: nullable(Type.Integer({ minimum: 0 }), {
      description: 'Displays in the windows of the units; null but for `click_rate`',
    }),
    rate: share('conversions / units'),
    mean: statistic('total / units; of `click_rate` total / displays'),
    estimate: statistic('What is compared: rate or mean, adjusted where the variance is reduced'),
    standardError: statistic('Of the estimate'),
    enoughData: Type.Boolean({ description: 'Whether p-values are near the truth' }),
    comparison: nullable(Comparison, { description: 'With the baseline; null for the baseline itself' }),
  },
  { ...strict, title: 'ExperimentMetricOfVariant' },
)

const MetricResults = Type.Object(
  {
    id: Type.String(),
    kind: oneOf(metricKinds),
    role: oneOf(['success', 'guard']),
    direction: oneOf(['increase', 'decrease']),
    windowHours: Type.Integer(),
    varianceReduction: statistic('Share of the variance that revenue before exposure took away'),
    variants: Type.Array(MetricOfVariant, { description: 'In the order of the experiment' }),
  },
  { ...strict, title: 'ExperimentMetricResults' },
)

const CoursePoint = Type.Object(
  {
    day: Type.String({
      format: 'date',
      description: 'Day of the company’s time zone; units exposed first up to its end are counted',
      examples: ['2026-03-10'],
    }),
    variantId: Type.String(),
    units: count('Units of the variant that the metric counts'),
    estimate: statistic('Rate or mean'),
    lift: Lift,
    alwaysValidLift: Interval,
  },
  { ...strict, title: 'ExperimentCoursePoint' },
)

export const countedWindows = ['complete', 'all'] as const

/** Days of a course, the last ones of a longer experiment. */
export const courseDays = 400

/** What an experiment has shown so far (docs/experiments.md, Results). */
export const ExperimentResults = Type.Object(
  {
    experimentId: Type.String(),
    readAt: dateTime('When the results were computed'),
    startedAt: dateTime('When the experiment started'),
    endedAt: nullable(dateTime('When it ended')),
    timezone: Type.String({
      description: 'Of the company, by which days are told',
      examples: ['Europe/Paris'],
    }),
    windows: oneOf(countedWindows, { description: 'Which units are counted' }),
    baselineVariantId: Type.String(),
    plannedSample: nullable(Type.Integer()),
    confidenceLevel: Type.Number({ description: 'Of all intervals', examples: [0.95] }),
    validated: Type.Boolean({
      description: 'Planned sample or always-valid bound reached, and the sample ratio holds',
    }),
    validation: oneOf(
      ['planned_sample', 'always_valid_bound', 'too_early', 'sample_ratio', 'too_few_units'],
      { description: 'What decided about `validated`' },
    ),
    sampleRatio: Type.Object(
      {
        pValue: share('Of the chi-square test of exposed units against allocations; null with too few'),
        holds: nullable(Type.Boolean(), { description: 'False below 0.001: no figure can be relied on' }),
      },
      strict,
    ),
    excluded: Type.Object(
      {
        multipleVariants: count('Units that met several variants'),
        preview: count('Exposures of previews'),
        unknownVariant: count('Exposures to a variant that the experiment does not have'),
        beforeStart: count('Exposures in the week before the start'),
        afterEnd: count('Exposures in the week after the end, or as long as the longest window'),
      },
      strict,
    ),
    variants: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          name: Type.String(),
          allocation: Type.Number(),
          units: count('Units that were exposed to it alone'),
        },
        strict,
      ),
      { maxItems: experimentLimits.variants },
    ),
    metrics: Type.Array(MetricResults, { maxItems: experimentLimits.metrics }),
    course: Type.Array(CoursePoint, {
      description: `The success metric day by day, cumulated over the days of first exposure: the last ${courseDays} of them, each with every variant but the baseline`,
    }),
  },
  { ...strict, title: 'ExperimentResults' },
)
export type ExperimentResults = Static<typeof ExperimentResults>

const proportion = (description: string, example: number) =>
  Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1, description, examples: [example] })
const amount = (description: string, example: number) =>
  Type.Number({ exclusiveMinimum: 0, maximum: 1e15, description, examples: [example] })

export const ExperimentPlanRequest = Type.Object(
  {
    baseline: Type.Union(
      [
        Type.Object({ rate: proportion('Share of units that convert', 0.05) }, strict),
        Type.Object(
          {
            mean: amount('Of all units, those without any included', 4.2),
            standardDeviation: amount('Of all units', 21),
          },
          strict,
        ),
      ],
      {
        description:
          'What the units of the baseline are expected to do: a rate, or a mean with its deviation',
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
      Type.Integer({
        minimum: 1,
        maximum: experimentLimits.plannedSample,
        description: 'Units that are exposed for the first time on a day, over all variants',
        examples: [2_000],
      }),
    ),
  },
  { ...strict, title: 'ExperimentPlanRequest' },
)
export type ExperimentPlanRequest = Static<typeof ExperimentPlanRequest>

const plannedUnits = {
  units: Type.Number({
    description: 'Over all variants; the `plannedSample` of an experiment',
    examples: [62_462],
  }),
  unitsByVariant: Type.Array(Type.Number(), {
    description: 'In the order of the allocations; they sum to `units`',
  }),
  days: nullable(Type.Number(), { description: 'Null without `dailyUnits`' }),
}

export const ExperimentPlan = Type.Object(
  {
    fixedHorizon: Type.Object(plannedUnits, {
      ...strict,
      description: 'For one look, when all units are there',
    }),
    alwaysValid: Type.Object(
      {
        ...plannedUnits,
        typicalUnits: Type.Number({ description: 'Units at which the expected course reaches the bound' }),
        ratio: Type.Number({ description: 'Its units over those of one look' }),
      },
      { ...strict, description: 'For looks at any time' },
    ),
  },
  { ...strict, title: 'ExperimentPlan' },
)
export type ExperimentPlan = Static<typeof ExperimentPlan>
