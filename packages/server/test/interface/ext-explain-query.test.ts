import type { QueryExplanation } from '@millrace/contract/resources/query-explanation.ts'
import { describe, expect, it } from 'vitest'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent } from '../support/statistics-events.ts'
import { useStatistics, wholeQuery } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

const path = '/v2/statistics/query/explain'
const post = (query: Parameters<typeof wholeQuery>[0]) => app.post(wholeQuery(query), { path })

async function explained(query: Parameters<typeof wholeQuery>[0]): Promise<QueryExplanation> {
  const { status, body } = await post(query)
  expect({ status, message: body.message }).toEqual({ status: 200, message: 'ok' })
  return body.data as QueryExplanation
}

describe('an explained query', () => {
  it('says what measures count, and what virtual ones are computed from', async () => {
    const { measures, sources, mayEstimate } = await explained({
      measures: ['events.people', 'events.perPerson', 'purchases.revenue'],
    })
    expect(measures).toMatchObject([
      { id: 'events.people', title: 'People', counted: 'rows', parts: [], exactUpTo: 65_536 },
      {
        id: 'events.perPerson',
        parts: [
          { id: 'events.count', title: 'Events' },
          { id: 'events.people', title: 'People' },
        ],
      },
      { id: 'purchases.revenue', format: 'amount', document: '/docs/measures#purchases' },
    ])
    expect(measures[1]).not.toHaveProperty('counted')
    expect(measures[0]?.description).toContain('Distinct persons')
    expect(sources.map(({ id }) => id)).toEqual(['events', 'purchases'])
    expect(mayEstimate).toBe(true)
  })

  it('names an exact count as exact where the company wants it so', async () => {
    app.exactCounts = true
    const { measures, mayEstimate } = await explained({ measures: ['events.people'] })
    app.exactCounts = false
    expect(measures[0]).not.toHaveProperty('exactUpTo')
    expect(mayEstimate).toBe(false)
  })

  it('has its ranges as instants of the zone of the query, whose clock may change within', async () => {
    const { ranges, timezone, freshness } = await explained({
      measures: ['events.count'],
      timezone: 'Europe/Paris',
      timeDimensions: [
        {
          dimension: 'events.time',
          granularity: 'day',
          compareDateRange: ['2026-03', 'from 1 day ago to now'],
        },
      ],
    })
    expect(timezone).toBe('Europe/Paris')
    expect(freshness.at).toBe('2026-03-20T15:30:00.000Z')
    expect(ranges).toEqual([
      {
        label: '2026-03-01 - 2026-03-31',
        stretches: [
          {
            from: '2026-02-28T23:00:00.000Z',
            to: '2026-03-31T22:00:00.000Z',
            localFrom: '2026-03-01T00:00:00.000+01:00',
            localTo: '2026-04-01T00:00:00.000+02:00',
          },
        ],
      },
      {
        label: '2026-03-19 - 2026-03-20',
        stretches: [
          {
            from: '2026-03-18T23:00:00.000Z',
            to: '2026-03-20T23:00:00.000Z',
            localFrom: '2026-03-19T00:00:00.000+01:00',
            localTo: '2026-03-21T00:00:00.000+01:00',
          },
        ],
      },
    ])
  })

  it('has open ends without an instant', async () => {
    const { ranges } = await explained({ measures: ['events.count'] })
    expect(ranges).toEqual([{ stretches: [{ from: null, to: null }] }])
  })

  it('says how filters are understood, those of groups too', async () => {
    const { filters, dimensions } = await explained({
      measures: ['events.count'],
      dimensions: ['events.name', 'events.label.store'],
      timeDimensions: [{ dimension: 'events.time', granularity: 'week' }],
      filters: [
        {
          or: [
            { member: 'events.path', operator: 'contains', values: ['x', 'y'] },
            { member: 'events.label.store', operator: 'notSet' },
          ],
        },
        { member: 'events.count', operator: 'gt', values: ['2'] },
        { member: 'events.time', operator: 'afterDate', values: ['2026-01-01'] },
      ],
    })
    expect(filters).toMatchObject([
      { path: 'filters.0.or.0', title: 'Path', operator: 'contains', values: ['x', 'y'], keeps: 'rows' },
      { path: 'filters.0.or.1', title: 'store', operator: 'notSet', values: [], keeps: 'rows' },
      { path: 'filters.1', title: 'Events', keeps: 'groups' },
      { path: 'filters.2', title: 'Time', keeps: 'times' },
    ])
    expect(filters[0]?.meaning).toContain('whatever the case')
    expect(dimensions.map(({ id, granularity }) => [id, granularity])).toEqual([
      ['events.time', 'week'],
      ['events.name', undefined],
      ['events.label.store', undefined],
    ])
  })

  it('says how purchases are credited, where they are', async () => {
    const { attribution } = await explained({ measures: ['purchases.influencedRevenue'] })
    expect(attribution).toMatchObject({ model: app.attribution.model })
    expect(await explained({ measures: ['purchases.revenue'] })).not.toHaveProperty('attribution')
  })

  it('says how fresh the events of the own company are', async () => {
    await engine.load([
      storedEvent({ at: '2026-03-11T10:00:00Z' }),
      storedEvent({ at: '2026-03-12T10:00:00Z' }),
      storedEvent({ company: otherCompany, at: '2026-03-19T10:00:00Z' }),
    ])
    const { freshness } = await explained({ measures: ['events.count'] })
    expect(freshness.lastEventAt).toBe('2026-03-12T10:00:00.000Z')
    expect(freshness.lastReceivedAt).not.toBeNull()
    app.caller.companyId = '65f0c0ffee5ca1ab1e0ddba9'
    expect((await explained({ measures: ['events.count'] })).freshness).toMatchObject({
      lastEventAt: null,
      lastReceivedAt: null,
    })
  })

  it('warns of labels that nothing has, as the answer does', async () => {
    await engine.load([storedEvent({ labels: { store: 'a' } })])
    const { warnings } = await explained({ measures: ['events.count'], dimensions: ['events.label.stor'] })
    expect(warnings).toMatchObject([{ path: 'dimensions.0', message: expect.stringContaining('store') }])
  })

  it('has the statement for those who may change the company, and for nobody else', async () => {
    const query = {
      measures: ['events.count'],
      filters: [{ member: 'events.name', operator: 'equals' as const, values: ["x'; DROP TABLE events"] }],
    }
    expect(await explained(query)).not.toHaveProperty('statement')
    app.caller.permissions = ['statistics:access', 'statistics:export', 'statistics:manage', 'company:read']
    expect(await explained(query)).not.toHaveProperty('statement')
    app.caller.permissions = ['statistics:access', 'company:update']
    const { statement } = await explained(query)
    expect(statement?.sql).toContain('FROM events')
    expect(statement?.sql).not.toContain('DROP')
    expect(Object.values(statement?.params ?? {}).flat()).toEqual(
      expect.arrayContaining([app.caller.companyId]),
    )
    expect(JSON.stringify(statement?.params)).toContain('DROP TABLE')
    expect(JSON.stringify(statement)).not.toContain(otherCompany)
  })

  it('is refused where the query is, at the same places', async () => {
    const refused = {
      measures: ['events.cuont', 'purchases.revenue'],
      filters: [{ member: 'events.perPerson', operator: 'gt' as const, values: ['1'] }],
    }
    const [ofRun, ofExplain] = [await app.post(wholeQuery(refused)), await post(refused)]
    expect(ofExplain.status).toBe(400)
    expect({
      ...ofExplain.body,
      datetime: '',
      data: { ...(ofExplain.body.data as object), requestId: '' },
    }).toEqual({
      ...ofRun.body,
      datetime: '',
      data: { ...(ofRun.body.data as object), requestId: '' },
    })
    const second = await post({
      measures: ['events.count'],
      timeDimensions: [{ dimension: 'events.time', granularity: 'second', dateRange: '2026' }],
    })
    expect(second.status).toBe(400)
  })

  it('needs the permission Statistics: access', async () => {
    app.caller.permissions = ['statistics:export', 'company:update']
    expect((await post({ measures: ['events.count'] })).status).toBe(403)
  })
})
