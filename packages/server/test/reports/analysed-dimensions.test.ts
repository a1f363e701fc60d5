import { expect, it } from 'vitest'
import { describeStatistics } from '../../src/features/analytics/statistics-meta.ts'
import { dimensionsOf } from '../../src/features/reports/generator/plans/subject.ts'

it('looks for causes in the likely labels first, whatever other labels anybody sends', () => {
  const labels = ['!a', '!b', '!c', '!d', '!e', '!f', 'Country', 'customer-group', 'orderId', 'zone']
  const meta = describeStatistics({ events: [], purchases: labels }, { exactCounts: false })
  expect(dimensionsOf('purchases', meta)).toEqual([
    'purchases.label.Country',
    'purchases.label.customer-group',
    'purchases.label.!a',
    'purchases.label.!b',
    'purchases.label.!c',
    'purchases.deviceType',
    'purchases.os',
    'purchases.item',
  ])
})
