import type { FunnelQuery } from '@millrace/contract/resources/funnel.ts'
import { expect, it } from 'vitest'
import { openZone } from '../../query/time/zone.ts'
import { compileFunnel } from './compile-funnel.ts'
import { parseFunnel } from './parse-funnel.ts'

const company = '64b7f0a1c2d3e4f5a6b7c8d9'
const named = "x') or 1=1 -- {p1:String}"

function compiled(query: Partial<FunnelQuery>) {
  const now = {
    instant: Date.parse('2026-03-18T15:30:00Z'),
    zone: openZone('Europe/Paris'),
    cohorts: new Map(),
  }
  const steps = [{ name: named, events: [named] }, { events: ['purchase'] }]
  const funnel = parseFunnel({ steps, dateRange: 'last 30 days', ...query }, now, new Map())
  return compileFunnel(funnel, company, 'all')
}

const shapes: readonly Partial<FunnelQuery>[] = (['ordered', 'strict', 'any'] as const).flatMap((order) => [
  { order },
  { order, per: 'session', filters: [{ member: 'events.label.a', operator: 'equals', values: [named] }] },
  { order, granularity: 'week', breakdown: 'events.label.size' },
  { order, dateRange: null, compareDateRange: ['this month', 'last month'] },
])

it.each(shapes)('restricts every scan to the company and binds every text: %j', (shape) => {
  const { sql, params } = compiled(shape)
  const scans = sql.match(/FROM (events|identities)\n\s*WHERE (.*)/g) ?? []
  expect(scans.length).toBeGreaterThanOrEqual(2)
  expect(sql.match(/FROM (events|identities)\b/g)).toHaveLength(scans.length)
  const [bound] = Object.entries(params).find(([, value]) => value === company) ?? []
  for (const scan of scans) expect(scan).toContain(`WHERE company = {${bound}:String}`)
  expect(sql).not.toContain(named)
})

it('reads events of the named steps alone, and up to a window behind the range', () => {
  const { sql, params } = compiled({
    dateRange: ['2026-03-01', '2026-03-10'],
    window: { value: 2, unit: 'day' },
  })
  const values = Object.values(params)
  expect(sql).toMatch(/name IN \{p\d+:Array\(String\)\}/)
  expect(values).toContainEqual([named, 'purchase'])
  expect(values).toContain('2026-02-28 23:00:00.000')
  expect(values).toContain('2026-03-12 23:00:00.000')
})
