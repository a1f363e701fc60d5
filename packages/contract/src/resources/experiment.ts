import { type Static, Type } from 'typebox'
import { eventLimits } from '../events/limits.ts'
import {
  bodyOf,
  dateTime,
  extension,
  flag,
  id,
  idPattern,
  integer,
  keyPattern,
  like,
  listOf,
  longText,
  named,
  nameText,
  nullable,
  object,
  oneOf,
  optionals,
  storablePattern,
  text,
  times,
} from './formats.ts'

export const experimentTypes = ['ab', 'holdout'] as const
export const experimentUnits = ['user', 'device'] as const
export type ExperimentUnit = (typeof experimentUnits)[number]
export const metricKinds = ['unique_conversion', 'conversion', 'revenue_per_user', 'click_rate'] as const
export type MetricKind = (typeof metricKinds)[number]

/** Bounds of experiments (docs/experiments.md, Life). */
export const experimentLimits = {
  /** Of a company, without the archived ones. */
  perCompany: 1_000,
  variants: 10,
  metrics: 20,
  attachments: 100,
  teams: 100,
  /** 90 days. */
  windowHours: 2_160,
  cupedDays: 90,
  plannedSample: 1_000_000_000,
  /** Of the sum of allocations. */
  allocationError: 1e-9,
} as const

export const experimentStatuses = ['draft', 'scheduled', 'running', 'ended', 'decided', 'archived'] as const
export type ExperimentStatus = (typeof experimentStatuses)[number]

/** A change of state: from which states it leads, to which one, and the time that it sets. */
interface ExperimentTransition {
  readonly from: readonly ExperimentStatus[]
  /** Absent where the state stays. */
  readonly to?: ExperimentStatus
  readonly sets?: 'scheduledAt' | 'startedAt' | 'readAt' | 'endedAt' | 'decidedAt' | 'archivedAt'
}

/** All that changes the state of an experiment; whatever is not here is refused (docs/experiments.md, Life). */
const experimentTransitions = {
  schedule: { from: ['draft', 'scheduled'], to: 'scheduled', sets: 'scheduledAt' },
  unschedule: { from: ['scheduled'], to: 'draft' },
  start: { from: ['draft', 'scheduled'], to: 'running', sets: 'startedAt' },
  read: { from: ['running', 'ended'], sets: 'readAt' },
  end: { from: ['running'], to: 'ended', sets: 'endedAt' },
  decide: { from: ['ended'], to: 'decided', sets: 'decidedAt' },
  archive: { from: ['draft', 'scheduled', 'ended', 'decided'], to: 'archived', sets: 'archivedAt' },
} as const satisfies Record<string, ExperimentTransition>
export type ExperimentAction = keyof typeof experimentTransitions
export const experimentActions = Object.keys(experimentTransitions) as ExperimentAction[]

export function transitionOf(action: ExperimentAction): ExperimentTransition {
  return experimentTransitions[action]
}

/** What can be done to an experiment in a state. */
export function actionsFrom(status: ExperimentStatus): ExperimentAction[] {
  return experimentActions.filter((action) => transitionOf(action).from.includes(status))
}

/** What describes an experiment and changes no number of it: changed in every state but archived, all else in draft. */
export const descriptiveFields = ['name', 'hypothesis', 'attachments', 'resourceGroupIds'] as const

const stage = (description: string) => Type.Optional(nullable(dateTime(description)))

/** A number that statistics give: null where it is not defined (a ratio over 0, too little data). */
const statistic = (description: string) => nullable(Type.Number({ description }))

const Outcome = named(
  'ExperimentOutcome',
  {
    status: Type.Literal('decided'),
    ...optionals({
      routingVariantId: text('Variant that is shown to all from now on'),
      decidedBy: object({ type: Type.Literal('user'), userId: Type.String() }),
      validated: flag(
        'Whether the numbers bear the decision: the planned sample or the always-valid bound was reached, and the sample ratio holds',
      ),
      confidence: statistic('Between 0 and 1'),
      pValue: statistic('Between 0 and 1'),
      lift: object({
        estimate: statistic('Relative difference to the baseline'),
        low: statistic('Lower bound'),
        high: statistic('Upper bound'),
      }),
    }),
  },
  'What was decided, with the numbers of the success metric at that moment: those of the variant that is shown to all against the baseline; where that is the baseline itself, those of the variant with the smallest p-value',
)
export type ExperimentOutcome = Static<typeof Outcome>

/** Chosen by the client, or made by the service: exposures name it. */
const key = (description: string, example: string) =>
  text(description, example, { pattern: keyPattern, maxLength: 64 })

