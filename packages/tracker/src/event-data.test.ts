import { eventVectors } from '@millrace/contract/events/event-vectors.ts'
import { isPlainObject } from '@millrace/contract/events/plain-objects.ts'
import { validateEvent } from '@millrace/contract/events/validate.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEventData } from './event-data.ts'

const companyId = '65a1b2c3d4e5f60718293a4b'

/** What the collector makes of an event with this data. */
function collect(name: string, data: unknown) {
  const event = { key: companyId, name, url: '', tmpId: 't', eventId: 'e', v: 1, data }
  return validateEvent(JSON.parse(JSON.stringify(event)), { companyId, receivedAt: Date.now() })
}

const ignore = () => {}

test.each(eventVectors)('makes of %j what the collector makes of it', ({ name, data, outcome }) => {
  const read = readEventData(name, data, ignore)
  if (typeof outcome === 'string') {
    expect(read).toBe(outcome)
    return
  }
  expect(collect(name, read)).toMatchObject({ kept: true, ids: outcome.ids ?? [], value: outcome.value })
  if (outcome.ids) expect(read).toMatchObject({ ids: outcome.ids })
  if (outcome.value) expect(read).toMatchObject({ value: outcome.value })
})

test('sends of any data what the collector would have stored of it', () => {
  const entry = fc.oneof(fc.string(), fc.constantFrom('0', 'null', '', null, 'A;B', ' x|', 5))
  const data = fc.record(
    {
      ids: fc.oneof(fc.jsonValue(), entry, fc.array(entry, { maxLength: 4 })),
      value: fc.oneof(fc.jsonValue(), fc.double(), fc.constantFrom('1,2', '12.999', '-.5', '1e400')),
      label: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.constantFrom('purchase', 'brand_view', 'add_cart'), data, (name, sent) => {
      const read = readEventData(name, sent, ignore)
      const before = collect(name, sent)
      if (!before.kept) expect(read).toBe(before.reason.rule)
      else {
        const { ids, value, labels } = before
        expect(collect(name, read)).toMatchObject({ kept: true, ids, value, labels })
      }
    }),
    { numRuns: 500 },
  )
})

test('leaves what it is given unchanged, and says what it removed', () => {
  const notes: string[] = []
  const data = Object.freeze({ ids: Object.freeze(['0', 'A']), color: 'red' })
  expect(readEventData('add_cart', data, (...note) => notes.push(...note))).toEqual({
    ids: ['A'],
    color: 'red',
  })
  expect(notes).toEqual(['add_cart', 'ids-placeholder'])
})

test.each([[undefined], [''], [null], [5], [{ name: 'x' }]])('refuses %j as a name', (name) => {
  expect(readEventData(name, {}, ignore)).toBe('required-field-missing')
})

test('sends no page views', () => {
  expect(readEventData('page_view', {}, ignore)).toBe('page_view')
})

test.each([[new Date()], [new Map()], [/x/], [() => {}], [undefined], [Symbol('x')], [new Error('x')]])(
  'takes %s for no plain object',
  (value) => expect(isPlainObject(value)).toBe(false),
)
