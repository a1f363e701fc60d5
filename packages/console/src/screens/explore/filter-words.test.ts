import { expect, test } from 'vitest'
import { fixedValuesOf, isValue, maxValuesOf, sentenceOf, valueKindOf } from './filter-words.ts'
import { meta } from './test-meta.ts'
import { words } from './texts.ts'

const { operators } = words.en

test('a filter is a sentence in both languages', () => {
  const filter = { member: 'events.name', operator: 'equals' as const, values: ['a', 'b', 'c', 'd', 'e'] }
  expect(sentenceOf(filter, meta, operators)).toEqual({
    member: 'Event',
    verb: 'is one of',
    values: ['a', 'b', 'c'],
    more: 2,
  })
  expect(sentenceOf({ ...filter, values: ['a'] }, meta, words.fr.operators)).toMatchObject({
    verb: 'est',
    more: 0,
  })
  expect(sentenceOf({ dimension: 'events.label.new', operator: 'notSet' }, meta, operators)).toEqual({
    member: 'label.new',
    verb: 'has no value',
    values: [],
    more: 0,
  })
})

test('values are of the kind of their member', () => {
  expect(valueKindOf(meta, 'events.count')).toBe('number')
  expect(valueKindOf(meta, 'events.time')).toBe('date')
  expect(valueKindOf(meta, 'events.label.any')).toBe('text')
  expect(fixedValuesOf(meta, 'events.name')).toEqual([])
  expect(isValue('number', '-0.5')).toBe(true)
  expect(isValue('number', '1e5')).toBe(false)
  expect(isValue('text', '')).toBe(false)
  expect(maxValuesOf('inDateRange')).toBe(2)
  expect(maxValuesOf('set')).toBe(0)
})
