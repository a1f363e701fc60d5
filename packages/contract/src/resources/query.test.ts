import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { runQuery } from '../operations/statistics.ts'
import { filterOperators, Query, unsupportedKeyword } from './query.ts'

const ajv = new Ajv({ strict: true }).addVocabulary([unsupportedKeyword, 'x-millrace-extension'])
const accepts = ajv.compile(Query)

const query = (parts: Record<string, unknown> = {}) => ({
  measures: ['events.count'],
  dimensions: [],
  filters: [],
  timeDimensions: [],
  ...parts,
})
const filter = (parts: Record<string, unknown> = {}) => ({
  filters: [{ member: 'events.name', operator: 'equals', values: ['purchase'], ...parts }],
})
const grouped = (depth: number): unknown =>
  depth === 0 ? filter().filters[0] : { [depth % 2 === 0 ? 'and' : 'or']: [grouped(depth - 1)] }
const time = (parts: Record<string, unknown>) => ({
  timeDimensions: [{ dimension: 'events.time', ...parts }],
})

test.each<[string, unknown]>([
  ['the least query', query()],
  ['the smallest and the largest limit', query({ limit: 1 })],
  ['the largest limit', query({ limit: 50_000 })],
  ['order as a map', query({ order: { 'events.count': 'desc', 'events.name': 'asc' } })],
  [
    'order as pairs',
    query({
      order: [
        ['events.count', 'desc'],
        ['events.name', 'asc'],
      ],
    }),
  ],
  ['the older name of member', query(filter({ member: undefined, dimension: 'events.name' }))],
  ['1,000 values', query(filter({ values: Array.from({ length: 1_000 }, String) }))],
  ['a relative range', query(time({ dateRange: 'last 7 days', granularity: 'week' }))],
  ['two dates', query(time({ dateRange: ['2026-01-01', '2026-01-31'] }))],
  [
    'ranges to compare, of both forms',
    query(time({ compareDateRange: ['this month', ['2025-01-01', '2025-01-31']] })),
  ],
  ['five groups in each other', query({ filters: [grouped(5)] })],
  ['an operator without values', query({ filters: [{ member: 'events.name', operator: 'set' }] })],
  [
    'null wherever a field is optional',
    query({
      limit: null,
      order: null,
      filters: [{ member: 'events.name', dimension: null, operator: 'equals', values: ['a'] }],
      timeDimensions: [
        { dimension: 'events.time', granularity: null, dateRange: null, compareDateRange: null },
      ],
    }),
  ],
])('accepts %s', (_case, value) => {
  accepts(JSON.parse(JSON.stringify(value)))
  expect(accepts.errors).toBeNull()
})

const { filters: _, ...withoutFilters } = query()

test.each<[string, unknown, string]>([
  ['no object', [], ''],
  ['a missing part', withoutFilters, ''],
  ['null for a needed part', query({ filters: null }), '/filters'],
  ['an unknown field', query({ measure: [] }), ''],
  ['an empty member', query({ measures: [''] }), '/measures/0'],
  [
    '51 members',
    query({ dimensions: Array.from({ length: 51 }, (_each, i) => `events.label.${i}`) }),
    '/dimensions',
  ],
  ['limit 0', query({ limit: 0 }), '/limit'],
  ['limit -1', query({ limit: -1 }), '/limit'],
  ['limit 1.5', query({ limit: 1.5 }), '/limit'],
  ['limit 50,001', query({ limit: 50_001 }), '/limit'],
  ['limit as text', query({ limit: '10' }), '/limit'],
  ['another operator', query(filter({ operator: 'regex' })), '/filters/0/operator'],
  ['an operator in capitals', query(filter({ operator: 'EQUALS' })), '/filters/0/operator'],
  ['no operator', query({ filters: [{ member: 'events.name', values: ['x'] }] }), '/filters/0'],
  ['an empty group', query({ filters: [{ and: [] }] }), '/filters/0/and'],
  ['a group of nothing', query({ filters: [{}] }), '/filters/0'],
  ['a group beside a filter', query(filter({ or: [filter().filters[0]] })), '/filters/0'],
  ['another join', query({ filters: [{ not: [filter().filters[0]] }] }), '/filters/0'],
  ['six groups in each other', query({ filters: [grouped(6)] }), '/filters/0'],
  ['1,001 values', query(filter({ values: Array.from({ length: 1_001 }, String) })), '/filters/0/values'],
  ['a number as value', query(filter({ values: [5] })), '/filters/0/values/0'],
  ['another granularity', query(time({ granularity: 'decade' })), '/timeDimensions/0/granularity'],
  ['11 ranges to compare', query(time({ compareDateRange: Array(11).fill('today') })), '/timeDimensions/0'],
  ['three bounds', query(time({ dateRange: ['a', 'b', 'c'] })), '/timeDimensions/0/dateRange'],
  ['no range in the range', query(time({ dateRange: [] })), '/timeDimensions/0/dateRange'],
  ['a direction in capitals', query({ order: { 'events.count': 'DESC' } }), '/order'],
  ['a pair of one', query({ order: [['events.count']] }), '/order'],
  ['a pair of three', query({ order: [['events.count', 'asc', 'x']] }), '/order'],
])('refuses %s and says where', (_case, value, path) => {
  expect(accepts(JSON.parse(JSON.stringify(value)))).toBe(false)
  expect(accepts.errors?.some(({ instancePath }) => instancePath.startsWith(path))).toBe(true)
})

test('the reference says of each operator what it asks, and of which it ignores case', () => {
  const [, list = ''] = runQuery.description.split('What the operators of filters ask of a member:')
  const lines = list.trim().split('\n')
  expect(lines.map((line) => /^- `(\w+)`: \w/.exec(line)?.[1])).toEqual([...filterOperators])
  const ignoring = lines.filter((line) => line.endsWith('whatever the case of its letters'))
  expect(ignoring.map((line) => /`(\w+)`/.exec(line)?.[1])).toEqual([
    'contains',
    'notContains',
    'startsWith',
    'notStartsWith',
    'endsWith',
    'notEndsWith',
  ])
})
