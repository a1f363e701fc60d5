import { type Static, Type } from 'typebox'
import { comparedRanges, eventSelection, explorationFields } from './exploration.ts'
import { named, nameText, oneOf } from './formats.ts'
import { absentAsNull, granularities, memberId, Query } from './query.ts'

/** Bounds of a funnel. */
export const funnelLimits = {
  minSteps: 2,
  maxSteps: 12,
  /** Filters of all steps and of the funnel itself. */
  filters: 100,
  /** Days of the longest window. */
  windowDays: 366,
  /** Values of a breakdown that have rows of their own. */
  values: 20,
} as const

export const funnelOrders = ['ordered', 'strict', 'any'] as const
export const windowUnits = ['minute', 'hour', 'day', 'week'] as const

const FunnelStep = named(
  'FunnelStep',
  {
    name: absentAsNull(nameText('How rows call the step; the names of its events when absent')),
    ...eventSelection,
  },
  'One step: the events that count as it',
)

const FunnelWindow = named(
  'FunnelWindow',
  {
    value: Type.Integer({ minimum: 1, maximum: 1_000_000, examples: [7] }),
    unit: oneOf(windowUnits, { examples: ['day'] }),
  },
  `How long after the first step the others count, 14 days when absent, ${funnelLimits.windowDays} at most; a day has 24 hours`,
)

/** What a funnel asks (docs/statistics.md, Funnels). */
export const FunnelQuery = named(
  'FunnelQuery',
  {
    steps: Type.Array(FunnelStep, {
      minItems: funnelLimits.minSteps,
      maxItems: funnelLimits.maxSteps,
      description: 'The steps in their order; all of them and `filters` together may have 100 filters',
    }),
    order: absentAsNull(
      oneOf(funnelOrders, {
        description:
          '`ordered`, the default: other events may lie between two steps. `strict`: no other event of the funnel lies ' +
          'between them. `any`: the steps in any order',
        examples: ['ordered'],
      }),
    ),
    window: absentAsNull(FunnelWindow),
    per: absentAsNull(
      oneOf(['person', 'session'], {
        description: 'What is counted: persons, the default, or sessions, in one of which all steps lie',
        examples: ['person'],
      }),
    ),
    breakdown: absentAsNull(
      memberId(
        'A dimension of events: rows for each value that the first event of the attempt has',
        'events.deviceType',
      ),
    ),
    granularity: absentAsNull(
      oneOf(granularities, {
        description: 'A trend: rows for each of these units of time, by the first event of the attempt',
        examples: ['week'],
      }),
    ),
    ...explorationFields,
    compareDateRange: comparedRanges,
    timezone: Query.properties.timezone,
  },
  'Null in an optional field is as if it were absent',
)
export type FunnelQuery = Static<typeof FunnelQuery>
