import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PersonEvent, PersonKey } from '../../src/features/analytics/persons/person.ts'
import { times } from '../support/long.ts'
import { openPersons, soon } from '../support/persons.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, type StoredEvent, storedEvent, testCompany } from '../support/statistics-events.ts'
import { eventFacts } from '../support/statistics-oracle-facts.ts'

let engine: StatisticsEngine

beforeAll(async () => {
  engine = await openStatisticsEngine()
})
afterAll(() => engine.close())
beforeEach(() => engine.empty())

const minute = 60_000
const day = 24 * 60 * minute
const ago = (milliseconds: number) => Date.now() - milliseconds
const since = () => new Date(ago(80 * day))

const open = (options: Partial<Parameters<typeof openPersons>[0]> = {}) =>
  openPersons({ columnar: engine.columnar, ...options })

async function read(
  key: PersonKey,
  from = since(),
  companyId = testCompany,
): Promise<readonly PersonEvent[]> {
  const { events } = await open().readPerson({ companyId, ...key, since: from, signal: soon() })
  return events
}

const names = (events: readonly PersonEvent[]) => events.map(({ name }) => name)

describe('against a plain computation', () => {
  const clients = ['', '', 'c1', 'c2', 'c3', 'd2'] as const
  const devices = ['d1', 'd2', 'd3', 'd4', 'c1'] as const

  const histories = fc.uniqueArray(
    fc.record({
      back: fc.integer({ min: 1, max: 79 * 24 * 60 }),
      name: fc.constantFrom('page_view', 'identify', 'identify', 'add_cart'),
      tmpId: fc.constantFrom(...devices),
      clientId: fc.constantFrom(...clients),
      company: fc.constantFrom(testCompany, testCompany, testCompany, otherCompany),
      late: fc.boolean(),
    }),
    { minLength: 1, maxLength: 60, selector: ({ back }) => back },
  )

  /** What each name's person did, the newest first. */
  function expected(events: readonly StoredEvent[], { client, device }: PersonKey, from: number) {
    const anonymous = storedEvent({ tmpId: device ?? '' })
    const owner = eventFacts([...events, anonymous]).at(-1)?.person
    const person = client ?? owner
    const facts = eventFacts(events)
    return events
      .filter((event, place) => facts[place]?.person === person && event.time >= from)
      .map(({ time, name }) => ({ time, name }))
      .sort((a, b) => b.time - a.time)
  }

  const runs = times(80, 4)
  it('finds what each person did, in whichever order it was loaded', {
    timeout: 600_000 + 4_000 * runs,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 1, max: 80 }), async (made, days) => {
        await engine.empty()
        const start = ago(0)
        const events = made.map(({ back, late: _, ...fields }) =>
          storedEvent({ ...fields, time: start - back * minute }),
        )
        await engine.load(events.filter((_, place) => !made[place]?.late))
        await engine.load(events.filter((_, place) => made[place]?.late))
        const persons = open()
        const from = start - days * day
        const keys: PersonKey[] = [
          ...devices.map((device) => ({ device })),
          ...['c1', 'c2', 'c3', 'd2', 'unknown'].map((client) => ({ client })),
          { client: 'c1', device: 'd3' },
          { device: 'unknown' },
        ]
        for (const companyId of [testCompany, otherCompany]) {
          const ofCompany = events.filter(({ company }) => company === companyId)
          const found = await Promise.all(
            keys.map((key) =>
              persons.readPerson({ companyId, ...key, since: new Date(from), signal: soon() }),
            ),
          )
          expect(
            found.map(({ events: each }) => each.map(({ time, name }) => ({ time: time.getTime(), name }))),
          ).toEqual(keys.map((key) => expected(ofCompany, key, from)))
        }
        expect(persons.statements).toHaveLength(4)
      }),
      { numRuns: runs, endOnFailure: true },
    )
  })
})

