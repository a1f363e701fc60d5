import { exploreFunnel } from '@millrace/contract/operations/funnels.ts'
import type { FunnelQuery } from '@millrace/contract/resources/funnel.ts'
import { describe, expect, it } from 'vitest'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, type StoredEvent, storedEvent } from '../support/statistics-events.ts'
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

describe('which attempt counts', () => {
  const ab = [{ events: ['view'] }, { events: ['cart'] }]

  it('includes the instant at which the window ends', async () => {
    await engine.load(events(['view', 0], ['cart', 60]))
    expect(await people({ steps: ab, window: { value: 1, unit: 'hour' } })).toEqual([1, 1])
    expect(await people({ steps: ab, window: { value: 59, unit: 'minute' } })).toEqual([1, 0])
  })

  it('follows an attempt beyond the end of the range, and begins none there', async () => {
    await engine.load(events(['view', 0], ['cart', 24 * 60], ['view', 25 * 60], ['order', 26 * 60]))
    const tenth = { dateRange: '2026-03-10' }
    expect(await rows(tenth)).toMatchObject([
      { people: 1 },
      { people: 1, medianSeconds: 86_400 },
      { people: 1, medianSeconds: 7_200 },
    ])
    expect(await people({ ...tenth, dateRange: '2026-03-09' })).toEqual([0, 0, 0])
  })

  it('takes the attempt that gets furthest, and of equal ones the earliest', async () => {
    await engine.load(
      events(['view', 0], ['view', 30], ['cart', 65], ['view', 100], ['cart', 110], ['order', 120]),
    )
    const hour = { window: { value: 1, unit: 'hour' } as const }
    expect(await rows(hour)).toMatchObject([{ people: 1 }, { medianSeconds: 600 }, { medianSeconds: 600 }])
    expect(await rows({ ...hour, steps: ab })).toMatchObject([{ people: 1 }, { medianSeconds: 2_100 }])
  })

  it('lets steps happen at one instant, in whichever order the events arrived, and one event do one step', async () => {
    await engine.load(events(['order', 0], ['cart', 0], ['view', 0]))
    expect(await people({})).toEqual([1, 1, 1])
    expect(await people({ steps: [{ events: ['view'] }, { events: ['view', 'order'] }, {}] })).toEqual([
      1, 1, 1,
    ])
    expect(await people({ steps: [{ events: ['view'] }, { events: ['view'] }] })).toEqual([1, 0])
  })

  it('breaks a strict attempt at another event of the funnel, and at no other', async () => {
    await engine.load(events(['view', 0], ['identify', 1], ['cart', 2], ['view', 3], ['order', 4]))
    expect(await people({ order: 'strict' })).toEqual([1, 1, 0])
    expect(await people({ order: 'ordered' })).toEqual([1, 1, 1])
  })

  it('has the least value of events that are equal in time and steps, from whichever a strict attempt goes on', async () => {
    const sizes = ['S', 'L', null].map((size) => (size === null ? {} : { labels: { size } }))
    await engine.load(events(...sizes.map((fields) => ['view', 0, fields] as const), ['cart', 1]))
    for (const order of ['ordered', 'strict'] as const) {
      for (const per of ['person', 'session'] as const) {
        for (const granularity of [null, 'day'] as const) {
          const query = { steps: ab, breakdown: 'events.label.size', order, per, granularity }
          expect(await rows(query)).toMatchObject([
            { 'events.label.size': 'L' },
            { 'events.label.size': 'L' },
          ])
          expect(await people(query)).toEqual([1, 1])
        }
      }
    }
  })

  it('counts how many steps were done in any order', async () => {
    await engine.load(events(['order', 0], ['view', 5]))
    expect(await rows({ order: 'any' })).toMatchObject([
      { name: '1 of 3 steps', people: 1 },
      { name: '2 of 3 steps', people: 1, medianSeconds: 300 },
      { name: '3 of 3 steps', people: 0 },
    ])
  })

  it('knows a person by a binding of any time', async () => {
    await engine.load(
      events(['view', 0, { tmpId: 'phone' }], ['cart', 5, { tmpId: 'laptop', clientId: 'ada' }]),
    )
    expect(await people({ steps: ab })).toEqual([1, 0])
    await engine.load(events(['identify', 10, { tmpId: 'phone', clientId: 'ada' }]))
    expect(await people({ steps: ab })).toEqual([1, 1])
  })

  it('keeps the steps of a session together, which other events hold together', async () => {
    await engine.load(events(['view', 0], ['cart', 40]))
    expect(await people({ steps: ab, per: 'session' })).toEqual([1, 0])
    await engine.load(events(['page_view', 20]))
    expect(await people({ steps: ab, per: 'session' })).toEqual([1, 1])
    const filters = [{ member: 'events.name', operator: 'notEquals' as const, values: ['page_view'] }]
    expect(await people({ steps: ab, per: 'session', filters })).toEqual([1, 1])
  })

  it('has rows of 20 values, and one of all others', async () => {
    const of = (i: number, size: string, ...names: string[]) =>
      events(
        ...names.map((name, minute) => [name, minute, { tmpId: `device-${i}`, labels: { size } }] as const),
      )
    await engine.load([
      ...Array.from({ length: 25 }, (_, i) => of(i, `size-${String(i).padStart(2, '0')}`, 'view')).flat(),
      ...of(100, 'size-24', 'view', 'cart'),
      ...of(101, 'size-23', 'view', 'cart').map((event) => ({ ...event, labels: {} })),
    ])
    const found = await rows({ steps: ab, breakdown: 'events.label.size' })
    expect(found).toHaveLength(42)
    expect(found[0]).toMatchObject({ 'events.label.size': 'size-24', isRest: false, step: 1, people: 2 })
    expect(found[2]).toMatchObject({ 'events.label.size': 'size-00', isRest: false, step: 1, people: 1 })
    expect(found.slice(40)).toMatchObject([
      { 'events.label.size': null, isRest: true, step: 1, people: 6 },
      { 'events.label.size': null, isRest: true, step: 2, people: 1, medianSeconds: 60 },
    ])
  })
})

