import {
  type BinaryFilter,
  type Filter,
  type FilterOperator,
  presenceOperators,
  queryLimits,
} from '@millrace/contract/resources/query.ts'
import { isId, normalizeId } from '../../../../platform/ids.ts'
import { type Dimension, type Measure, operatorsFor, operatorsOf } from '../../catalogue/member.ts'
import { isUnreadableNumber } from '../numbers.ts'
import type {
  CohortCondition,
  DimensionFilter,
  FilterTree,
  KnownCohorts,
  MeasureFilter,
  Reading,
} from '../query.ts'
import type { QueryFaults } from '../query-faults.ts'
import { type Now, readMoment, readRange } from '../time/dates.ts'
import {
  always,
  complementOf,
  type Interval,
  intersectionOf,
  type TimeSet,
  unionOf,
} from '../time/interval.ts'
import { resolveMember, shown } from './parse-members.ts'
import { readDates } from './parse-time.ts'

/** A filter or group that was read, by what it filters: rows, groups of rows, or the instants that count. */
type Condition =
  | { readonly kind: 'dimension'; readonly filter: FilterTree<DimensionFilter> }
  | { readonly kind: 'measure'; readonly filter: FilterTree<MeasureFilter> }
  | { readonly kind: 'time'; readonly set: TimeSet }

/** Text of all filters together, in UTF-16 code units: it is sent to the engine apart from the statement. */
const filterText = 100_000

/** Values that all filters together compare by size, each of which is a condition of its own in the statement. */
const comparedValues = 1_000

/** Operators that compare texts with a number as numbers. */
const comparisons: ReadonlySet<FilterOperator> = new Set(['gt', 'gte', 'lt', 'lte'])

const number = /^[+-]?(?:\d{1,18}(?:\.\d{0,10})?|\.\d{1,10})$/

/** A filter with its place; those of groups are found in them. */
function* filtersIn(asked: readonly Filter[], path: string): Generator<[BinaryFilter, string]> {
  for (const [i, filter] of asked.entries()) {
    const here = `${path}.${i}`
    if (isBinary(filter)) yield [filter, here]
    else {
      yield* filtersIn(filter.and ?? [], `${here}.and`)
      yield* filtersIn(filter.or ?? [], `${here}.or`)
    }
  }
}

function isBinary(filter: Filter): filter is BinaryFilter {
  return 'operator' in filter
}

/** The filters with their places, those within groups included. */
export function listFilters(asked: readonly Filter[], path = 'filters'): (readonly [BinaryFilter, string])[] {
  return [...filtersIn(asked, path)]
}

