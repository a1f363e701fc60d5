import { interactionNames, storedInteractions } from '../../../../database/workflow-columns.ts'
import { otherTeams } from '../../../../platform/statistics-rights.ts'
import type { Expression, Source } from '../../catalogue/member.ts'
import type { EventAliases } from './event-name.ts'
import { nested, type Parameters, select } from './parameters.ts'

/**
 * Of which workflows names, addresses and parameters are shown (docs/statistics.md, Workflows of other teams): of all, or
 * of those with these identifiers.
 */
export type VisibleWorkflows = 'all' | readonly string[]

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
  visibleWorkflows: VisibleWorkflows,
  eventAliases: EventAliases,
  parameters: Parameters,
): Expression | undefined {
  if (visibleWorkflows === 'all' || table === 'orders') return undefined
  const seen = (id: string) => `${id} IN ${parameters.bind('Array(String)', visibleWorkflows)}`
  if (table === 'workflow_events') return { sql: seen('workflow_id'), columns: ['workflow_id'] }
  const names = parameters.bind('Array(String)', storedInteractionNames(eventAliases))
  const id = "labels['workflowId']"
  return { sql: `(name NOT IN ${names} OR ${id} = '' OR ${seen(id)})`, columns: ['name', 'labels'] }
}

/**
 * The displays and clicks of a company's workflows: the table, and custom events that the company has renamed to one of
 * them, which are stored as events alone.
 */
export function interactionsTable(
  ofCompany: string,
  eventAliases: EventAliases,
  parameters: Parameters,
): string {
  const renamedTo = (name: string) =>
    [...eventAliases].filter(([, alias]) => alias === name).map(([stored]) => stored)
  const clicks = renamedTo(interactionNames.click)
  const names = [...renamedTo(interactionNames.display), ...clicks]
  if (names.length === 0) return 'workflow_events'
  const { condition, columns } = storedInteractions(`name IN ${parameters.bind('Array(String)', clicks)}`)
  const named = Object.entries(columns).map(([name, sql]) => (name === sql ? name : `${sql} AS ${name}`))
  const renamed = select(named, 'events', [
    ofCompany,
    `name IN ${parameters.bind('Array(String)', names)}`,
    condition,
  ])
  const own = select(Object.keys(columns), 'workflow_events', [ofCompany])
  return nested(`${own}\nUNION ALL\n${renamed}`)
}
