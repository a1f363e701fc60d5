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
})

const march = ['2026-03-01', '2026-03-31']
const retention = { firstEvent: {}, returnEvent: {}, granularity: 'day', dateRange: march }
const paths = { by: 'path', dateRange: march }

async function refusal(exploration: 'retention' | 'paths', parts: object) {
  const whole = exploration === 'retention' ? { ...retention, ...parts } : { ...paths, ...parts }
  const { status, body } = await app.post(whole, { path: `/v2/statistics/${exploration}` })
  return { status, code: body.error_code, message: body.message }
}

const filter = (member: string, operator = 'equals', values: unknown = ['a']) => ({
  member,
  operator,
  values,
})

describe('retention refuses', () => {
  it.each([
    [
      'an unknown member (Q01)',
      { firstEvent: { filters: [filter('events.nam')] } },
      9100,
      /^firstEvent\.filters\.0\.member: .*did you mean events\.name\?/,
    ],
    [
      'a measure (Q04)',
      { returnEvent: { filters: [filter('events.count', 'gt', ['1'])] } },
      9103,
      /^returnEvent\.filters\.0: events\.count is a measure/,
    ],
    [
      'a member of another source',
      { filters: [filter('purchases.transaction')] },
      9103,
      /^filters\.0: purchases\.transaction is no dimension of events/,
    ],
    [
      'a time (Q09)',
      { filters: [filter('events.time', 'afterDate', ['2026-03-03'])] },
      9103,
      /^filters\.0: events\.time cannot be filtered here: give the times in dateRange/,
    ],
    [
      'an operator that nobody knows (Q06)',
      { filters: [filter('events.name', 'regex')] },
      1,
      /^filters\.0\.operator/,
    ],
    ['no values (Q05)', { filters: [filter('events.name', 'equals', [])] }, 9103, /^filters\.0\.values/],
    ['no range', { dateRange: null }, 1, /^dateRange/],
    [
      'a day that does not exist (Q07)',
      { dateRange: ['2026-02-30', '2026-03-01'] },
      9103,
      /^dateRange: "2026-02-30" is not a date/,
    ],
    [
      'a range that ends before it begins (Q07)',
      { dateRange: march.toReversed() },
      9103,
      /ends before it begins/,
    ],
    [
      'more cohorts than it can follow (Q08, Q26)',
      { dateRange: ['2015-01-01', '2024-12-31'] },
      19,
      /dateRange has 3653 days, each of them a cohort; at most 400 are possible/,
    ],
    ['no periods (Q11)', { periods: 0 }, 1, /^periods/],
    ['too many periods (Q11, Q26)', { periods: 25 }, 1, /^periods/],
    ['periods as text (Q11)', { periods: '8' }, 1, /^periods/],
    ['a period of an hour', { granularity: 'hour' }, 1, /^granularity/],
    ['cohorts that it does not know', { cohorts: 'sometimes' }, 1, /^cohorts/],
    ['no names', { firstEvent: { events: [] } }, 1, /^firstEvent\.events/],
    ['a name twice', { firstEvent: { events: ['a', 'a'] } }, 1, /^firstEvent\.events/],
    ['NUL in a name (Q03)', { firstEvent: { events: ['a\0'] } }, 1, /^firstEvent\.events\.0/],
    ['half a letter in a name (Q03)', { firstEvent: { events: ['\ud800'] } }, 1, /^firstEvent\.events\.0/],
    [
      'too many names',
      { firstEvent: { events: Array.from({ length: 51 }, (_, i) => `e${i}`) } },
      1,
      /^firstEvent\.events/,
    ],
    ['an unknown field', { firstEvents: {} }, 1, /firstEvents.*firstEvent/],
    ['a company of its own (Q23)', { companyId: otherCompany }, 1, /companyId/],
  ])('%s', async (_, parts, code, message) => {
    expect(await refusal('retention', parts)).toEqual({
      status: 400,
      code,
      message: expect.stringMatching(message),
    })
  })
})

