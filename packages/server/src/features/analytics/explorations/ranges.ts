import type { DateRange } from '@millrace/contract/resources/query.ts'
import { readComparedAt, readRangeAt } from '../query/parse/parse-time.ts'
import type { QueryFaults } from '../query/query-faults.ts'
import { describeRange, type Now } from '../query/time/dates.ts'
import type { Interval } from '../query/time/interval.ts'

/** One answer of a comparison; an exploration without one has a single range without a label. */
export interface ExploredRange {
  readonly label?: string
  readonly interval: Interval
}

/** The ranges of an exploration: one `dateRange`, or those of `compareDateRange`. */
export function parseRanges(
  asked: { readonly dateRange?: DateRange | null; readonly compareDateRange?: readonly DateRange[] | null },
  now: Now,
  faults: QueryFaults,
): ExploredRange[] {
  const dateRange = asked.dateRange ?? undefined
  const compared = asked.compareDateRange ?? undefined
  if ((dateRange === undefined) === (compared === undefined)) {
    const message = 'give the range of time: either dateRange, or compareDateRange for several'
    faults.invalid('dateRange', message)
    return []
  }
  if (dateRange !== undefined) {
    const interval = readRangeAt(dateRange, 'dateRange', now, faults)
    return interval ? [{ interval }] : []
  }
  return (compared ?? []).flatMap((range, i) => {
    const interval = readComparedAt(range, `compareDateRange.${i}`, now, faults)
    return interval ? [{ interval, label: describeRange(interval, now.zone) }] : []
  })
}