/** @param path where the filters stand in what was asked */
export function parseFilters(asked: readonly Filter[], now: Reading, faults: QueryFaults, path = 'filters') {
  const times: Dimension[] = []
  const all = listFilters(asked, path)
  if (all.length > queryLimits.filtersInGroups) {
    const text = `${all.length} filters are more than the ${queryLimits.filtersInGroups} that all groups may hold together`
    faults.invalid(path, text)
  }
  const textLength = ({ values }: BinaryFilter) => (values ?? []).reduce((n, value) => n + value.length, 0)
  if (all.reduce((sum, [filter]) => sum + textLength(filter), 0) > filterText) {
    faults.add('tooComplex', path, `The values of all filters together may have ${filterText} characters`)
  }

  const compared = all.flatMap(([{ operator, values }]) => (comparisons.has(operator) ? (values ?? []) : []))
  if (compared.length > comparedValues) {
    const text = `${[...comparisons].join(', ')} of all filters together may have ${comparedValues} values, not ${compared.length}`
    faults.add('tooComplex', path, text)
  }

  function readFilter(filter: BinaryFilter, here: string): Condition | undefined {
    const member = readMember(filter, here, faults)
    if (!member || !checkValues(filter, member, here, faults)) return undefined
    const { operator } = filter
    const values = filter.values ?? []
    if (member.kind === 'measure') {
      if (!member.virtual) {
        return {
          kind: 'measure',
          filter: { measure: member, operator, values: values.map((each) => each.trim()) },
        }
      }
      faults.add(
        'virtualMeasureFilter',
        here,
        `${member.id} is computed from ${listed(member.parts)} after aggregation and ` +
          'cannot be filtered; filter those',
        member.id,
      )
      return undefined
    }
    if (member.filterOnly) {
      const cohort = resolveCohorts(filter, here, now.cohorts, faults)
      return cohort && { kind: 'dimension', filter: { dimension: member, operator, values, cohort } }
    }
    if (member.type !== 'time') return { kind: 'dimension', filter: { dimension: member, operator, values } }
    times.push(member)
    const set = readTimes(filter, here, now, faults)
    return set && { kind: 'time', set }
  }

  /** Conditions that all hold: those of an `and` count as if they stood without it. */
  function readAll(filters: readonly Filter[], there: string): Condition[] {
    return filters.flatMap((filter, i) => read(filter, `${there}.${i}`))
  }

  function read(filter: Filter, here: string): Condition[] {
    if (isBinary(filter)) {
      const one = readFilter(filter, here)
      return one ? [one] : []
    }
    const { and, or } = filter
    if (and !== undefined && or !== undefined) {
      faults.invalid(here, 'a group has and, or it has or: put one into the other')
      return []
    }
    if (or === undefined) return readAll(and ?? [], `${here}.and`)
    const parts = or.map((each, j) => read(each, `${here}.or.${j}`))
    const any = readAny(parts, or, here)
    return any ? [any] : []
  }

  /** The condition that one of several holds, each made of conditions that all hold. */
  function readAny(
    parts: readonly (readonly Condition[])[],
    or: readonly Filter[],
    here: string,
  ): Condition | undefined {
    const [kind, ...others] = new Set(parts.flat().map((each) => each.kind))
    if (others.length > 0) {
      const named = [...new Set(listFilters(or).map(([filter]) => nameOf(filter)))]
      const text =
        `an or joins filters of one kind, and here are several (${named.slice(0, 5).join(', ')}): dimensions filter ` +
        'events, measures filter groups of them, and times say what counts at all. Ask one query for each kind'
      faults.invalid(here, text, ...named)
      return undefined
    }
    switch (kind) {
      case 'dimension':
        return { kind, filter: anyOf(parts.map(dimensionFilters)) }
      case 'measure':
        return { kind, filter: anyOf(parts.map(measureFilters)) }
      case 'time':
        return { kind, set: unionOf(parts.flatMap((each) => timesWithin(each, always))) }
      default:
        // Nothing in it could be read, which is a fault already.
        return undefined
    }
  }

  const conditions = readAll(asked, path)
  return {
    dimensions: dimensionFilters(conditions),
    measures: measureFilters(conditions),
    /** Time dimensions that filters name. */
    times,
    /** The instants of a set that pass all filters on times. */
    when: (set: TimeSet): TimeSet => timesWithin(conditions, set),
  }
}

const dimensionFilters = (conditions: readonly Condition[]) =>
  conditions.flatMap((each) => (each.kind === 'dimension' ? [each.filter] : []))

const measureFilters = (conditions: readonly Condition[]) =>
  conditions.flatMap((each) => (each.kind === 'measure' ? [each.filter] : []))

/** The instants of a set that pass the conditions on times. */
const timesWithin = (conditions: readonly Condition[], set: TimeSet): TimeSet =>
  conditions.reduce((left, each) => (each.kind === 'time' ? intersectionOf(left, each.set) : left), set)

function anyOf<T>(parts: readonly (readonly FilterTree<T>[])[]): FilterTree<T> {
  const filters = parts.map((part): FilterTree<T> => {
    const [only] = part
    return part.length === 1 && only !== undefined ? only : { join: 'and', filters: part }
  })
  const [single] = filters
  return filters.length === 1 && single !== undefined ? single : { join: 'or', filters }
}

/** The member that a filter names, by its new or its older name. */
export function nameOf({ member, dimension }: BinaryFilter): string {
  return member ?? dimension ?? ''
}

