import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent, testDatasource } from '../support/statistics-events.ts'

let engine: StatisticsEngine
let app: StatisticsApp

beforeAll(async () => {
  engine = await openStatisticsEngine()
  app = await openStatisticsApp(engine.columnar)
})

afterAll(async () => {
  await app.app.close()
  await engine.close()
})

beforeEach(async () => {
  app.timezone = 'UTC'
  app.now = Date.parse('2026-03-20T15:30:00Z')
  await engine.empty()
  engine.statements.length = 0
})

describe('persons', () => {
  it('binds earlier and later events of a device by identify, whatever the order of arrival', async () => {
    await engine.load([
      storedEvent({ at: '2026-03-10T12:00:00Z', tmpId: 'd1' }),
      storedEvent({ at: '2026-03-10T13:00:00Z', tmpId: 'd2' }),
      storedEvent({ at: '2026-03-12T12:00:00Z', tmpId: 'd2', name: 'identify', clientId: 'ada' }),
      storedEvent({ at: '2026-03-11T12:00:00Z', tmpId: 'd1', name: 'identify', clientId: 'ada' }),
      storedEvent({ at: '2026-03-11T12:00:00Z', tmpId: 'd3' }),
      storedEvent({ at: '2026-03-11T12:00:00Z', tmpId: 'd4', clientId: 'bob' }),
    ])
    expect(
      await app.rows({
        measures: ['events.people', 'events.identifiedPeople', 'events.devices', 'events.perPerson'],
      }),
    ).toEqual([
      { 'events.people': 3, 'events.identifiedPeople': 2, 'events.devices': 4, 'events.perPerson': 2 },
    ])
    expect(
      await app.rows({ measures: ['events.count'], dimensions: ['events.person', 'events.isIdentified'] }),
    ).toEqual([
      { 'events.person': 'ada', 'events.isIdentified': true, 'events.count': 4 },
      { 'events.person': 'bob', 'events.isIdentified': true, 'events.count': 1 },
      { 'events.person': 'd3', 'events.isIdentified': false, 'events.count': 1 },
    ])
  })
})
void [describe, otherCompany, testDatasource]
