import type { RetentionQuery } from '@millrace/contract/resources/retention.ts'
import { describe, expect, it } from 'vitest'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent } from '../support/statistics-events.ts'
import { useStatistics } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
  app.now = Date.parse('2026-03-20T15:30:00Z')
})

const path = '/v2/statistics/retention'
const signups: RetentionQuery = {
  firstEvent: { events: ['sign_up'] },
  returnEvent: { events: ['visit'] },
  granularity: 'day',
  periods: 3,
  dateRange: ['2026-03-10', '2026-03-12'],
}

async function rows(query: Partial<RetentionQuery> = {}): Promise<Record<string, unknown>[]> {
  const { status, body } = await app.post({ ...signups, ...query }, { path })
  if (status !== 200) throw new Error(`${status} ${body.message}`)
  return JSON.parse(String(body.data))
}

/** `<day of March> of <size>: <people by period>`, one text for each cohort. */
async function table(query: Partial<RetentionQuery> = {}): Promise<string[]> {
  const cohorts = new Map<string, unknown[]>()
  for (const { cohort, size, people } of await rows(query)) {
    const name = `${String(cohort).slice(8, 10)} of ${size}:`
    cohorts.set(name, [...(cohorts.get(name) ?? []), people])
  }
  return [...cohorts].map(([name, people]) => `${name} ${people.join(' ')}`)
}

const event = (name: string, at: string, tmpId = 'device-1') =>
  storedEvent({ name, at: at.length > 16 ? at : `2026-03-${at}:00Z`, tmpId })