const windowHours = (description: string) => integer(1, experimentLimits.windowHours, description, 168)

const Purchases = object({ purchases: Type.Literal(true) })
const NamedEvent = object({
  event: Type.String({
    minLength: 1,
    maxLength: eventLimits.name,
    pattern: storablePattern,
    examples: ['add_cart'],
  }),
})
const metricSource = Type.Union([NamedEvent, Purchases], {
  description: 'What is counted: an event by its name, or purchases (docs/statistics.md)',
  examples: [{ purchases: true }],
})

const metricFields = {
  kind: oneOf(
    metricKinds,
    '`unique_conversion`: share of units with at least one; `conversion`: how many a unit has; `revenue_per_user`: sum of value a unit, over purchases only; `click_rate`: share of exposures that one follows',
  ),
  source: metricSource,
  role: oneOf(
    ['success', 'guard'],
    'The first metric is the `success` metric; `guard` metrics must not get worse',
  ),
  direction: oneOf(['increase', 'decrease'], 'Which change is wanted'),
}

export const Metric = named('ExperimentMetric', {
  id: key('Identifier within the experiment', 'orders'),
  ...metricFields,
  windowHours: windowHours('Hours after the first exposure of a unit that count'),
})
export type Metric = Static<typeof Metric>

export const Variant = named('ExperimentVariant', {
  id: key('Identifier within the experiment, as exposures name it (`variantId`)', 'treatment'),
  name: Type.String(),
  allocation: Type.Number({ description: 'Share of the units; those of all variants add up to 1' }),
  tagValueId: Type.Optional(id('Value of the system tag key that stands for the variant')),
})
export type Variant = Static<typeof Variant>

export const Attachment = named('ExperimentAttachment', {
  surface: like('workflow'),
  resourceId: Type.String(),
  attachedAt: dateTime('When it was attached'),
})
export type Attachment = Static<typeof Attachment>

const plannedSample = extension(
  nullable(Type.Integer({ minimum: 2, maximum: experimentLimits.plannedSample }), {
    description:
      'Units of all variants together after which the fixed-horizon test may be read; null: none planned',
    examples: [20_000],
  }),
)
const outlierCap = extension(
  nullable(Type.Number({ minimum: 0.5, exclusiveMaximum: 1 }), {
    description: 'Quantile at which the revenue of a unit is capped; null: not capped',
    examples: [0.99],
  }),
)
const cupedDays = extension(
  nullable(Type.Integer({ minimum: 1, maximum: experimentLimits.cupedDays }), {
    description: 'Days before exposure whose data reduces the variance of revenue (CUPED); null: none',
    examples: [14],
  }),
)

/** docs/interface.md, Experiment. */
export const Experiment = named('Experiment', {
  _id: id('Identifier of the experiment'),
  companyId: id('Company that owns it'),
  name: Type.String(),
  hypothesis: Type.Optional(Type.String()),
  createdBy: text('User who made it'),
  type: oneOf(
    experimentTypes,
    '`ab` compares variants; `holdout` keeps some units from all of it, as its baseline',
  ),
  unit: oneOf(experimentUnits, 'What is assigned to a variant: a person or a device'),
  successMetric: oneOf(metricKinds, 'Kind of the first of `metrics`'),
  status: oneOf(experimentStatuses, 'See docs/experiments.md, Life'),
  attachments: listOf(Attachment, 'Where its variants are shown'),
  variants: listOf(Variant, 'In the order in which assignment cumulates them'),
  baselineVariantId: Type.Optional(text('Variant that the others are compared with')),
  systemTagKeyId: Type.Optional(
    id('Tag key whose values stand for the variants; absent once an experiment that never ran is archived'),
  ),
  resourceGroupIds: listOf(
    Type.String(),
    'Teams that it is meant for; every team where none is named. Every user with the permission to read experiments reads it',
  ),
  ...times,
  scheduledAt: stage('When it is to start'),
  startedAt: stage('When it started'),
  readAt: stage('When its results were read first; before `endedAt`: while it was running'),
  endedAt: stage('When it ended'),
  archivedAt: stage('When it was archived'),
  decidedAt: extension(stage('When it was decided')),
  outcome: Type.Optional(nullable(Outcome)),
  metrics: extension(listOf(Metric, 'The first is the success metric, the others are guards')),
  conversionWindowHours: extension(windowHours('Window of metrics that name none')),
  plannedSample,
  outlierCap,
  cupedDays,
  salt: extension(text('Salt of the assignment hash; it never changes (docs/experiments.md, Assignment)')),
})
export type Experiment = Static<typeof Experiment>

