import { Type } from 'typebox'
import { successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf } from '../operation-builders.ts'
import {
  countedWindows,
  ExperimentPlan,
  ExperimentPlanRequest,
  ExperimentResults,
} from '../resources/experiment-results.ts'
import { idParams, object, oneOf, text } from '../resources/formats.ts'

const operation = operationsOf('Statistics')

const csv =
  'metric,kind,role,variant,units,openUnits,conversions,total,displays,rate,mean,estimate,standardError,lift,liftLow,liftHigh,pValue,adjustedPValue,alwaysValidLow,alwaysValidHigh,alwaysValidPValue\r\n' +
  'orders,unique_conversion,success,control,31250,420,1562,1562,,0.049984,0.049984,0.049984,0.00123,,,,,,,,\r\n'

export const readExperimentResults = {
  ...operation('readExperimentResults', 'GET', '/v2/statistics/experiments/:id/results', 'statistics:access'),
  access: 'Statistics: access; for CSV and NDJSON also Statistics: export',
  summary: 'Read the results of an experiment',
  description: `Computed from everything that is stored at this moment, of an experiment that has started. Each unit counts once, from its first exposure on (\`experiment_exposure\`, or a \`workflow_display\` with the value of the tag that stands for the variant); units that met several variants are left out. docs/experiments.md, Exposures and Results, says exactly how.

A metric counts a unit once its window is over, so that early units and late ones weigh the same; with \`windows=all\` it counts every unit with what it has done so far. For each variant and metric there are units, conversions, rate, mean and standard error, and in comparison with the baseline the lift with its interval, p-value and confidence by two tests side by side: \`fixedHorizon\` is right for one look at the planned sample, \`alwaysValid\` however often it is looked at. \`course\` is the success metric day by day.

\`format=csv\`, or \`Accept: text/csv\` or \`application/x-ndjson\`, gives a row for each metric and variant instead, as of a query.`,
  errors: [
    'experimentNotFound',
    'experimentNotStarted',
    'tooComplex',
    'notAcceptable',
    'tooManyRequests',
    'timeout',
    'unavailable',
  ],
  replies: {
    200: {
      description: 'The results',
      alternatives: {
        'text/csv': { description: 'A row for each metric and variant, as RFC 4180 CSV', example: csv },
        'application/x-ndjson': {
          description: 'The same rows, one JSON object per line',
          example: '{"metric":"orders","variant":"control","units":31250,"rate":0.049984}\n',
        },
      },
    },
  },
  schema: {
    params: idParams('Identifier of the experiment'),
    querystring: object({
      windows: Type.Optional(
        oneOf(
          countedWindows,
          'Which units a metric counts: those whose window is over (when absent), or all',
        ),
      ),
      format: Type.Optional(oneOf(['csv'], 'Gives `data` as CSV')),
    }),
    response: {
      200: successEnvelope(Type.Union([ExperimentResults, text('The rows as CSV, with format=csv')])),
    },
  },
} as const satisfies Operation

export const planExperiment = {
  ...operation('planExperiment', 'POST', '/v2/statistics/experiments/plan', 'statistics:access'),
  summary: 'Plan the sample of an experiment',
  description:
    'How many units, and days, find an effect of a given size with a given power: for one look at the end, and for looks at any time. Nothing is stored. docs/experiments.md has the formulas.',
  idempotent: true,
  examples: {
    rate: example('Ten percent more of a rate of 5 %', {
      baseline: { rate: 0.05 },
      effect: 0.1,
      power: 0.8,
      dailyUnits: 2_000,
    }),
    mean: example('Five percent more revenue, three variants', {
      baseline: { mean: 4.2, standardDeviation: 21 },
      effect: 0.05,
      allocations: [0.5, 0.25, 0.25],
    }),
  },
  ...answers('The units that are needed', ExperimentPlan, { body: ExperimentPlanRequest }),
} as const satisfies Operation
