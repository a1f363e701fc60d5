/** Instants from `from` up to, but not including, `to`; infinite where there is no bound. */
export interface Interval {
  readonly from: number
  readonly to: number
}

/**
 * A set of instants as intervals that are not empty, do not touch and ascend. Every condition on time in a
 * query becomes one of these, so that conditions of all kinds meet in one range to scan.
 */
export type TimeSet = readonly Interval[]

export const always: TimeSet = Object.freeze([{ from: -Infinity, to: Infinity }])

export function unionOf(intervals: readonly Interval[]): TimeSet {
  const union: { from: number; to: number }[] = []
  for (const each of [...intervals].sort((a, b) => a.from - b.from)) {
    if (each.from >= each.to) continue
    const last = union.at(-1)
    if (last && each.from <= last.to) last.to = Math.max(last.to, each.to)
    else union.push({ ...each })
  }
  return union
}

export function complementOf(set: TimeSet): TimeSet {
  const rest: Interval[] = []
  let from = -Infinity
  for (const each of set) {
    if (each.from > from) rest.push({ from, to: each.from })
    from = each.to
  }
  if (from < Infinity) rest.push({ from, to: Infinity })
  return rest
}

export function intersectionOf(a: TimeSet, b: TimeSet): TimeSet {
  const shared: Interval[] = []
  let i = 0
  let j = 0
  while (true) {
    const left = a[i]
    const right = b[j]
    if (!left || !right) return shared
    const from = Math.max(left.from, right.from)
    const to = Math.min(left.to, right.to)
    if (from < to) shared.push({ from, to })
    if (left.to < right.to) i++
    else j++
  }
}

/** Whether it has a begin and an end. */
export function isBounded({ from, to }: Interval): boolean {
  return Number.isFinite(from) && Number.isFinite(to)
}

/** From the first instant of the set to its last; nothing of an empty set. */
export function hullOf(set: TimeSet): Interval | undefined {
  const first = set[0]
  const last = set.at(-1)
  return first && last ? { from: first.from, to: last.to } : undefined
}
