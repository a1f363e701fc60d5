/**
 * Explorations of a shop of 60 days through the interface: a funnel, weekly retention, paths, attribution, and displays
 * and clicks of workflows, against the distinct persons of 30 days in the same run; and queries filtered by a cohort,
 * against the same ones without it.
 * Run: `npm run bench -- explorations [--events 10000000] [--data DIRECTORY] [--rounds 5] [--settle 20]` (a directory is
 * kept and used again).
 */
import { parseArgs } from 'node:util'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { fillWithShop } from './support/fill.ts'
import { printTable, type Row } from './support/machine.ts'
import { computed, medianOf } from './support/timing.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10000000' },
    data: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    settle: { type: 'string', default: '20' },
  },
})
const kept = values.data
const service = await startService(kept === undefined ? {} : { dataDirectory: kept })

const medianAt = (path: string, body: object) =>
  medianOf(Number(values.rounds), () => computed(service, body, path))

const month = { dateRange: 'last 30 days' }
const weekly = {
  firstEvent: { events: ['product_page'] },
  returnEvent: {},
  granularity: 'week',
  periods: 8,
  dateRange: 'from 8 weeks ago to now',
}
const funnel = {
  steps: [{ events: ['product_page'] }, { events: ['add_cart'] }, { events: ['purchase'] }],
  ...month,
}
const attribution = (dimensions: readonly string[]) => ({
  measures: ['afterClick', 'influencedRevenue', 'influencedCount'].map((name) => `purchases.${name}`),
  dimensions,
  filters: [],
  timeDimensions: [{ dimension: 'purchases.time', ...month }],
})
const ofWorkflows = (measures: readonly string[], dimensions: readonly string[]) => ({
  measures: measures.map((name) => `workflows.${name}`),
  dimensions: dimensions.map((name) => `workflows.${name}`),
  filters: [],
  timeDimensions: [{ dimension: 'workflows.time', ...month }],
})
const cases = [
  ['a funnel of three steps, 30 days', 'funnels', funnel, '< 1,000 ms'],
  ['the same, strict', 'funnels', { ...funnel, order: 'strict' }, '< 1,000 ms'],
  ['the same, in any order', 'funnels', { ...funnel, order: 'any' }, '< 1,000 ms'],
  ['the same, per session', 'funnels', { ...funnel, per: 'session' }, ''],
  ['the same, by label', 'funnels', { ...funnel, breakdown: 'events.label.store' }, ''],
  ['the same, by day', 'funnels', { ...funnel, granularity: 'day' }, ''],
  ['weekly retention of 8 weeks, first time ever', 'retention', weekly, '< 1,500 ms'],
  ['the same, recurring', 'retention', { ...weekly, cohorts: 'recurring' }, '< 1,500 ms'],
  [
    'the same, any event, on or after',
    'retention',
    { ...weekly, firstEvent: {}, returns: 'on-or-after' },
    '< 1,500 ms',
  ],
  ['paths by event, 30 days', 'paths', { by: 'event', ...month }, ''],
  ['paths by event to a purchase, 30 days', 'paths', { by: 'event', to: 'purchase', ...month }, ''],
  ['paths by page, 30 days, 5,000 pages seen at random', 'paths', { by: 'path', ...month }, ''],
  ['attribution, 30 days', 'query', attribution([]), '< 2,000 ms'],
  ['attribution by workflow, 30 days', 'query', attribution(['workflows.id']), '< 2,000 ms'],
  ['displays and clicks by workflow, 30 days', 'query', ofWorkflows(['displays', 'clicks'], ['id']), ''],
  [
    'the same with openings, openers and clickers',
    'query',
    ofWorkflows(['displays', 'clicks', 'openings', 'openers', 'clickers'], ['id']),
    '',
  ],
  ['openings by message, 30 days', 'query', ofWorkflows(['openings'], ['message']), ''],
  [
    'conversion rate and uplifts by workflow, 30 days',
    'query',
    ofWorkflows(['conversionRate', 'clickUplift', 'conversionUplift', 'revenueUplift'], ['id']),
    '',
  ],
] as const

const rows: Row[] = []
try {
  const filled = await fillWithShop(service, Number(values.events), 60)
  // Merges of what was just loaded would share the cores with the statements.
  await new Promise((resolve) => setTimeout(resolve, Number(values.settle) * 1000))
  rows.push(['events stored', filled.toLocaleString('en-US'), '', ''])
  const yardstick = await medianAt('/v2/statistics/query', {
    measures: ['events.people'],
    dimensions: [],
    filters: [],
    timeDimensions: [{ dimension: 'events.time', ...month }],
  })
  rows.push(['distinct persons, 30 days', `${yardstick.toFixed(0)} ms`, '1.00', ''])
  for (const [what, exploration, body, target] of cases) {
    const took = await medianAt(`/v2/statistics/${exploration}`, body)
    rows.push([what, `${took.toFixed(0)} ms`, (took / yardstick).toFixed(2), target])
  }
  const made = await service.call('POST', '/v2/statistics/cohorts', {
    name: `Buyers ${Date.now()}`,
    rule: { event: { events: ['purchase'] }, ...month },
  })
  const { data: cohort } = (await made.json()) as { data: { id: string } }
  const filter = { member: 'persons.cohort', operator: 'equals', values: [cohort.id] }
  for (const measures of [
    ['events.count'],
    ['events.people'],
    ['events.count', 'events.people', 'events.sessions'],
  ]) {
    const asked = (filters: object[]) =>
      medianAt('/v2/statistics/query', {
        measures,
        dimensions: [],
        filters,
        timeDimensions: [{ dimension: 'events.time', granularity: 'day', ...month }],
      })
    const [whole, filtered] = [await asked([]), await asked([filter])]
    rows.push([
      `${measures.join(', ')} by day of the buyers of 30 days, against those of everybody`,
      `${filtered.toFixed(0)} ms (everybody ${whole.toFixed(0)} ms)`,
      (filtered / whole).toFixed(2),
      '<= 2',
    ])
  }
  await service.call('DELETE', `/v2/statistics/cohorts/${cohort.id}`)
  printTable('Explorations', rows)
} finally {
  await service.stop()
  if (kept === undefined) removeData(service)
}
