import type { ColumnarParam } from '../../../platform/stores/columnar.ts'

/** A statement that reads a few rows of the columnar store. */
export interface ParameterStatement {
  readonly sql: string
  readonly params: Readonly<Record<string, ColumnarParam>>
}

/** Displays and clicks that are read. */
export interface UsedWhere {
  readonly companyId: string
  readonly workflowIds: readonly string[]
  readonly since: Date
}

const scope = `company = {company:String}
  AND time >= {since:DateTime64(3, 'UTC')}
  AND workflow_id IN {workflows:Array(String)}`

const paramsOf = ({ companyId, workflowIds, since }: UsedWhere) => ({
  company: companyId,
  workflows: [...workflowIds],
  since,
})

/** Name and value, in the order of their bytes; of each name at most `limit`. */
export function valuesOfParameters(
  where: UsedWhere,
  names: readonly string[],
  limit: number,
): ParameterStatement {
  return {
    sql: `SELECT name, value
FROM workflow_events
ARRAY JOIN mapKeys(parameters) AS name, mapValues(parameters) AS value
WHERE ${scope}
  AND name IN {names:Array(String)}
  AND value != ''
GROUP BY name, value
ORDER BY name, value
LIMIT {limit:UInt32} BY name`,
    params: { ...paramsOf(where), names: [...names], limit },
  }
}

/** Name and number of uses, those used most first; at most `limit`. */
export function usedParameters(where: UsedWhere, limit: number): ParameterStatement {
  return {
    sql: `SELECT name, count() AS uses
FROM workflow_events
ARRAY JOIN mapKeys(parameters) AS name
WHERE ${scope}
GROUP BY name
ORDER BY uses DESC, name
LIMIT {limit:UInt32}`,
    params: { ...paramsOf(where), limit },
  }
}
