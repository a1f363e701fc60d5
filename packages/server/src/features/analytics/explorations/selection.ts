import type { EventSelection } from '@millrace/contract/resources/exploration.ts'
import type { Filter } from '@millrace/contract/resources/query.ts'
import { dimensionIn, findDimension, findMeasure } from '../catalogue/catalogue.ts'
import type { Dimension } from '../catalogue/member.ts'
import { type MemberUse, membersOfFilters } from '../label-warnings.ts'
import { parseFilters } from '../query/parse/parse-filters.ts'
import { type DimensionFilter, type FilterTree, isGroup, mapTree, type Reading } from '../query/query.ts'
import { faultsBy, type QueryFaults } from '../query/query-faults.ts'

export const eventName = known('events.name')
export const eventTime = known('events.time')
export const eventPath = known('events.path')

function known(id: string): Dimension {
  const dimension = findDimension(id)
  if (!dimension) throw new Error(`the catalogue lacks ${id}`)
  return dimension
}

/**
 * Reads filters on single events. Measures have no value for one, and the times that count are said by the date range
 * alone.
 * @param path where the filters stand
 */
export function parseEventFilters(
  asked: readonly Filter[],
  path: string,
  now: Reading,
  faults: QueryFaults,
): FilterTree<DimensionFilter>[] {
  for (const { id, path: at } of membersOfFilters(asked, path)) {
    const message = whyNotOfEvents(id)
    if (message !== undefined) faults.invalid(at, message, id)
  }
  const placed = faultsBy(faults, (name, ...rest) => {
    // Measures are refused above.
    if (name !== 'virtualMeasureFilter') faults.add(name, ...rest)
  })
  return parseFilters(asked, now, placed, path).dimensions.map((tree) =>
    mapTree(tree, (filter) => ({
      ...filter,
      dimension: dimensionIn('events', filter.dimension) ?? filter.dimension,
    })),
  )
}

/** Why a member says nothing about single events; unknown ones are reported where they are resolved. */
function whyNotOfEvents(id: string): string | undefined {
  if (findMeasure(id)) return `${id} is a measure: only dimensions and labels of events can be filtered here`
  const dimension = findDimension(id)
  if (!dimension) return undefined
  if (dimension.type === 'time') return `${id} cannot be filtered here: give the times in dateRange`
  if (!dimensionIn('events', dimension)) return `${id} is no dimension of events`
  return undefined
}

/** Which events are selected, as filters that hold at once. */
export function parseSelection(
  { events, filters }: EventSelection,
  path: string,
  now: Reading,
  faults: QueryFaults,
): FilterTree<DimensionFilter>[] {
  const named: DimensionFilter[] = events
    ? [{ dimension: eventName, operator: 'equals', values: [...events] }]
    : []
  return [...named, ...parseEventFilters(filters ?? [], `${path}.filters`, now, faults)]
}

/**
 * The filter on names that events of any of these selections pass, since a store reads by name faster than by
 * selection; nothing where one of them takes any name.
 */
export function namesOfAny(
  selections: readonly (readonly FilterTree<DimensionFilter>[])[],
): DimensionFilter[] {
  const names = selections.map((filters) =>
    filters.flatMap((each) => (isGroup(each) ? [] : [each])).find(isOfNames),
  )
  const values = names.flatMap((filter) => filter?.values ?? [])
  if (names.includes(undefined)) return []
  return [{ dimension: eventName, operator: 'equals', values: [...new Set(values)] }]
}

function isOfNames({ dimension, operator }: DimensionFilter): boolean {
  return dimension === eventName && operator === 'equals'
}

/** The members that a selection names. */
export function membersOfSelection({ filters }: EventSelection, path: string): MemberUse[] {
  return membersOfFilters(filters ?? [], `${path}.filters`)
}
