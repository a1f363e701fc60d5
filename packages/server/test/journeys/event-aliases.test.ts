import { type BinaryFilter, filterOperators, type Query } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { times } from '../support/long.ts'
import { callerToken, openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, type StoredEvent, storedEvent, testCompany } from '../support/statistics-events.ts'
import { sampleQueries } from '../support/statistics-queries.ts'
import { sampleEvents } from '../support/statistics-samples.ts'

/** Renamed events: one company has aliases, the other the same events as if they had been sent under the new names. */

let engine: StatisticsEngine
let app: StatisticsApp

const aliases = new Map([
  ['sign_up', 'registration'],
  ['Signup', 'registration'],
  ["o'ld\\", 'é "x"'],
  ['__proto__', 'constructor'],
])
const renamed = (name: string) => aliases.get(name) ?? name
const names = [...aliases.keys(), 'registration', 'constructor', 'é "x"', 'page_view', 'purchase', 'nothing']

beforeAll(async () => {
  engine = await openStatisticsEngine()
  app = await openStatisticsApp(engine.columnar)
  const events = sampleEvents(testCompany, 600).map((event, i) =>
    /^(identify|purchase)/.test(event.name) ? event : { ...event, name: names[i % 8] ?? '' },
  )
  await engine.load(events)
  await engine.load(
    events.map((event) => ({
      ...event,
      company: otherCompany,
      eventId: `other-${event.eventId}`,
      name: renamed(event.name),
    })),
  )
  app.caller.permissions = ['statistics:access', 'statistics:export', 'company:update']
})

afterAll(async () => {
  await app.app.close()
  await engine.close()
})

const aliasUrl = (name: string) =>
  `/v2/statistics/analytics/settings/event-aliases/${encodeURIComponent(name)}`

async function setAlias(name: string, alias: string): Promise<void> {
  const reply = await app.app.inject({
    method: 'PUT',
    url: aliasUrl(name),
    headers: callerToken,
    payload: { alias },
  })
  expect(reply.statusCode).toBe(200)
}

async function deleteAlias(name: string): Promise<void> {
  const reply = await app.app.inject({ method: 'DELETE', url: aliasUrl(name), headers: callerToken })
  expect(reply.statusCode).toBe(200)
}

beforeEach(async () => {
  app.caller.companyId = testCompany
  await app.rows({ measures: ['events.count'] })
  for (const [name, alias] of aliases) await setAlias(name, alias)
})

async function rowsOf<T>(companyId: string, ask: () => Promise<T>): Promise<T> {
  app.caller.companyId = companyId
  return ask()
}

const nameFilter: fc.Arbitrary<BinaryFilter> = fc
  .tuple(
    fc.constantFrom(...filterOperators.filter((each) => !/Date|[sS]et$/.test(each))),
    fc.array(fc.constantFrom(...names, 'sign', 'REG', 'str', 'x"'), { minLength: 1, maxLength: 3 }),
  )
  .map(([operator, values]) => ({ member: 'events.name', operator, values }))

/** A former name in an exact filter means its alias; the other operators compare what is shown. */
const asRenamed = (filter: BinaryFilter): BinaryFilter =>
  /quals$/.test(filter.operator) ? { ...filter, values: (filter.values ?? []).map(renamed) } : filter

const queries = fc
  .tuple(
    sampleQueries.filter((query) => !/"(purchases|sessions)\./.test(JSON.stringify(query))),
    fc.array(nameFilter, { maxLength: 2 }),
    fc.array(nameFilter, { maxLength: 2 }),
    fc.boolean(),
  )
  .map(([query, all, any, byName]): [Query, Query] => {
    const grouped = byName && !query.dimensions.includes('events.name') ? ['events.name'] : []
    const measures = query.measures.length > 0 ? query.measures : ['events.count']
    const whole = (rename: (filter: BinaryFilter) => BinaryFilter): Query => ({
      ...query,
      measures,
      dimensions: [...query.dimensions, ...grouped],
      filters: [...query.filters, ...all.map(rename), ...(any.length > 0 ? [{ or: any.map(rename) }] : [])],
    })
    return [whole((filter) => filter), whole(asRenamed)]
  })

const runs = times(150, 6)

test('every query is answered as over rows that are stored under the new names', {
  timeout: 600_000 + 400 * runs,
}, async () => {
  await fc.assert(
    fc.asyncProperty(queries, async ([query, twin]) => {
      const expected = await rowsOf(otherCompany, () => app.rows(twin))
      expect(await rowsOf(testCompany, () => app.rows(query))).toEqual(expected)
    }),
    { numRuns: runs },
  )
})

const october = { dateRange: ['2026-03-01', '2026-10-31'] }
const selected = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 })
const shown = (events: readonly string[]) => [...new Set(events.map(renamed))]

/** Asks the same of both companies, once in any names and once in the new ones alone. */
async function expectAgreement(path: string, asked: unknown, twin: unknown): Promise<void> {
  async function answer(companyId: string, query: unknown): Promise<unknown> {
    app.caller.companyId = companyId
    const { status, body } = await app.post(query, { path: `/v2/statistics/${path}` })
    expect(status, body.message).toBe(200)
    return body.data
  }
  expect(await answer(testCompany, asked)).toEqual(await answer(otherCompany, twin))
}

