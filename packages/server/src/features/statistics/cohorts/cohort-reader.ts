import { cohortLimits } from '@millrace/contract/resources/cohort.ts'
import { DomainError } from '../../../platform/errors.ts'
import { isId, normalizeId } from '../../../platform/ids.ts'
import { cohort } from '../members/cohort.ts'
import type { CohortCondition, KnownCohorts } from '../query/query.ts'
import type { Now } from '../query/time/dates.ts'
import type { StoredCohort } from './cohort-store.ts'
import { parseCohortRule } from './parse-rule.ts'

/**
 * Finds the cohorts that a body names in filters, wherever these stand in it, and reads their rules.
 * @param now the clock, and the zone of the company
 * @throws {DomainError} `tooComplex` when it names too many of them
 */
export type ReadCohorts = (companyId: string, body: unknown, now: Now) => Promise<KnownCohorts>

export function createCohortReader(
  listByIds: (companyId: string, ids: readonly string[]) => Promise<readonly StoredCohort[]>,
): ReadCohorts {
  return async (companyId, body, now) => {
    const ids = cohortsIn(body)
    if (ids.length === 0) return new Map()
    if (ids.length > cohortLimits.perQuery) {
      const message = `A query may name ${cohortLimits.perQuery} different cohorts, not ${ids.length}`
      throw new DomainError('tooComplex', {}, { message })
    }
    const found = await listByIds(companyId, ids)
    return new Map(found.map((each) => [each.id, conditionOf(each, now)]))
  }
}

/** Who belongs to a stored cohort at this instant. */
export function conditionOf({ id, name, rule, listId }: StoredCohort, now: Now): CohortCondition {
  if (listId !== null) return { kind: 'list', cohortId: id, listId }
  if (rule === null) throw new Error(`the cohort ${id} has neither rule nor list`)
  return parseCohortRule(rule, now, `cohort ${JSON.stringify(name)}`)
}

/** The ids in values of filters on cohorts. */
function cohortsIn(body: unknown): string[] {
  const ids = new Set<string>()
  const left: unknown[] = [body]
  while (left.length > 0) {
    const each = left.pop()
    if (each === null || typeof each !== 'object') continue
    left.push(...Object.values(each))
    const { member, dimension, values } = each as Record<string, unknown>
    if ((member ?? dimension) !== cohort.id || !Array.isArray(values)) continue
    for (const value of values) if (typeof value === 'string' && isId(value)) ids.add(normalizeId(value))
  }
  return [...ids]
}
