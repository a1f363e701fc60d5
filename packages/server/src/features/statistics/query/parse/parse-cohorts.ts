import type { BinaryFilter } from '@millrace/contract/resources/query.ts'
import { isId, normalizeId } from '../../../../platform/ids.ts'
import type { CohortCondition, KnownCohorts } from '../query.ts'
import type { QueryFaults } from '../query-faults.ts'
import { shown } from './parse-members.ts'

/** Who passes a filter on cohorts; undefined, with its fault, where one of them does not exist. */
export function resolveCohorts(
  filter: BinaryFilter,
  path: string,
  cohorts: KnownCohorts | undefined,
  faults: QueryFaults,
): CohortCondition | undefined {
  const { operator } = filter
  const values = filter.values ?? []
  if (!cohorts) {
    faults.invalid(path, 'a cohort cannot be named here', 'persons.cohort')
    return undefined
  }
  const of: CohortCondition[] = []
  for (const [i, value] of values.entries()) {
    const found = isId(value) ? cohorts.get(normalizeId(value)) : undefined
    if (found) of.push(found)
    else {
      const message = `there is no cohort ${shown(value)}; GET /v2/statistics/cohorts lists those of your company`
      faults.invalid(`${path}.values.${i}`, message, 'persons.cohort')
    }
  }
  if (of.length < values.length) return undefined
  return operator === 'equals' ? { kind: 'or', of } : { kind: 'not', of: { kind: 'or', of } }
}
