import { type Query, queryLimits } from '@millrace/contract/resources/query.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { findMeasure } from '../../catalogue/catalogue.ts'
import type { Measure } from '../../catalogue/member.ts'
import type { Grouping, Ordering, ParsedQuery, Reading } from '../query.ts'
import { createQueryFaults, type QueryFaults } from '../query-faults.ts'
import { findZone, type Zone } from '../time/zone.ts'
import { parseFilters } from './parse-filters.ts'
import { resolveDimension, resolveMeasure, shown } from './parse-members.ts'
import { parseTimeDimensions } from './parse-time.ts'

/** A direction, as the contract's schema spells it. */
type Direction = Ordering['direction']

/** How the answer will be sent. */
export interface ParseOptions {
  /** Row by row, without bounds of their number and without a place for a total. */
  readonly streamed?: boolean
}

/**
 * Resolves the names of a query that the contract's schema has accepted, reads its values and dates, and
 * fills in limit and order (docs/interface.md, Operations).
 * @throws {DomainError} `unknownMember`, `virtualMeasureFilter` or `invalidQuery`, naming every fault
 */
export function parseQuery(
  query: Query,
  { zone: ofCompany, ...reading }: Reading,
  { streamed = false }: ParseOptions = {},
): ParsedQuery {
  const faults = createQueryFaults()
  const now = { ...reading, zone: parseZone(query.timezone, faults) ?? ofCompany }
  const measures = parseMeasures(query.measures, faults)
  const times = parseTimeDimensions(query.timeDimensions, now, faults)
  const dimensions = parseDimensions(query.dimensions, faults)
  const groupings = [...times.groupings, ...dimensions]
  const filters = parseFilters(query.filters, now, faults)
  refuseRepeatedKeys(groupings, faults)
  const order = parseOrder(query.order, measures, groupings, faults)
  if (streamed && query.total) {
    faults.invalid(
      'total',
      'a streamed result begins before its rows are counted: ask for the total with "Accept: application/json"',
    )
  }
  if (query.fill) refuseFill(groupings, faults)
  faults.throwAny()
  if (measures.length === 0 && groupings.length === 0) {
    faults.invalid(
      'measures',
      'the query asks for nothing: name at least one measure, one dimension or one granularity',
    )
    faults.throwAny()
  }
  return Object.freeze({
    zone: now.zone,
    measures,
    groupings,
    filters: filters.dimensions,
    measureFilters: filters.measures,
    times: [...times.members, ...filters.times],
    when: filters.when(times.when),
    ...(times.comparison ? { comparison: times.comparison } : {}),
    order,
    limit: query.limit ?? (streamed ? undefined : queryLimits.defaultRows),
    offset: query.offset ?? 0,
    total: query.total ?? false,
    fill: query.fill ?? false,
  })
}

export function parseZone(name: Query['timezone'], faults: QueryFaults): Zone | undefined {
  if (name === undefined || name === null) return undefined
  const zone = findZone(name)
  if (!zone) {
    const text = `${shown(name)} is not the IANA name of a time zone, as Europe/Paris`
    faults.invalid('timezone', text)
  }
  return zone
}

/** Rows are filled along one axis. */
function refuseFill(groupings: readonly Grouping[], faults: QueryFaults): void {
  const times = groupings.filter(({ dimension }) => dimension.type === 'time')
  if (times.length === 1 && times[0]?.granularity !== undefined) return
  faults.invalid(
    'fill',
    times.length > 1
      ? `buckets are filled along one time, and the rows are grouped by ${times.map(({ key }) => key).join(', ')}`
      : 'there are no buckets to fill: give a time dimension a granularity',
  )
}

function parseMeasures(ids: readonly string[], faults: QueryFaults): Measure[] {
  return ids.flatMap((id, i) => {
    const path = `measures.${i}`
    if (ids.indexOf(id) !== i) faults.invalid(path, `the measure ${id} is named twice`, id)
    return resolveMeasure(id, path, faults) ?? []
  })
}

function parseDimensions(ids: readonly string[], faults: QueryFaults): Grouping[] {
  return ids.flatMap((id, i) => resolveDimension(id, `dimensions.${i}`, faults) ?? [])
}

function refuseRepeatedKeys(groupings: readonly Grouping[], faults: QueryFaults): void {
  const seen = new Set<string>()
  for (const { key, dimension } of groupings) {
    if (seen.has(key)) {
      faults.invalid('dimensions', `the rows are grouped by ${key} twice`, dimension.id)
    }
    seen.add(key)
  }
}

/** Both forms of the order as pairs; a map sorts by its keys in their order. */
function pairsOf(order: Query['order']): (readonly [string, Direction])[] {
  if (order === undefined || order === null) return []
  return Array.isArray(order)
    ? order.map(([member, direction]) => [member, direction])
    : Object.entries(order as Record<string, Direction>)
}

/**
 * The order that the rows come in. Whatever is asked, times and dimensions break ties, so that the same
 * query over the same events gives the same rows in the same order.
 */
function parseOrder(
  asked: Query['order'],
  measures: readonly Measure[],
  groupings: readonly Grouping[],
  faults: QueryFaults,
): Ordering[] {
  const order: Ordering[] = []
  for (const [i, [member, direction]] of pairsOf(asked).entries()) {
    const selected = selectedKey(member, measures, groupings)
    const unselected = selected === undefined ? findMeasure(member) : undefined
    const key = selected ?? unselected?.id
    const path = `order.${Array.isArray(asked) ? i : member.slice(0, 100)}`
    if (key === undefined) {
      faults.invalid(
        path,
        `the rows cannot be ordered by ${shown(member)}: it is no measure, and the query does not group by it${hintOf(member, [...measures.map(({ id }) => id), ...groupings.map(({ key }) => key)])}`,
        member,
      )
    } else if (order.some((each) => each.key === key)) {
      faults.invalid(path, `the rows are ordered by ${shown(member)} twice`, member)
    } else order.push({ key, direction, ...(unselected ? { unselected } : {}) })
  }
  if (order.length === 0) order.push(...defaultOrder(measures, groupings))
  for (const { key } of groupings) {
    if (order.every((each) => each.key !== key)) order.push({ key, direction: 'asc' })
  }
  return order
}

/** The column that an order means: its key, or a time dimension's id for the first grouping by it. */
function selectedKey(
  member: string,
  measures: readonly Measure[],
  groupings: readonly Grouping[],
): string | undefined {
  if (measures.some(({ id }) => id === member)) return member
  const exact = groupings.find(({ key }) => key === member)
  return (exact ?? groupings.find(({ dimension }) => dimension.id === member))?.key
}

function defaultOrder(measures: readonly Measure[], groupings: readonly Grouping[]): Ordering[] {
  const time = groupings.find(({ granularity }) => granularity !== undefined)
  if (time) return [{ key: time.key, direction: 'asc' }]
  const [measure] = measures
  if (measure) return [{ key: measure.id, direction: 'desc' }]
  return []
}
