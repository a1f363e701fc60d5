import { expect, test } from 'vitest'
import { seriesOf } from './result.ts'

const texts = { absent: 'none', yes: 'yes', no: 'no', before: 'before' }
const day = (text: string) => `${text}T00:00:00.000+00:00`
const asked = {
  measures: ['events.count'],
  dimensions: ['events.name'],
  timeDimensions: [{ dimension: 'events.time', granularity: 'day' as const }],
}
const row = (bucket: string, name: string | null, count: number, range?: string) => ({
  'events.time.day': day(bucket),
  'events.name': name,
  'events.count': count,
  ...(range === undefined ? {} : { compareDateRange: range }),
})

test('each value is a series, the greatest first, with gaps where nothing is known', () => {
  const rows = [row('2026-01-01', 'a', 1), row('2026-01-02', 'b', 5), row('2026-01-02', null, 2)]
  const result = seriesOf(rows, asked, undefined, texts, 8)
  expect(result?.buckets).toEqual([day('2026-01-01'), day('2026-01-02')])
  expect(result?.series.map(({ label, values }) => [label, values])).toEqual([
    ['b', [null, 5]],
    ['none', [null, 2]],
    ['a', [1, null]],
  ])
})

test('more series than colours are left out and counted', () => {
  const rows = Array.from({ length: 12 }, (_, i) => row('2026-01-01', `n${i}`, i))
  const result = seriesOf(rows, asked, undefined, texts, 8)
  expect(result?.series).toHaveLength(8)
  expect(result?.more).toBe(4)
})

test('a compared range lies on the first, in its colour', () => {
  const rows = [
    row('2026-02-01', 'a', 3, 'now'),
    row('2026-02-02', 'a', 4, 'now'),
    row('2026-01-01', 'a', 1, 'then'),
  ]
  const result = seriesOf(rows, asked, undefined, texts, 8)
  expect(result?.series).toMatchObject([
    { label: 'a', values: [3, 4], colour: 0, isComparison: false },
    { label: 'a (before)', values: [1, null], colour: 0, isComparison: true },
  ])
})

test('without a grouping by time there are no series', () => {
  expect(seriesOf([], { ...asked, timeDimensions: [] }, undefined, texts, 8)).toBeUndefined()
})
