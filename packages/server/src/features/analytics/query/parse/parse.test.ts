import type { Query } from '@millrace/contract/resources/query.ts'
import { describe, expect, it } from 'vitest'
import { DomainError } from '../../../../platform/errors.ts'
import { planQuery } from '../plan.ts'
import { openZone } from '../time/zone.ts'
import { parseQuery } from './parse.ts'

const now = { instant: Date.parse('2026-03-18T15:30:00Z'), zone: openZone('Europe/Paris') }

function parsed(query: Partial<Query>) {
  return parseQuery({ measures: [], dimensions: [], filters: [], timeDimensions: [], ...query }, now)
}

function failureOf(query: Partial<Query>): { name: string; message: string; data: unknown } {
  try {
    planQuery(parsed(query))
  } catch (error) {
    if (error instanceof DomainError)
      return { name: error.errorName, message: error.message, data: error.data }
    throw error
  }
  throw new Error('nothing was wrong')
}

describe('members', () => {
  it.each([
    ['events.cuont', 'did you mean events.count?'],
    ['event.count', 'did you mean events.count?'],
    ['Events.Count', 'did you mean events.count?'],
    ['purchases.revenu', 'did you mean purchases.revenue?'],
    ['x) from system.tables --', 'GET /v2/statistics/meta'],
    ['`events`.count', 'did you mean events.count?'],
    ['{p:String}', 'GET /v2/statistics/meta'],
    ['constructor', 'GET /v2/statistics/meta'],
    ['events.constructor', 'GET /v2/statistics/meta'],
    ['__proto__', 'GET /v2/statistics/meta'],
  ])('that do not exist are named with the nearest: %s', (id, hint) => {
    const { name, message, data } = failureOf({ measures: ['events.count', id] })
    expect(name).toBe('unknownMember')
    expect(message).toContain(`measures.1: there is no member ${JSON.stringify(id)}`)
    expect(message).toContain(hint)
    expect(data).toMatchObject({ members: [id] })
    expect(failureOf({ dimensions: [id] }).name).toBe('unknownMember')
  })

  it('that rows cannot be ordered by are answered with what there is', () => {
    const query: Partial<Query> = { measures: ['events.count'], dimensions: ['events.name'] }
    const orderedBy = (id: string) => failureOf({ ...query, order: { [id]: 'asc' } }).message
    expect(orderedBy('events.nmae')).toContain('; did you mean "events.name"?')
    expect(orderedBy('x')).toContain('; there are "events.count", "events.name"')
  })

  it.each(['color', 'labels.color', 'data.color', 'events.labels.color'])(
    'that may be labels are answered with the dimension of the label: %s',
    (id) => {
      const hint = 'the label color of events is events.label.color'
      expect(failureOf({ dimensions: [id] }).message).toContain(hint)
      expect(failureOf({ filters: [{ member: id, operator: 'set' }] }).message).toContain(hint)
      expect(failureOf({ measures: [id] }).message).not.toContain(hint)
    },
  )

  it('of any length are answered in a few lines', () => {
    const long = 'x'.repeat(900_000)
    const queries: Partial<Query>[] = [
      { measures: [long, long] },
      { dimensions: [`events.label.${long}`, long] },
      { filters: [{ member: long, operator: 'equals', values: [long] }] },
      { measures: ['events.count'], filters: [{ member: 'events.time', operator: 'gt', values: [long] }] },
      { measures: ['events.count'], order: { [long]: 'asc' } },
      { timeDimensions: [{ dimension: long, dateRange: long }] },
    ]
    for (const query of queries) expect(JSON.stringify(failureOf(query)).length).toBeLessThan(5_000)
  })

  it('that are of another kind say where they belong', () => {
    expect(failureOf({ measures: ['events.name'] }).message).toContain(
      'is a dimension: name it under dimensions',
    )
    expect(failureOf({ dimensions: ['events.count'] }).message).toContain(
      'is a measure: name it under measures',
    )
    expect(failureOf({ timeDimensions: [{ dimension: 'events.name' }] }).message).toContain(
      'the time dimension is events.time',
    )
  })

  it('are named once', () => {
    expect(failureOf({ measures: ['events.count', 'events.count'] }).message).toContain('named twice')
    expect(
      failureOf({
        dimensions: ['events.time.day'],
        timeDimensions: [{ dimension: 'events.time', granularity: 'day' }],
      }).message,
    ).toContain('grouped by events.time.day twice')
  })

  it('of labels have any key, with dots and quotes', () => {
    const keys = parsed({ dimensions: ['events.label.a.b', "purchases.label.O'x"] }).groupings
    expect(keys.map(({ dimension }) => dimension.label)).toEqual(['a.b', "O'x"])
  })

  it('must be some', () => {
    const nothing = failureOf({ timeDimensions: [{ dimension: 'events.time', dateRange: 'today' }] })
    expect(nothing.message).toContain('the query asks for nothing')
  })

  it('are all named when several are wrong', () => {
    const { data } = failureOf({
      measures: ['events.x1'],
      dimensions: ['events.x2'],
      order: { 'events.x3': 'asc' },
    })
    expect(data).toEqual({
      members: ['events.x1', 'events.x2', 'events.x3'],
      errors: [
        expect.objectContaining({ path: 'measures.0' }),
        expect.objectContaining({ path: 'dimensions.0' }),
        expect.objectContaining({ path: 'order.events.x3' }),
      ],
    })
  })
})

