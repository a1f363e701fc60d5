import { describe, expect, test } from 'vitest'
import { comparedDays, daysOf, granularityFor, lengthOf, readRange, todayIn } from './ranges.ts'

describe('ranges', () => {
  test.each([
    ['today', '2026-03-31', '2026-03-31'],
    ['yesterday', '2026-03-30', '2026-03-30'],
    ['7d', '2026-03-25', '2026-03-31'],
    ['month', '2026-03-01', '2026-03-31'],
    ['last-month', '2026-02-01', '2026-02-28'],
    ['year', '2026-01-01', '2026-03-31'],
    ['12m', '2025-04-01', '2026-03-31'],
  ])('%s ends or lies before today', (preset, from, to) => {
    expect(daysOf(preset, '2026-03-31')).toEqual({ from, to })
  })

  test('today is the day of the zone', () => {
    const now = Date.parse('2026-01-01T11:30:00Z')
    expect(todayIn('Pacific/Kiritimati', now)).toBe('2026-01-02')
    expect(todayIn('America/Los_Angeles', now)).toBe('2026-01-01')
  })

  test.each([
    [['2026-01-31', '2026-01-01']],
    [['2026-02-30', '2026-03-01']],
    [['x', 'y']],
    ['3 weeks'],
    [7],
    [null],
  ])('%j in an address is no range', (value) => {
    expect(readRange(value)).toBeUndefined()
  })

  test('is compared with as many days before it, or with the same days a year before', () => {
    const days = { from: '2024-02-01', to: '2024-02-29' }
    expect(comparedDays(days, 'previous')).toEqual({ from: '2024-01-03', to: '2024-01-31' })
    expect(comparedDays(days, 'year')).toEqual({ from: '2023-02-01', to: '2023-02-28' })
    expect(comparedDays(days, 'none')).toBeUndefined()
  })

  test('has some tens of points', () => {
    expect(granularityFor({ from: '2026-01-01', to: '2026-01-01' })).toBe('hour')
    expect(granularityFor({ from: '2026-01-01', to: '2026-01-31' })).toBe('day')
    expect(lengthOf({ from: '2026-01-01', to: '2026-12-31' })).toBe(365)
  })
})
