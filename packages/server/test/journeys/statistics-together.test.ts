import type { Query } from '@millrace/contract/resources/query.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { type StoredEvent, storedEvent, testCompany } from '../support/statistics-events.ts'

let engine: StatisticsEngine
let app: StatisticsApp

/** Persons who come every few days, click contents of a workflow and buy. */
function shop(): StoredEvent[] {
  const start = Date.parse('2026-01-20T00:00:00Z')
  return Array.from({ length: 600 }, (_, i): StoredEvent => {
    const person = i % 37
    const time = start + i * 7_000_000 + person * 13_000
    const who = {
      time,
      tmpId: `device-${person}`,
      clientId: person % 3 === 0 ? `client-${person}` : '',
      deviceType: person % 4 === 0 ? 'mobile' : 'desktop',
      os: ['Linux', 'iOS', ''][person % 3] ?? '',
      country: ['DE', 'FR', ''][i % 3] ?? '',
      referrerHost: i % 5 === 0 ? 'www.google.com' : '',
      url: `https://shop.example/${i % 11}${i % 7 === 0 ? '?utm_source=letter&utm_medium=email' : ''}`,
    }
    const labels: Record<string, string> = i % 2 === 0 ? { store: `store-${i % 6}` } : {}
    if (i % 6 === 1)
      return storedEvent({ ...who, name: 'purchase', value: `${i % 50}.10`, ids: ['a', 'b'], labels })
    const workflowId = `workflow-${i % 4}`
    if (i % 6 === 2) return storedEvent({ ...who, name: 'workflow_click', labels: { ...labels, workflowId } })
    if (i % 6 === 3)
      return storedEvent({ ...who, name: 'workflow_display', labels: { ...labels, workflowId } })
    return storedEvent({ ...who, labels })
  })
}

beforeAll(async () => {
  engine = await openStatisticsEngine()
  app = await openStatisticsApp(engine.columnar)
  await engine.load(shop())
})

afterAll(async () => {
  await app.app.close()
  await engine.close()
})

beforeEach(() => {
  app.attribution = { model: 'last-touch', windows: { clickHours: 720, displayHours: 168 } }
})

const at = Date.parse('2026-03-20T15:30:00Z')
const compareDateRange = [
  ['2026-02-10', '2026-02-28'],
  ['2026-01-22', '2026-02-09'],
]

function queriesOf(source: string, query: Partial<Query>, dimensions: readonly string[]): Query[] {
  return dimensions.map((dimension) => ({
    measures: [],
    filters: [],
    timeDimensions: [{ dimension: `${source}.time`, compareDateRange }],
    timezone: 'Europe/Paris',
    limit: 100,
    ...query,
    dimensions: [dimension],
    order: [
      [query.measures?.[0] ?? '', 'desc'],
      [dimension, 'asc'],
    ],
  }))
}

const reader = () => ({ companyId: testCompany, readerId: app.readerId })

async function byItself(query: Query) {
  const { pieces, warnings } = app.service.answer({ ...reader(), query, format: 'json', at })
  let text = ''
  for await (const piece of pieces) text += piece
  return { text, warnings }
}

/** Answers the queries together, and compares each answer with that of the query by itself; gives which were answered. */
async function expectSame(queries: readonly Query[]): Promise<boolean[]> {
  // Settings are taken with a query that is sent.
  await app.rows({ measures: ['events.count'] })
  engine.statements.length = 0
  const answers = await app.service.answerTogether({ ...reader(), queries, at })
  for (const [i, query] of queries.entries()) {
    if (answers[i]) expect(answers[i]).toEqual(await byItself(query))
  }
  return answers.map((answer) => answer !== undefined)
}

const credits = ['purchases.influencedRevenue', 'purchases.afterClick', 'purchases.timeFromClick']
const ofPurchases = ['purchases.label.store', 'purchases.deviceType', 'purchases.os']

