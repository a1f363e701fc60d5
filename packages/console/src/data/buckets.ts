import type { Granularity } from './format.ts'

/** Of units of the clock, in milliseconds. */
export const sizes: Partial<Record<Granularity, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000 }

/** More than a chart can show; beyond it only what has rows is drawn. */
const maxBuckets = 20_000

const dayMs = 86_400_000

/** The begin of the unit that holds a day, on the wall clock. */
function beginOf(ms: number, granularity: Granularity): number {
  const date = new Date(ms)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  switch (granularity) {
    case 'week':
      return ms - ((date.getUTCDay() + 6) % 7) * dayMs
    case 'month':
      return Date.UTC(year, month, 1)
    case 'quarter':
      return Date.UTC(year, month - (month % 3), 1)
    case 'year':
      return Date.UTC(year, 0, 1)
    default:
      return ms
  }
}

function after(wall: number, granularity: Granularity): number {
  const date = new Date(wall)
  switch (granularity) {
    case 'day':
      return wall + dayMs
    case 'week':
      return wall + 7 * dayMs
    default:
      return date.setUTCMonth(
        date.getUTCMonth() + (granularity === 'year' ? 12 : granularity === 'quarter' ? 3 : 1),
      )
  }
}

const wallOf = (bucket: string): number => Date.parse(`${bucket.slice(0, 19)}Z`)
const written = (wall: number, offset: string): string =>
  `${new Date(wall).toISOString().slice(0, 23)}${offset}`

/**
 * Buckets with those between them that have no row: what is missing is drawn as missing, and compared ranges lie on each
 * other.
 * @param days the range where it is known: buckets are missing at its ends as well
 */
export function withMissing(
  seen: readonly string[],
  granularity: Granularity,
  days?: { readonly from: string; readonly to: string },
): readonly string[] {
  const first = seen[0]
  const last = seen.at(-1)
  if (first === undefined || last === undefined) return seen
  const size = sizes[granularity]
  const known = new Map(seen.map((each) => [size ? Date.parse(each) : wallOf(each), each]))
  const offset = first.slice(23)
  if (size) {
    const steps = (Date.parse(last) - Date.parse(first)) / size
    if (steps > maxBuckets || known.size < seen.length) return seen
    // Units of the clock follow each other by instants: a change of the clock leaves none out.
    const buckets: string[] = []
    let current = offset
    for (let i = 0; i <= steps; i++) {
      const instant = Date.parse(first) + i * size
      const found = known.get(instant)
      if (found) current = found.slice(23)
      const shift = Date.parse(`1970-01-01T00:00:00.000${current}`)
      buckets.push(found ?? written(instant - shift, current))
    }
    return buckets
  }
  const begin = days
    ? Math.min(beginOf(Date.parse(`${days.from}T00:00:00Z`), granularity), wallOf(first))
    : wallOf(first)
  const end = days ? Math.max(Date.parse(`${days.to}T00:00:00Z`), wallOf(last)) : wallOf(last)
  const buckets: string[] = []
  for (let wall = begin; wall <= end && buckets.length <= maxBuckets; wall = after(wall, granularity))
    buckets.push(known.get(wall) ?? written(wall, offset))
  // A day that begins at another hour than midnight has no place in the steps.
  return buckets.length >= known.size &&
    buckets.filter((each) => known.has(wallOf(each))).length === known.size
    ? buckets
    : seen
}

const labelForm = /^(\d{4}-\d\d-\d\d)\S* - (\d{4}-\d\d-\d\d)/

/** The days of a compared range, by what its rows call it. */
export function daysOfLabel(label: unknown): { readonly from: string; readonly to: string } | undefined {
  const match = typeof label === 'string' ? labelForm.exec(label) : null
  return match ? { from: match[1] as string, to: match[2] as string } : undefined
}

/** The last day of the bucket that begins there; of a unit of days and more. */
export const lastDayOf = (bucket: string, granularity: Granularity): string =>
  new Date(after(wallOf(bucket), granularity) - dayMs).toISOString().slice(0, 10)

/** Whether the bucket that begins there is not over yet. */
export function isOpenBucket(bucket: string, granularity: Granularity, now = Date.now()): boolean {
  const size = sizes[granularity]
  const end =
    size === undefined
      ? Date.parse(written(after(wallOf(bucket), granularity), bucket.slice(23)))
      : Date.parse(bucket) + size
  return end > now
}