describe('filters', () => {
  const counted = (filter: Query['filters'][number]) =>
    failureOf({ measures: ['events.count'], filters: [filter] })

  it('name one member', () => {
    expect(counted({ operator: 'equals', values: ['a'] }).message).toContain('names no member')
    expect(
      counted({ member: 'events.name', dimension: 'events.url', operator: 'equals', values: ['a'] }).message,
    ).toContain('differ here: events.name, events.url')
    const both = {
      member: 'events.name',
      dimension: 'events.name',
      operator: 'equals',
      values: ['a'],
    } as const
    expect(
      parsed({ measures: ['events.count'], filters: [{ ...both, values: ['a'] }] }).filters,
    ).toHaveLength(1)
  })

  it('cannot name a virtual measure', () => {
    const { name, message, data } = counted({ member: 'events.perPerson', operator: 'gt', values: ['1'] })
    expect(name).toBe('virtualMeasureFilter')
    expect(message).toContain('events.perPerson is computed from events.count and events.people')
    expect(data).toMatchObject({ members: ['events.perPerson'] })
  })

  it.each([
    ['events.name', 'inDateRange', ['today'], 'inDateRange does not apply to events.name, a string'],
    ['events.count', 'contains', ['1'], 'contains does not apply to events.count, a number'],
    ['events.time', 'contains', ['2026'], 'contains does not apply to events.time, a time'],
    ['events.isIdentified', 'gt', ['true'], 'gt does not apply to events.isIdentified, a boolean'],
    ['events.isIdentified', 'equals', ['yes'], '"yes" is not true or false'],
    ['events.count', 'gt', ['many'], '"many" is not a decimal number'],
    ['events.count', 'gt', ['1e3'], '"1e3" is not a decimal number'],
    ['events.count', 'gt', ['0x10'], '"0x10" is not a decimal number'],
    ['events.count', 'gt', ['NaN'], '"NaN" is not a decimal number'],
    ['events.count', 'equals', [''], '"" is not a decimal number'],
    ['events.count', 'equals', ['1'.repeat(19)], 'is not a decimal number'],
    ['events.name', 'equals', [], 'needs at least one value'],
    ['events.time', 'equals', ['2024-02-30'], 'days 01 to 29'],
    ['events.time', 'inDateRange', ['2026-01-01', '2026-01-02', '2026-01-03'], 'one or two bounds'],
    ['events.time', 'inDateRange', ['2026-01-02', '2026-01-01'], 'ends before it begins'],
    ['events.name', 'equals', ['a\0'], 'is not well-formed text without U+0000'],
    ['events.name', 'equals', ['\ud800'], 'is not well-formed text'],
  ] as const)('on %s by %s of %j are refused', (member, operator, values, reason) => {
    const { name, message } = counted({ member, operator, values: [...values] })
    expect(name).toBe('invalidQuery')
    expect(message).toContain(reason)
  })

  it('carry a bounded amount of text', () => {
    const values = Array.from({ length: 30 }, () => 'x'.repeat(4_000))
    expect(counted({ member: 'events.name', operator: 'equals', values }).name).toBe('tooComplex')
  })

  it('compares so many values by size, of all filters together', () => {
    const filter = (n: number) => ({
      member: 'events.name',
      operator: 'gt' as const,
      values: Array(n).fill('1'),
    })
    const refusal = counted({ or: [filter(600), filter(401)] })
    expect(refusal).toMatchObject({
      name: 'tooComplex',
      message: expect.stringMatching(/gt, gte, lt, lte of all filters .* 1000 values, not 1001/),
    })
  })
})

