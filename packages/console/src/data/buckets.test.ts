import { expect, test } from 'vitest'
import { daysOfLabel, isOpenBucket, lastDayOf, withMissing } from './buckets.ts'

const day = (text: string, offset = '+01:00') => `${text}T00:00:00.000${offset}`

test('days, weeks and months that have no row are there as missing', () => {
  expect(withMissing([day('2026-01-01'), day('2026-01-04')], 'day')).toHaveLength(4)
  expect(withMissing([day('2026-01-05'), day('2026-01-19')], 'week')).toEqual(
    ['2026-01-05', '2026-01-12', '2026-01-19'].map((each) => day(each)),
  )
  expect(withMissing([day('2025-11-01'), day('2026-02-01')], 'month')).toHaveLength(4)
  expect(withMissing([day('2025-01-01'), day('2025-10-01')], 'quarter')).toHaveLength(4)
  expect(withMissing([], 'day')).toEqual([])
})

test('buckets with a row keep their text, whatever their offset', () => {
  const seen = [day('2026-03-28'), day('2026-03-30', '+02:00')]
  expect(withMissing(seen, 'day')).toEqual([
    day('2026-03-28'),
    day('2026-03-29'),
    day('2026-03-30', '+02:00'),
  ])
})

test('a known range is missing at its ends too', () => {
  const days = { from: '2026-01-01', to: '2026-01-05' }
  expect(withMissing([day('2026-01-03')], 'day', days)).toHaveLength(5)
  expect(withMissing([day('2026-01-05')], 'week', { from: '2026-01-01', to: '2026-01-14' })).toEqual(
    ['2025-12-29', '2026-01-05', '2026-01-12'].map((each) => day(each)),
  )
})

test('hours follow each other over a change of the clock', () => {
  const seen = [
    '2026-03-29T01:00:00.000+01:00',
    '2026-03-29T03:00:00.000+02:00',
    '2026-03-29T05:00:00.000+02:00',
  ]
  expect(withMissing(seen, 'hour')).toEqual([
    '2026-03-29T01:00:00.000+01:00',
    '2026-03-29T03:00:00.000+02:00',
    '2026-03-29T04:00:00.000+02:00',
    '2026-03-29T05:00:00.000+02:00',
  ])
})

test('a range that is far too long is left as it is', () => {
  expect(
    withMissing(['1990-01-01T00:00:00.000+00:00', '2026-01-01T00:00:00.000+00:00'], 'second'),
  ).toHaveLength(2)
})

test('a bucket is open until its end in its zone', () => {
  const now = Date.parse('2026-01-31T22:59:59Z')
  expect(isOpenBucket(day('2026-01-31'), 'day', now)).toBe(true)
  expect(isOpenBucket(day('2026-01-31'), 'day', now + 1_000)).toBe(false)
  expect(isOpenBucket(day('2026-01-01'), 'month', now)).toBe(true)
  expect(isOpenBucket('2026-01-31T22:00:00.000+00:00', 'hour', now)).toBe(true)
  expect(isOpenBucket('2026-01-31T21:00:00.000+00:00', 'hour', now)).toBe(false)
  expect(lastDayOf(day('2024-02-01'), 'month')).toBe('2024-02-29')
})

test('compared ranges say their days', () => {
  expect(daysOfLabel('2026-01-01 - 2026-01-31')).toEqual({ from: '2026-01-01', to: '2026-01-31' })
  expect(daysOfLabel('2026-01-01T08:00:00.000+01:00 - 2026-01-02T08:00:00.000+01:00')).toEqual({
    from: '2026-01-01',
    to: '2026-01-02',
  })
  expect(daysOfLabel(undefined)).toBeUndefined()
})
