import { answeredInRows, rowsReply } from '../answered-in-rows.ts'
import type { Operation } from '../operation.ts'
import { example } from '../operation-builders.ts'
import { RetentionQuery, retentionLimits } from '../resources/retention.ts'

export const exploreRetention = {
  ...answeredInRows,
  id: 'exploreRetention',
  url: '/v2/statistics/retention',
  summary: 'Explore retention',
  description: `Who comes back: persons are grouped by the day, week or month in which they did a first event, and each cohort is followed for up to ${retentionLimits.periods} periods. docs/statistics.md, Retention, says exactly what counts.

One row for each cohort and period: \`cohort\`, the start of the cohort's period; \`size\`, its persons; \`period\`, 0 for the cohort's own; \`people\`, those of them who did a returning event then; \`rate\`, people / size; \`isComplete\`, whether the period is over. Cohorts without persons and periods that have not begun have no row. A range of more than ${retentionLimits.cohorts} cohorts is refused.

Filters, zones, formats and limits are those of a query.`,
  examples: {
    weekly: example('Who buys again in the weeks after the first purchase', {
      firstEvent: { events: ['purchase'] },
      returnEvent: { events: ['purchase'] },
      granularity: 'week',
      periods: 8,
      dateRange: 'last 8 weeks',
    }),
    recurring: example('Readers of the blog on phones who come back to anything, in the month or later', {
      firstEvent: {
        events: ['page_view'],
        filters: [{ member: 'events.path', operator: 'startsWith', values: ['/blog'] }],
      },
      returnEvent: {},
      granularity: 'month',
      periods: 12,
      cohorts: 'recurring',
      returns: 'on-or-after',
      dateRange: ['2026-01-01', '2026-06-30'],
      filters: [{ member: 'events.deviceType', operator: 'equals', values: ['mobile'] }],
    }),
  },
  replies: rowsReply(
    [
      {
        cohort: '2026-01-05T00:00:00.000+01:00',
        size: 420,
        period: 0,
        people: 420,
        rate: 1,
        isComplete: true,
      },
      {
        cohort: '2026-01-05T00:00:00.000+01:00',
        size: 420,
        period: 1,
        people: 63,
        rate: 0.15,
        isComplete: false,
      },
    ],
    'cohort,size,period,people,rate,isComplete\r\n2026-01-05T00:00:00.000+01:00,420,0,420,1,true\r\n',
  ),
  schema: { ...answeredInRows.schema, body: RetentionQuery },
} as const satisfies Operation
