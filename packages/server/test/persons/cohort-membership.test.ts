import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { StoredCohort } from '../../src/features/analytics/cohorts/cohort-store.ts'
import type { PersonKey } from '../../src/features/analytics/persons/person.ts'
import { type CohortOracle, createCohortOracle } from '../support/cohort-oracle.ts'
import { sampleLists, sampleRules } from '../support/cohort-rules.ts'
import { times } from '../support/long.ts'
import { openPersons, soon } from '../support/persons.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent, testCompany } from '../support/statistics-events.ts'
import { eventFacts } from '../support/statistics-oracle-facts.ts'
import { sampleEvents } from '../support/statistics-samples.ts'

let engine: StatisticsEngine
let oracle: CohortOracle
const events = sampleEvents(testCompany, 1_500)
/** The person for whom each device stands. */
const owners = new Map<string, string>()

beforeAll(async () => {
  engine = await openStatisticsEngine()
  oracle = createCohortOracle(events)
  await engine.load(events)
  await engine.load(sampleEvents(otherCompany, 300))
  const devices = [...new Set(events.map(({ tmpId }) => tmpId))]
  const anonymous = devices.map((tmpId) => storedEvent({ tmpId }))
  for (const { device, person } of eventFacts([...events, ...anonymous]).slice(events.length)) {
    owners.set(device, person)
  }
})
afterAll(() => engine.close())

const people = (): string[] => [...new Set(eventFacts(events).map(({ person }) => person))]

function open(cohort: Partial<StoredCohort>, timezone = 'UTC') {
  return openPersons({
    columnar: engine.columnar,
    cohorts: new Map([['cohort', { rule: null, listId: null, ...cohort }]]),
    settings: { timezone, eventAliases: new Map() },
  })
}

/** Which of these belong to the cohort. */
async function membersAmong(
  persons: ReturnType<typeof open>,
  keys: readonly PersonKey[],
): Promise<PersonKey[]> {
  const asked = { companyId: testCompany, cohortId: 'cohort', signal: soon() }
  const found = await Promise.all(keys.map((key) => persons.isMember({ ...asked, ...key })))
  return keys.filter((_, place) => found[place])
}

const isClient = (name: string) => name.startsWith('client-')
const keyOf = (name: string): PersonKey => (isClient(name) ? { client: name } : { device: name })
const runs = times(150, 15)

it('finds by rules the persons that a plain computation finds', {
  timeout: 600_000 + 1_000 * runs,
}, async () => {
  const zones = ['UTC', 'Europe/Paris', 'Australia/Lord_Howe']
  const [names, devices] = [people(), [...owners.keys()]]
  await fc.assert(
    fc.asyncProperty(sampleRules, fc.constantFrom(...zones), async (rule, zone) => {
      const persons = open({ rule }, zone)
      const members = new Set(oracle.members(rule, zone))
      expect(await membersAmong(persons, names.map(keyOf))).toEqual(
        names.filter((name) => members.has(name)).map(keyOf),
      )
      expect(
        await membersAmong(
          persons,
          devices.map((device) => ({ device })),
        ),
      ).toEqual(
        devices.filter((device) => members.has(owners.get(device) ?? '')).map((device) => ({ device })),
      )
      // One alone gets the answer of all together.
      const [one = ''] = names
      expect(await membersAmong(open({ rule }, zone), [keyOf(one)])).toHaveLength(members.has(one) ? 1 : 0)
    }),
    { numRuns: runs },
  )
})

it('finds by lists the persons that a plain computation finds', {
  timeout: 600_000 + 1_000 * runs,
}, async () => {
  const names = people()
  let list = 0
  await fc.assert(
    fc.asyncProperty(sampleLists, async (listed) => {
      const listId = `list-${++list}`
      const rows = listed.map((person) => ({
        company: testCompany,
        cohort: 'cohort',
        list: listId,
        person_id: person,
      }))
      rows.push({ company: otherCompany, cohort: 'cohort', list: listId, person_id: 'client-1' })
      await engine.columnar.insert({
        table: 'cohort_persons',
        columns: ['company', 'cohort', 'list', 'person_id'],
        format: 'JSONEachRow',
        body: Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n')),
      })
      const members = new Set(oracle.listed(listed))
      expect(await membersAmong(open({ listId }), names.map(keyOf))).toEqual(
        names.filter((name) => members.has(name)).map(keyOf),
      )
    }),
    { numRuns: runs },
  )
})

it('counts a person of whom nothing is known as the rule says', async () => {
  const unknown = [{ client: 'never seen' }, { device: 'never seen' }]
  const bought = { event: { events: ['purchase'] } }
  expect(await membersAmong(open({ rule: bought }), unknown)).toEqual([])
  expect(await membersAmong(open({ rule: { not: bought } }), unknown)).toEqual(unknown)
  expect(await membersAmong(open({ rule: { ...bought, atLeast: 0, atMost: 3 } }), unknown)).toEqual(unknown)
  expect(await membersAmong(open({ rule: bought }), [{}, { client: '' }])).toEqual([])
})

it('reads the events of the persons alone', async () => {
  const bought = { event: { events: ['purchase'] } }
  const persons = open({ rule: { and: [bought, { not: { firstSeen: { after: '2026-10-23' } } }] } })
  await membersAmong(persons, [keyOf('client-1')])
  const scans = persons.statements[1]?.sql.split(/FROM events\b/).slice(1) ?? []
  expect(scans.length).toBeGreaterThan(2)
  for (const scan of scans) {
    const conditions = /^((\s+(WHERE|AND) [^\n]+)+)/.exec(scan)?.[0]
    expect(conditions).toMatch(/ (client|device) IN \(/)
  }
})

it('asks once for each cohort, whatever the number of persons', async () => {
  const persons = open({ rule: { event: {} } })
  const names = people().map(keyOf)
  await membersAmong(persons, [...names, ...names])
  expect(persons.statements).toHaveLength(2)
})

it('fails for a cohort that is deleted or of another company', async () => {
  const persons = open({ rule: { event: {} } })
  const asked = { client: 'client-1', signal: soon() }
  const absent = { companyId: testCompany, cohortId: 'deleted' }
  await expect(persons.isMember({ ...asked, ...absent })).rejects.toMatchObject({
    errorName: 'cohortNotFound',
  })
  const foreign = { companyId: otherCompany, cohortId: 'cohort' }
  await expect(persons.isMember({ ...asked, ...foreign })).rejects.toMatchObject({
    errorName: 'cohortNotFound',
  })
})
