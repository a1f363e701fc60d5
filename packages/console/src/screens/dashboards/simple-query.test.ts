import { describe, expect, test } from 'vitest'
import type { Meta } from '../../data/format.ts'
import { emptyQuery, readAdded, simpleOf, withSimple } from './simple-query.ts'

const asked = (more: object) => ({ ...emptyQuery, ...more })

describe('a query that can be edited here', () => {
  test.each([
    ['total', { measures: ['a.b'] }],
    ['time', { measures: ['a.b'], timeDimensions: [{ dimension: 'a.time', granularity: 'week' as const }] }],
    ['a.c', { measures: ['a.b'], dimensions: ['a.c'], limit: 10 }],
  ])('by %s is read and written back', (by, more) => {
    expect(simpleOf(asked(more))).toEqual({ measure: 'a.b', by })
    expect(withSimple(asked(more), { measure: 'a.b', by })).toEqual(asked(more))
  })

  test.each([
    [{ measures: [] }],
    [{ measures: ['a.b', 'a.d'] }],
    [{ measures: ['a.b'], dimensions: ['a.c', 'a.e'] }],
    [
      {
        measures: ['a.b'],
        dimensions: ['a.c'],
        timeDimensions: [{ dimension: 'a.time', granularity: 'day' as const }],
      },
    ],
  ])('is not %j', (more) => {
    expect(simpleOf(asked(more))).toBeUndefined()
  })

  test('keeps its filters when its measure changes', () => {
    const filters = [{ member: 'a.c', operator: 'set' as const }]
    const changed = withSimple(asked({ measures: ['a.b'], filters, order: { 'a.b': 'asc' } }), {
      measure: 'a.x',
      by: 'total',
    })
    expect(changed).toEqual(asked({ measures: ['a.x'], filters }))
  })
})

describe('what an address adds', () => {
  const meta = { measures: { 'a.b': {} }, dimensions: { 'a.c': {}, 'a.time': {} } } as unknown as Meta
  const condition = { member: 'a.c', operator: 'equals', values: ['x'] }

  test('is a query or an exploration', () => {
    for (const query of [
      { measures: ['a.b'] },
      { dimensions: ['a.c', 'events.label.plan'], limit: 5 },
      {
        measures: ['a.b'],
        timeDimensions: [{ dimension: 'a.time' }],
        filters: [{ or: [condition, condition] }],
      },
    ])
      expect(readAdded(query, meta)).toEqual({ kind: 'query', query: asked(query) })
    expect(readAdded({ exploration: 'funnel', definition: { steps: [] } }, meta)).toEqual({
      kind: 'exploration',
      exploration: 'funnel',
      definition: { steps: [] },
    })
  })

  test.each([
    [null],
    ['x'],
    [7],
    [[]],
    [{}],
    [{ measures: 'a.b' }],
    [{ measures: [{}] }],
    [{ measures: ['constructor'] }],
    [{ measures: ['a.b'], dimensions: ['a.b.c'] }],
    [{ measures: ['a.b'], filters: {} }],
    [{ measures: ['a.b'], filters: [{ ...condition, member: '__proto__' }] }],
    [{ measures: ['a.b'], timeDimensions: [{ dimension: 'toString' }] }],
    [{ timeDimensions: [{ dimension: 'a.time' }] }],
    [{ exploration: 'funnel' }],
    [{ exploration: 'x', definition: {} }],
  ])('%j is neither', (value) => {
    expect(readAdded(value, meta)).toBeUndefined()
  })
})
