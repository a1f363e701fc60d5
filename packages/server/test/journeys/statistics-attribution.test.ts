import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { compileQuery } from '../../src/features/analytics/query/compile/compile.ts'
import { parseQuery } from '../../src/features/analytics/query/parse/parse.ts'
import { planQuery } from '../../src/features/analytics/query/plan.ts'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import { isFull, times } from '../support/long.ts'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, type StoredEvent, storedEvent, testCompany } from '../support/statistics-events.ts'
import { type Credit, creditsOf, type Model } from '../support/statistics-oracle-credits.ts'

const long = isFull(import.meta.filename)

const runs = times(24, 1)

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
  await engine.empty()
  app.caller.companyId = testCompany
  settle('last-touch')
})

const measures = ['afterClick', 'timeFromClick', 'influencedRevenue', 'directRevenue', 'influencedCount'].map(
  (name) => `purchases.${name}`,
)
const models = ['last-touch', 'linear', 'decay'] as const

function settle(model: Model, clickHours = 720, displayHours = 168): void {
  app.attribution = { model, windows: { clickHours, displayHours } }
}

type Fields = Parameters<typeof storedEvent>[0]

const display = (workflowId: string, at: string, fields: Fields = {}): StoredEvent =>
  storedEvent({ at, name: 'workflow_display', labels: { workflowId }, ...fields })
const click = (workflowId: string, at: string, fields: Fields = {}): StoredEvent =>
  display(workflowId, at, { name: 'workflow_click', ...fields })
const purchase = (value: string | null, at: string, fields: Fields = {}): StoredEvent =>
  storedEvent({ at, name: 'purchase', value, ...fields })

/** Rows by workflow: what each gets of revenue, and of purchases. */
async function byWorkflow(query: Parameters<StatisticsApp['rows']>[0] = {}): Promise<unknown[][]> {
  const rows = await app.rows({
    measures: ['purchases.influencedRevenue', 'purchases.influencedCount'],
    dimensions: ['workflows.id'],
    order: [['workflows.id', 'asc']],
    ...query,
  })
  return rows.map((row) => Object.values(row))
}

