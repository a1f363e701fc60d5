import { expect, test } from 'vitest'
import {
  initialQuery,
  membersOf,
  operatorsOf,
  readQuery,
  settled,
  unseenIn,
  withMeasures,
} from './query-state.ts'
import { meta } from './test-meta.ts'

const whole = {
  measures: ['events.count'],
  dimensions: ['events.name', 'events.label.anything'],
  filters: [
    { member: 'events.path', operator: 'contains', values: ['x'] },
    {
      or: [
        { member: 'events.label.store', operator: 'set' },
        { and: [{ member: 'events.name', operator: 'equals', values: ['a'] }] },
      ],
    },
  ],
  timeDimensions: [{ dimension: 'events.time', granularity: 'day', dateRange: ['2026-01-01', null] }],
  order: [['events.count', 'desc']],
  limit: 100,
  offset: 10,
  timezone: 'Europe/Paris',
  fill: true,
}

test('a query of an address is read as it is, labels too that the model does not list', () => {
  expect(readQuery(whole, meta)).toEqual({ query: whole, leftOut: [] })
  expect(readQuery(undefined, meta)).toEqual({ query: initialQuery(meta), leftOut: [] })
  // What was read is read the same again.
  const { query } = readQuery(whole, meta)
  expect(readQuery(JSON.parse(JSON.stringify(query)), meta).query).toEqual(query)
})

test('what is gone or malformed is left out and named, and never throws', () => {
  const { query, leftOut } = readQuery(
    {
      measures: ['events.count', 'events.gone', 'events.count', 7],
      dimensions: ['constructor', '__proto__', 'events.name'],
      filters: [
        { member: 'events.gone', operator: 'equals', values: ['1'] },
        { member: 'events.name', operator: 'gt', values: ['1'] },
        { member: 'events.name', operator: 'equals', values: [] },
        { member: 'events.name', operator: 'equals', values: ['ok', 3] },
        { or: [{ member: 'events.gone', operator: 'set' }] },
        'text',
      ],
      timeDimensions: [
        { dimension: 'events.name' },
        { dimension: 'events.time', granularity: 'fortnight', dateRange: { from: 1 } },
      ],
      order: { 'events.gone': 'asc', 'events.count': 'sideways' },
      limit: -1,
      offset: 1.5,
    },
    meta,
  )
  expect(query).toEqual({
    measures: ['events.count'],
    dimensions: ['events.name'],
    filters: [{ member: 'events.name', operator: 'equals', values: ['ok'] }],
    timeDimensions: [{ dimension: 'events.time' }],
  })
  expect(leftOut).toEqual(
    expect.arrayContaining(['events.gone', '7', 'constructor', '__proto__', 'events.name gt', 'fortnight']),
  )
  for (const hostile of [
    null,
    'x',
    3,
    [],
    { measures: {} },
    { filters: [[[[]]]] },
    { timeDimensions: [null] },
  ])
    expect(readQuery(hostile, meta).query.measures).toBeInstanceOf(Array)
})

test('groups deeper than the interface takes are left out', () => {
  let filter: unknown = { member: 'events.name', operator: 'set' }
  for (let i = 0; i < 6; i++) filter = { and: [filter] }
  expect(readQuery({ ...whole, filters: [filter] }, meta).query.filters).toEqual([])
})

test('the time follows the source of the first measure, and an order follows what is shown', () => {
  const { query } = readQuery(whole, meta)
  const next = withMeasures(query, ['purchases.revenue', 'events.count'], meta)
  expect(next.timeDimensions[0]?.dimension).toBe('purchases.time')
  expect(withMeasures(query, [], meta).timeDimensions[0]?.dimension).toBe('events.time')
  const grouped = { ...query, order: [['events.name', 'asc'] as [string, 'asc']] }
  expect(settled(grouped, meta).order).toEqual([['events.name', 'asc']])
  expect(settled({ ...grouped, dimensions: [] }, meta)).not.toHaveProperty('order')
  expect(settled({ ...query, timeDimensions: [] }, meta)).not.toHaveProperty('fill')
})

test('says what the builder cannot show', () => {
  const { query } = readQuery(whole, meta)
  expect(unseenIn(query)).toEqual(['offset'])
  expect(
    unseenIn({
      ...query,
      offset: undefined,
      timeDimensions: [
        { dimension: 'events.time', compareDateRange: ['2026', '2025', '2024'] },
        { dimension: 'purchases.time' },
      ],
      order: [
        ['events.count', 'desc'],
        ['events.name', 'asc'],
      ],
    }),
  ).toEqual(['times', 'comparison', 'orders'])
})

test('members and operators', () => {
  expect(membersOf(readQuery(whole, meta).query)).toEqual([
    'events.count',
    'events.name',
    'events.label.anything',
    'events.path',
    'events.label.store',
    'events.time',
  ])
  expect(operatorsOf(meta, 'events.label.unlisted')).toContain('set')
  expect(operatorsOf(meta, 'events.count')).not.toContain('set')
})