describe('retention', () => {
  it('follows the cohorts of first events by period', async () => {
    await engine.load([
      event('sign_up', '10T12:00'),
      event('visit', '11T12:00'),
      event('visit', '11T13:00'),
      event('sign_up', '10T12:00', 'device-2'),
      event('visit', '12T12:00', 'device-2'),
      event('sign_up', '12T12:00', 'device-3'),
      event('visit', '12T12:00', 'device-3'),
      event('visit', '14T23:59', 'device-3'),
      event('visit', '11T12:00', 'device-4'),
    ])
    const row = { cohort: '2026-03-10T00:00:00.000+00:00', size: 2, isComplete: true }
    expect(await rows()).toEqual([
      { ...row, period: 0, people: 0, rate: 0 },
      { ...row, period: 1, people: 1, rate: 0.5 },
      { ...row, period: 2, people: 1, rate: 0.5 },
      { ...row, cohort: '2026-03-12T00:00:00.000+00:00', size: 1, period: 0, people: 1, rate: 1 },
      { ...row, cohort: '2026-03-12T00:00:00.000+00:00', size: 1, period: 1, people: 0, rate: 0 },
      { ...row, cohort: '2026-03-12T00:00:00.000+00:00', size: 1, period: 2, people: 1, rate: 1 },
    ])
    expect(await table({ returns: 'on-or-after' })).toEqual(['10 of 2: 2 2 1', '12 of 1: 1 1 1'])
  })

  it('counts in the own period what is not before the first event, and that event itself', async () => {
    await engine.load([
      event('visit', '10T11:59'),
      event('sign_up', '10T12:00'),
      event('sign_up', '10T12:00', 'device-2'),
      event('visit', '10T12:00', 'device-2'),
    ])
    expect(await table({ periods: 1 })).toEqual(['10 of 2: 1'])
    expect(await table({ periods: 1, returns: 'on-or-after' })).toEqual(['10 of 2: 1'])
    expect(await table({ periods: 1, returnEvent: signups.firstEvent })).toEqual(['10 of 2: 2'])
  })

  it('knows first events of all time, or those of every period', async () => {
    await engine.load([
      event('sign_up', '2025-03-10T12:00:00Z'),
      event('sign_up', '11T12:00'),
      event('visit', '12T12:00'),
      event('sign_up', '10T12:00', 'device-2'),
      event('sign_up', '11T12:00', 'device-2'),
      event('visit', '11T13:00', 'device-2'),
      event('sign_up', '13T12:00', 'device-3'),
    ])
    expect(await table()).toEqual(['10 of 1: 0 1 0'])
    expect(await table({ cohorts: 'recurring' })).toEqual(['10 of 1: 0 1 0', '11 of 2: 1 1 0'])
  })

  it('takes only the part of a period that lies in the range, and returns beyond it', async () => {
    await engine.load([
      event('sign_up', '10T12:00'),
      event('sign_up', '10T18:00', 'device-2'),
      event('visit', '25T12:00', 'device-2'),
    ])
    const cut: Partial<RetentionQuery> = {
      dateRange: ['2026-03-10T15:00:00Z', '2026-03-10T19:00:00Z'],
      granularity: 'week',
    }
    app.now = Date.parse('2026-04-20T00:00:00Z')
    expect(await table(cut)).toEqual(['09 of 1: 0 0 1'])
    app.now = Date.parse('2026-03-20T15:30:00Z')
  })

  it('marks periods that are not over and leaves out those that have not begun', async () => {
    await engine.load([event('sign_up', '18T12:00'), event('sign_up', '20T12:00', 'device-2')])
    const shown = (await rows({ dateRange: ['2026-03-18', '2026-03-25'], periods: 5 })).map(
      ({ cohort, period, isComplete }) => [String(cohort).slice(8, 10), period, isComplete],
    )
    expect(shown).toEqual([
      ['18', 0, true],
      ['18', 1, true],
      ['18', 2, false],
      ['20', 0, false],
    ])
  })

  it('begins days, weeks and months in the zone of the company, over changes of the clock', async () => {
    app.timezone = 'Europe/Paris'
    app.now = Date.parse('2026-05-20T15:30:00Z')
    await engine.load([
      event('sign_up', '2026-03-28T22:59:59Z'),
      event('visit', '2026-03-29T22:00:00Z'),
      event('visit', '2026-03-28T23:00:00Z'),
    ])
    const around = { dateRange: ['2026-03-20', '2026-03-31'] }
    expect(await table(around)).toEqual(['28 of 1: 0 1 1'])
    expect(await table({ ...around, granularity: 'week' })).toEqual(['23 of 1: 1 1 0'])
    expect(await table({ ...around, granularity: 'month' })).toEqual(['01 of 1: 1 0 0'])
    app.timezone = 'UTC'
    app.now = Date.parse('2026-03-20T15:30:00Z')
  })

  it('selects events by filters on dimensions, labels and items', async () => {
    await engine.load([
      storedEvent({ name: 'a', at: '2026-03-10T12:00:00Z', ids: ['x', 'y'], labels: { plan: 'pro' } }),
      storedEvent({ name: 'b', at: '2026-03-11T12:00:00Z', url: 'https://shop.example/back' }),
      storedEvent({ name: 'a', at: '2026-03-10T12:00:00Z', tmpId: 'device-2', labels: { plan: 'free' } }),
      storedEvent({ name: 'b', at: '2026-03-11T12:00:00Z', tmpId: 'device-2', os: 'iOS' }),
    ])
    const equals = (member: string, ...values: string[]) => ({ member, operator: 'equals' as const, values })
    const any = { firstEvent: {}, returnEvent: {} }
    expect(await table({ ...any, periods: 2 })).toEqual(['10 of 2: 2 2'])
    expect(
      await table({
        ...any,
        periods: 2,
        firstEvent: { filters: [equals('events.label.plan', 'pro'), equals('events.item', 'y')] },
        returnEvent: { filters: [equals('events.path', '/back')] },
      }),
    ).toEqual(['10 of 1: 0 1'])
    expect(await table({ ...any, periods: 2, filters: [equals('events.os', 'iOS')] })).toEqual([
      '11 of 1: 1 0',
    ])
    expect(await table({ ...any, periods: 2, filters: [equals('events.person', 'device-2')] })).toEqual([
      '10 of 1: 1 1',
    ])
  })

  it('counts a person whose devices an identify binds later once', async () => {
    await engine.load([
      event('sign_up', '10T12:00', 'phone'),
      event('sign_up', '11T12:00', 'laptop'),
      event('visit', '11T13:00', 'laptop'),
    ])
    expect(await table()).toEqual(['10 of 1: 0 0 0', '11 of 1: 1 0 0'])
    await engine.load(
      ['phone', 'laptop'].map((tmpId) =>
        storedEvent({ name: 'identify', clientId: 'ada', tmpId, at: '2026-03-15T12:00:00Z' }),
      ),
    )
    expect(await table()).toEqual(['10 of 1: 0 1 0'])
  })

  it('sees nothing of another company', async () => {
    await engine.load([event('sign_up', '10T12:00')])
    app.caller.companyId = otherCompany
    expect(await rows()).toEqual([])
  })

  it('answers CSV, and `[]` or a header for nothing (Q18)', async () => {
    const csv = await app.post(signups, { path, accept: 'text/csv' })
    expect(csv.text).toBe('cohort,size,period,people,rate,isComplete\r\n')
    expect(await rows()).toEqual([])
    await engine.load([event('sign_up', '12T12:00')])
    const { text } = await app.post({ ...signups, periods: 1 }, { path, accept: 'text/csv' })
    expect(text.split('\r\n')[1]).toBe('2026-03-12T00:00:00.000+00:00,1,0,0,0,true')
  })
})
