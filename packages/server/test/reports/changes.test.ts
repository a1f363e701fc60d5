import { expect, test } from 'vitest'
import { describeStatistics } from '../../src/features/analytics/statistics-meta.ts'
import { rowsOf } from '../../src/features/reports/generator/evidence/table.ts'
import { paragraphOf } from '../../src/features/reports/generator/language/paragraph.ts'
import { createWriter } from '../../src/features/reports/generator/sections/writer.ts'
import { evidence } from '../support/report-generation.ts'

const query = { measures: [], dimensions: [], filters: [], timeDimensions: [], timezone: 'UTC' }

test.each([
  [
    'events.perPerson',
    1.1006,
    1.1026,
    'the number of events per person stayed at 1.10, as in the period before.',
  ],
  ['sessions.bounceRate', 0.89931, 0.89934, 'the bounce rate stayed at 89.93%, as in the period before.'],
  [
    'sessions.bounceRate',
    0.9,
    0.895,
    'the bounce rate rose from 89.50% in the period before to 90.00% (+0.6%).',
  ],
  ['events.count', 0, 0, 'the number of events stayed at 0, as in the period before.'],
  [
    'sessions.bounceRate',
    0.05,
    0,
    'the bounce rate rose from 0.00% in the period before to 5.00% (+5.00 points).',
  ],
  ['purchases.revenue', 5, -3, 'revenue rose from -3.00 in the period before to 5.00 (+8.00).'],
])('tells a change of %s that the figures show, from %d and %d', (measure, now, before, text) => {
  const found = evidence(query, [
    { [measure]: now, 'sessions.count': 90 },
    { [measure]: before, 'sessions.count': 80 },
  ])
  const context = { locale: 'en', timezone: 'UTC', findEvidence: () => found } as const
  const meta = describeStatistics({ events: [], purchases: [] }, { exactCounts: true })
  const writer = createWriter({ ...context, meta, generationId: 'g' })
  const [own, earlier] = rowsOf(found)
  const parts = writer.change(measure, own, earlier, 'sessions.count')
  expect(parts && paragraphOf([writer.phrases.change(parts)], context)?.text.toLowerCase()).toBe(text)
})