describe('credit', () => {
  const journey = [
    display('w1', '2026-03-10T10:00:00Z'),
    click('w2', '2026-03-10T11:00:00Z'),
    display('w3', '2026-03-10T12:00:00Z'),
    purchase('10.00', '2026-03-10T13:00:00Z'),
    purchase('7.00', '2026-03-10T13:00:00Z', { tmpId: 'device-2' }),
  ]

  it('counts the purchases with an interaction before, whatever the model', async () => {
    await engine.load(journey)
    for (const model of models) {
      settle(model)
      expect(await app.rows({ measures })).toEqual([
        {
          'purchases.afterClick': 1,
          'purchases.timeFromClick': 7200,
          'purchases.influencedRevenue': 10,
          'purchases.directRevenue': 10,
          'purchases.influencedCount': 1,
        },
      ])
    }
  })

  it('goes to workflows by the model, in cents and millionths that add up', async () => {
    await engine.load(journey)
    expect(await byWorkflow()).toEqual([['w3', 10, 1]])
    settle('linear')
    expect(await byWorkflow()).toEqual([
      ['w1', 3.33, 0.333333],
      ['w2', 3.33, 0.333333],
      ['w3', 3.34, 0.333334],
    ])
    settle('decay')
    expect(await byWorkflow()).toEqual([
      ['w1', 1.66, 0.166666],
      ['w2', 3.34, 0.333334],
      ['w3', 5, 0.5],
    ])
  })

  it('of directRevenue goes to the last interaction, of afterClick to the last click', async () => {
    await engine.load(journey)
    for (const model of models) {
      settle(model)
      const rows = await app.rows({
        measures: ['purchases.directRevenue', 'purchases.afterClick', 'purchases.timeFromClick'],
        dimensions: ['workflows.id'],
        filters: [{ member: 'workflows.id', operator: 'notEquals', values: ['w1'] }],
        order: [['workflows.id', 'asc']],
      })
      expect(rows.map((row) => Object.values(row))).toEqual([
        ['w2', 0, 1, 7200],
        ['w3', 10, 0, null],
      ])
    }
  })

  it('qualifies up to the end of the window of its own kind, and not a millisecond longer', async () => {
    settle('last-touch', 2, 1)
    const at = Date.parse('2026-03-10T12:00:00.000Z')
    const of = (i: number, name: string, before: number) => [
      storedEvent({ time: at - before, name, tmpId: `p${i}`, labels: { workflowId: `w${i}` } }),
      storedEvent({ time: at, name: 'purchase', tmpId: `p${i}`, value: '1.00' }),
    ]
    const hour = 3_600_000
    await engine.load([
      ...of(1, 'workflow_click', 2 * hour),
      ...of(2, 'workflow_click', 2 * hour + 1),
      ...of(3, 'workflow_display', hour),
      ...of(4, 'workflow_display', hour + 1),
      ...of(5, 'workflow_display', 0),
      ...of(6, 'workflow_click', -1),
    ])
    expect((await byWorkflow()).map(([workflow]) => workflow)).toEqual(['w1', 'w3', 'w5'])
  })

  it('passes over a later interaction that does not qualify, to an earlier one that does', async () => {
    settle('last-touch', 48, 1)
    await engine.load([
      click('clicked', '2026-03-09T12:00:00Z'),
      display('shown', '2026-03-10T10:00:00Z'),
      purchase('5.00', '2026-03-10T12:00:00Z'),
    ])
    expect(await byWorkflow()).toEqual([['clicked', 5, 1]])
  })

  it('of one millisecond goes to the click, and of two clicks to the greater workflow', async () => {
    const at = '2026-03-10T12:00:00Z'
    await engine.load([click('a', at), click('b', at), display('c', at), purchase('5.00', at)])
    expect(await byWorkflow()).toEqual([['b', 5, 1]])
  })

  it('finds interactions before the range, and in it only purchases', async () => {
    await engine.load([
      click('w1', '2026-02-20T12:00:00Z'),
      purchase('1.00', '2026-02-28T12:00:00Z'),
      purchase('2.00', '2026-03-10T12:00:00Z'),
      purchase('4.00', '2026-03-12T12:00:00Z'),
    ])
    const timeDimensions = [
      { dimension: 'purchases.time', dateRange: ['2026-03-01', '2026-03-31'], granularity: 'day' },
    ] as never
    expect(await byWorkflow({ timeDimensions })).toEqual([
      ['2026-03-10T00:00:00.000+00:00', 'w1', 2, 1],
      ['2026-03-12T00:00:00.000+00:00', 'w1', 4, 1],
    ])
  })

  it('follows the person over devices that are bound later', async () => {
    await engine.load([
      click('w1', '2026-03-10T10:00:00Z', { tmpId: 'phone' }),
      purchase('5.00', '2026-03-10T12:00:00Z', { tmpId: 'laptop' }),
    ])
    expect(await byWorkflow()).toEqual([])
    await engine.load([
      storedEvent({ at: '2026-03-12T10:00:00Z', tmpId: 'phone', name: 'identify', clientId: 'ada' }),
      storedEvent({ at: '2026-03-11T10:00:00Z', tmpId: 'laptop', name: 'identify', clientId: 'ada' }),
    ])
    expect(await byWorkflow()).toEqual([['w1', 5, 1]])
  })

  it('needs a workflow, and is of one company', async () => {
    await engine.load([
      click('', '2026-03-10T10:00:00Z'),
      storedEvent({ at: '2026-03-10T10:00:00Z', name: 'workflow_click' }),
      click('w1', '2026-03-10T10:00:00Z', { company: otherCompany }),
      purchase('5.00', '2026-03-10T12:00:00Z'),
    ])
    expect(await byWorkflow()).toEqual([])
    expect(await app.rows({ measures })).toEqual([
      {
        'purchases.afterClick': 0,
        'purchases.timeFromClick': null,
        'purchases.influencedRevenue': 0,
        'purchases.directRevenue': 0,
        'purchases.influencedCount': 0,
      },
    ])
  })

  it('joins with the measures of other sources and passes, means absent where there is none', async () => {
    await engine.load(journey)
    const rows = await app.rows({
      measures: ['purchases.timeFromClick', 'purchases.influencedCount', 'purchases.count', 'events.count'],
      dimensions: ['purchases.person'],
      order: [['purchases.person', 'asc']],
    })
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['device-1', 7200, 1, 1, 4],
      ['device-2', null, 0, 1, 1],
    ])
  })

  it('counts for each item of a purchase that is asked for', async () => {
    settle('linear')
    await engine.load([
      ...journey.slice(0, 3),
      purchase('10.00', '2026-03-10T13:00:00Z', { ids: ['a', 'b', 'a'] }),
    ])
    const rows = await byWorkflow({
      dimensions: ['purchases.item', 'workflows.id'],
      order: [['purchases.item', 'asc']],
    })
    expect(rows.map(([item, workflow, revenue]) => [item, workflow, revenue])).toEqual([
      ['a', 'w1', 3.33],
      ['a', 'w2', 3.33],
      ['a', 'w3', 3.34],
      ['b', 'w1', 3.33],
      ['b', 'w2', 3.33],
      ['b', 'w3', 3.34],
    ])
  })

  it('is exact for the largest and for negative values', async () => {
    settle('linear')
    await engine.load([
      ...['w1', 'w2', 'w3'].map((workflow) => display(workflow, '2026-03-10T10:00:00Z')),
      purchase('9999999999999999.99', '2026-03-10T13:00:00Z'),
      ...['w1', 'w2', 'w3'].map((workflow) => display(workflow, '2026-03-10T10:00:00Z', { tmpId: 'd2' })),
      purchase('-0.05', '2026-03-10T13:00:00Z', { tmpId: 'd2' }),
      purchase(null, '2026-03-10T13:00:00Z', { tmpId: 'd2' }),
    ])
    const { status, text } = await app.post({
      measures: ['purchases.influencedRevenue'],
      dimensions: ['workflows.id', 'purchases.person'],
      filters: [],
      timeDimensions: [],
      order: [
        ['purchases.person', 'asc'],
        ['workflows.id', 'asc'],
      ],
    })
    expect([status, text]).toEqual([200, expect.any(String)])
    expect([...text.matchAll(/influencedRevenue\\":(-?[0-9.]+)/g)].map(([, value]) => value)).toEqual([
      '-0.01',
      '-0.02',
      '-0.02',
      '3333333333333333.33',
      '3333333333333333.33',
      '3333333333333333.33',
    ])
  })
})

