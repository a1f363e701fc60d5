import type { BinaryFilter, Filter } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { type StoredEvent, storedEvent } from './statistics-events.ts'

const from = <T>(values: readonly T[]) => fc.constantFrom(...values)

export const explorationNames = ['a', 'b', 'c', 'identify'] as const

const quarter = 900_000

/** Midnight of the day before the one on which Paris sets its clock on; some weeks later a month ends. */
const begin = Date.parse('2026-03-28T00:00:00Z')

/**
 * Times of some hours, days or weeks around a change of the clock, on quarters of an hour and a millisecond beside
 * them: few enough that events share one, that gaps are half an hour, and that days begin with one.
 */
const instant = fc
  .tuple(fc.oneof(fc.nat(12), fc.nat(5 * 96), fc.nat(70 * 96)), from([0, 0, 0, -1, 1]))
  .map(([quarters, beside]) => begin + quarters * quarter + beside)

/** An event of one of a few persons, some of whose devices are bound to a client, before or after. */
const sampleEvent = fc
  .record({
    time: instant,
    name: from(explorationNames),
    person: fc.nat(3),
    device: fc.nat(1),
    known: fc.boolean(),
    path: from(['', '/', '/p?x=1', '/q#top']),
    browser: from(['Chrome', 'Firefox', '']),
    store: from(['Paris', 'Berlin', undefined]),
    ids: fc.subarray(['x', 'y']),
  })
  .map(({ person, device, known, store, path, ...event }): Partial<StoredEvent> => {
    const identifies = event.name === 'identify' && person > 0
    return {
      ...event,
      tmpId: `device-${person}-${device}`,
      clientId: identifies || (known && person === 2) ? `client-${person % 3}` : '',
      labels: store === undefined ? {} : { store },
      url: path === '' ? '' : `https://shop.example${path}`,
    }
  })

/** Companies with a history of their own each, as they arrive: in no order. */
export function sampleHistories(companies: number): StoredEvent[][] {
  const history = fc.array(sampleEvent, { minLength: 1, maxLength: 60 })
  return fc.sample(history, { numRuns: companies, seed: 12 }).map((events, i) => {
    const company = `64b7f0a1c2d3e4f5a6b8${String(i).padStart(4, '0')}`
    return events.map((event) => storedEvent({ ...event, company }))
  })
}

const condition: fc.Arbitrary<BinaryFilter> = fc
  .tuple(
    from([
      'events.browser',
      'events.label.store',
      'events.item',
      'events.name',
      'events.isIdentified',
      'events.path',
    ]),
    from(['equals', 'notEquals'] as const),
    fc.subarray(['Chrome', 'Paris', 'x', 'a', 'b', 'y', '/p'], { minLength: 1 }),
  )
  .map(([member, operator, values]) => ({
    member,
    operator,
    values: member === 'events.isIdentified' ? ['true'] : values,
  }))

const conditions: fc.Arbitrary<Filter[]> = fc.array(condition, { minLength: 1, maxLength: 2 })

/** No filters most often, else one or two, or a group of them. */
export const sampleFilters = fc.oneof(
  fc.constant<Filter[]>([]),
  fc.constant<Filter[]>([]),
  conditions,
  conditions.map((or): Filter[] => [{ or }]),
)

/** Ranges of days, of instants, and ones whose end cuts a period. */
export const sampleRange = fc.oneof(
  fc
    .tuple(from(['2026-03-28', '2026-03-29', '2026-04-02']), from(['2026-04-02', '2026-04-30', '2026-05-31']))
    .map((dates) => [...dates]),
  fc.tuple(instant, instant).map(([a, b]) => {
    const [first, last] = [Math.min(a, b), Math.max(a, b) + 1]
    return [new Date(first).toISOString(), new Date(last).toISOString()]
  }),
)
