import type { Plan } from '../plan.ts'
import type { TimeSet } from '../time/interval.ts'

/** One scan over the facts, and the ranges that it answers. */
export interface Scan {
  readonly times: TimeSet
  /** Where they are several, each begins where the one before it ends. */
  readonly ranges: readonly {
    /** Among the ranges of the plan. */
    readonly index: number
    readonly to: number
  }[]
  /** Of the only range: instants of all buckets that have a row whether there is a fact in them or not. */
  readonly filled?: readonly number[]
}

/**
 * The scans that answer a plan. Ranges that follow each other share one: sessions and credits, which are computed of
 * more than their range, cost once what they would cost for each.
 */
export function scansOf({ ranges, limit, offset }: Plan): Scan[] {
  const scans: Scan[] = []
  // A page without an end cannot be taken of each range of a scan.
  const canShare = limit !== undefined || offset === 0
  const inOrder = ranges
    .map(({ times, filled }, index) => ({
      times,
      filled,
      index,
      only: times.length === 1 ? times[0] : undefined,
    }))
    .sort((a, b) => (a.times[0]?.from ?? 0) - (b.times[0]?.from ?? 0))
  for (const { times, filled, index, only } of inOrder) {
    const last = scans.at(-1)
    const before = last?.times.length === 1 ? last.times[0] : undefined
    const follows = only && before && !filled && !last?.filled && before.to === only.from
    if (canShare && last && follows) {
      scans[scans.length - 1] = {
        times: [{ from: before.from, to: only.to }],
        ranges: [...last.ranges, { index, to: only.to }],
      }
    } else {
      scans.push({ times, ranges: [{ index, to: times.at(-1)?.to ?? 0 }], ...(filled ? { filled } : {}) })
    }
  }
  return scans
}