describe('the measures of credit', () => {
  it('filter groups, means too', async () => {
    await engine.load([
      click('w1', '2026-03-10T10:00:00Z'),
      purchase('5.00', '2026-03-10T12:00:00Z'),
      click('w1', '2026-03-10T10:00:00Z', { tmpId: 'd2' }),
      purchase('7.00', '2026-03-10T10:30:00Z', { tmpId: 'd2' }),
      purchase('9.00', '2026-03-10T10:30:00Z', { tmpId: 'd3' }),
    ])
    const people = async (member: string, operator: 'gt' | 'lte' | 'equals', value: string) => {
      const filters = [{ member, operator, values: [value] }]
      const rows = await app.rows({
        measures: ['purchases.count'],
        dimensions: ['purchases.person'],
        filters,
      })
      return rows.map((row) => row['purchases.person']).sort()
    }
    expect(await people('purchases.timeFromClick', 'gt', '1800')).toEqual(['device-1'])
    expect(await people('purchases.timeFromClick', 'lte', '1800')).toEqual(['d2'])
    expect(await people('purchases.influencedCount', 'equals', '1')).toEqual(['d2', 'device-1'])
    expect(await people('purchases.influencedRevenue', 'equals', '0')).toEqual(['d3'])
  })

  it('know interactions under the names that a company has given them', async () => {
    await engine.load([
      click('w1', '2026-03-10T10:00:00Z', { name: 'teaser_tapped' }),
      purchase('5.00', '2026-03-10T12:00:00Z'),
    ])
    expect(await byWorkflow()).toEqual([])
    const parsed = parseQuery(
      { measures, dimensions: ['workflows.id'], filters: [], timeDimensions: [] },
      { instant: app.now, zone: openZone('UTC') },
    )
    const { sql, params } = compileQuery(planQuery(parsed), testCompany, {
      eventAliases: new Map([['teaser_tapped', 'workflow_click']]),
      visibleWorkflows: 'all',
      attribution: app.attribution,
      exactCounts: true,
    })
    const rows = await engine.columnar.query<Record<string, unknown>>({ sql, params })
    expect(rows.map(({ g0, s0 }) => [g0, Number(s0)])).toEqual([['w1', 1]])
  })
})

describe('the dimension workflows.id', () => {
  const ask = (query: object) =>
    app.post({ measures: [], dimensions: [], filters: [], timeDimensions: [], ...query })

  it.each([['purchases.count'], ['purchases.averageOrderValue'], ['events.count']])(
    'does not fit together with %s',
    async (other) => {
      for (const query of [
        { dimensions: ['workflows.id'] },
        { filters: [{ member: 'workflows.id', operator: 'equals', values: ['w1'] }] },
      ]) {
        const { status, body } = await ask({ measures: [other, 'purchases.influencedCount'], ...query })
        expect(status).toBe(400)
        expect(body.message).toMatch(/workflows\.id does not fit together with (purchases|events)\./)
      }
    },
  )

  it('lists the workflows that have interactions, and beside a dimension of purchases those that have credit', async () => {
    await engine.load([
      click('w1', '2026-03-10T10:00:00Z'),
      display('w2', '2026-03-10T14:00:00Z'),
      purchase('5.00', '2026-03-10T12:00:00Z'),
    ])
    expect(await app.rows({ dimensions: ['workflows.id'] })).toEqual([
      { 'workflows.id': 'w1' },
      { 'workflows.id': 'w2' },
    ])
    const dimensions = ['purchases.transaction', 'workflows.id']
    expect(await app.rows({ dimensions })).toEqual([{ 'purchases.transaction': null, 'workflows.id': 'w1' }])
  })
})

