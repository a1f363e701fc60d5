import type { Query } from '@millrace/contract/resources/query.ts'
import { describe, expect, it } from 'vitest'
import { parseQuery } from '../parse/parse.ts'
import { planQuery } from '../plan.ts'
import { openZone } from '../time/zone.ts'
import { type CompiledQuery, compileQuery } from './compile.ts'
import { defaultAttribution } from './compile-credits.ts'

const company = '64b7f0a1c2d3e4f5a6b7c8d9'

function compiled(query: Partial<Query>, zone = 'Europe/Paris', exactCounts = true): CompiledQuery {
  const whole = { measures: [], dimensions: [], filters: [], timeDimensions: [], ...query }
  const now = { instant: Date.parse('2026-03-18T15:30:00Z'), zone: openZone(zone) }
  return compileQuery(planQuery(parseQuery(whole, now)), company, {
    eventAliases: new Map(),
    visibleWorkflows: 'all',
    attribution: defaultAttribution,
    exactCounts,
  })
}

describe('compiled SQL', () => {
  it('counts rows of the company within the range by local day', () => {
    const { sql, params, columns } = compiled({
      measures: ['events.count'],
      timeDimensions: [
        { dimension: 'events.time', granularity: 'day', dateRange: ['2026-03-28', '2026-03-29'] },
      ],
    })
    expect(sql).toBe(`SELECT g0, m0 AS s0
FROM (
  SELECT toDate(toUInt16(intDiv(toUnixTimestamp(time) + multiIf(toUnixTimestamp(time) < {p2:Int64}, {p3:Int64}, {p4:Int64}), 86400))) AS g0, count() AS m0
  FROM (
    SELECT time
    FROM events
    WHERE company = {p1:String}
      AND time >= {p5:DateTime64(3, 'UTC')} AND time < {p6:DateTime64(3, 'UTC')}
  )
  GROUP BY g0
)
ORDER BY g0 ASC NULLS LAST
LIMIT 10001`)
    expect(params).toEqual({
      p1: company,
      p2: Date.parse('2026-03-29T01:00:00Z') / 1000,
      p3: 3600,
      p4: 7200,
      p5: '2026-03-27 23:00:00.000',
      p6: '2026-03-29 22:00:00.000',
    })
    expect(columns).toEqual([
      { key: 'events.time.day', form: 'date' },
      { key: 'events.count', form: 'number' },
    ])
  })

  it('joins identities for persons alone, with the last binding of each device', () => {
    const { sql } = compiled({ measures: ['events.people'], dimensions: ['events.name'] })
    expect(sql).toBe(`SELECT g0, m0 AS s0
FROM (
  SELECT name AS g0, uniqExact(person) AS m0
  FROM (
    SELECT name, multiIf(client != 0, client, bound != 0, bound, device) AS person
    FROM (
      SELECT client, device, name
      FROM events
      WHERE company = {p1:String}
    ) AS stored
    LEFT ANY JOIN (
      SELECT device AS of_device, argMax(client, (time, client_id)) AS bound
      FROM identities
      WHERE company = {p1:String}
      GROUP BY device
    ) AS identity ON stored.device = identity.of_device
  )
  GROUP BY g0
)
ORDER BY s0 DESC NULLS LAST, g0 ASC NULLS LAST
LIMIT 10001`)
  })

  it('estimates large distinct counts of all rows together, unless they are to be exact', () => {
    const total = { measures: ['events.people', 'events.identifiedPeople'] }
    expect(compiled(total, 'UTC', false).sql).toContain('uniqCombined64If(20)(person, identified)')
    expect(compiled(total, 'UTC', true).sql).not.toContain('uniqCombined')
    expect(compiled({ ...total, dimensions: ['events.name'] }, 'UTC', false).sql).not.toContain(
      'uniqCombined',
    )
  })

  it('starts a session where nothing precedes within half an hour, looking back as far', () => {
    const { sql, params } = compiled(
      {
        measures: ['events.sessions'],
        filters: [{ member: 'events.name', operator: 'notEquals', values: ['identify'] }],
        timeDimensions: [
          { dimension: 'events.time', granularity: 'hour', dateRange: ['2026-01-01', '2026-01-01'] },
        ],
      },
      'UTC',
    )
    expect(sql).toContain(`GROUP BY person
  )
  ARRAY JOIN arrayFilter((time, previous) -> time - previous > 1800000, times, arrayShiftRight(times, 1, -9007199254740992)) AS start
  WHERE start >= {p5:Int64} AND start < {p6:Int64}`)
    expect(sql).toContain('AND NOT (name = {p2:String})')
    expect(params).toMatchObject({
      p2: 'identify',
      p3: '2025-12-31 23:30:00.000',
      p4: '2026-01-02 00:00:00.000',
      p5: Date.parse('2026-01-01T00:00:00Z'),
      p6: Date.parse('2026-01-02T00:00:00Z'),
    })
  })

  it('looks up what the first event of a session says by person and time, and filters whole sessions', () => {
    const { sql } = compiled({
      measures: ['sessions.count'],
      dimensions: ['sessions.browser'],
      filters: [
        { member: 'sessions.entryPath', operator: 'equals', values: ['/start'] },
        { member: 'sessions.person', operator: 'contains', values: ['a'] },
      ],
      timeDimensions: [{ dimension: 'sessions.time', dateRange: ['2026-01-01', '2026-01-31'] }],
    })
    expect(sql).toContain('AS event\n')
    expect(sql).toContain('ON event.of_person = run.person AND event.of_time = run.start')
    expect(
      sql.match(
        /HAVING uniqExact\(intDiv\(toUnixTimestamp64Milli\(time\) - \{p\d+:Int64\}, 3600000\)\) = 24/g,
      ),
    ).not.toBe(null)
    // Persons are chosen before the runs are made, everything else afterwards.
    const [outer = ''] = sql.split('GROUP BY person')
    expect(outer).not.toContain('path(')
    expect(sql).toMatch(/WHERE if\(startsWith\(entry_url/)
    for (const scan of sql.matchAll(/FROM (?:events|identities)\s+WHERE (.{9})/g))
      expect(scan[1]).toBe('company =')
  })

  it('reads the last rows of orders within the range, and filters by labels afterwards', () => {
    const { sql } = compiled({
      measures: ['purchases.revenue'],
      filters: [{ member: 'purchases.label.country', operator: 'equals', values: ['France', 'Spain'] }],
      timeDimensions: [{ dimension: 'purchases.time', dateRange: ['2026-01-01', '2026-01-31'] }],
    })
    expect(sql).toContain(`FROM orders FINAL
      WHERE company = {p1:String}
        AND time >= {p4:DateTime64(3, 'UTC')} AND time < {p5:DateTime64(3, 'UTC')}`)
    expect(sql).toContain('WHERE label_1 IN {p2:Array(String)}')
  })

  it('adds up sources, without the shared groups', () => {
    const { sql } = compiled({
      measures: ['events.count', 'events.sessions', 'purchases.averageOrderValue'],
      dimensions: ['events.deviceType'],
    })
    expect(sql).toContain('SELECT g0, sum(part0) AS m0, sum(part1) AS m1, sum(part2) AS m2, sum(part3) AS m3')
    expect(sql).toContain('if(m3 = 0, NULL, toFloat64(m2) / toFloat64(m3)) AS s2')
    expect(sql.match(/UNION ALL/g)).toHaveLength(2)
    expect(sql).toContain(
      'toUInt64(0) AS part0, toUInt64(0) AS part1, ifNull(sum(value), toDecimal128(0, 2)) AS part2',
    )
  })

  it('answers a comparison range by range', () => {
    const { sql, rangeLabels, columns } = compiled({
      measures: ['events.count'],
      timeDimensions: [
        { dimension: 'events.time', compareDateRange: ['this month', ['2026-01-01', '2026-01-31']] },
      ],
      limit: 5,
    })
    expect(rangeLabels).toEqual(['2026-03-01 - 2026-03-31', '2026-01-01 - 2026-01-31'])
    expect(columns[0]).toEqual({ key: 'compareDateRange', form: 'range' })
    expect(sql.match(/LIMIT 6\b/g)).toHaveLength(2)
    expect(sql).toMatch(/ORDER BY range, s0 DESC NULLS LAST$/)
  })

  it('answers ranges that follow each other in one pass, with a row of totals for each', () => {
    const { sql, params, rangeLabels } = compiled(
      {
        measures: ['events.count'],
        timeDimensions: [{ dimension: 'events.time', compareDateRange: ['today', 'yesterday'] }],
        limit: 5,
      },
      'UTC',
    )
    expect(rangeLabels).toHaveLength(2)
    expect(sql.match(/FROM events\n/g)).toHaveLength(1)
    expect(sql).toContain("SELECT multiIf(time < {p2:DateTime64(3, 'UTC')}, 1, 0) AS range, count() AS part0")
    expect(sql).toContain('SELECT arrayJoin([1, 0]) AS range, toUInt64(0) AS part0')
    expect(sql).toContain('LIMIT 6 BY range')
    expect(params).toMatchObject({ p2: '2026-03-18 00:00:00.000' })
  })

  it('keeps the company in every scan of a table', () => {
    const { sql } = compiled({
      measures: ['events.people', 'events.sessions', 'purchases.buyers'],
      timeDimensions: [{ dimension: 'events.time', compareDateRange: ['today', 'last week'] }],
    })
    const scans = sql.match(/FROM (?:events|orders FINAL|identities)\n\s+WHERE (.*)/g) ?? []
    expect(scans).toHaveLength(20)
    for (const scan of scans) expect(scan).toMatch(/WHERE company = \{p1:String\}$/)
  })
})
