import type { Static } from 'typebox'
import { eventSelection, explorationFields } from './exploration.ts'
import { integer, named, oneOf } from './formats.ts'
import { absentAsNull, DateRange } from './query.ts'

export const retentionLimits = { periods: 24, defaultPeriods: 8, cohorts: 400 } as const

const SelectedEvents = named(
  'SelectedEvents',
  eventSelection,
  'Events of some names that pass filters; `{}` is any event',
)

/** Question of the operation on retention (docs/statistics.md, Retention). */
export const RetentionQuery = named(
  'RetentionQuery',
  {
    firstEvent: SelectedEvents,
    returnEvent: SelectedEvents,
    dateRange: DateRange,
    granularity: oneOf(['day', 'week', 'month'], {
      description: 'Length of a period, in the company’s time zone; weeks begin on Monday',
      examples: ['week'],
    }),
    periods: absentAsNull(
      integer(
        1,
        retentionLimits.periods,
        `How many periods are shown of each cohort, its own among them; ${retentionLimits.defaultPeriods} when absent`,
        12,
      ),
    ),
    cohorts: absentAsNull(
      oneOf(['first-time', 'recurring'], {
        description:
          '`first-time`, when absent: a person belongs to the cohort of their first such event ever, so the whole ' +
          'history is read. `recurring`: to that of every period with such an event',
        examples: ['first-time'],
      }),
    ),
    returns: absentAsNull(
      oneOf(['on', 'on-or-after'], {
        description:
          '`on`, when absent: counts who returned in the period itself. `on-or-after`: in it or at any later time',
        examples: ['on'],
      }),
    ),
    filters: explorationFields.filters,
  },
  'Who comes back: `firstEvent` is what a person did to belong to a cohort, `returnEvent` what counts as a return; ' +
    'null in an optional field is as if it were absent',
)
export type RetentionQuery = Static<typeof RetentionQuery>