describe('times', () => {
  it('have one form of range', () => {
    const both = { dimension: 'events.time', dateRange: 'today', compareDateRange: ['today'] }
    expect(failureOf({ measures: ['events.count'], timeDimensions: [both] }).message).toContain(
      'exclude each other',
    )
    const compared = { dimension: 'events.time', compareDateRange: ['today'] }
    expect(failureOf({ measures: ['events.count'], timeDimensions: [compared, compared] }).message).toContain(
      'one time dimension of a query can have compareDateRange',
    )
  })

  it('of all kinds meet in one set of instants', () => {
    const { when } = parsed({
      measures: ['events.count'],
      filters: [
        { member: 'purchases.time', operator: 'notEquals', values: ['2026-03-10', '2026-03-12'] },
        { member: 'events.time', operator: 'afterDate', values: ['2026-03-08'] },
      ],
      timeDimensions: [{ dimension: 'events.time', dateRange: ['2026-03-01', '2026-03-12'] }],
    })
    expect(
      when.map(({ from, to }) => [from, to].map((each) => new Date(each).toISOString().slice(0, 16))),
    ).toEqual([
      ['2026-03-08T23:00', '2026-03-09T23:00'],
      ['2026-03-10T23:00', '2026-03-11T23:00'],
    ])
  })

  it.each([
    ['second', ['2016-01-01', '2025-12-31'], 'divides this range into 315619200 buckets'],
    ['second', undefined, 'need a dateRange with a begin and an end'],
    ['minute', undefined, 'need a dateRange with a begin and an end'],
    ['hour', ['1990-01-01', '2025-12-31'], 'at most 50000 are possible'],
  ] as const)('by %s over %j are too many buckets', (granularity, range, reason) => {
    const { name, message } = failureOf({
      measures: ['events.count'],
      timeDimensions: [
        { dimension: 'events.time', granularity, ...(range ? { dateRange: [...range] } : {}) },
      ],
    })
    expect(name).toBe('tooComplex')
    expect(message).toContain(reason)
  })

  it('leave a bounded number of separate ranges', () => {
    const values = Array.from({ length: 150 }, (_, i) => new Date(i * 86_400_000).toISOString())
    const filter = { member: 'events.time', operator: 'equals', values } as const
    expect(failureOf({ measures: ['events.count'], filters: [{ ...filter, values }] }).name).toBe(
      'tooComplex',
    )
  })
})

