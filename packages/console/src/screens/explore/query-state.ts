import type { Query } from '@millrace/sdk'
import {
  type BinaryFilter,
  type Filter,
  type FilterGroup,
  leavesOf,
  memberOf,
  sourceOf,
} from '../../data/filters.ts'
import { type Granularity, isDimension, isMeasure, type Meta } from '../../data/format.ts'

export type { Query }
export type Operator = BinaryFilter['operator']
export type TimeDimension = Query['timeDimensions'][number]

export const granularities: readonly Granularity[] = [
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
]

export const maxLimit = 50_000
/** Filters within filters. */
export const maxDepth = 5

export const joinOf = (group: FilterGroup): 'and' | 'or' => (group.or ? 'or' : 'and')

export const filtersOf = (group: FilterGroup): readonly Filter[] => group.or ?? group.and ?? []

export const groupOf = (join: 'and' | 'or', filters: readonly Filter[]): FilterGroup =>
  ({ [join]: filters }) as FilterGroup

/** Every member that a query names, each once. */
export function membersOf({ measures, dimensions, filters, timeDimensions }: Query): string[] {
  return [
    ...new Set([
      ...measures,
      ...dimensions,
      ...leavesOf(filters).map(memberOf),
      ...timeDimensions.map(({ dimension }) => dimension),
    ]),
  ]
}

/** Of a member that is listed, or of any label. */
export function operatorsOf(meta: Meta, member: string): readonly Operator[] {
  if (isMeasure(meta, member)) return ['gt', 'gte', 'lt', 'lte', 'equals', 'notEquals']
  const known = meta.dimensions[member]?.operators
  if (known) return known as readonly Operator[]
  return ['equals', 'notEquals', 'contains', 'notContains', 'startsWith', 'endsWith', 'set', 'notSet']
}

export const takesValues = (operator: Operator): boolean => operator !== 'set' && operator !== 'notSet'