const variant = {
  id: Type.Optional(key('Unique within the experiment; made by the service when absent', 'treatment')),
  name: nameText('Unique within the experiment, whatever its case', 100, { examples: ['New page'] }),
  allocation: Type.Number({
    exclusiveMinimum: 0,
    maximum: 1,
    description: 'Share of the units; those of all variants add up to 1',
    examples: [0.5],
  }),
}
const VariantInput = bodyOf('ExperimentVariantInput', Variant, variant)
export type VariantInput = Static<typeof VariantInput>

const MetricInput = named('ExperimentMetricInput', {
  id: Type.Optional(key('Unique within the experiment; made by the service when absent', 'orders')),
  kind: metricFields.kind,
  source: metricFields.source,
  windowHours: Type.Optional(windowHours('`conversionWindowHours` when absent')),
  role: Type.Optional(oneOf(['success', 'guard'], '`success` for the first and `guard` for all others')),
  direction: Type.Optional(oneOf(['increase', 'decrease'], '`increase` when absent')),
})
export type MetricInput = Static<typeof MetricInput>

const attachment = {
  surface: oneOf(['workflow']),
  resourceId: Type.String({ pattern: idPattern, description: 'Identifier of the workflow' }),
}
const AttachmentInput = bodyOf('ExperimentAttachmentInput', Attachment, attachment)
export type AttachmentInput = Static<typeof AttachmentInput>

/** Fields that a body may have; which of them a state lets change is in docs/experiments.md, Life. */
const optional = optionals({
  hypothesis: longText('What is expected, and why'),
  unit: oneOf(experimentUnits, '`user` when absent'),
  successMetric: oneOf(
    metricKinds,
    'Kind of the first of `metrics`. Without `metrics` it is counted over purchases, `click_rate` excepted',
  ),
  metrics: Type.Array(MetricInput, {
    minItems: 1,
    maxItems: experimentLimits.metrics,
    description: 'The first is the success metric',
  }),
  baselineVariantId: key('The first variant when absent', 'control'),
  conversionWindowHours: windowHours('168 when absent'),
  plannedSample,
  outlierCap,
  cupedDays,
  attachments: Type.Array(AttachmentInput, { maxItems: experimentLimits.attachments }),
  resourceGroupIds: Type.Array(id('A team of your company'), { maxItems: experimentLimits.teams }),
})
const name = nameText('Name of the experiment', 200, { examples: ['New product page'] })
const type = oneOf(
  experimentTypes,
  '`ab` when absent. A `holdout` has two variants, of which the baseline gets nothing',
)
const variants = Type.Array(VariantInput, { minItems: 2, maxItems: experimentLimits.variants })

const creation = { name, type: Type.Optional(type), variants, ...optional }
const update = {
  name: Type.Optional(name),
  type: Type.Optional(type),
  variants: Type.Optional(variants),
  ...optional,
}

export const ExperimentCreation = bodyOf('ExperimentCreation', Experiment, creation)
export type ExperimentCreation = Static<typeof ExperimentCreation>

/** Partial: a field that is absent stays as it is; lists are replaced as a whole. */
export const ExperimentUpdate = bodyOf('ExperimentUpdate', Experiment, update)
export type ExperimentUpdate = Static<typeof ExperimentUpdate>

export const ExperimentSchedule = named('ExperimentSchedule', {
  scheduledAt: nullable(
    dateTime('When it is to start'),
    'A time in the future, at most a year ahead; null makes it a draft again',
  ),
})

export const ExperimentDecision = named('ExperimentDecision', {
  routingVariantId: key('Variant that is shown to all from now on', 'treatment'),
})

export const assignmentReasons = ['not-started', 'allocation', 'exposure', 'ended', 'decision'] as const

export const Assignment = named('ExperimentAssignment', {
  experimentId: id('The experiment'),
  unit: text('As it was asked for'),
  variantId: text('Variant that the unit is shown'),
  tagValueId: nullable(Type.String(), 'Tag value that stands for the variant'),
  isBaseline: flag('In a `holdout`: nothing is shown'),
  reason: oneOf(
    assignmentReasons,
    '`not-started` and `ended`: the baseline, for units without a variant; `allocation`: by the hash; `exposure`: the variant that the person was first exposed to; `decision`: the variant that was decided for all',
  ),
  recordsExposure: flag('Whether showing it is to be sent as `experiment_exposure`: while it is running'),
  exposuresRead: flag(
    'Whether earlier exposures were looked up: not for devices, whose hash never changes, and not where the store did not answer',
  ),
})
export type Assignment = Static<typeof Assignment>
