import { describe, expect, it } from 'vitest'
import { openZone } from '../../query/time/zone.ts'
import { createPeriods } from './periods.ts'

const zones = [
  'UTC',
  'Europe/Paris',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Pacific/Kiritimati',
]

describe.each(zones)('periods in %s', (name) => {
  const zone = openZone(name)

  it.each(['day', 'week', 'month'] as const)('of a %s follow each other without gaps', (unit) => {
    const periods = createPeriods(unit, zone)
    // Before 1970 too: the first week of events begins there.
    const first = periods.numberAt(Date.parse('1969-12-30T00:00:00Z'))
    for (const [i, number] of Array.from({ length: 800 }, (_, i) => first + i).entries()) {
      const start = periods.startOf(number)
      expect(periods.numberAt(start), `${unit} ${i}`).toBe(number)
      expect(periods.numberAt(start - 1), `${unit} ${i}`).toBe(number - 1)
    }
  })

  it('begin on Mondays and on the first of a month', () => {
    const at = Date.parse('2026-10-25T12:00:00Z')
    const startOf = (unit: 'week' | 'month') => {
      const periods = createPeriods(unit, zone)
      return zone.format(periods.startOf(periods.numberAt(at))).slice(0, 19)
    }
    const monday = name === 'Pacific/Kiritimati' ? '2026-10-26' : '2026-10-19'
    expect(startOf('week')).toBe(`${monday}T00:00:00`)
    expect(startOf('month')).toBe('2026-10-01T00:00:00')
  })
})

it('the day that a zone leaves out is a period of no length', () => {
  const zone = openZone('Pacific/Apia')
  const days = createPeriods('day', zone)
  const before = days.numberAt(Date.parse('2011-12-30T09:00:00Z'))
  expect(days.numberAt(Date.parse('2011-12-30T11:00:00Z'))).toBe(before + 2)
  expect(days.startOf(before + 1)).toBe(days.startOf(before + 2))
})
