import type { RetentionPreview } from '@millrace/contract/resources/retention-preview.ts'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { callerToken, type Envelope, type StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent, testCompany, testDatasource } from '../support/statistics-events.ts'
import { useStatistics } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

const day = 86_400_000
/** Midnight of UTC, so many days ago. */
const midnight = (days: number) => Math.floor(Date.now() / day) * day - days * day

async function preview(of: string, days: number | string) {
  app.caller.permissions = ['company:read', 'datasource:read']
  const url = `/v2/${of}/retention?days=${days}`
  const response = await app.app.inject({ method: 'GET', url, headers: callerToken })
  const body = response.json() as Envelope
  return { status: response.statusCode, code: body.error_code, data: body.data as RetentionPreview }
}

const at = (time: number, fields: object = {}) => storedEvent({ at: new Date(time).toISOString(), ...fields })

async function load(): Promise<void> {
  const own = newId()
  await app.sql(
    `insert into datasources (id, company_id, name, event_retention_days)
     values ($1, $3, 'As the company', null), ($2, $3, 'Its own', 400) on conflict do nothing`,
    [testDatasource, own, testCompany],
  )
  await engine.load([
    at(midnight(30)),
    at(midnight(30) - 1),
    at(midnight(100), { name: 'purchase' }),
    at(midnight(100), { datasource: own }),
    at(midnight(100), { company: otherCompany, datasource: newId() }),
  ])
}

describe('what a retention would remove', () => {
  it('is counted before it is set, of datasources without a retention of their own', async () => {
    await load()
    expect(await preview('entities/company', 30)).toMatchObject({
      status: 200,
      data: {
        before: new Date(midnight(30)).toISOString(),
        earliest: new Date(midnight(100)).toISOString(),
        events: 2,
        purchases: 1,
        kept: 1,
        appliesAfterHours: 24,
        heldBy: [],
      },
    })
    expect(await preview('entities/company', 365)).toMatchObject({
      data: { earliest: null, events: 0, purchases: 0, kept: 3 },
    })
  })

  it.each([6, 36_501, 'ever', ''])('is not told for %j days', async (days) => {
    expect(await preview('entities/company', days)).toMatchObject({ status: 400, code: 1 })
  })
})
