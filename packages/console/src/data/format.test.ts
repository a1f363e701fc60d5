import { expect, test } from 'vitest'
import { meta } from '../screens/explore/test-meta.ts'
import { formatMeasure, inCurrency } from './format.ts'

test('amounts are in the currency of the company, where it has one', () => {
  const formatIn = (currency: string | null) =>
    inCurrency(meta, currency).measures['purchases.revenue']?.format
  expect(formatMeasure('en', formatIn(null), 1234.5)).toBe('1,234.50')
  expect(formatMeasure('en', formatIn('EUR'), 1234.5)).toBe('€1,234.50')
  expect(formatMeasure('en', formatIn('USD'), 71_830.4, true)).toBe('$71.8K')
  expect(formatMeasure('fr', formatIn('EUR'), 1234.5)).toMatch(/^1\s234,50\s€$/)
  expect(formatMeasure('en', formatIn('JPY'), 1234)).toBe('¥1,234')
})
