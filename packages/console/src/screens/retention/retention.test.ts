import { describe, expect, test } from 'vitest'
import type { Meta } from '../../data/format.ts'
import { cellRule, periodDays } from './retention-cohort.ts'
import { triangleOf } from './retention-rows.ts'
import { readRetention, retentionBody } from './retention-state.ts'

const meta = { measures: {}, dimensions: {} } as unknown as Meta
const days = { from: '2026-01-07', to: '2026-02-15' }
const read = (view: Record<string, unknown> = {}) => readRetention(view, meta, days, [])

describe('retention in an address', () => {
  test('is about any event, by weeks where the range is some weeks', () => {
    expect(retentionBody(read(), days)).toEqual({
      firstEvent: {},
      returnEvent: {},
      dateRange: ['2026-01-07', '2026-02-15'],
      granularity: 'week',
      periods: 9,
      cohorts: 'first-time',
      returns: 'on',
    })
  })

  test.each([0, 25, 2.5, '7', null])('%j is no count of periods', (periods) => {
    expect(read({ periods }).periods).toBe(9)
  })
})

describe('the triangle', () => {
  const row = (cohort: string, size: number, period: number, people: number, isComplete = true) => ({
    cohort,
    size,
    period,
    people,
    rate: people / size,
    isComplete,
  })
  test('averages all people whose period is over', () => {
    const rows = [
      row('a', 10, 0, 10),
      row('a', 10, 1, 5),
      row('b', 30, 0, 30),
      row('b', 30, 1, 3),
      row('c', 60, 0, 60),
      row('c', 60, 1, 60, false),
    ]
    const { cohorts, average } = triangleOf(rows, 3)
    expect(average).toEqual([1, 8 / 40, null])
    expect(cohorts.map(({ cells }) => cells.map((cell) => cell?.people))).toEqual([
      [10, 5, undefined],
      [30, 3, undefined],
      [60, 60, undefined],
    ])
  })
})

describe('a cell as a cohort', () => {
  const start = '2026-01-05T00:00:00.000+01:00'
  test('periods are weeks and months of the calendar', () => {
    expect(periodDays('2026-01-05', 'week', 2)).toEqual({ from: '2026-01-19', to: '2026-01-25' })
    expect(periodDays('2026-01-01', 'month', 1)).toEqual({ from: '2026-02-01', to: '2026-02-28' })
    expect(periodDays('2026-12-31', 'day', 1)).toEqual({ from: '2027-01-01', to: '2027-01-01' })
  })

  test('of the first time ever: within the part of the period in the range, and never before', () => {
    expect(cellRule(read({ first: { events: ['a'] } }), days, start, 1)).toEqual({
      and: [
        { event: { events: ['a'] }, dateRange: ['2026-01-07', '2026-01-11'] },
        { not: { event: { events: ['a'] }, dateRange: [null, '2026-01-06'] } },
        { event: {}, dateRange: ['2026-01-12', '2026-01-18'] },
      ],
    })
  })

  test('recurring, and in the period or later', () => {
    const state = read({ cohorts: 'recurring', returns: 'on-or-after' })
    expect(cellRule(state, days, start, 1)).toEqual({
      and: [
        { event: {}, dateRange: ['2026-01-07', '2026-01-11'] },
        { event: {}, dateRange: ['2026-01-12', null] },
      ],
    })
    expect(cellRule(state, days, start, 'all')).toEqual({
      event: {},
      dateRange: ['2026-01-07', '2026-01-11'],
    })
  })

  test('a return in the first period is after the first event, which no rule says', () => {
    expect(cellRule(read({ returning: { events: ['b'] } }), days, start, 0)).toBeUndefined()
    expect(cellRule(read(), days, start, 0)).toEqual(cellRule(read(), days, start, 'all'))
  })
})