describe('order', () => {
  const order = (query: Partial<Query>) =>
    parsed(query).order.map(({ key, direction }) => `${key} ${direction}`)

  it('is by the first time, else the first measure, else the first dimension; all dimensions break ties', () => {
    const timeDimensions = [{ dimension: 'events.time', granularity: 'day' as const }]
    const measures = ['events.count', 'events.people']
    const dimensions = ['events.name', 'events.os']
    expect(order({ measures, dimensions, timeDimensions })).toEqual([
      'events.time.day asc',
      'events.name asc',
      'events.os asc',
    ])
    expect(order({ measures, dimensions })).toEqual(['events.count desc', 'events.name asc', 'events.os asc'])
    expect(order({ dimensions })).toEqual(['events.name asc', 'events.os asc'])
    expect(order({ measures })).toEqual(['events.count desc'])
  })

  it('is the same as a map and as pairs, and names times with or without granularity', () => {
    const query = {
      measures: ['events.count'],
      dimensions: ['events.name'],
      timeDimensions: [{ dimension: 'events.time', granularity: 'day' as const }],
    }
    const map = order({ ...query, order: { 'events.time': 'desc', 'events.count': 'asc' } })
    expect(map).toEqual(['events.time.day desc', 'events.count asc', 'events.name asc'])
    expect(
      order({
        ...query,
        order: [
          ['events.time.day', 'desc'],
          ['events.count', 'asc'],
        ],
      }),
    ).toEqual(map)
  })

  it('names measures, and dimensions that group, once', () => {
    const query = { measures: ['events.count'] }
    expect(order({ ...query, order: { 'events.perPerson': 'asc' } })).toEqual(['events.perPerson asc'])
    expect(failureOf({ ...query, order: { 'events.name': 'asc' } }).message).toContain(
      'the query does not group by it',
    )
    expect(
      failureOf({ ...query, order: { 'purchases.count': 'asc' }, dimensions: ['events.name'] }).name,
    ).toBe('incompatibleMembers')
    expect(
      failureOf({
        ...query,
        order: [
          ['events.count', 'asc'],
          ['events.count', 'desc'],
        ],
      }).message,
    ).toContain('twice')
  })
})

describe('members that do not fit together', () => {
  it.each([
    [{ measures: ['purchases.revenue'], dimensions: ['events.name'] }, ['events.name', 'purchases.revenue']],
    [
      { measures: ['events.count'], dimensions: ['purchases.transaction'] },
      ['purchases.transaction', 'events.count'],
    ],
    [
      { measures: ['events.count', 'purchases.count'], dimensions: ['events.browser'] },
      ['events.browser', 'purchases.count'],
    ],
    [{ dimensions: ['events.name', 'purchases.item'] }, ['events.name', 'purchases.item']],
    [
      {
        measures: ['purchases.count'],
        filters: [{ member: 'events.url', operator: 'equals' as const, values: ['a'] }],
      },
      ['events.url', 'purchases.count'],
    ],
  ])('are named: %j', (query, members) => {
    const { name, data } = failureOf(query)
    expect(name).toBe('incompatibleMembers')
    expect((data as { members: string[] }).members).toEqual(expect.arrayContaining(members))
  })

  it('come with the dimension that would fit', () => {
    const { message } = failureOf({ measures: ['purchases.revenue'], dimensions: ['events.item'] })
    expect(message).toContain('They have their own, purchases.item')
    const label = failureOf({ measures: ['purchases.revenue'], dimensions: ['events.label.country'] })
    expect(label.message).toContain('purchases.label.country')
  })

  it('do not include times and shared dimensions', () => {
    const plan = planQuery(
      parsed({
        measures: ['events.count', 'purchases.revenue'],
        dimensions: ['events.os', 'purchases.person'],
        timeDimensions: [{ dimension: 'purchases.time', granularity: 'day' }],
      }),
    )
    expect(plan.branches.map(({ groupings }) => groupings.map(({ dimension }) => dimension.id))).toEqual([
      ['events.time', 'events.os', 'events.person'],
      ['purchases.time', 'purchases.os', 'purchases.person'],
    ])
  })
})

describe('the sources of a query', () => {
  const sourcesOf = (query: Partial<Query>) =>
    planQuery(parsed(query)).branches.map(({ source }) => source.id)

  it('are those of its measures, also of filtered ones', () => {
    expect(sourcesOf({ measures: ['purchases.perBuyer'], dimensions: ['events.deviceType'] })).toEqual([
      'purchases',
    ])
    expect(
      sourcesOf({
        measures: ['events.count'],
        dimensions: ['events.person'],
        filters: [{ member: 'purchases.revenue', operator: 'gt', values: ['100'] }],
      }),
    ).toEqual(['events', 'purchases'])
  })

  it('are those of its dimensions without measures', () => {
    expect(sourcesOf({ dimensions: ['purchases.transaction', 'events.os'] })).toEqual(['purchases'])
    expect(sourcesOf({ dimensions: ['events.os', 'purchases.deviceType'] })).toEqual(['events', 'purchases'])
    expect(sourcesOf({ timeDimensions: [{ dimension: 'purchases.time', granularity: 'day' }] })).toEqual([
      'purchases',
    ])
  })
})