describe('every exploration is answered so too', () => {
  const numRuns = times(50, 2)
  const timeout = 60_000 + 400 * numRuns

  test('funnels', { timeout }, async () => {
    const funnels = fc.tuple(
      fc.array(selected, { minLength: 2, maxLength: 4 }),
      fc.constantFrom('ordered', 'strict'),
      fc.option(fc.constant('events.name'), { nil: undefined }),
    )
    await fc.assert(
      fc.asyncProperty(funnels, async ([steps, order, breakdown]) => {
        const query = (namesOf: (events: readonly string[]) => readonly string[]) => ({
          ...october,
          steps: steps.map((events, i) => ({ name: `step ${i}`, events: namesOf(events) })),
          order,
          ...(breakdown && { breakdown }),
        })
        await expectAgreement(
          'funnels',
          query((events) => events),
          query(shown),
        )
      }),
      { numRuns },
    )
  })

  test('retention', { timeout }, async () => {
    const pairs = fc.tuple(selected, selected, fc.constantFrom('first-time', 'recurring'))
    await fc.assert(
      fc.asyncProperty(pairs, async ([first, back, cohorts]) => {
        const query = (namesOf: (events: readonly string[]) => readonly string[]) => ({
          dateRange: ['2026-03-20', '2026-04-10'],
          firstEvent: { events: namesOf(first) },
          returnEvent: { events: namesOf(back) },
          granularity: 'day',
          cohorts,
        })
        await expectAgreement(
          'retention',
          query((events) => events),
          query(shown),
        )
      }),
      { numRuns },
    )
  })

  test('paths', { timeout }, async () => {
    const anchors = fc.tuple(fc.constantFrom(...names), fc.constantFrom('from', 'to'), nameFilter)
    await fc.assert(
      fc.asyncProperty(anchors, async ([step, end, filter]) => {
        const query = (rename: (name: string) => string, filters: unknown[]) => ({
          ...october,
          by: 'event',
          [end]: rename(step),
          filters,
        })
        const twin = query(renamed, [asRenamed(filter)])
        await expectAgreement(
          'paths',
          query((name) => name, [filter]),
          twin,
        )
      }),
      { numRuns },
    )
  })

  test('cohorts', async () => {
    async function rule(companyId: string, events: string): Promise<string> {
      app.caller.companyId = companyId
      const { status, body } = await app.post(
        { name: 'Often', rule: { event: { events: [events] }, atLeast: 2 } },
        { path: '/v2/statistics/cohorts' },
      )
      expect(status, body.message).toBe(200)
      return (body.data as { id: string }).id
    }
    const query = (cohort: string) => ({
      measures: ['events.people'],
      dimensions: ['events.person'],
      filters: [{ member: 'persons.cohort', operator: 'equals' as const, values: [cohort] }],
      timeDimensions: [],
    })
    const [cohort, twin] = [await rule(testCompany, 'sign_up'), await rule(otherCompany, 'registration')]
    await expectAgreement('query', query(cohort), query(twin))
    app.caller.companyId = testCompany
    expect((await app.rows(query(cohort))).length).toBeGreaterThan(1)
  })
})

test('steps in any order may not be one event under two names', async () => {
  const steps = [{ events: ['sign_up'] }, { events: ['registration'] }]
  const { status, body } = await app.post(
    { ...october, steps, order: 'any' },
    { path: '/v2/statistics/funnels' },
  )
  expect({ status, message: body.message }).toEqual({
    status: 400,
    message: expect.stringContaining('is the same as steps.0'),
  })
})

describe('an alias', () => {
  const byName: Partial<Query> = {
    measures: ['events.count', 'events.people'],
    dimensions: ['events.name'],
    filters: [{ member: 'events.name', operator: 'startsWith', values: ['Sign', 'reg'] }],
  }
  const people = async (name: string) => {
    const filters = [{ member: 'events.name', operator: 'equals' as const, values: [name] }]
    return app.rows({ measures: ['events.people', 'events.count'], filters })
  }

  test('holds from the next query on, for what is stored already, and is taken back', async () => {
    for (const name of aliases.keys()) await deleteAlias(name)
    const before = await app.rows(byName)
    expect(before.map((row) => row['events.name']).sort()).toEqual(['Signup', 'registration', 'sign_up'])
    const [asked] = await people('sign_up')
    await setAlias('sign_up', 'registration')
    await setAlias('Signup', 'registration')
    const [one, ...others] = await app.rows(byName)
    expect(others).toEqual([])
    const sum = before.reduce((total, row) => total + Number(row['events.count']), 0)
    expect(one).toMatchObject({ 'events.name': 'registration', 'events.count': sum })
    // The former name means the new one.
    expect(await people('sign_up')).toEqual(await people('registration'))
    expect((await people('registration'))[0]).toMatchObject({ 'events.count': sum })
    await deleteAlias('sign_up')
    await deleteAlias('Signup')
    expect(await app.rows(byName)).toEqual(before)
    expect(await people('sign_up')).toEqual([asked])
  })

  test('is part of no statement', async () => {
    engine.statements.length = 0
    await app.rows(byName)
    await people("o'ld\\")
    for (const { sql } of engine.statements) {
      for (const name of [...aliases.keys(), ...aliases.values()]) expect(sql).not.toContain(name)
    }
    expect(engine.statements.length).toBeGreaterThanOrEqual(2)
  })

  test('shows an event that arrives later under the former name', async () => {
    const late: StoredEvent = storedEvent({ name: 'sign_up', tmpId: 'late', at: '2026-03-11T12:00:00Z' })
    const count = async () => Number((await people('registration'))[0]?.['events.count'])
    const before = await count()
    await engine.load([late])
    expect(await count()).toBe(before + 1)
  })
})