interface ReadQuery {
  readonly query: Query
  /** Names of what the address holds and the model does not know. */
  readonly leftOut: readonly string[]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The question that a screen begins with. */
export function initialQuery(meta: Meta): Query {
  const measure = isMeasure(meta, 'events.count') ? 'events.count' : Object.keys(meta.measures)[0]
  return {
    measures: measure === undefined ? [] : [measure],
    dimensions: [],
    filters: [],
    timeDimensions: [{ dimension: 'events.time', granularity: 'day', dateRange: 'from 29 days ago to now' }],
  }
}

/** The query of an address: what is unknown, gone or malformed is left out, and named. */
export function readQuery(value: unknown, meta: Meta): ReadQuery {
  if (!isRecord(value)) return { query: initialQuery(meta), leftOut: value === undefined ? [] : ['query'] }
  const leftOut = new Set<string>()
  const omit = (what: unknown): undefined => {
    leftOut.add(typeof what === 'string' ? what.slice(0, 80) : JSON.stringify(what ?? null).slice(0, 80))
    return undefined
  }
  const members = (asked: unknown, isKnown: (id: string) => boolean): string[] => [
    ...new Set(
      listOf(asked).flatMap((id) => (typeof id === 'string' && isKnown(id) ? [id] : (omit(id) ?? []))),
    ),
  ]
  const known = (id: string) => isMeasure(meta, id) || isDimension(meta, id)

  function readFilter(filter: unknown, depth: number): Filter | undefined {
    if (!isRecord(filter)) return omit(filter)
    const join = 'or' in filter ? 'or' : 'and'
    if (!('operator' in filter)) {
      if (depth >= maxDepth || !Array.isArray(filter[join])) return omit(filter)
      const inner = listOf(filter[join]).flatMap((each) => readFilter(each, depth + 1) ?? [])
      return inner.length > 0 ? groupOf(join, inner) : undefined
    }
    const member = filter.member ?? filter.dimension
    if (typeof member !== 'string' || !known(member)) return omit(member)
    const operator = operatorsOf(meta, member).find((each) => each === filter.operator)
    if (operator === undefined) return omit(`${member} ${String(filter.operator)}`)
    if (!takesValues(operator)) return { member, operator }
    const values = listOf(filter.values).filter((each) => typeof each === 'string')
    return values.length > 0 ? { member, operator, values } : omit(member)
  }

  const isRange = (range: unknown) =>
    (typeof range === 'string' && range !== '') ||
    (Array.isArray(range) &&
      range.length >= 1 &&
      range.length <= 2 &&
      range.every((each) => each === null || typeof each === 'string'))

  function readTime(time: unknown): TimeDimension | undefined {
    if (!isRecord(time)) return omit(time)
    const { dimension, granularity, dateRange, compareDateRange } = time
    if (typeof dimension !== 'string' || meta.dimensions[dimension]?.type !== 'time') return omit(dimension)
    const unit = granularities.find((each) => each === granularity)
    const compared = listOf(compareDateRange).filter(isRange) as NonNullable<
      TimeDimension['compareDateRange']
    >
    return {
      dimension,
      ...(unit ? { granularity: unit } : granularity ? (omit(granularity) ?? {}) : {}),
      ...(compared.length > 0
        ? { compareDateRange: compared }
        : isRange(dateRange)
          ? { dateRange: dateRange as NonNullable<TimeDimension['dateRange']> }
          : dateRange
            ? (omit(dateRange) ?? {})
            : {}),
    }
  }

  const whole = (number: unknown, min: number) =>
    Number.isInteger(number) && (number as number) >= min && (number as number) <= maxLimit
      ? (number as number)
      : undefined
  const query: Query = {
    measures: members(value.measures, (id) => isMeasure(meta, id)),
    dimensions: members(value.dimensions, (id) => isDimension(meta, id)),
    filters: listOf(value.filters).flatMap((each) => readFilter(each, 0) ?? []),
    timeDimensions: listOf(value.timeDimensions).flatMap((each) => readTime(each) ?? []),
  }
  const limit = whole(value.limit, 1)
  const offset = whole(value.offset, 1)
  const order = readOrder(value.order, query, meta)
  if (limit !== undefined) query.limit = limit
  if (offset !== undefined) query.offset = offset
  if (value.total === true) query.total = true
  if (value.fill === true && query.timeDimensions.some(({ granularity }) => granularity)) query.fill = true
  if (typeof value.timezone === 'string' && value.timezone !== '') query.timezone = value.timezone
  if (order.length > 0) query.order = order
  return { query, leftOut: [...leftOut] }
}

type Direction = 'asc' | 'desc'

/** Of both forms, what the rows can be ordered by. */
export function readOrder(order: unknown, query: Query, meta: Meta): [string, Direction][] {
  const pairs = Array.isArray(order) ? order : isRecord(order) ? Object.entries(order) : []
  return pairs.flatMap((pair): [string, Direction][] => {
    const [member, direction] = listOf(pair)
    if (typeof member !== 'string' || (direction !== 'asc' && direction !== 'desc')) return []
    const isShown =
      isMeasure(meta, member) ||
      query.dimensions.includes(member) ||
      query.timeDimensions.some(
        ({ dimension, granularity }) =>
          granularity && (member === dimension || member === `${dimension}.${granularity}`),
      )
    return isShown ? [[member, direction]] : []
  })
}

/** The query without what no longer fits it: orders by what it does not show, empty buckets without a grouping. */
export function settled(query: Query, meta: Meta): Query {
  const { order, fill, ...rest } = query
  const kept = readOrder(order, query, meta)
  const isByTime = query.timeDimensions.some(({ granularity }) => granularity)
  return {
    ...rest,
    ...(kept.length > 0 ? { order: kept } : {}),
    ...(fill && isByTime ? { fill } : {}),
  }
}

/**
 * Adds or removes a measure. The time follows the source of the first measure: any of them would do, but the one of the
 * source is what a reader expects.
 */
export function withMeasures(query: Query, measures: readonly string[], meta: Meta): Query {
  const [first] = measures
  const time = first === undefined ? undefined : `${sourceOf(first)}.time`
  const times = query.timeDimensions.map((each, i) =>
    i === 0 && time !== undefined && meta.dimensions[time]?.type === 'time'
      ? { ...each, dimension: time }
      : each,
  )
  return settled({ ...query, measures: [...measures], timeDimensions: times }, meta)
}

/** What the builder has no control for, and keeps as it is. */
export function unseenIn(query: Query): ('times' | 'offset' | 'comparison' | 'orders')[] {
  const [time] = query.timeDimensions
  return [
    ...(query.timeDimensions.length > 1 ? (['times'] as const) : []),
    ...((time?.compareDateRange?.length ?? 0) > 2 ? (['comparison'] as const) : []),
    ...(query.offset ? (['offset'] as const) : []),
    ...(Array.isArray(query.order) && query.order.length > 1 ? (['orders'] as const) : []),
  ]
}