describe('any history of people', () => {
  const minutes = 60_000
  const start = Date.parse('2026-03-10T00:00:00Z')
  /** Times of which many are equal or exactly a window apart. */
  const time = fc
    .tuple(fc.nat(30), fc.constantFrom(0, 0, 0, 1, -1))
    .map(([step, offset]) => start + step * 30 * minutes + offset)
  const person = fc.record({
    tmpId: fc.constantFrom('d1', 'd2', 'd3'),
    clientId: fc.constantFrom('', '', 'c1', 'c2'),
  })
  const interactions = fc.record({
    name: fc.constantFrom('workflow_display', 'workflow_click', 'page_view'),
    workflow: fc.constantFrom('w1', 'w2', 'w3', ''),
    time,
    person,
  })
  const purchases = fc.record({
    name: fc.constantFrom('purchase', 'purchase', 'purchase_references'),
    order: fc.constantFrom('', '', 'o1', 'o2'),
    cents: fc.option(
      fc.oneof(fc.integer({ min: -1000, max: 10_000 }), fc.bigInt({ min: 0n, max: 10n ** 17n })),
    ),
    ids: fc.subarray(['a', 'b', 'c']),
    deviceType: fc.constantFrom('desktop', 'mobile'),
    time,
    person,
  })
  const identities = fc.record({ time, person })
  const history = fc.record({
    interactions: fc.array(interactions, { minLength: 20, maxLength: 60, size: 'max' }),
    purchases: fc.array(purchases, { minLength: 5, maxLength: 15, size: 'max' }),
    identities: fc.array(identities, { maxLength: 4, size: 'max' }),
    clickHours: fc.integer({ min: 1, max: 6 }),
    displayHours: fc.integer({ min: 1, max: 6 }),
    seed: fc.nat(),
  })

  const decimal = (cents: bigint | number) => {
    const text = String(cents).replace('-', '').padStart(3, '0')
    return `${Number(cents) < 0 ? '-' : ''}${text.slice(0, -2)}.${text.slice(-2)}`
  }

  function eventsOf(
    drawn: typeof history extends fc.Arbitrary<infer T> ? T : never,
    company: string,
  ): StoredEvent[] {
    const taken = new Set<number>()
    return [
      ...drawn.interactions.map((each) =>
        storedEvent({
          company,
          name: each.name,
          time: each.time,
          ...each.person,
          labels: { workflowId: each.workflow },
        }),
      ),
      ...drawn.purchases.map((each) => {
        // The oracle merges orders whose events never share an instant.
        let at = each.time
        while (taken.has(at)) at += 30 * minutes
        taken.add(at)
        const value = each.name === 'purchase' && each.cents !== null ? decimal(each.cents) : null
        const { name, order: transId, ids, deviceType } = each
        return storedEvent({ company, name, time: at, ...each.person, transId, value, ids, deviceType })
      }),
      ...drawn.identities.map((each) =>
        storedEvent({ company, name: 'identify', time: each.time, ...each.person }),
      ),
    ]
  }

  interface Asked {
    readonly query: Parameters<StatisticsApp['rows']>[0]
    readonly key: (credit: Credit, item: string) => string[]
    readonly keeps?: (credit: Credit, item: string) => boolean
    readonly perItem?: true
  }
  const asked: readonly Asked[] = [
    { query: {}, key: () => [] },
    { query: { dimensions: ['workflows.id'] }, key: ({ workflow }) => [workflow] },
    {
      query: { dimensions: ['purchases.person', 'purchases.deviceType', 'workflows.id'] },
      key: ({ purchase: { person, texts }, workflow }) => [person, texts.get('deviceType') ?? '', workflow],
    },
    {
      query: { dimensions: ['workflows.id', 'purchases.item'] },
      key: ({ workflow }, item) => [workflow, item],
      perItem: true,
    },
    {
      query: {
        dimensions: ['purchases.person'],
        filters: [{ member: 'workflows.id', operator: 'equals', values: ['w1', 'w3'] }],
      },
      key: ({ purchase: { person } }) => [person],
      keeps: ({ workflow }) => workflow !== 'w2',
    },
    {
      query: {
        dimensions: ['workflows.id'],
        filters: [{ member: 'purchases.person', operator: 'equals', values: ['c1', 'd1'] }],
      },
      key: ({ workflow }) => [workflow],
      keeps: ({ purchase: { person } }) => person === 'c1' || person === 'd1',
    },
    {
      query: {
        dimensions: ['workflows.id'],
        filters: [
          {
            or: [
              { member: 'workflows.id', operator: 'equals', values: ['w2'] },
              { member: 'purchases.deviceType', operator: 'equals', values: ['mobile'] },
            ],
          },
        ],
      },
      key: ({ workflow }) => [workflow],
      keeps: ({ workflow, purchase: { texts } }) => workflow === 'w2' || texts.get('deviceType') === 'mobile',
    },
    {
      query: {
        dimensions: ['workflows.id'],
        timeDimensions: [
          {
            dimension: 'purchases.time',
            dateRange: ['2026-03-10T03:00:00.000Z', '2026-03-10T09:00:00.000Z'],
          },
        ] as never,
      },
      key: ({ workflow }) => [workflow],
      keeps: ({ purchase: { time: at } }) => at >= start + 180 * minutes && at < start + 540 * minutes,
    },
  ]

  /** Rows by a plain computation, as texts. */
  function expectedRows(credits: readonly Credit[], { key, keeps = () => true, perItem, query }: Asked) {
    const groups = new Map<string, Credit[]>()
    for (const credit of credits) {
      const items = perItem ? new Set(credit.purchase.items) : ['']
      for (const item of items) {
        if (!keeps(credit, item)) continue
        const text = JSON.stringify(key(credit, item))
        groups.set(text, [...(groups.get(text) ?? []), credit])
      }
    }
    if ((query.dimensions ?? []).length === 0 && groups.size === 0) groups.set('[]', [])
    return [...groups]
      .map(([text, each]) => {
        // Sums of fractions of seconds would miss the half of a millisecond that means of two end in.
        const milliseconds = each.flatMap(({ secondsFromClick }) =>
          secondsFromClick === undefined ? [] : Math.round(secondsFromClick * 1000),
        )
        const cents = (of: 'value' | 'direct') => each.reduce((sum, credit) => sum + credit[of], 0n)
        const mean = milliseconds.reduce((sum, one) => sum + one, 0) / milliseconds.length / 1000
        return [
          text,
          String(milliseconds.length),
          milliseconds.length === 0 ? 'null' : mean.toFixed(3),
          decimal(cents('value')),
          decimal(cents('direct')),
          String(each.reduce((sum, { millionths }) => sum + millionths, 0n)),
        ].join(' ')
      })
      .sort()
  }

  async function rowsOf({ query }: Asked): Promise<string[]> {
    const { status, body } = await app.post({
      dimensions: [],
      filters: [],
      timeDimensions: [],
      ...query,
      measures,
    })
    if (status !== 200) throw new Error(`${status} ${body.message}`)
    // Sums have more digits than a number of JavaScript.
    const quoted = String(body.data).replaceAll(/:(-?[0-9]+(?:\.[0-9]+)?)(?=[,}])/g, ':"$1"')
    const rows = JSON.parse(quoted) as Record<string, string | null>[]
    return rows
      .map((row) => {
        const cells = Object.values(row)
        const [after, mean, value, direct, count] = cells.slice(-5)
        return [
          JSON.stringify(cells.slice(0, -5)),
          after,
          mean === null ? 'null' : Number(mean).toFixed(3),
          twoDecimals(value),
          twoDecimals(direct),
          String(Math.round(Number(count) * 1e6)),
        ].join(' ')
      })
      .sort()
  }

  function twoDecimals(text: string | null | undefined): string {
    const [whole = '', fraction = ''] = String(text).split('.')
    return `${whole}.${fraction.padEnd(2, '0')}`
  }

  it('is credited as a plain computation says, in every model', {
    timeout: 600_000 + 60_000 * runs,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(history, async (drawn) => {
        const company = randomBytes(12).toString('hex')
        const events = eventsOf(drawn, company)
        await engine.load(events)
        app.caller.companyId = company
        for (const [i, each] of asked.entries()) {
          // The short form asks each question of one model.
          for (const model of long ? models : [models[(i + drawn.seed) % 3] ?? 'linear']) {
            settle(model, drawn.clickHours, drawn.displayHours)
            expect(await rowsOf(each), JSON.stringify({ model, query: each.query })).toEqual(
              expectedRows(creditsOf(events, model, drawn), each),
            )
          }
        }
      }),
      { numRuns: runs },
    )
  })
})
