import type { Query } from '@millrace/contract/resources/query.ts'
import { describe, expect, it } from 'vitest'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent, testCompany } from '../support/statistics-events.ts'
import { useStatistics, wholeQuery as whole } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

/** What is asked, and how many statements read facts for it. */
async function counting<T>(ask: () => Promise<T>): Promise<{ answer: T; statements: number }> {
  const before = engine.statements.length
  const answer = await ask()
  return { answer, statements: engine.statements.length - before }
}

const people: Partial<Query> = { measures: ['events.count', 'events.people', 'purchases.revenue'] }

describe('a repeated query', () => {
  it('is answered from what was computed, for ten seconds', async () => {
    await engine.load([storedEvent()])
    await engine.settle()
    const first = await counting(() => app.rows(people))
    expect(first.statements).toBe(1)
    expect(await counting(() => app.rows(people))).toEqual({ answer: first.answer, statements: 0 })
    app.now += 9_999
    expect(await counting(() => app.rows(people))).toEqual({ answer: first.answer, statements: 0 })
    app.now += 1
    expect(await counting(() => app.rows(people))).toEqual(first)
  })

  it('sees every event that was stored in between, purchases and late bindings too', async () => {
    await engine.load([storedEvent({ tmpId: 'a' }), storedEvent({ tmpId: 'b' })])
    const seen = async () => (await app.rows(people)).map(Object.values)
    expect(await seen()).toEqual([[2, 2, 0]])
    await engine.load([storedEvent({ tmpId: 'c' })])
    expect(await seen()).toEqual([[3, 3, 0]])
    await engine.load([storedEvent({ tmpId: 'c', name: 'purchase', value: '5', transId: 'T' })])
    expect(await seen()).toEqual([[4, 3, 5]])
    await engine.load(['a', 'b'].map((tmpId) => storedEvent({ tmpId, name: 'identify', clientId: 'ada' })))
    expect(await seen()).toEqual([[6, 2, 5]])
    await engine.load([storedEvent({ tmpId: 'c', name: 'purchase', value: '7', transId: 'U' })])
    expect(await seen()).toEqual([[7, 2, 12]])
  })

  it('is that of the company, the format, the zone and every value', async () => {
    await engine.load([storedEvent({ name: 'mine' })])
    await engine.load([storedEvent({ company: otherCompany, name: 'theirs' })])
    const query: Partial<Query> = {
      dimensions: ['events.name'],
      filters: [{ member: 'events.name', operator: 'notEquals', values: ['x'] }],
      timeDimensions: [{ dimension: 'events.time', granularity: 'day', dateRange: 'this year' }],
    }
    const variants: [string, Partial<Query>][] = [
      ['', query],
      ['?format=csv', query],
      ['', { ...query, timezone: 'Asia/Kolkata' }],
      ['', { ...query, filters: [{ member: 'events.name', operator: 'notEquals', values: ['mine'] }] }],
      ['', { ...query, limit: 1 }],
    ]
    const texts = new Set<unknown>()
    for (const company of [testCompany, otherCompany]) {
      app.caller.companyId = company
      for (const [search, each] of variants) {
        const { answer, statements } = await counting(() => app.post(whole(each), { search }))
        expect(statements).toBe(1)
        texts.add(answer.body.data)
      }
    }
    expect([...texts].filter((text) => String(text).includes('theirs'))).toHaveLength(3)
    expect([...texts].some((text) => /mine.*theirs/s.test(String(text)))).toBe(false)
  })

  it('has its warnings and its total again', async () => {
    await engine.load(['a', 'b', 'c'].map((name) => storedEvent({ name, labels: { store: 'x' } })))
    await engine.settle()
    const query = whole({ dimensions: ['events.name', 'events.label.stroe'], limit: 2, total: true })
    const first = (await app.post(query)).body
    expect(first).toMatchObject({ total: 3 })
    expect(first.warnings).toHaveLength(2)
    const { answer, statements } = await counting(() => app.post(query))
    expect(statements).toBe(0)
    expect({ ...answer.body, datetime: '' }).toEqual({ ...first, datetime: '' })
  })

  it('is computed again where it is streamed or larger than what is kept', async () => {
    await engine.load([storedEvent()])
    const streamed = () => app.post(whole(people), { accept: 'application/x-ndjson' })
    await streamed()
    expect((await counting(streamed)).statements).toBe(1)
    await engine.load(
      Array.from({ length: 3_000 }, (_, i) => storedEvent({ name: `${i} ${'x'.repeat(200)}` })),
    )
    const large = () => app.rows({ dimensions: ['events.name'] })
    await large()
    expect((await counting(large)).statements).toBe(1)
  })
})

describe('a page of tiles', () => {
  it('of forty queries at once is answered, the same ones by one statement', async () => {
    await engine.load([storedEvent()])
    const different = await Promise.all(
      Array.from({ length: 40 }, (_, i) => app.post(whole({ measures: ['events.count'], limit: i + 1 }))),
    )
    expect(new Set(different.map(({ status }) => status))).toEqual(new Set([200]))
    const same = await counting(() =>
      Promise.all(Array.from({ length: 40 }, () => app.rows({ measures: ['events.devices'] }))),
    )
    expect(same.answer).toEqual(Array(40).fill([{ 'events.devices': 1 }]))
    expect(same.statements).toBe(1)
  })
})