describe('paths refuse', () => {
  it.each([
    ['a beginning and an end (Q26)', { from: '/', to: '/cart' }, 9103, /^to: from and to exclude each other/],
    ['an unknown member (Q01)', { filters: [filter('event.name')] }, 9100, /^filters\.0\.member/],
    [
      'a measure (Q04)',
      { filters: [filter('events.perPerson', 'gt', ['1'])] },
      9103,
      /^filters\.0: events\.perPerson is a measure/,
    ],
    ['no depth (Q11)', { depth: 0 }, 1, /^depth/],
    ['too much depth (Q11)', { depth: 11 }, 1, /^depth/],
    ['no edges (Q11)', { limit: 0 }, 1, /^limit/],
    ['too many edges (Q11)', { limit: 201 }, 1, /^limit/],
    ['steps that it does not know', { by: 'item' }, 1, /^by/],
    ['an empty step', { from: '' }, 1, /^from/],
    ['NUL in a step (Q03)', { to: '/\0' }, 1, /^to/],
    ['half a letter in a step (Q03)', { from: '\udc00' }, 1, /^from/],
    ['an overlong step', { from: 'x'.repeat(4_001) }, 1, /^from/],
    ['a range of nothing (Q07)', { dateRange: 'last 0 days' }, 9103, /^dateRange/],
    ['a range of three bounds (Q07)', { dateRange: [...march, '2026-04-01'] }, 1, /^dateRange/],
  ])('%s', async (_, parts, code, message) => {
    expect(await refusal('paths', parts)).toEqual({
      status: 400,
      code,
      message: expect.stringMatching(message),
    })
  })
})

describe('what a question names', () => {
  const hostile = `x') UNION ALL SELECT * FROM system.tables -- {p1:String} \\ \``

  it('reaches the engine as a bound value alone (Q02, Q03)', async () => {
    await engine.load([
      storedEvent({
        name: hostile,
        at: '2026-03-10T12:00:00Z',
        url: hostile,
        labels: { [hostile]: hostile },
      }),
    ])
    const before = engine.statements.length
    const filters = [filter(`events.label.${hostile}`, 'equals', [hostile])]
    const ask = async (exploration: string, question: object) => {
      const { body } = await app.post(question, { path: `/v2/statistics/${exploration}` })
      return JSON.parse(String(body.data)) as Record<string, unknown>[]
    }
    const named = { events: [hostile], filters }
    expect(
      await ask('retention', { ...retention, firstEvent: named, returnEvent: named, filters, periods: 1 }),
    ).toMatchObject([{ size: 1, people: 1 }])
    for (const by of ['event', 'path']) {
      expect(await ask('paths', { ...paths, by, filters, from: hostile })).toMatchObject([
        { kind: 'end', from: hostile, sessions: 1 },
      ])
    }
    const asked = engine.statements.slice(before)
    expect(asked).toHaveLength(3)
    for (const { sql } of asked) {
      expect(sql).not.toContain('UNION ALL SELECT')
      // Every scan of a table has the company's predicate.
      const scans = sql.match(/FROM (events|identities)\b/g) ?? []
      expect(sql.match(/company = \{p\d+:String\}/g)).toHaveLength(scans.length)
    }
  })

  it('warns of labels that no event has had', async () => {
    await engine.load([storedEvent({ labels: { store: 'Paris' } })])
    const filters = [filter('events.label.stroe')]
    for (const [exploration, question] of Object.entries({ retention, paths })) {
      const { body } = await app.post({ ...question, filters }, { path: `/v2/statistics/${exploration}` })
      expect(body.warnings).toEqual([
        { path: 'filters.0', message: expect.stringContaining('did you mean "events.label.store"?') },
      ])
    }
    const firstEvent = { filters }
    const { body } = await app.post({ ...retention, firstEvent }, { path: '/v2/statistics/retention' })
    expect(body.warnings?.[0]?.path).toBe('firstEvent.filters.0')
  })
})
