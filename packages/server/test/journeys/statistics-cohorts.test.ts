import type { Cohort, CohortRule } from '@millrace/contract/resources/cohort.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CohortOracle, createCohortOracle } from '../support/cohort-oracle.ts'
import { sampleLists, sampleRules } from '../support/cohort-rules.ts'
import { times } from '../support/long.ts'
import { readOnlineRetail, realDataAbsent } from '../support/online-retail.ts'
import { callerToken, openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, testCompany } from '../support/statistics-events.ts'
import { createOracle, type Oracle } from '../support/statistics-oracle.ts'
import { sampleQueries } from '../support/statistics-queries.ts'
import { sampleEvents } from '../support/statistics-samples.ts'

const zones = ['UTC', 'Europe/Paris', 'America/Sao_Paulo', 'Asia/Kathmandu', 'Australia/Lord_Howe']
const realCompany = '64b7f0a1c2d3e4f5a6b7c8db'

let engine: StatisticsEngine
let app: StatisticsApp
let samples: Oracle
let cohorts: CohortOracle

beforeAll(async () => {
  engine = await openStatisticsEngine()
  app = await openStatisticsApp(engine.columnar)
  const events = sampleEvents(testCompany, 1_500)
  samples = createOracle(events)
  cohorts = createCohortOracle(events)
  await engine.load(events)
  await engine.load(sampleEvents(otherCompany, 300))
})

afterAll(async () => {
  await app.app.close()
  await engine.close()
})

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH'

