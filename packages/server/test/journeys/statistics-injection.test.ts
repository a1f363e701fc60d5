import type { Query } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CompiledQuery, compileQuery } from '../../src/features/analytics/query/compile/compile.ts'
import { defaultAttribution } from '../../src/features/analytics/query/compile/compile-credits.ts'
import { parseQuery } from '../../src/features/analytics/query/parse/parse.ts'
import { planQuery } from '../../src/features/analytics/query/plan.ts'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import { DomainError } from '../../src/platform/errors.ts'
import { times } from '../support/long.ts'
import { testCompany } from '../support/statistics-events.ts'

const runs = times(10_000, 3_000)

function compiled(query: Partial<Query>): CompiledQuery {
  const whole = { measures: [], dimensions: [], filters: [], timeDimensions: [], ...query }
  const now = { instant: Date.parse('2026-03-18T15:30:00Z'), zone: openZone('Europe/Paris') }
  return compileQuery(planQuery(parseQuery(whole, now)), testCompany, {
    eventAliases: new Map(),
    visibleWorkflows: 'all',
    attribution: defaultAttribution,
    exactCounts: true,
    definitions: {
      workflowName: ofUsers,
      workflowTeams: ofUsers,
      categoryName: ofUsers,
      categoryLevels: { 1: ofUsers, 2: ofUsers, 3: ofUsers },
      tags: new Map([[tagKey, { isMultiple: true, values: ofUsers }]]),
    },
  })
}

/** Names that users give. */
const ofUsers = new Map([["⁂') OR 1 = 1 --⁂", "⁂\\' UNION ALL SELECT 1⁂"]])
const tagKey = '65f0c0ffee5ca1ab1e0dda01'

describe('text from outside', () => {
  const outside = fc.oneof(
    fc.constantFrom(
      "' or 1=1 --",
      "\\'",
      '%',
      '_',
      '\\',
      '`',
      '{p1:String}',
      "') UNION ALL SELECT * FROM system.tables --",
      '\n',
      '/*',
      '$label',
      "x'); DROP TABLE events; --",
    ),
    fc.string({ minLength: 1 }),
    fc.string({ unit: 'grapheme', minLength: 1 }),
  )
  /** What nothing of ours contains, around what comes from outside. */
  const marked = outside.map((text) => `⁂${text}⁂`)
  const member = fc.oneof(
    marked,
    marked.map((text) => `events.label.${text}`),
    marked.map((text) => `purchases.label.${text}`),
    marked.map((text) => `events.${text}`),
    marked.map((text) => `workflows.parameter.${text}`),
    marked.map((text) => `tags.${text}`),
    fc.constantFrom(
      'workflows.name',
      'workflows.team',
      'workflows.category',
      'workflows.categoryLevel2',
      `tags.${tagKey}`,
      'workflows.openings',
      'workflows.revenueUplift',
      'events.name',
      'purchases.item',
      'events.time',
      'events.count',
      'purchases.revenue',
      'constructor',
    ),
  )
  const operator = fc.constantFrom(
    'equals',
    'notContains',
    'gt',
    'startsWith',
    'inDateRange',
    'beforeDate',
  ) as fc.Arbitrary<'equals'>
  const query = fc.record(
    {
      measures: fc.array(member, { maxLength: 2 }),
      dimensions: fc.array(member, { maxLength: 2 }),
      filters: fc.array(
        fc.record({ member, operator, values: fc.array(marked, { minLength: 1, maxLength: 3 }) }),
        { maxLength: 3 },
      ),
      timeDimensions: fc.array(
        fc.record(
          {
            dimension: fc.oneof(member, fc.constant('events.time')),
            dateRange: fc.oneof(marked, fc.constant('today')),
          },
          { requiredKeys: ['dimension'] },
        ),
        { maxLength: 1 },
      ),
      order: fc.oneof(
        fc.dictionary(member, fc.constantFrom('asc' as const, 'desc' as const), { maxKeys: 2 }),
        fc.array(fc.tuple(member, fc.constantFrom('asc' as const, 'desc' as const)), { maxLength: 2 }),
      ),
    },
    { requiredKeys: ['measures', 'dimensions', 'filters', 'timeDimensions'] },
  )

  it('never enters SQL, and fails as a fault of the query or not at all', { timeout: runs * 40 }, () => {
    let answered = 0
    fc.assert(
      fc.property(query, (each) => {
        try {
          const { sql } = compiled(each)
          expect(sql).not.toContain('⁂')
          answered++
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          expect(error.status).toBe(400)
        }
      }),
      { numRuns: runs },
    )
    expect(answered).toBeGreaterThan(0)
  })
})
