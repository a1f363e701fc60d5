import { type Static, Type } from 'typebox'
import { dateTime, id, nullable, strict } from './formats.ts'

const stage = (description: string) => Type.Optional(nullable(dateTime(description)))

/** A number that statistics give: null where it is not defined (a ratio over 0, too little data). */
const statistic = (description: string) => nullable(Type.Number({ description }))

const Outcome = Type.Object(
  {
    status: Type.String({ examples: ['decided'] }),
    routingVariantId: Type.Optional(Type.String({ description: 'Variant that is shown to all from now on' })),
    decidedBy: Type.Optional(Type.Object({ type: Type.Literal('user'), userId: Type.String() }, strict)),
    validated: Type.Optional(Type.Boolean()),
    confidence: Type.Optional(statistic('Between 0 and 1')),
    pValue: Type.Optional(statistic('Between 0 and 1')),
    lift: Type.Optional(
      Type.Object(
        {
          estimate: statistic('Relative difference to the baseline'),
          low: statistic('Lower bound'),
          high: statistic('Upper bound'),
        },
        strict,
      ),
    ),
  },
  { ...strict, title: 'ExperimentOutcome' },
)

/** docs/interface.md, Experiment. The values of `type`, `unit`, `successMetric` and the states are an open list. */
export const Experiment = Type.Object(
  {
    _id: id('Identifier of the experiment'),
    companyId: id('Company that owns it'),
    name: Type.String(),
    hypothesis: Type.Optional(Type.String()),
    createdBy: Type.String(),
    type: Type.String({ examples: ['holdout'] }),
    unit: Type.String({ description: 'What is assigned to a variant', examples: ['user'] }),
    successMetric: Type.String({ examples: ['unique_conversion'] }),
    status: Type.String({ examples: ['draft'] }),
    attachments: Type.Array(
      Type.Object(
        {
          surface: Type.String({ examples: ['workflow'] }),
          resourceId: Type.String(),
          attachedAt: dateTime('When it was attached'),
        },
        strict,
      ),
    ),
    variants: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          name: Type.String(),
          allocation: Type.Number({ description: 'Share of the traffic' }),
          tagValueId: Type.Optional(Type.String()),
        },
        strict,
      ),
    ),
    baselineVariantId: Type.Optional(Type.String()),
    systemTagKeyId: Type.Optional(Type.String()),
    resourceGroupIds: Type.Array(Type.String(), { description: 'Teams that see it' }),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
    scheduledAt: stage('When it is to start'),
    startedAt: stage('When it started'),
    readAt: stage('When its result was read'),
    endedAt: stage('When it ended'),
    archivedAt: stage('When it was archived'),
    outcome: Type.Optional(nullable(Outcome)),
  },
  { ...strict, title: 'Experiment' },
)
export type Experiment = Static<typeof Experiment>
