import { describe, expect, test } from 'vitest'
import type { Meta } from '../data/format.ts'
import { type Left, readConditions, readSelection, selectionBody } from './selection.ts'

const text = { title: 'T', description: '', type: 'string', operators: ['equals', 'set'] } as const
const meta = {
  measures: { 'events.count': {} },
  dimensions: {
    'events.name': { ...text, source: 'events' },
    'events.deviceType': { ...text, source: 'events' },
    'events.item': { ...text, source: 'events' },
    'events.time': { ...text, type: 'time', source: 'events' },
    'sessions.channel': { ...text, source: 'sessions' },
    'persons.cohort': { ...text, source: 'persons', filterOnly: true },
  },
  queryCompatibility: { components: [], measureSources: {} },
} as unknown as Meta

describe('selections of events in an address', () => {
  test('keep what is known, and name what is left out', () => {
    const left: Left = []
    const filters = [
      { member: 'events.deviceType', operator: 'equals', values: ['mobile'] },
      { member: 'events.gone', operator: 'equals', values: ['x'] },
      { member: 'sessions.channel', operator: 'equals', values: ['x'] },
      { member: 'events.time', operator: 'equals', values: ['x'] },
      { member: 'events.deviceType', operator: 'like', values: ['x'] },
    ]
    expect(readSelection({ events: ['a', 'a', 7, ''], filters }, meta, left)).toEqual({
      events: ['a'],
      filters: [{ member: 'events.deviceType', operator: 'equals', values: ['mobile'] }],
    })
    expect(left).toEqual(['events.gone', 'sessions.channel', 'events.time', 'events.deviceType'])
  })

  test.each([null, 7, 'x', [], { events: {}, filters: undefined }])('%j is any event', (value) => {
    expect(readSelection(value, meta, [])).toEqual({})
  })

  test('a label that no event has had, and what takes no values', () => {
    const left: Left = []
    const read = readConditions(
      [
        { member: 'events.label.store', operator: 'contains', values: ['fr', 1] },
        { member: 'events.name', operator: 'set', values: ['x'] },
        { member: 'events.label.', operator: 'equals', values: ['x'] },
        { member: 'events.name', operator: 'equals', values: [] },
      ],
      meta,
      left,
    )
    expect(read).toEqual([
      { member: 'events.label.store', operator: 'contains', values: ['fr'] },
      { member: 'events.name', operator: 'set', values: [] },
    ])
    expect(left).toHaveLength(2)
    expect(selectionBody({ filters: read })).toEqual({
      filters: [
        { member: 'events.label.store', operator: 'contains', values: ['fr'] },
        { member: 'events.name', operator: 'set' },
      ],
    })
  })
})
