import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Window } from '@millrace/contract/resources/report.ts'
import type { Row } from '../evidence/table.ts'
import { type CourseGranularity, isCut } from '../plans/queries.ts'
import { isMultiValued } from '../plans/subject.ts'

/** The members of a dimension in the period and the one before, the greatest first. */
export interface DimensionRows {
  readonly dimension: string
  readonly evidence: Evidence
  readonly now: readonly Row[]
  readonly before: readonly Row[]
}

/** A member in both windows; `before` is absent where it had no facts then. */
export interface MemberRows {
  readonly key: string | null
  readonly now: Row | undefined
  readonly before: Row | undefined
}

/** Whether the members of a dimension add up to the total, so that each contributes a part of its change. */
export function isPartition({ dimension, now, before }: DimensionRows): boolean {
  return !isMultiValued(dimension) && Math.max(now.length, before.length) > 1
}

/** Members by their rows in both windows, without those of which one window may hold more than its result tells. */
export function membersOf({ dimension, now, before }: DimensionRows): MemberRows[] {
  const [nowBy, beforeBy] = [now, before].map((rows) => new Map(rows.map((row) => [row.key(dimension), row])))
  const keys = new Set([...(nowBy?.keys() ?? []), ...(beforeBy?.keys() ?? [])])
  return [...keys].flatMap((key) => {
    const [own, earlier] = [nowBy?.get(key), beforeBy?.get(key)]
    if ((!own && isCut(now.length)) || (!earlier && isCut(before.length))) return []
    return [{ key, now: own, before: earlier }]
  })
}

/** In days; clocks that change make a day of 23 hours. */
const minLengths = { day: 0.9, week: 6.9, month: 27.9 } as const
const day = 86_400_000

/** The buckets of a window in the order of time, without those that its ends cut. */
export function wholeBuckets(
  keys: Iterable<string>,
  window: Window,
  granularity: CourseGranularity,
): string[] {
  const [start, end] = [Date.parse(window.start), Date.parse(window.end)]
  return [...new Set(keys)]
    .sort((a, b) => Date.parse(a) - Date.parse(b))
    .filter((key) => {
      const begin = Date.parse(key)
      return begin >= start && (end - begin) / day >= minLengths[granularity]
    })
}
