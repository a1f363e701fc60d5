import { interactionNames, storedInteractions } from '../../../../database/workflow-columns.ts'
import type { EventAliases } from './event-name.ts'
import { nested, type Parameters, select } from './parameters.ts'

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
