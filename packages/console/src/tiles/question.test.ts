import { describe, expect, test } from 'vitest'
import { dateRangeOf, rangeOf } from '../data/date-ranges.ts'
import type { Filter } from '../data/filters.ts'
import type { Meta } from '../data/format.ts'
import { readFilters } from './filters.ts'
import { explorationOf, fittingGranularity, queryOf, type Shared } from './question.ts'
import type { Tile, TileQuery } from './tile.ts'

const dimension = { type: 'string' }
const meta = {
  measures: { 'events.count': {}, 'sessions.count': {} },
  dimensions: {
    'events.name': dimension,
    'events.country': dimension,
    'events.path': dimension,
    'sessions.country': dimension,
    'sessions.channel': dimension,
    'persons.cohort': dimension,
  },
  queryCompatibility: {
    components: [
      ['events.count', 'events.name', 'events.country', 'events.path', 'events.time', 'persons.cohort'],
      ['sessions.count', 'sessions.country', 'sessions.channel', 'sessions.time', 'persons.cohort'],
    ],
  },
} as unknown as Meta

const equals = (member: string): Filter => ({ member, operator: 'equals', values: ['x'] })
const days = { from: '2026-01-01', to: '2026-01-31' }
const shared = (filters: readonly Filter[] = [], compared?: Shared['compared']): Shared => ({
  days,
  compared,
  filters,
})
const asked = (more: Partial<TileQuery> = {}): TileQuery => ({
  measures: ['sessions.count'],
  dimensions: [],
  filters: [],
  timeDimensions: [],
  ...more,
})

describe('the query of a tile', () => {
  test('has the range of its dashboard, by the time of its source', () => {
    expect(queryOf(asked(), shared(), meta).body.timeDimensions).toEqual([
      { dimension: 'sessions.time', dateRange: ['2026-01-01', '2026-01-31'] },
    ])
  })

  test('has ranges that are compared in the place of its own', () => {
    const time = { dimension: 'sessions.time', granularity: 'day' as const, dateRange: 'last 7 days' }
    const compared = { from: '2025-12-01', to: '2025-12-31' }
    const { body } = queryOf(asked({ timeDimensions: [time] }), shared([], compared), meta)
    expect(body).toMatchObject({
      fill: true,
      timeDimensions: [
        {
          dimension: 'sessions.time',
          granularity: 'day',
          compareDateRange: [
            ['2026-01-01', '2026-01-31'],
            ['2025-12-01', '2025-12-31'],
          ],
        },
      ],
    })
    expect(body.timeDimensions[0]).not.toHaveProperty('dateRange')
  })

  test('takes filters that fit, or what is called the same in its source, and says which it leaves', () => {
    const or: Filter = { or: [equals('events.country'), equals('sessions.channel')] }
    const filters = [equals('events.country'), equals('persons.cohort'), equals('events.path'), or]
    const { body, left } = queryOf(asked({ filters: [equals('sessions.channel')] }), shared(filters), meta)
    expect(body.filters).toEqual([
      equals('sessions.channel'),
      equals('sessions.country'),
      equals('persons.cohort'),
      { or: [equals('sessions.country'), equals('sessions.channel')] },
    ])
    expect(left).toEqual([equals('events.path')])
  })

  test.each([
    ['day', '2026-01-01', '2026-01-31', 'day'],
    ['week', '2026-01-01', '2026-01-31', 'week'],
    ['day', '2026-01-01', '2026-01-01', 'hour'],
    ['month', '2026-01-01', '2026-01-31', 'day'],
    ['hour', '2025-01-01', '2025-12-31', 'week'],
  ] as const)('by %s from %s to %s is by %s-%s', (unit, from, to, expected) => {
    expect(fittingGranularity(unit, { from, to })).toBe(expected)
  })
})

test('an exploration takes range and filters, and loses what its picture has no room for', () => {
  const definition = {
    steps: [],
    granularity: 'day',
    breakdown: 'events.country',
    filters: [equals('events.path')],
  }
  const tile = { exploration: 'funnel', definition } as unknown as Tile & {
    exploration: 'funnel'
    definition: object
  }
  expect(
    explorationOf(tile as never, shared([equals('sessions.channel'), equals('persons.cohort')]), meta),
  ).toEqual({
    body: {
      steps: [],
      dateRange: ['2026-01-01', '2026-01-31'],
      filters: [equals('events.path'), equals('persons.cohort')],
    },
    left: [equals('sessions.channel')],
  })
})

describe('filters of an address', () => {
  test('are read, and members that are gone are named', () => {
    const value = [
      equals('events.country'),
      equals('events.gone'),
      { and: [equals('events.label.plan')] },
      7,
      {},
      null,
    ]
    expect(readFilters(value, meta)).toEqual({
      filters: [equals('events.country'), { and: [equals('events.label.plan')] }],
      left: ['events.gone'],
    })
    expect(readFilters('x', meta)).toBeUndefined()
  })

  test('deeper ones than the interface takes are left out', () => {
    let filter: unknown = equals('events.country')
    for (let i = 0; i < 9; i++) filter = { or: [filter] }
    expect(readFilters([filter], meta)).toEqual({ filters: [], left: [] })
  })
})

test.each(['7d', '12m', 'last-month', ['2026-01-01', '2026-01-31']] as const)(
  '%j is kept and read back',
  (range) => {
    expect(rangeOf(dateRangeOf(range))).toEqual(range)
  },
)
test.each(['last 3 weeks', ['2026-01-01', null], null])('%j is no range of this page', (saved) => {
  expect(rangeOf(saved as never)).toBeUndefined()
})