it('gives all that an event says', async () => {
  const time = ago(minute)
  await engine.load([
    storedEvent({
      time,
      name: 'é "x"',
      url: 'https://shop.example/?a=1\n',
      ids: ["O'Brien", '\\N'],
      value: '-12.50',
      labels: { store: 'Straße', '': 'x', 'a.b': '{"y":1}' },
    }),
    storedEvent({ time: time - 1 }),
  ])
  const [first, second] = await read({ device: 'device-1' })
  expect(first).toEqual({
    name: 'é "x"',
    time: new Date(time),
    datasourceId: '65c8a1b2d3e4f5061728394a',
    url: 'https://shop.example/?a=1\n',
    ids: ["O'Brien", '\\N'],
    value: -12.5,
    labels: { store: 'Straße', '': 'x', 'a.b': '{"y":1}' },
  })
  expect(second).not.toHaveProperty('value')
})

it('knows the events of both devices of a person, also those before the binding', async () => {
  await engine.load([
    storedEvent({ name: 'first', tmpId: 'phone', time: ago(5 * day) }),
    storedEvent({ name: 'second', tmpId: 'laptop', time: ago(4 * day) }),
    storedEvent({ name: 'of_server', tmpId: 'server', clientId: 'ada', time: ago(3 * day) }),
  ])
  expect(names(await read({ client: 'ada' }))).toEqual(['of_server'])
  expect(names(await read({ device: 'phone' }))).toEqual(['first'])
  await engine.load([storedEvent({ name: 'identify', tmpId: 'phone', clientId: 'ada', time: ago(2 * day) })])
  expect(names(await read({ client: 'ada' }))).toEqual(['identify', 'of_server', 'first'])
  await engine.load([storedEvent({ name: 'identify', tmpId: 'laptop', clientId: 'ada', time: ago(day) })])
  const all = ['identify', 'identify', 'of_server', 'second', 'first']
  expect(names(await read({ client: 'ada' }))).toEqual(all)
  expect(names(await read({ device: 'phone' }))).toEqual(all)
  expect(names(await read({ device: 'laptop' }))).toEqual(all)
})

it('forgets a device that was bound to another person since', async () => {
  await engine.load([
    storedEvent({ name: 'seen', tmpId: 'tablet', time: ago(3 * day) }),
    storedEvent({ name: 'identify', tmpId: 'tablet', clientId: 'ada', time: ago(2 * day) }),
    storedEvent({ name: 'identify', tmpId: 'tablet', clientId: 'bob', time: ago(day) }),
  ])
  expect(names(await read({ client: 'ada' }))).toEqual(['identify'])
  expect(names(await read({ client: 'bob' }))).toEqual(['identify', 'seen'])
})

it('takes the client where both are given', async () => {
  await engine.load([
    storedEvent({ name: 'own', tmpId: 'x', clientId: 'ada', time: ago(day) }),
    storedEvent({ name: 'other', tmpId: 'phone', time: ago(day) }),
  ])
  expect(names(await read({ client: 'ada', device: 'phone' }))).toEqual(['own'])
})

it('answers nothing for a person without a name, and asks nothing', async () => {
  const persons = open()
  const asked = { companyId: testCompany, since: since(), signal: soon() }
  expect(await persons.readPerson(asked)).toEqual({ events: [] })
  expect(await persons.readPerson({ ...asked, client: '', device: '' })).toEqual({ events: [] })
  expect(persons.statements).toEqual([])
})

it('reads no other company, whatever the identifiers are', async () => {
  await engine.load([
    storedEvent({
      company: otherCompany,
      tmpId: 'shared',
      clientId: 'ada',
      name: 'identify',
      time: ago(day),
    }),
    storedEvent({ company: testCompany, tmpId: 'shared', time: ago(day) }),
  ])
  expect(names(await read({ client: 'ada' }))).toEqual([])
  expect(names(await read({ device: 'shared' }))).toEqual(['page_view'])
  expect(names(await read({ device: 'shared' }, since(), otherCompany))).toEqual(['identify'])
})

