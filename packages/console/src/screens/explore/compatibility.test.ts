import { expect, test } from 'vitest'
import { candidatesFor, fitTogether, kindOf, matchOf, obstacleFor, obstacleTo } from './compatibility.ts'
import { meta } from './test-meta.ts'

test('a query fits when one set holds all its members', () => {
  expect(fitTogether(meta, ['events.count', 'purchases.revenue', 'events.os'])).toBe(true)
  expect(fitTogether(meta, ['events.count', 'purchases.revenue', 'events.name'])).toBe(false)
  expect(fitTogether(meta, ['events.count', 'events.label.unlisted'])).toBe(true)
  expect(fitTogether(meta, ['purchases.revenue', 'events.label.unlisted'])).toBe(false)
  expect(fitTogether(meta, [])).toBe(true)
})

test('names the member that another does not meet', () => {
  expect(obstacleTo(meta, 'events.name', ['events.count'])).toBeUndefined()
  expect(obstacleTo(meta, 'events.name', ['events.os', 'purchases.revenue'])).toEqual({
    kind: 'member',
    member: 'purchases.revenue',
    source: 'purchases',
  })
})

test('says why a member cannot be chosen for a purpose', () => {
  const kindFor = (...args: Parameters<typeof obstacleFor>) => obstacleFor(...args)?.kind
  expect(kindFor(meta, 'measure', 'events.count', ['events.count'], ['events.count'])).toBe('chosen')
  expect(kindFor(meta, 'dimension', 'persons.cohort', ['events.count'], [])).toBe('filterOnly')
  expect(kindFor(meta, 'filter', 'persons.cohort', ['events.count'], [])).toBeUndefined()
  expect(kindFor(meta, 'filter', 'events.perPerson', ['events.count'], [])).toBe('virtual')
  expect(kindFor(meta, 'filter', 'events.count', ['events.count'], ['events.count'])).toBeUndefined()
})

test('offers what every source has once, as the first source of the query has it', () => {
  expect(candidatesFor(meta, 'dimension', ['purchases.revenue'])).toEqual([
    'purchases.item',
    'purchases.os',
    'events.name',
    'events.path',
    'events.label.store',
    'persons.cohort',
  ])
  expect(candidatesFor(meta, 'dimension', ['events.count'])).toContain('events.os')
  expect(candidatesFor(meta, 'measure', ['purchases.revenue'])[0]).toBe('purchases.revenue')
  expect(candidatesFor(meta, 'filter', [])).toContain('events.time')
})

test('a search finds titles before ids and ids before meanings', () => {
  const event = { title: 'Event', description: 'Name of the event' }
  expect(matchOf([], 'events.name', event)).toBe(1)
  expect(matchOf(['eve'], 'events.name', event)).toBe(4)
  expect(matchOf(['vent'], 'events.name', event)).toBe(3)
  expect(matchOf(['name'], 'events.name', event)).toBe(2)
  expect(matchOf(['of', 'the'], 'events.name', event)).toBe(1)
  expect(matchOf(['nothing'], 'events.name', event)).toBe(0)
})

test('an or joins one kind', () => {
  expect(kindOf(meta, 'events.count')).toBe('measure')
  expect(kindOf(meta, 'events.time')).toBe('time')
  expect(kindOf(meta, 'events.label.unlisted')).toBe('dimension')
})
