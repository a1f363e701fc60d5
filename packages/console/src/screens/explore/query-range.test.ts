import { expect, test } from 'vitest'
import { dateRangeOf, daysOfRange } from '../../data/date-ranges.ts'
import { presets } from '../../data/ranges.ts'
import { timeStateOf, withGranularity, withRange, zoomedRange } from './query-range.ts'
import type { Query } from './query-state.ts'

const today = '2026-03-20'
const query = (time: Partial<Query['timeDimensions'][number]>): Query => ({
  measures: ['purchases.revenue'],
  dimensions: [],
  filters: [],
  timeDimensions: [{ dimension: 'purchases.time', ...time }],
})

test('each preset is a range that stays true tomorrow, and is read back', () => {
  for (const preset of presets) {
    const dateRange = dateRangeOf(preset)
    expect(typeof dateRange).toBe('string')
    expect(timeStateOf(query({ dateRange }), today).range).toBe(preset)
    expect(daysOfRange(dateRange, today)).toBeDefined()
  }
  expect(dateRangeOf('30d')).toBe('from 29 days ago to now')
  expect(daysOfRange('from 29 days ago to now', today)).toEqual({ from: '2026-02-19', to: today })
})

test('ranges without a name show their days or their text', () => {
  expect(timeStateOf(query({ dateRange: ['2026-01-01', '2026-01-31'] }), today).range).toEqual([
    '2026-01-01',
    '2026-01-31',
  ])
  const relative = timeStateOf(query({ dateRange: 'last 30 days' }), today)
  expect(relative).toMatchObject({ range: undefined, text: 'last 30 days', days: { to: '2026-03-19' } })
  expect(timeStateOf(query({ dateRange: 'next 3 weeks' }), today)).toMatchObject({ days: undefined })
  expect(timeStateOf(query({ dateRange: ['2026-01-01', null] }), today)).toMatchObject({
    text: '2026-01-01 – …',
    days: undefined,
  })
  expect(timeStateOf(query({}), today)).toMatchObject({ text: undefined, comparison: 'none' })
})

test('a comparison is of ranges that move together, and is read back', () => {
  const compared = withRange(query({ dateRange: dateRangeOf('7d') }), { comparison: 'previous' }, today)
  expect(compared.timeDimensions[0]).toMatchObject({
    compareDateRange: ['from 6 days ago to now', 'from 13 days ago to 7 days ago'],
  })
  expect(compared.timeDimensions[0]).not.toHaveProperty('dateRange')
  expect(timeStateOf(compared, today)).toMatchObject({ range: '7d', comparison: 'previous' })
  const year = withRange(compared, { comparison: 'year' }, today)
  expect(timeStateOf(year, today).comparison).toBe('year')
  const longer = withRange(year, { range: dateRangeOf('30d') }, today)
  expect(timeStateOf(longer, today)).toMatchObject({ range: '30d', comparison: 'year' })
  const none = withRange(longer, { comparison: 'none' }, today)
  expect(none.timeDimensions[0]).toEqual({
    dimension: 'purchases.time',
    dateRange: 'from 29 days ago to now',
  })
  expect(timeStateOf(query({ compareDateRange: ['2026-01', '2020-05'] }), today).comparison).toBe('own')
})

test('the unit follows the range unless it was chosen', () => {
  const automatic = query({ dateRange: dateRangeOf('30d'), granularity: 'day' })
  expect(withRange(automatic, { range: 'today' }, today).timeDimensions[0]?.granularity).toBe('hour')
  expect(withRange(automatic, { range: dateRangeOf('12m') }, today).timeDimensions[0]?.granularity).toBe(
    'week',
  )
  const chosen = query({ dateRange: dateRangeOf('30d'), granularity: 'week' })
  expect(withRange(chosen, { range: 'today' }, today).timeDimensions[0]?.granularity).toBe('week')
  expect(withRange(query({}), { range: 'today' }, today).timeDimensions[0]).not.toHaveProperty('granularity')
  expect(withGranularity({ ...automatic, fill: true }, undefined)).toEqual(
    query({ dateRange: dateRangeOf('30d') }),
  )
  expect(withRange({ ...automatic, fill: true }, { range: undefined }, today)).not.toHaveProperty('fill')
})

test('what was dragged over ends with its last bucket', () => {
  const at = (text: string) => `${text}T00:00:00.000+01:00`
  expect(zoomedRange(at('2026-01-05'), at('2026-01-12'), 'week')).toEqual(['2026-01-05', '2026-01-18'])
  expect(zoomedRange(at('2026-01-01'), at('2026-02-01'), 'month')).toEqual(['2026-01-01', '2026-02-28'])
  expect(zoomedRange(at('2026-01-01'), at('2026-01-03'), 'day')).toEqual(['2026-01-01', '2026-01-03'])
  expect(zoomedRange('2026-01-01T08:00:00.000+01:00', '2026-01-01T09:00:00.000+01:00', 'hour')).toEqual([
    '2026-01-01T07:00:00.000Z',
    '2026-01-01T09:00:00.000Z',
  ])
})
