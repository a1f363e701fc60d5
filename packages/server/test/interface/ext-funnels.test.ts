import type { FunnelQuery } from '@millrace/contract/resources/funnel.ts'
import { describe, expect, it } from 'vitest'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { type StoredEvent, storedEvent } from '../support/statistics-events.ts'
import { useStatistics } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

const path = '/v2/statistics/funnels'
const steps = [{ events: ['view'] }, { events: ['cart'] }, { events: ['order'] }]
const march = { dateRange: ['2026-03-01', '2026-03-31'] }

async function rows(query: Partial<FunnelQuery>): Promise<Record<string, unknown>[]> {
  const { status, body } = await app.post({ steps, ...march, ...query }, { path })
  if (status !== 200) throw new Error(`${status} ${body.message}`)
  return JSON.parse(String(body.data))
}

/** People who reached each step. */
async function people(query: Partial<FunnelQuery>): Promise<unknown[]> {
  return (await rows(query)).map((row) => row.people ?? row.sessions)
}

/** Events of one person, as `view` at a minute, in the hour after noon of 10 March. */
function events(
  ...named: (readonly [name: string, minute: number, fields?: Partial<StoredEvent>])[]
): StoredEvent[] {
  const noon = Date.parse('2026-03-10T12:00:00Z')
  return named.map(([name, minute, fields]) => storedEvent({ name, time: noon + minute * 60_000, ...fields }))
}

describe('a funnel', () => {
  it('counts persons by step, with conversions and medians', async () => {
    await engine.load([
      ...events(['view', 0], ['cart', 1], ['order', 3]),
      ...events(['view', 0], ['cart', 3]).map((event) => ({ ...event, tmpId: 'device-2' })),
      ...events(['view', 0], ['order', 3]).map((event) => ({ ...event, tmpId: 'device-3' })),
      ...events(['cart', 0], ['order', 3]).map((event) => ({ ...event, tmpId: 'device-4' })),
    ])
    expect(await rows({})).toEqual([
      {
        step: 1,
        name: 'view',
        people: 3,
        conversionFromPrevious: null,
        conversionFromFirst: 1,
        medianSeconds: null,
      },
      {
        step: 2,
        name: 'cart',
        people: 2,
        conversionFromPrevious: 2 / 3,
        conversionFromFirst: 2 / 3,
        medianSeconds: 120,
      },
      {
        step: 3,
        name: 'order',
        people: 1,
        conversionFromPrevious: 0.5,
        conversionFromFirst: 1 / 3,
        medianSeconds: 120,
      },
    ])
  })

  it('answers rows of zeros where nothing was collected', async () => {
    expect(await people({})).toEqual([0, 0, 0])
  })

  it.each(['ordered', 'strict', 'any'] as const)(
    'runs %s per session, by bucket, with a breakdown and ranges',
    async (order) => {
      await engine.load(events(['view', 0], ['cart', 1], ['order', 3]))
      for (const per of ['person', 'session'] as const) {
        expect(await people({ order, per })).toEqual([1, 1, 1])
        expect(await people({ order, per, granularity: 'week' })).toEqual([1, 1, 1])
        expect(await people({ order, per, granularity: 'week', breakdown: 'events.browser' })).toEqual([
          1, 1, 1,
        ])
        expect(await people({ order, per, breakdown: 'events.isIdentified' })).toEqual([1, 1, 1])
        expect(
          await people({ order, per, dateRange: null, compareDateRange: ['2026-03-10', '2026-03-11'] }),
        ).toEqual([1, 1, 1, 0, 0, 0])
      }
    },
  )
})