it('takes identifiers for text, never for SQL', async () => {
  const hostile = ["' OR 1=1 --", '{p1:String}', '\\', '\u0000', ') UNION ALL SELECT 1', 'é'.repeat(512)]
  await engine.load([storedEvent({ tmpId: 'device-1', time: ago(day) })])
  for (const device of hostile) expect(await read({ device })).toEqual([])
  for (const client of hostile) expect(await read({ client })).toEqual([])
  expect(await read({ device: 'device-1' })).toHaveLength(1)
})

it('gives the newest thousand', async () => {
  const start = ago(day)
  await engine.load(
    Array.from({ length: 1_100 }, (_, i) => storedEvent({ name: `e${i}`, time: start + i * 10 })),
  )
  await engine.load([storedEvent({ tmpId: 'device-2', time: start })])
  const persons = open()
  const [many, one] = await Promise.all(
    ['device-1', 'device-2'].map((device) =>
      persons.readPerson({ companyId: testCompany, device, since: since(), signal: soon() }),
    ),
  )
  expect(names(many?.events ?? [])).toEqual(Array.from({ length: 1_000 }, (_, i) => `e${1_099 - i}`))
  expect(one?.events).toHaveLength(1)
})

it('begins exactly at the instant, for each of those who share a statement', async () => {
  const start = ago(3 * 60 * minute)
  await engine.load([0, 1, 2].map((i) => storedEvent({ name: `e${i}`, time: start + i })))
  const persons = open()
  const at = async (instant: number) => {
    const asked = { companyId: testCompany, device: 'device-1', since: new Date(instant), signal: soon() }
    return names((await persons.readPerson(asked)).events)
  }
  expect(await Promise.all([at(start), at(start + 1), at(start + 2), at(start + 3)])).toEqual([
    ['e2', 'e1', 'e0'],
    ['e2', 'e1'],
    ['e2'],
    [],
  ])
})

it('shows events under the names that statistics show', async () => {
  await engine.load([storedEvent({ name: 'old_name', time: ago(day) })])
  const settings = { timezone: 'UTC', eventAliases: new Map([['old_name', 'new_name']]) }
  const persons = open({ settings })
  const asked = { companyId: testCompany, device: 'device-1', since: since(), signal: soon() }
  expect(names((await persons.readPerson(asked)).events)).toEqual(['new_name'])
})

it('answers a thousand persons by a few statements', async () => {
  await engine.load(
    Array.from({ length: 1_000 }, (_, i) => storedEvent({ name: `e${i}`, tmpId: `d${i}`, time: ago(day) })),
  )
  const persons = open()
  const found = await Promise.all(
    Array.from({ length: 1_000 }, (_, i) =>
      persons.readPerson({ companyId: testCompany, device: `d${i}`, since: since(), signal: soon() }),
    ),
  )
  expect(found.map(({ events }) => names(events))).toEqual(Array.from({ length: 1_000 }, (_, i) => [`e${i}`]))
  expect(persons.statements).toHaveLength(20)
})

it('gives fewer events of a person who has more than a statement may give, and all of others', async () => {
  const text = 'x'.repeat(8_000)
  const labels = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`l${i}`, text]))
  const start = ago(day)
  await engine.load(
    Array.from({ length: 400 }, (_, i) => storedEvent({ tmpId: 'huge', labels, time: start + i })),
  )
  await engine.load([storedEvent({ tmpId: 'small', time: start })])
  const persons = open()
  const asked = { companyId: testCompany, since: since(), signal: soon() }
  const [huge, small] = await Promise.all(
    ['huge', 'small'].map((device) => persons.readPerson({ ...asked, device })),
  )
  expect(huge?.events).toHaveLength(100)
  expect(huge?.events[0]?.time).toEqual(new Date(start + 399))
  expect(names(small?.events ?? [])).toEqual(['page_view'])
})