describe('its forms', () => {
  it('has the columns that the interface describes', async () => {
    await engine.load(events(['view', 0]))
    const trend = { granularity: 'week', breakdown: 'events.browser', dateRange: null } as const
    for (const per of ['person', 'session'] as const) {
      const [row = {}] = await rows({ ...trend, per, compareDateRange: ['2026-03'] })
      const named = Object.keys(row).filter((key) => key !== trend.breakdown)
      expect(named).toContain('events.time.week')
      for (const key of named) {
        expect(exploreFunnel.description).toContain(`\`${key.replace('.week', '.<granularity>')}\``)
      }
    }
  })

  it('is CSV and lines of JSON as a query is', async () => {
    await engine.load(events(['view', 0, { browser: '=1+1' }]))
    const query = { steps: steps.slice(0, 2), ...march, breakdown: 'events.browser' }
    const csv =
      'events.browser,isRest,step,name,people,conversionFromPrevious,conversionFromFirst,medianSeconds\r\n' +
      "'=1+1,false,1,view,1,,1,\r\n'=1+1,false,2,cart,0,0,0,\r\n"
    expect((await app.post(query, { path, search: '?format=csv' })).body.data).toBe(csv)
    expect((await app.post(query, { path, accept: 'text/csv' })).text).toBe(csv)
    const lines = await app.post(query, { path, accept: 'application/x-ndjson' })
    expect(
      lines.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).people),
    ).toEqual([1, 0])
  })

  it('warns of labels that nothing has had', async () => {
    await engine.load(events(['view', 0, { labels: { store: 'Paris' } }]))
    const filters = [{ member: 'events.label.stroe', operator: 'equals', values: ['Paris'] }]
    const { body } = await app.post({ steps: [{ filters }, {}], ...march }, { path })
    expect(body.warnings).toMatchObject([
      { path: 'steps.0.filters.0', message: expect.stringContaining('label.store') },
    ])
  })

  it('counts nothing of another company', async () => {
    await engine.load(events(['view', 0], ['cart', 1]).map((event) => ({ ...event, company: otherCompany })))
    const filters = [{ member: 'events.name', operator: 'notEquals' as const, values: ["' or 1=1 --"] }]
    for (const per of ['person', 'session'] as const) {
      expect(await people({ steps: [{ filters }, {}], per })).toEqual([0, 0])
    }
  })

  it('takes names as values, whatever they hold', async () => {
    const name = "x') or 1=1 -- {p1:String} \\' `é"
    await engine.load(events([name, 0], ['view', 1]))
    expect(await rows({ steps: [{ name, events: [name] }, { events: ['view'] }] })).toMatchObject([
      { name, people: 1 },
      { people: 1 },
    ])
  })
})