async function call<T>(method: Method, path: string, body?: unknown): Promise<T> {
  const response = await app.app.inject({
    method,
    url: `/v2/statistics/cohorts${path}`,
    headers: { ...callerToken, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  })
  if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.body}`)
  return response.json().data
}

const anything: CohortRule = { event: {} }
let made = 0

const makeCohort = (body: object): Promise<Cohort> => call('POST', '', { name: `Cohort ${++made}`, ...body })

/** All names that the pages of members show. */
async function membersOf({ id }: Cohort): Promise<string[]> {
  const names: string[] = []
  for (let page = 1; ; page++) {
    const rows = await call<{ person: string }[]>('GET', `/${id}/members?page=${page}&perPage=100`)
    names.push(...rows.map(({ person }) => person))
    if (rows.length < 100) return names
  }
}

const ofCohort = (source: string, { id }: Cohort, operator: 'equals' | 'notEquals') => ({
  query: { member: 'persons.cohort', operator, values: [id] },
  oracle: (people: readonly string[]) => ({
    member: `${source}.person`,
    operator,
    values: people.length > 0 ? [...people] : ['nobody at all'],
  }),
})

/** Random rules that are tried. */
const runs = times(150, 6)

describe('on generated events', () => {
  let cohort: Cohort
  let list: Cohort

  beforeAll(async () => {
    app.caller.companyId = testCompany
    await app.rows({ measures: ['events.count'] })
    cohort = await makeCohort({ rule: anything })
    list = await makeCohort({ persons: [] })
  })

  async function setZone(zone: string): Promise<void> {
    app.timezone = zone
    await app.rows({ measures: ['events.count'] })
  }

  it('finds the persons that a plain computation finds', { timeout: 600_000 + 1_000 * runs }, async () => {
    await fc.assert(
      fc.asyncProperty(sampleRules, fc.constantFrom(...zones), async (rule, zone) => {
        await setZone(zone)
        await call('PATCH', `/${cohort.id}`, { rule })
        const expected = cohorts.members(rule, zone)
        expect(await membersOf(cohort)).toEqual(expected)
        expect(await call('GET', `/${cohort.id}/size`)).toMatchObject({ people: expected.length })
      }),
      { numRuns: runs },
    )
  })

  it('filters any query by it as a plain computation does', { timeout: 600_000 + 1_000 * runs }, async () => {
    await fc.assert(
      fc.asyncProperty(
        sampleRules,
        sampleQueries,
        fc.constantFrom(...zones),
        fc.constantFrom('equals' as const, 'notEquals' as const),
        fc.boolean(),
        async (rule, query, zone, operator, isGrouped) => {
          const source = [
            ...query.measures,
            ...query.dimensions,
            ...query.timeDimensions.map((each) => each.dimension),
          ]
            .join()
            .startsWith('purchases')
            ? 'purchases'
            : 'events'
          const { measures, dimensions, timeDimensions } = query
          fc.pre(
            measures.length + dimensions.length + timeDimensions.filter((time) => time.granularity).length >
              0,
          )
          await setZone(zone)
          await call('PATCH', `/${cohort.id}`, { rule })
          const filter = ofCohort(source, cohort, operator)
          const mobile = { member: `${source}.deviceType`, operator: 'equals', values: ['mobile'] }
          const filtered = (added: object): Query => {
            const filter = isGrouped ? { or: [mobile, { and: [added] }] } : added
            return { ...query, filters: [...query.filters, filter] } as Query
          }
          const expected = samples.rows(filtered(filter.oracle(cohorts.members(rule, zone))), zone)
          expect(await app.rows(filtered(filter.query))).toEqual(expected)
        },
      ),
      { numRuns: runs },
    )
  })

  it('finds the persons of a list by client and by bound device', {
    timeout: 600_000 + 1_000 * runs,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(sampleLists, async (persons) => {
        await call('PUT', `/${list.id}/members`, { persons })
        const expected = cohorts.listed(persons)
        expect(await membersOf(list)).toEqual(expected)
        const [row] = await app.rows({
          measures: ['events.count', 'purchases.count'],
          filters: [{ member: 'persons.cohort', operator: 'equals', values: [list.id] }],
        })
        const count = expected.reduce((sum, person) => sum + cohorts.factsOf(person).length, 0)
        expect(row).toMatchObject({ 'events.count': count })
      }),
      { numRuns: times(60, 3) },
    )
  })

  it('joins several cohorts by or, also in comparisons of ranges', async () => {
    await setZone('UTC')
    const buyers = await makeCohort({ rule: { event: { events: ['purchase'] }, atLeast: 9 } })
    await call('PUT', `/${list.id}/members`, { persons: ['client-3', 'device-2-0'] })
    const query: Partial<Query> = {
      measures: ['events.count', 'events.people', 'events.sessions', 'purchases.count'],
      timeDimensions: [
        {
          dimension: 'events.time',
          compareDateRange: [
            ['2026-03-26', '2026-03-28'],
            ['2026-10-22', '2026-10-28'],
          ],
        },
      ],
    }
    const members = [...new Set([...(await membersOf(buyers)), ...(await membersOf(list))])]
    expect(members.length).toBeGreaterThan(2)
    for (const operator of ['equals', 'notEquals'] as const) {
      const rows = await app.rows({
        ...query,
        filters: [{ member: 'persons.cohort', operator, values: [buyers.id.toUpperCase(), list.id] }],
      })
      const person = { member: 'events.person', operator, values: members }
      const whole = { dimensions: [], filters: [person], measures: [], timeDimensions: [], ...query }
      expect(rows).toEqual(samples.rows(whole, 'UTC'))
    }
  })

  it('reads relative dates when a query runs, in the zone of the company', async () => {
    const recent = await makeCohort({ rule: { lastSeen: { dateRange: 'today' } } })
    app.now = Date.parse('2026-03-28T23:30:00Z')
    for (const [zone, day] of [
      ['UTC', '2026-03-28'],
      ['Europe/Paris', '2026-03-29'],
    ] as const) {
      await setZone(zone)
      const expected = cohorts.members({ lastSeen: { dateRange: [day] } }, zone)
      expect(await membersOf(recent)).toEqual(expected)
    }
    app.now = Date.parse('2026-10-27T12:00:00Z')
    await setZone('UTC')
    const later = cohorts.members({ lastSeen: { dateRange: ['2026-10-27'] } }, 'UTC')
    expect(later.length).toBeGreaterThan(0)
    expect(await membersOf(recent)).toEqual(later)
  })
})

describe.skipIf(realDataAbsent)(`on the real data set${realDataAbsent ? `: ${realDataAbsent}` : ''}`, () => {
  beforeEach(async () => {
    app.caller.companyId = realCompany
    app.timezone = 'UTC'
  })

  it('finds the buyers from France', async () => {
    const events = await readOnlineRetail(realCompany)
    await engine.load(events)
    await app.rows({ measures: ['events.count'] })
    const french = new Set(
      events
        .filter(({ labels }) => labels.country === 'France')
        .map(({ clientId, tmpId }) => clientId || tmpId),
    )
    const cohort = await makeCohort({
      rule: {
        event: {
          events: ['purchase'],
          filters: [{ member: 'events.label.country', operator: 'equals', values: ['France'] }],
        },
      },
    })
    const theirs = events.filter(({ clientId, tmpId }) => french.has(clientId || tmpId))
    const cents = theirs.reduce((sum, { value }) => sum + BigInt((value ?? '0').replace('.', '')), 0n)

    expect(await call('GET', `/${cohort.id}/size`)).toMatchObject({ people: french.size })
    expect(await membersOf(cohort)).toEqual([...french].sort())
    expect(
      await app.rows({
        measures: ['purchases.count', 'purchases.revenue', 'purchases.buyers'],
        filters: [{ member: 'persons.cohort', operator: 'equals', values: [cohort.id] }],
      }),
    ).toEqual([
      {
        'purchases.count': theirs.length,
        'purchases.revenue': Number(cents) / 100,
        'purchases.buyers': french.size,
      },
    ])
  })
})
