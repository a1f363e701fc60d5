import type { RetentionQuery } from '@millrace/contract/resources/retention.ts'
import { expect, it } from 'vitest'
import { defaultAttribution } from '../../query/compile/compile-credits.ts'
import { openZone } from '../../query/time/zone.ts'
import { compileRetention } from './compile-retention.ts'
import { parseRetention } from './parse-retention.ts'

const weekly: RetentionQuery = {
  firstEvent: { events: ['a', 'b'] },
  returnEvent: { events: ['b', 'c'] },
  granularity: 'week',
  periods: 2,
  dateRange: ['2026-03-02', '2026-03-08'],
}

function compile(parts: Partial<RetentionQuery> = {}) {
  const now = { instant: Date.parse('2026-04-01T00:00:00Z'), zone: openZone('UTC'), cohorts: new Map() }
  const settings = {
    eventAliases: new Map(),
    visibleWorkflows: 'all' as const,
    attribution: defaultAttribution,
  }
  const { sql, params } = compileRetention(parseRetention({ ...weekly, ...parts }, now), 'company', settings)
  const shown = Object.entries(params).reduce(
    (text, [name, value]) => text.replaceAll(new RegExp(`\\{${name}:[^}]*\\}`, 'g'), JSON.stringify(value)),
    sql,
  )
  const scan = shown.slice(shown.indexOf('FROM events'))
  return scan.slice(0, scan.indexOf(') AS stored')).replaceAll(/\s+/g, ' ').trim()
}

it('reads the names of both kinds of events, as far as the periods reach', () => {
  expect(compile({ cohorts: 'recurring' })).toBe(
    'FROM events WHERE company = "company" AND time >= "2026-03-02 00:00:00.000" AND time < "2026-03-16 00:00:00.000" ' +
      'AND name IN ["a","b","c"]',
  )
})

it('reads the whole history for first times, and any later event for returns on or after', () => {
  expect(compile()).toBe(
    'FROM events WHERE company = "company" AND time < "2026-03-16 00:00:00.000" AND name IN ["a","b","c"]',
  )
  expect(compile({ cohorts: 'recurring', returns: 'on-or-after' })).toBe(
    'FROM events WHERE company = "company" AND time >= "2026-03-02 00:00:00.000" AND name IN ["a","b","c"]',
  )
})

it('reads events of any name where one kind is any event', () => {
  expect(compile({ cohorts: 'recurring', returnEvent: {} })).not.toContain('name IN')
})