function readMember(
  filter: BinaryFilter,
  path: string,
  faults: QueryFaults,
): Dimension | Measure | undefined {
  const [member, dimension] = [filter.member ?? undefined, filter.dimension ?? undefined]
  if (member !== undefined && dimension !== undefined && member !== dimension) {
    faults.invalid(
      path,
      `member and dimension are two names of one field and differ here: ${member}, ${dimension}`,
      member,
    )
    return undefined
  }
  const id = member ?? dimension
  if (id === undefined) {
    faults.invalid(path, 'names no member: say in member what is filtered')
    return undefined
  }
  return resolveMember(id, `${path}.${member === undefined ? 'dimension' : 'member'}`, faults)
}

function checkValues(
  filter: BinaryFilter,
  member: Dimension | Measure,
  path: string,
  faults: QueryFaults,
): boolean {
  const { operator } = filter
  const values = filter.values ?? []
  const type = member.kind === 'measure' ? 'number' : member.type
  if (member.kind === 'measure' && member.virtual) return true
  const known = member.kind === 'measure' ? operatorsOf[type] : operatorsFor(member)
  if (!known.includes(operator)) {
    const text = `${operator} does not apply to ${member.id}, a ${type}; it takes ${known.join(', ')}`
    faults.invalid(`${path}.operator`, text, member.id)
    return false
  }
  if (presenceOperators.has(operator)) {
    if (values.length === 0) return true
    const text = `${operator} on ${member.id} asks whether there is a value: leave out values, or use equals`
    faults.invalid(`${path}.values`, text, member.id)
    return false
  }
  if (values.length === 0) {
    faults.invalid(`${path}.values`, `${operator} on ${member.id} needs at least one value`, member.id)
    return false
  }
  const wrong = values.findIndex((value) => !readable(value, type, operator))
  if (wrong < 0) return true
  const isNumber = type === 'string' && isUnreadableNumber(values[wrong] ?? '')
  const needed = {
    number: 'a decimal number as 12 or -0.5',
    boolean: 'true or false',
    string: 'well-formed text without U+0000',
    time: 'well-formed text without U+0000',
  }[isNumber ? 'number' : type]
  const value = JSON.stringify((values[wrong] ?? '').slice(0, 60))
  faults.invalid(`${path}.values.${wrong}`, `${value} is not ${needed}, as ${member.id} needs`, member.id)
  return false
}

/** Requests are checked for texts that no store can hold when they are read; other queries are checked here. */
function readable(value: string, type: Dimension['type'], operator: FilterOperator): boolean {
  if (type === 'number') return number.test(value.trim())
  if (type === 'boolean') return value === 'true' || value === 'false'
  if (type === 'string' && comparisons.has(operator) && isUnreadableNumber(value)) return false
  return value.isWellFormed() && !value.includes('\0')
}

function readTimes(filter: BinaryFilter, path: string, now: Now, faults: QueryFaults): TimeSet | undefined {
  const { operator } = filter
  const values = filter.values ?? []
  const read = (): TimeSet => {
    if (operator === 'inDateRange') return unionOf([readRange(values, now)])
    if (operator === 'notInDateRange') return complementOf(unionOf([readRange(values, now)]))
    const parts = unionOf(values.map((value) => timesOf(operator, readMoment(value, now))))
    return operator === 'notEquals' ? complementOf(parts) : parts
  }
  return readDates(`${path}.values`, faults, read, nameOf(filter))
}

/** The instants that one value of an operator means; a date is its whole day, an instant its millisecond. */
function timesOf(operator: FilterOperator, { from, to }: Interval): Interval {
  switch (operator) {
    case 'beforeDate':
    case 'lt':
      return { from: -Infinity, to: from }
    case 'beforeOrOnDate':
    case 'lte':
      return { from: -Infinity, to }
    case 'afterDate':
    case 'gt':
      return { from: to, to: Infinity }
    case 'afterOrOnDate':
    case 'gte':
      return { from, to: Infinity }
    default:
      return { from, to }
  }
}

/** Names as a sentence lists them. */
function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** Who passes a filter on cohorts; undefined, with its fault, where one of them does not exist. */
function resolveCohorts(
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
