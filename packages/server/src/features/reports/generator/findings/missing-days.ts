import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import type { CellReference } from '@millrace/contract/resources/report-section.ts'
import { bucketColumn, localDay, type Row, rowsOf } from '../evidence/table.ts'
import { type CourseGranularity, dayCountsQuery } from '../plans/queries.ts'

/** A day on which no event at all was collected: what is counted on it says nothing. */
export interface MissingDay {
  /** As `2026-01-31`. */
  readonly day: string
  readonly cell: CellReference
}

/** Asks a query as `dayCountsQuery` makes it; none are known where evidence cannot hold all of its days. */
export async function askMissingDays(
  query: Query | undefined,
  ask: (query: Query) => Promise<Evidence | undefined>,
): Promise<MissingDay[]> {
  const evidence = query && (await ask(query))
  if (!evidence || evidence.rowCount > evidence.embeddedRowCount) return []
  return rowsOf(evidence).flatMap((row) => {
    const day = row.key('events.time.day')?.slice(0, 10)
    return day === undefined || row.number('events.count') !== 0
      ? []
      : [{ day, cell: row.cell('events.time.day') }]
  })
}

const dayLength = 86_400_000

/** The first day of a bucket and that of the next one. */
function daysOfBucket(bucket: Row, column: string, granularity: CourseGranularity) {
  const first = bucket.key(column)?.slice(0, 10) ?? ''
  const begin = new Date(`${first}T00:00:00Z`)
  const end =
    granularity === 'month'
      ? Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1)
      : begin.getTime() + (granularity === 'week' ? 7 : 1) * dayLength
  return { first, next: new Date(end).toISOString().slice(0, 10), days: (end - begin.getTime()) / dayLength }
}

/** Whether some or all days of a bucket are missing. */
export function missingIn(
  bucket: Row,
  column: string,
  granularity: CourseGranularity,
  missing: readonly MissingDay[],
): { readonly some: boolean; readonly all: boolean } {
  const { first, next, days } = daysOfBucket(bucket, column, granularity)
  const count = missing.filter(({ day }) => first <= day && day < next).length
  return { some: count > 0, all: count > 0 && count >= days }
}

/**
 * Which buckets of a query's answer can be set against each other: those that its ranges do not cut, that are over, and
 * that lack no day. None where its buckets are no days, weeks or months.
 */
export async function askComparable(
  query: Query,
  now: number,
  timezone: string,
  ask: (query: Query) => Promise<Evidence | undefined>,
): Promise<(bucket: Row) => boolean> {
  const time = query.timeDimensions.find(({ granularity }) => granularity)
  const granularity = time?.granularity
  const isTold = granularity === 'day' || granularity === 'week' || granularity === 'month'
  if (!time || !isTold || query.dimensions.length > 0) return () => false
  const missing = await askMissingDays(dayCountsQuery(query, timezone), ask)
  const column = bucketColumn(time.dimension, granularity)
  const zone = query.timezone ?? timezone
  const today = localDay(now, zone)
  const dayOf = (bound: string, offset: number) =>
    bound.length === 10 ? bound : localDay(Date.parse(bound) + offset, zone)
  return (bucket) => {
    const compared = bucket.key('compareDateRange')?.split(' - ')
    const [start, end] = compared ?? (Array.isArray(time.dateRange) ? time.dateRange : [])
    const { first, next } = daysOfBucket(bucket, column, granularity)
    const lastDay = end ? dayOf(end, -1) : undefined
    const isCut = (start && first < dayOf(start, 0)) || (lastDay !== undefined && next > dayAfter(lastDay))
    return !isCut && next <= today && !missingIn(bucket, column, granularity, missing).some
  }
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + dayLength).toISOString().slice(0, 10)
}
