import { expect, test } from 'vitest'
import { completionsAt, pathAt, rangeOfPath } from './json-places.ts'
import { meta } from './test-meta.ts'

const text = JSON.stringify(
  {
    measures: ['events.count', 'events.gone'],
    filters: [{ or: [{ member: 'events.name', operator: 'equals', values: ['a "b" }'] }] }],
    order: { 'events.count': 'desc' },
  },
  null,
  2,
)
const at = (path: string) => {
  const place = rangeOfPath(text, path)
  return place && text.slice(place.from, place.to)
}

test('finds what a fault names, or the nearest that holds it', () => {
  expect(at('measures.1')).toBe('"events.gone"')
  expect(at('filters.0.or.0.values.0')).toBe('"a \\"b\\" }"')
  expect(at('filters.0.or.0.operator')).toBe('"equals"')
  expect(at('order.events.count')).toBe('"desc"')
  expect(at('measures.7')).toBe('[\n    "events.count",\n    "events.gone"\n  ]')
  expect(at('')).toBe(text)
  expect(rangeOfPath('', 'measures')).toEqual({ from: 0, to: 0 })
})

test('knows where the cursor is, in a text that is not whole too', () => {
  expect(pathAt(text, text.indexOf('events.gone') + 2)).toEqual(['measures', 1])
  expect(pathAt(text, text.indexOf('operator') + 2)).toEqual(['filters', 0, 'or', 0, 'operator', '#key'])
  const open = '{"measures": ["events.count", "ev"'
  expect(pathAt(open, open.length - 1)).toEqual(['measures', 1])
  const list = '{"dimensions": [ '
  expect(pathAt(list, list.length)).toEqual(['dimensions'])
  for (const broken of ['', '{', '[[[', '{"a":', '{"a" "b"}', '"', '{,,}', ']'])
    expect(Array.isArray(pathAt(broken, broken.length))).toBe(true)
})

test('offers what may stand at a place', () => {
  const labels = (...path: Parameters<typeof completionsAt>) =>
    completionsAt(...path).map(({ label }) => label)
  expect(labels(['measures', 0], false, meta)).toContain('events.count')
  expect(labels(['dimensions', 0], false, meta)).not.toContain('events.time')
  expect(labels(['timeDimensions', 0, 'dimension'], false, meta)).toEqual(['events.time', 'purchases.time'])
  expect(labels(['timeDimensions', 0, 'granularity'], false, meta)).toContain('day')
  expect(labels(['filters', 0, 'operator'], false, meta)).toContain('contains')
  expect(labels(['filters', 0, 'member', '#key'], true, meta)).toContain('values')
  expect(labels(['mea', '#key'], true, meta)).toContain('measures')
  expect(labels(['limit'], false, meta)).toEqual([])
})