describe('queries that differ in their dimension alone', () => {
  it.each([
    [
      'sessions',
      { measures: ['sessions.count', 'sessions.bounces', 'sessions.bounceRate', 'sessions.people'] },
      ['channel', 'country', 'deviceType', 'isNew', 'entryPath', 'utmSource'].map(
        (name) => `sessions.${name}`,
      ),
    ],
    [
      'sessions',
      {
        measures: ['sessions.count'],
        filters: [{ member: 'sessions.isNew', operator: 'equals' as const, values: ['false'] }],
        limit: 1,
      },
      ['sessions.channel', 'sessions.os'],
    ],
    ['purchases', { measures: credits }, [...ofPurchases, 'workflows.id']],
    ['purchases', { measures: ['purchases.revenue', 'purchases.buyers'] }, ofPurchases],
    [
      'events',
      {
        measures: ['events.count', 'events.people'],
        timeDimensions: [{ dimension: 'events.time', dateRange: ['2026-02-01', '2026-02-20'] }],
        limit: 2,
      },
      ['events.name', 'events.country', 'events.path', 'events.label.store', 'events.label.none'],
    ],
  ])('of %s are answered by one statement as each by itself: %j', async (source, query, dimensions) => {
    const queries = queriesOf(source, query, dimensions)
    expect(await expectSame(queries)).toEqual(dimensions.map(() => true))
    const [shared, ...others] = engine.statements
    expect(shared?.sql.match(/GROUPING SETS/g)).toHaveLength(1)
    expect(others).toHaveLength(dimensions.length)
  })

  it.each(['linear', 'decay'] as const)(
    'are answered by themselves by workflow where credit is %s',
    async (model) => {
      app.attribution = { ...app.attribution, model }
      const queries = queriesOf('purchases', { measures: credits }, [...ofPurchases, 'workflows.id'])
      expect(await expectSame(queries)).toEqual([true, true, true, false])
    },
  )

  it('are answered by themselves where an item multiplies facts, and where they differ in more', async () => {
    const [byItem, byStore, byOs] = queriesOf('purchases', { measures: ['purchases.count'] }, [
      'purchases.item',
      'purchases.label.store',
      'purchases.os',
    ])
    if (!byItem || !byStore || !byOs) throw new Error('three queries were made')
    expect(await expectSame([byItem, byStore, byOs])).toEqual([false, true, true])
    expect(await expectSame([byStore, { ...byOs, limit: 3 }])).toEqual([false, false])
    expect(await expectSame([byStore, { ...byOs, timezone: 'UTC' }])).toEqual([false, false])
    const filters = [{ member: 'purchases.os', operator: 'set' as const }]
    expect(await expectSame([byStore, { ...byOs, filters }])).toEqual([false, false])
    const far = [{ dimension: 'purchases.time', compareDateRange: ['2026-02', '2025-02'] }]
    expect(
      await expectSame([
        { ...byStore, timeDimensions: far },
        { ...byOs, timeDimensions: far },
      ]),
    ).toEqual([false, false])
  })
})

describe('queries that are asked at the same moment', () => {
  async function ask(query: Query) {
    const { pieces, warnings } = app.service.answer({ ...reader(), query, format: 'json' })
    let text = ''
    for await (const piece of pieces) text += piece
    return { text, warnings }
  }

  it('are answered by one statement where one can answer them, each as by itself', async () => {
    const dimensions = ['channel', 'country', 'entryPath', 'exitPath'].map((name) => `sessions.${name}`)
    const measures = ['sessions.count', 'sessions.people']
    await app.rows({ measures: ['events.count'] })
    // On a busy machine they may come too late for each other; another limit is another question.
    for (let limit = 100; ; limit++) {
      const queries = queriesOf('sessions', { measures, limit }, dimensions)
      engine.statements.length = 0
      const answers = await Promise.all(queries.map(ask))
      const { length } = engine.statements
      for (const [i, query] of queries.entries()) expect(answers[i]).toEqual(await byItself(query))
      if (length === 1) break
    }
  })

  it('are each answered alone where they may have more than a thousand rows', async () => {
    const queries = queriesOf('sessions', { measures: ['sessions.count'], limit: 1_001 }, [
      'sessions.channel',
      'sessions.os',
    ])
    await app.rows({ measures: ['events.count'] })
    engine.statements.length = 0
    await Promise.all(queries.map(ask))
    expect(engine.statements).toHaveLength(2)
  })

  it('are refused each by itself', async () => {
    const [good, other] = queriesOf('sessions', { measures: ['sessions.count'] }, [
      'sessions.os',
      'sessions.browser',
    ])
    const bad = { ...good, dimensions: ['sessions.none'] }
    const replies = await Promise.all([good, bad, other].map((query) => app.post(query)))
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 200])
  })
})
