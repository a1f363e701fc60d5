import { interactionNames } from '../../../../database/workflow-columns.ts'
import { otherTeams } from '../../../../platform/statistics-rights.ts'
import type { Expression, Source } from '../../members/member.ts'
import type { EventAliases } from './event-name.ts'
import type { Parameters } from './parameters.ts'

/**
 * Of which workflows names, addresses and parameters are shown (docs/statistics.md, Workflows of other teams): of all, or
 * of those with these identifiers.
 */
export type WorkflowSight = 'all' | readonly string[]

/** The column of a relation that says whether what a row names of a workflow is shown. */
export const shownColumn = 'is_shown'

/** The SQL of a value that is shown where the condition holds. */
export const concealedSql = (isShown: string, sql: string): string =>
  `if(${isShown}, ${sql}, '${otherTeams}')`

/** Names that interactions are stored under. */
export function storedInteractionNames(eventAliases: EventAliases): string[] {
  const names: readonly string[] = Object.values(interactionNames)
  const renamed = [...eventAliases].filter(([, alias]) => names.includes(alias)).map(([stored]) => stored)
  return [...names, ...renamed]
}

/** Whether a row of the source's table shows what it names of a workflow; nothing where every row does. */
export function shownSql(
  { table }: Source,
  sight: WorkflowSight,
  eventAliases: EventAliases,
  parameters: Parameters,
): Expression | undefined {
  if (sight === 'all' || table === 'orders') return undefined
  const seen = (id: string) => `${id} IN ${parameters.bind('Array(String)', sight)}`
  if (table === 'workflow_events') return { sql: seen('workflow_id'), columns: ['workflow_id'] }
  const names = parameters.bind('Array(String)', storedInteractionNames(eventAliases))
  const id = "labels['workflowId']"
  return { sql: `(name NOT IN ${names} OR ${id} = '' OR ${seen(id)})`, columns: ['name', 'labels'] }
}
