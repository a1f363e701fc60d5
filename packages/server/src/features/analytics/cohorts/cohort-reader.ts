import { cohortLimits } from '@millrace/contract/resources/cohort.ts'
import { DomainError } from '../../../platform/errors.ts'
import { isId, normalizeId } from '../../../platform/ids.ts'
import { cohort } from '../catalogue/catalogue.ts'
import { type CohortCondition, type KnownCohorts, leavesOf } from '../query/query.ts'
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
    const named = cohortsIn(body)
    if (named.size === 0) return new Map()
    if (named.size > cohortLimits.perQuery) {
      throw tooComplex(`A query may name ${cohortLimits.perQuery} different cohorts, not ${named.size}`)
    }
    const found = await listByIds(companyId, [...named.keys()])
    const cohorts = new Map(found.map((each) => [each.id, conditionOf(each, now)]))
    const conditions = [...cohorts].reduce((n, [id, each]) => n + countOf(each) * (named.get(id) ?? 0), 0)
    const limit = cohortLimits.conditionsPerQuery
    if (conditions > limit) {
      throw tooComplex(
        `The cohorts that a query names may have ${limit} conditions and filters together, each cohort counted as ` +
          `often as it is named, and these have ${conditions}: name each once, beside the other filters`,
      )
    }
    return cohorts
  }
}

const tooComplex = (message: string) => new DomainError('tooComplex', {}, { message })

/** Conditions and filters, each of which is written out wherever the cohort is named. */
function countOf(condition: CohortCondition): number {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.of.reduce((n, each) => n + countOf(each), 0)
    case 'not':
      return countOf(condition.of)
    case 'events':
      return 1 + leavesOf(condition.filters).length
    default:
      return 1
  }
}

/** Who belongs to a stored cohort at this instant. */
export function conditionOf({ id, name, rule, listId }: StoredCohort, now: Now): CohortCondition {
  if (listId !== null) return { kind: 'list', cohortId: id, listId }
  if (rule === null) throw new Error(`the cohort ${id} has neither rule nor list`)
  return parseCohortRule(rule, now, `cohort ${JSON.stringify(name)}`)
}

/** The ids in values of filters on cohorts, and how often each stands there. */
function cohortsIn(body: unknown): Map<string, number> {
  const named = new Map<string, number>()
  const left: unknown[] = [body]
  while (left.length > 0) {
    const each = left.pop()
    if (each === null || typeof each !== 'object') continue
    left.push(...Object.values(each))
    const { member, dimension, values } = each as Record<string, unknown>
    if ((member ?? dimension) !== cohort.id || !Array.isArray(values)) continue
    for (const value of values) {
      if (typeof value !== 'string' || !isId(value)) continue
      const id = normalizeId(value)
      named.set(id, (named.get(id) ?? 0) + 1)
    }
  }
  return named
}
