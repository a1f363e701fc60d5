import { answeredInRows, rowsReply } from '../answered-in-rows.ts'
import type { Operation } from '../operation.ts'
import { example } from '../operation-builders.ts'
import { FunnelQuery, funnelLimits } from '../resources/funnel.ts'

const value = {
  steps: [
    { name: 'Product', events: ['product_page'] },
    { name: 'Cart', events: ['add_cart'] },
    { name: 'Order', events: ['purchase'] },
  ],
  window: { value: 7, unit: 'day' },
  dateRange: 'last 30 days',
}

export const exploreFunnel = {
  ...answeredInRows,
  id: 'exploreFunnel',
  url: '/v2/statistics/funnels',
  summary: 'Explore a funnel',
  description: `How many persons, or sessions, go through a sequence of 2 to ${funnelLimits.maxSteps} steps, and how long they take. An attempt begins with an event of the first step within the range and may go on for the window, beyond the end of the range too; of several attempts the one that gets furthest counts, of equal ones the earliest. docs/statistics.md, Funnels, says exactly how.

One row for each step: \`step\`, from 1; \`name\`; \`people\`, or \`sessions\`, that reached it; \`conversionFromPrevious\` and \`conversionFromFirst\`, shares from 0 to 1, null over 0; \`medianSeconds\` from the step before, null for the first and where none reached it. In front of them, where they are asked for, \`compareDateRange\`, \`events.time.<granularity>\` and the breakdown under its id with \`isRest\`: the ${funnelLimits.values} largest values have rows of their own, all others together have one with \`isRest\` true and a null value.

Filters, zones, formats and limits are those of a query.`,
  examples: {
    purchases: example('From a product to an order within a week', value),
    filtered: example('Sessions that go from one page to another, by device and week, against those before', {
      steps: [
        { filters: [{ member: 'events.path', operator: 'startsWith', values: ['/blog'] }] },
        { events: ['page_view', 'product_page'], filters: [] },
      ],
      order: 'strict',
      per: 'session',
      breakdown: 'events.deviceType',
      granularity: 'week',
      compareDateRange: ['this month', 'last month'],
      filters: [{ member: 'events.label.store', operator: 'equals', values: ['fr'] }],
    }),
  },
  replies: rowsReply(
    [
      {
        step: 1,
        name: 'Product',
        people: 1200,
        conversionFromPrevious: null,
        conversionFromFirst: 1,
        medianSeconds: null,
      },
      {
        step: 2,
        name: 'Cart',
        people: 300,
        conversionFromPrevious: 0.25,
        conversionFromFirst: 0.25,
        medianSeconds: 95.5,
      },
    ],
    'step,name,people,conversionFromPrevious,conversionFromFirst,medianSeconds\r\n1,Product,1200,,1,\r\n',
  ),
  schema: { ...answeredInRows.schema, body: FunnelQuery },
} as const satisfies Operation
