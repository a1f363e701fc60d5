import { type Static, Type } from 'typebox'
import { nameText } from './formats.ts'
import { absentAsNull, DateRange, Filters, queryLimits } from './query.ts'

/** Bounds of one exploration; those of its filters are a query's. */
export const explorationLimits = {
  /** Names of one selection of events. */
  events: 50,
} as const

/** Which events count as a step, a first or a returning event: `events` and `filters`, joined by and. */
export const eventSelection = {
  events: absentAsNull(
    Type.Array(nameText('Name of an event, case included', 256), {
      minItems: 1,
      maxItems: explorationLimits.events,
      uniqueItems: true,
      description: 'The event has one of these names. When absent, any name',
      examples: [['add_cart']],
    }),
  ),
  filters: absentAsNull(Filters),
} as const

/** What all explorations take beside the events that they are about. */
export const explorationFields = {
  filters: absentAsNull(Filters),
  dateRange: absentAsNull(DateRange),
} as const

/** Rows of several ranges, instead of `dateRange`. */
export const comparedRanges = absentAsNull(
  Type.Array(DateRange, {
    minItems: 1,
    maxItems: queryLimits.compareDateRanges,
    description: 'Comparison form, instead of `dateRange`: the rows of each range, in this order',
    examples: [['this month', 'last month']],
  }),
)

const EventSelection = Type.Object(eventSelection)
export type EventSelection = Static<typeof EventSelection>
