import { describe, expect, test } from 'vitest'
import type { Meta } from '../../data/format.ts'
import type { Left } from '../../exploration/selection.ts'
import { stepRule } from './funnel-cohort.ts'
import { groupsOf, trendRows } from './funnel-rows.ts'
import { funnelBody, readFunnel } from './funnel-state.ts'

const text = { title: 'T', description: '', type: 'string', source: 'events', operators: ['equals'] }
const meta = {
  measures: {},
  dimensions: {
    'events.deviceType': text,
    'events.item': text,
    'persons.cohort': { ...text, source: 'persons', filterOnly: true },
  },
} as unknown as Meta
const days = { from: '2026-01-01', to: '2026-01-31' }

describe('a funnel in an address', () => {
  test('begins with the most frequent events', () => {
    const state = readFunnel({}, meta, ['a', 'b', 'c', 'd', 'e'], [])
    expect(state.steps).toEqual([{ events: ['a'] }, { events: ['b'] }, { events: ['c'] }, { events: ['d'] }])
    expect(readFunnel({ steps: [{}] }, meta, ['a'], []).steps).toEqual([{ events: ['a'] }, {}])
  })

  test('leaves out what is unknown or too much', () => {
    const left: Left = []
    const view = {
      steps: Array.from({ length: 20 }, () => ({ events: ['a'] })),
      order: 'sideways',
      window: { value: 53, unit: 'week' },
      breakdown: 'events.item',
      trend: 'second',
    }
    const state = readFunnel(view, meta, [], left)
    expect(state.steps).toHaveLength(12)
    expect(state).toMatchObject({
      order: 'ordered',
      window: { value: 14, unit: 'day' },
      breakdown: undefined,
      trend: undefined,
    })
    expect(left).toEqual(['events.item'])
  })

  test('is asked as the interface takes it', () => {
    const state = readFunnel(
      { steps: [{ events: ['a'] }, {}], per: 'session', breakdown: 'events.deviceType' },
      meta,
      [],
      [],
    )
    expect(funnelBody(state, { dateRange: ['2026-01-01', '2026-01-31'] }, 'week')).toEqual({
      steps: [{ events: ['a'] }, {}],
      order: 'ordered',
      window: { value: 14, unit: 'day' },
      per: 'session',
      breakdown: 'events.deviceType',
      granularity: 'week',
      dateRange: ['2026-01-01', '2026-01-31'],
    })
  })
})

const row = (step: number, people: number, more = {}) => ({
  step,
  name: `s${step}`,
  people,
  conversionFromFirst: people / 10,
  conversionFromPrevious: null,
  medianSeconds: null,
  ...more,
})

describe('rows of a funnel', () => {
  test('are grouped by value; the rest is no absent value', () => {
    const rows = [
      row(1, 10, { device: null, isRest: false }),
      row(2, 5, { device: null, isRest: false }),
      row(1, 4, { device: null, isRest: true }),
    ]
    const { now, before } = groupsOf(rows, 'person', 'device')
    expect(now.map(({ value, isRest, steps }) => [value, isRest, steps.map(({ count }) => count)])).toEqual([
      [null, false, [10, 5]],
      [null, true, [4]],
    ])
    expect(before.size).toBe(0)
  })

  test('of a compared range are found by their group', () => {
    const rows = [row(1, 10, { compareDateRange: 'a' }), row(1, 8, { compareDateRange: 'b' })]
    const { now, before } = groupsOf(rows, 'person', undefined)
    expect(now).toHaveLength(1)
    expect(before.get(now[0]?.id ?? '')?.steps[0]?.count).toBe(8)
  })

  test('of the last step are the trend', () => {
    const rows = [row(1, 10, { device: 'x', isRest: false }), row(2, 5, { device: null, isRest: true })]
    expect(trendRows(rows, 2, 'device', 'rest')).toMatchObject([{ step: 2, device: 'rest' }])
  })
})

describe('those who reached a step as a cohort', () => {
  const state = readFunnel({ steps: [{ events: ['a'] }, { events: ['b'] }] }, meta, [], [])
  test('of the first step', () => {
    expect(stepRule(state, 1, days)).toEqual({
      event: { events: ['a'] },
      dateRange: ['2026-01-01', '2026-01-31'],
    })
  })

  test('where a rule cannot say it there is none', () => {
    const cohort = { member: 'persons.cohort', operator: 'equals', values: ['x'] } as const
    expect(stepRule(state, 2, days)).toBeUndefined()
    expect(stepRule({ ...state, order: 'any' }, 1, days)).toBeUndefined()
    expect(stepRule({ ...state, per: 'session' }, 1, days)).toBeUndefined()
    expect(stepRule({ ...state, filters: [cohort] }, 1, days)).toBeUndefined()
  })
})
