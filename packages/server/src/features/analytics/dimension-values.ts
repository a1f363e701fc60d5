import { valuesDays } from '@millrace/contract/operations/statistics.ts'
import type { Filter, Query } from '@millrace/contract/resources/query.ts'
import { resolveDimension } from './query/parse/parse-members.ts'
import { createQueryFaults } from './query/query-faults.ts'

export interface ValuesAsked {
  /** Id of a dimension. */
  readonly member: string
  readonly contains?: string | undefined
  readonly limit?: number | undefined
}

const defaultLimit = 20

interface ValuesQuery {
  readonly query: Query
  /** The key of the counts in its rows. */
  readonly count: string
}

/**
 * The query for the values of a text dimension with their counts.
 * @throws {DomainError} `unknownMember`, or `invalidQuery` for a member that is no text dimension
 */
export function valuesQuery({ member, contains, limit = defaultLimit }: ValuesAsked): ValuesQuery {
  const faults = createQueryFaults()
  const dimension = resolveDimension(member, 'member', faults)?.dimension
  if (dimension && dimension.type !== 'string') {
    const text = `${dimension.id} is a ${dimension.type}: only texts have values to choose from`
    faults.invalid('member', text, dimension.id)
  }
  faults.throwAny()
  const source = dimension?.source ?? ''
  const count = `${source}.count`
  const filters: Filter[] = [{ member, operator: 'set' }]
  if (contains !== undefined) filters.push({ member, operator: 'contains', values: [contains] })
  const query: Query = {
    measures: [count],
    dimensions: [member],
    filters,
    timeDimensions: [{ dimension: `${source}.time`, dateRange: `from ${valuesDays - 1} days ago to now` }],
    order: [[count, 'desc']],
    limit,
  }
  return { query, count }
}
