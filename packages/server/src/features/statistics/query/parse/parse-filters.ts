import type { BinaryFilter, FilterOperator } from '@millrace/contract/resources/query.ts'
import { type Dimension, type Measure, operatorsFor, operatorsOf } from '../../members/member.ts'
import { isUnreadableNumber } from '../numbers.ts'
import type { DimensionFilter, MeasureFilter, Reading } from '../query.ts'
import type { QueryFaults } from '../query-faults.ts'
import { DateFault, type Now, readMoment, readRange } from '../time/dates.ts'
import { complementOf, type Interval, intersectionOf, type TimeSet, unionOf } from '../time/interval.ts'
import { resolveCohorts } from './parse-cohorts.ts'
import { resolveMember } from './parse-members.ts'

interface ParsedFilters {
  readonly dimensions: readonly DimensionFilter[]
  readonly measures: readonly MeasureFilter[]
  /** Time dimensions that filters name. */
  readonly times: readonly Dimension[]
  /** The instants of a set that pass all filters on times. */
  when(set: TimeSet): TimeSet
}

/** Text of all filters together, in UTF-16 code units: it is sent to the engine apart from the statement. */
const filterText = 100_000

/** Operators that compare texts with a number as numbers. */
const comparisons: ReadonlySet<FilterOperator> = new Set(['gt', 'gte', 'lt', 'lte'])

const number = /^[+-]?(?:\d{1,18}(?:\.\d{0,10})?|\.\d{1,10})$/

export function parseFilters(
  asked: readonly BinaryFilter[],
  now: Reading,
  faults: QueryFaults,
): ParsedFilters {
  const dimensions: DimensionFilter[] = []
  const measures: MeasureFilter[] = []
  const times: Dimension[] = []
  const sets: TimeSet[] = []
  for (const [i, filter] of asked.entries()) {
    const path = `filters.${i}`
    const member = readMember(filter, path, faults)
    if (!member || !checkValues(filter, member, path, faults)) continue
    const { operator, values } = filter
    if (member.kind === 'measure') {
      if (member.virtual) {
        faults.add(
          'virtualMeasureFilter',
          path,
          `${member.id} is computed from ${member.numerator} and ${member.denominator} after aggregation and ` +
            'cannot be filtered; filter those',
          member.id,
        )
      } else measures.push({ measure: member, operator, values: values.map((value) => value.trim()) })
    } else if (member.type === 'time') {
      times.push(member)
      const set = readTimes(filter, path, now, faults)
      if (set) sets.push(set)
    } else if (member.filterOnly) {
      const cohort = resolveCohorts(filter, path, now.cohorts, faults)
      if (cohort) dimensions.push({ dimension: member, operator, values, cohort })
    } else dimensions.push({ dimension: member, operator, values })
  }
  if (
    asked.reduce((sum, { values }) => sum + values.reduce((n, value) => n + value.length, 0), 0) > filterText
  ) {
    faults.add(
      'tooComplex',
      'filters',
      `The values of all filters together may have ${filterText} characters`,
    )
  }
  return { dimensions, measures, times, when: (set) => sets.reduce(intersectionOf, set) }
}

function readMember(
  filter: BinaryFilter,
  path: string,
  faults: QueryFaults,
): Dimension | Measure | undefined {
  const [member, dimension] = [filter.member ?? undefined, filter.dimension ?? undefined]
  if (member !== undefined && dimension !== undefined && member !== dimension) {
    faults.add(
      'invalidQuery',
      path,
      `member and dimension are two names of one field and differ here: ${member}, ${dimension}`,
      member,
    )
    return undefined
  }
  const id = member ?? dimension
  if (id === undefined) {
    faults.add('invalidQuery', path, 'names no member: say in member what is filtered')
    return undefined
  }
  return resolveMember(id, `${path}.${member === undefined ? 'dimension' : 'member'}`, faults)
}

function checkValues(
  { operator, values }: BinaryFilter,
  member: Dimension | Measure,
  path: string,
  faults: QueryFaults,
): boolean {
  const type = member.kind === 'measure' ? 'number' : member.type
  if (member.kind === 'measure' && member.virtual) return true
  const known = member.kind === 'measure' ? operatorsOf[type] : operatorsFor(member)
  if (!known.includes(operator)) {
    const text = `${operator} does not apply to ${member.id}, a ${type}; it takes ${known.join(', ')}`
    faults.add('invalidQuery', `${path}.operator`, text, member.id)
    return false
  }
  if (values.length === 0) {
    faults.add(
      'invalidQuery',
      `${path}.values`,
      `${operator} on ${member.id} needs at least one value`,
      member.id,
    )
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
  faults.add(
    'invalidQuery',
    `${path}.values.${wrong}`,
    `${value} is not ${needed}, as ${member.id} needs`,
    member.id,
  )
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
  const { operator, values } = filter
  try {
    if (operator === 'inDateRange') return unionOf([readRange(values, now)])
    if (operator === 'notInDateRange') return complementOf(unionOf([readRange(values, now)]))
    const parts = unionOf(values.map((value) => timesOf(operator, readMoment(value, now))))
    return operator === 'notEquals' ? complementOf(parts) : parts
  } catch (error) {
    if (!(error instanceof DateFault)) throw error
    faults.add(
      'invalidQuery',
      `${path}.values`,
      error.message,
      filter.member ?? filter.dimension ?? undefined,
    )
    return undefined
  }
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
