import type { FilterOperator } from '@millrace/contract/resources/query.ts'
import type { Parameters } from './parameters.ts'

/**
 * Custom events of a company that were renamed: the name under which each stored name answers. An alias is never a
 * stored name that has an alias itself.
 */
export type EventAliases = ReadonlyMap<string, string>

/**
 * The SQL of the name under which an event answers, over the column of stored names. For groupings and for what is
 * shown; a condition that an event has some name compares stored names (`storedNamesOf`), which is faster.
 */
export function eventNameSql(column: string, aliases: EventAliases, parameters: Parameters): string {
  if (aliases.size === 0) return column
  const names = parameters.bind('Array(String)', [...aliases.keys()])
  const shown = parameters.bind('Array(String)', [...aliases.values()])
  // Without a default of its own, which would be computed row by row instead of once for each name.
  return `transform(${column}, ${names}, ${shown})`
}

/** A name that has an alias means the alias, so that what was asked before an event was renamed is answered as before. */
export function shownNameOf(name: string, aliases: EventAliases): string {
  return aliases.get(name) ?? name
}

/** All names under which events that answer as these are stored. */
export function storedNamesOf(names: readonly string[], aliases: EventAliases): string[] {
  const shown = new Set(names.map((name) => shownNameOf(name, aliases)))
  const renamed = [...aliases].filter(([, alias]) => shown.has(alias)).map(([name]) => name)
  return [...shown, ...renamed]
}

/** What a filter on the names of events compares: an expression over the column of stored names, and with which values. */
export function comparedNames(
  column: string,
  { operator, values }: { readonly operator: FilterOperator; readonly values: readonly string[] },
  aliases: EventAliases,
  parameters: Parameters,
): { readonly sql: string; readonly values: readonly string[] } {
  return operator === 'equals' || operator === 'notEquals'
    ? { sql: column, values: storedNamesOf(values, aliases) }
    : { sql: eventNameSql(column, aliases, parameters), values }
}
