import type { Filter, Granularity, Query } from '@millrace/contract/resources/query.ts'
import type { Window } from '@millrace/contract/resources/report.ts'

/** Rows that evidence holds of a result; what is asked for fits into them. */
export const maxRows = 500
/** Members of a dimension that are told apart. */
const maxMembers = 100

const day = 86_400_000

/** What all queries of a subject have in common. */
export interface QueryScope {
  readonly source: string
  readonly filters: readonly Filter[]
  readonly timezone: string
}

/** A query with every range as instants, so that it can be run again at any time. */
function queryOf(
  { source, filters, timezone }: QueryScope,
  measures: readonly string[],
  { granularity, windows, dimensions = [], limit, order }: Asked,
): Query {
  const ranges = windows.map(({ start, end }) => [start, end])
  const [only = []] = ranges
  return {
    measures: [...new Set(measures)],
    dimensions: [...dimensions],
    filters: [...filters],
    timeDimensions: [
      {
        dimension: `${source}.time`,
        ...(granularity === undefined ? {} : { granularity }),
        ...(ranges.length > 1 ? { compareDateRange: ranges } : { dateRange: only }),
      },
    ],
    timezone,
    limit,
    ...(order === undefined ? {} : { order }),
    ...(granularity === undefined ? {} : { fill: true }),
  }
}

interface Asked {
  readonly windows: readonly Window[]
  readonly granularity?: Granularity
  readonly dimensions?: readonly string[]
  readonly limit: number
  readonly order?: Query['order']
}

/** Totals of each window, one row each. */
export function totalsQuery(
  scope: QueryScope,
  measures: readonly string[],
  windows: readonly Window[],
): Query {
  return queryOf(scope, measures, { windows, limit: 1 })
}

/** A bucket for each unit of a window. */
export function courseQuery(
  scope: QueryScope,
  measures: readonly string[],
  window: Window,
  granularity: Granularity,
): Query {
  return queryOf(scope, measures, { windows: [window], granularity, limit: maxRows })
}

/** The events of each day of a query's ranges, whatever it filters: days without any have no data. */
export function dayCountsQuery({ timeDimensions }: Pick<Query, 'timeDimensions'>, timezone: string): Query {
  const ranged = timeDimensions.find(({ dateRange, compareDateRange }) => dateRange ?? compareDateRange)
  const { dateRange, compareDateRange } = ranged ?? {}
  return {
    measures: ['events.count'],
    dimensions: [],
    filters: [],
    timeDimensions: [
      {
        dimension: 'events.time',
        granularity: 'day',
        ...(dateRange ? { dateRange } : {}),
        ...(compareDateRange ? { compareDateRange } : {}),
      },
    ],
    timezone,
    limit: maxRows,
    fill: true,
  }
}

/**
 * The day of the earliest purchase, or event, before the end of a window: when the company's data begin, whatever filters
 * choose of them. Sessions and credits, which are computed from the whole history, are not asked for it.
 */
export function firstDayQuery({ source, timezone }: QueryScope, { end }: Window): Query {
  const counted = source === 'purchases' ? 'purchases' : 'events'
  return {
    ...queryOf({ source: counted, filters: [], timezone }, [`${counted}.count`], {
      windows: [{ start: '2000-01-01T00:00:00.000Z', end }],
      granularity: 'day',
      limit: 1,
      order: [[`${counted}.time`, 'asc']],
    }),
    fill: false,
  }
}

/** The column of the day in its answer. */
export function firstDayColumn({ source }: Pick<QueryScope, 'source'>): string {
  return source === 'purchases' ? 'purchases.time.day' : 'events.time.day'
}

/** The members of a dimension in each window, the greatest first. */
export function membersQuery(
  scope: QueryScope,
  measures: readonly string[],
  dimension: string,
  windows: readonly Window[],
): Query {
  const [first = ''] = measures
  return queryOf(scope, measures, {
    windows,
    dimensions: [dimension],
    limit: maxMembers,
    order: [
      [first, 'desc'],
      [dimension, 'asc'],
    ],
  })
}

/** Whether the members of a result may be more than its rows. */
export function isCut(rows: number): boolean {
  return rows >= maxMembers
}

/** The course of some members in each window. */
export function memberCourseQuery(
  scope: QueryScope,
  measures: readonly string[],
  dimension: string,
  members: readonly (string | null)[],
  windows: readonly Window[],
  granularity: Granularity,
): Query {
  return queryOf({ ...scope, filters: [...scope.filters, memberFilter(dimension, members)] }, measures, {
    windows,
    granularity,
    dimensions: [dimension],
    limit: Math.floor(maxRows / windows.length),
  })
}

/** Rows of some members, those without a value among them. */
export function memberFilter(dimension: string, members: readonly (string | null)[]): Filter {
  const values = members.filter((member) => member !== null)
  const named: Filter = { member: dimension, operator: 'equals', values }
  const absent: Filter = { member: dimension, operator: 'notSet' }
  if (values.length === members.length) return named
  return values.length === 0 ? absent : { or: [named, absent] }
}

/** Days of a window, rounded. */
function daysOf({ start, end }: Window): number {
  return Math.round((Date.parse(end) - Date.parse(start)) / day)
}

const lengths = { day: 1, week: 7, month: 30.4 } as const
export type CourseGranularity = keyof typeof lengths

/** Buckets of a window, those that its ends cut included. */
export function bucketsOf(window: Window, granularity: CourseGranularity): number {
  return Math.ceil(daysOf(window) / lengths[granularity]) + (granularity === 'day' ? 0 : 1)
}

/** The finest buckets of which so many fit into evidence; undefined where not even months do. */
export function finestGranularity(windows: readonly Window[], series: number): CourseGranularity | undefined {
  const buckets = (granularity: CourseGranularity) =>
    windows.reduce((sum, window) => sum + bucketsOf(window, granularity), 0) * series
  return (['day', 'week', 'month'] as const).find((granularity) => buckets(granularity) <= maxRows)
}

/** Buckets in which a period is told: months of a year, weeks of a quarter, days of a month. */
export function courseGranularity(period: Window): CourseGranularity {
  const days = daysOf(period)
  if (days > 190) return 'month'
  return days > 62 ? 'week' : 'day'
}

/** Both windows in one, where one follows the other. */
export function spanOf(before: Window, period: Window): Window | undefined {
  return Date.parse(before.end) === Date.parse(period.start)
    ? { start: before.start, end: period.end }
    : undefined
}
