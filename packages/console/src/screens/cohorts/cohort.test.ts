import { describe, expect, test } from 'vitest'
import type { Meta } from '../../data/format.ts'
import type { Left } from '../../exploration/selection.ts'
import { fitsOneBody, personsOf } from './person-list.ts'
import { type CohortRule, conditionsOf, depthOf, draftOf, emptyLabel, groupOf, ruleOf } from './rule-draft.ts'

const meta = {
  measures: {},
  dimensions: {
    'events.deviceType': { type: 'string', source: 'events', operators: ['equals'] },
    'persons.cohort': { type: 'string', source: 'persons', operators: ['equals'], filterOnly: true },
  },
} as unknown as Meta

const mobile = { member: 'events.deviceType', operator: 'equals' as const, values: ['mobile'] }
const rules: CohortRule[] = [
  { event: {} },
  { event: { events: ['purchase'], filters: [mobile] }, atLeast: 2, atMost: 5, dateRange: 'last 90 days' },
  { event: { events: ['purchase'] }, atLeast: 0, atMost: 0 },
  { event: {}, dateRange: [null, '2026-01-31'] },
  { firstSeen: { dateRange: ['2026-01-01', '2026-01-31'] } },
  { not: { lastSeen: { before: '30 days ago' } } },
  { label: { key: 'country', operator: 'equals', values: ['France'] }, dateRange: 'last 30 days' },
  { and: [{ event: {} }, { not: { or: [{ event: {} }, { lastSeen: { after: '2026-01-31' } }] } }] },
]

describe('a rule that is edited', () => {
  test.each(rules)('%j is the same when nothing was changed', (rule) => {
    const left: Left = []
    expect(ruleOf(draftOf(rule, meta, left))).toEqual(rule)
    expect(left).toEqual([])
  })

  test('says in several conditions what held at once, and nothing twice', () => {
    const rule = { firstSeen: { after: '2026-01-01', before: '2026-02-01' } }
    expect(ruleOf(draftOf(rule, meta, []))).toEqual({
      and: [{ firstSeen: { before: '2026-02-01' } }, { firstSeen: { after: '2026-01-01' } }],
    })
    expect(ruleOf(draftOf({ not: { not: { event: {} } } }, meta, []))).toEqual({ event: {} })
  })

  test.each([null, 7, 'x', {}, { event: 7 }, { and: 'x' }, { label: { key: '' } }])(
    '%j in an address is named and left out',
    (rule) => {
      const left: Left = []
      expect(draftOf(rule, meta, left)).toEqual(groupOf([]))
      expect(left).toHaveLength(1)
    },
  )

  test('is no rule while a part is unfinished', () => {
    expect(ruleOf(groupOf([]))).toBeUndefined()
    expect(ruleOf(groupOf([emptyLabel]))).toBeUndefined()
    expect(ruleOf(draftOf({ event: {}, atLeast: 3, atMost: 2 }, meta, []))).toBeUndefined()
  })

  test('has a depth and conditions', () => {
    expect(rules.map(depthOf)).toEqual([1, 1, 1, 1, 1, 2, 1, 4])
    expect(rules.map(conditionsOf)).toEqual([1, 1, 1, 1, 1, 1, 1, 3])
  })

  test('of a deeply nested address ends', () => {
    let rule: object = { event: {} }
    for (let i = 0; i < 5_000; i++) rule = { not: rule }
    const left: Left = []
    expect(draftOf(rule, meta, left)).toEqual(groupOf([]))
    expect(left).toHaveLength(1)
  })
})

describe('a list of persons', () => {
  test('has one in a line, each once', () => {
    expect(personsOf('\uFEFFada\r\n"bob"\n\n ada \n"say ""hi"""\n')).toEqual({
      persons: ['ada', 'bob', 'say "hi"'],
      tooLong: 0,
    })
    expect(personsOf(`${'x'.repeat(513)}\na`)).toEqual({ persons: ['a'], tooLong: 1 })
  })

  test('goes in one body, or to the members', () => {
    expect(fitsOneBody(['ada'])).toBe(true)
    expect(fitsOneBody(Array.from({ length: 100_000 }, (_, i) => `person-${i}`))).toBe(false)
  })
})
