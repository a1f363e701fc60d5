import { expect, it } from 'vitest'
import { DomainError } from '../../platform/errors.ts'
import { findMeasure } from './catalogue/catalogue.ts'
import { parseQuery } from './query/parse/parse.ts'
import { planQuery } from './query/plan.ts'
import { openZone } from './query/time/zone.ts'
import { describeStatistics } from './statistics-meta.ts'

const tagKey = { id: '65f0c0ffee5ca1ab1e0ddba1', name: 'Season' }
const cohortId = '65f0c0ffee5ca1ab1e0ddba2'
const reading = {
  instant: Date.parse('2026-03-18T15:30:00Z'),
  zone: openZone('UTC'),
  cohorts: new Map([[cohortId, { kind: 'list', cohortId, listId: cohortId } as const]]),
}

const { dimensions, measures, queryCompatibility } = describeStatistics(
  { events: ['size'], purchases: ['size'], workflows: ['size'] },
  { exactCounts: false, tagKeys: [tagKey] },
)

function isPlanned(ids: readonly string[]): boolean {
  const isFilter = (id: string) => dimensions[id]?.filterOnly === true
  const query = {
    measures: ids.filter((id) => findMeasure(id)),
    dimensions: ids.filter((id) => !findMeasure(id) && !isFilter(id)),
    filters: ids
      .filter(isFilter)
      .map((member) => ({ member, operator: 'equals' as const, values: [cohortId] })),
    timeDimensions: [],
  }
  try {
    planQuery(parseQuery(query, reading))
    return true
  } catch (error) {
    if (error instanceof DomainError && error.errorName === 'incompatibleMembers') return false
    throw error
  }
}

it('says of any two members what the planner says', () => {
  const ids = [...Object.keys(measures), ...Object.keys(dimensions)]
  const sets = queryCompatibility.components.map((component) => new Set(component))
  const different = ids.flatMap((one, i) =>
    ids
      .slice(i + 1)
      .filter((other) => {
        const isListed = sets.some((set) => set.has(one) && set.has(other))
        return isListed !== isPlanned([one, other])
      })
      .map((other) => `${one} with ${other}`),
  )
  expect(different).toEqual([])
})
