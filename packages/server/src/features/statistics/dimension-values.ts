import { valuesDays } from '@millrace/contract/operations/statistics.ts'
import type { Filter, Query } from '@millrace/contract/resources/query.ts'
import { interactionNames, workflowLabel } from './members/credits.ts'
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
  /** Keys of its rows. */
  readonly value: string
  readonly count: string
}

/** Whom purchases are credited to is said by interactions, of which those without a purchase count too. */
const interactionLabel = `events.label.${workflowLabel}`
const interactions: Filter = {
  member: 'events.name',
  operator: 'equals',
  values: Object.values(interactionNames),
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
    faults.add('invalidQuery', 'member', text, dimension.id)
  }
  faults.throwAny()
  const value = dimension?.ofCredits ? interactionLabel : member
  const source = value.slice(0, value.indexOf('.'))
  const count = `${source}.count`
  const filters: Filter[] = [{ member: value, operator: 'set' }]
  if (dimension?.ofCredits) filters.push({ member: value, operator: 'notEquals', values: [''] }, interactions)
  if (contains !== undefined) filters.push({ member: value, operator: 'contains', values: [contains] })
  const query: Query = {
    measures: [count],
    dimensions: [value],
    filters,
    timeDimensions: [{ dimension: `${source}.time`, dateRange: `from ${valuesDays - 1} days ago to now` }],
    order: [[count, 'desc']],
    limit,
  }
  return { query, value, count }
}