describe('refusals', () => {
  const view = { events: ['view'] }
  const filter = (member: string, operator = 'equals', values = ['1']) => ({ member, operator, values })
  const refused: readonly (readonly [what: string, query: object, where: string, says: string])[] = [
    ['one step', { steps: [view] }, 'steps', '2'],
    ['thirteen steps', { steps: Array.from({ length: 13 }, () => view) }, 'steps', '12'],
    ['a step without names', { steps: [view, { events: [] }] }, 'steps.1.events', ''],
    [
      'a member that does not exist (Q01)',
      { steps: [view, { filters: [filter('events.nmae')] }] },
      'steps.1.filters.0.member',
      'events.name',
    ],
    [
      'text in the place of a member (Q02)',
      { breakdown: 'x) from system.tables --' },
      'breakdown',
      'there is no member',
    ],
    [
      'a measure (Q04)',
      { steps: [{ filters: [filter('events.count')] }, view] },
      'steps.0.filters.0',
      'is a measure',
    ],
    ['a virtual measure (Q04)', { filters: [filter('events.perPerson')] }, 'filters.0', 'is a measure'],
    [
      'a filter without values (Q05)',
      { steps: [view, { filters: [filter('events.name', 'equals', [])] }] },
      'steps.1.filters.0.values',
      '',
    ],
    [
      'an operator that is none (Q06)',
      { filters: [filter('events.name', 'regex')] },
      'filters.0.operator',
      '',
    ],
    [
      'a time',
      { steps: [view, { filters: [filter('events.time', 'inDateRange', ['today'])] }] },
      'steps.1.filters.0',
      'dateRange',
    ],
    [
      'a dimension of purchases',
      { filters: [filter('purchases.transaction')] },
      'filters.0',
      'no dimension of events',
    ],
    ['an impossible range (Q07)', { dateRange: ['2026-02-30', '2026-03-01'] }, 'dateRange', '2026-02-30'],
    ['no range', { dateRange: null }, 'dateRange', 'compareDateRange'],
    ['both kinds of ranges (Q09)', { compareDateRange: ['today'] }, 'dateRange', 'either'],
    [
      'too many ranges (Q09)',
      { dateRange: null, compareDateRange: Array.from({ length: 11 }, () => 'today') },
      'compareDateRange',
      '10',
    ],
    ['a window over a year', { window: { value: 53, unit: 'week' } }, 'window', '366'],
    ['a window of nothing', { window: { value: 0, unit: 'day' } }, 'window.value', '1'],
    ['a breakdown by time', { breakdown: 'events.time' }, 'breakdown', 'granularity'],
    ['a breakdown by time and unit', { breakdown: 'events.time.day' }, 'breakdown', 'granularity'],
    ['a breakdown by items', { breakdown: 'events.item' }, 'breakdown', 'several values'],
    [
      'a breakdown of purchases',
      { breakdown: 'purchases.transaction' },
      'breakdown',
      'no dimension of events',
    ],
    ['a measure as breakdown', { breakdown: 'events.people' }, 'breakdown', 'is a measure'],
    [
      'equal steps in any order',
      { order: 'any', steps: [view, { events: ['cart'] }, view] },
      'steps.2',
      'steps.0',
    ],
    ['an unknown time zone (Q10)', { timezone: 'Europe/Nope' }, 'timezone', 'Europe/Paris'],
    ['an unknown field', { stepps: [] }, 'stepps', 'steps'],
  ]

  it.each(refused)('refuses %s and says where', async (_, query, where, says) => {
    const { status, body } = await app.post(
      { steps: [view, { events: ['cart'] }], ...march, ...query },
      { path },
    )
    const { errors } = body.data as { errors: { path: string; message: string }[] }
    expect({ status, path: errors[0]?.path }).toEqual({ status: 400, path: where })
    expect(`${body.message} ${errors[0]?.message}`).toContain(says)
  })

  it('refuses more than 100 filters, those of all steps together (Q13)', async () => {
    const filters = Array.from({ length: 50 }, () => filter('events.name'))
    const query = { steps: [{ filters }, { filters }, view], ...march }
    expect((await app.post(query, { path })).status).toBe(200)
    const { status, body } = await app.post({ ...query, filters: filters.slice(0, 1) }, { path })
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: expect.stringContaining('100'),
    })
  })

  it('refuses a trend of too many buckets (Q08)', async () => {
    const { status, body } = await app.post(
      { steps: [view, view], granularity: 'second', dateRange: ['2016-01-01', '2025-12-31'] },
      { path },
    )
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: expect.stringContaining('50000'),
    })
  })
})
