/**
 * A time zone's arithmetic. "Local" numbers are wall clock readings written as if they were UTC
 * milliseconds: 2024-03-31 02:30 anywhere is `Date.UTC(2024, 2, 31, 2, 30)`. Instants are milliseconds
 * since 1970-01-01T00:00:00Z.
 */
export interface Zone {
  /** IANA name. */
  readonly name: string
  /** Milliseconds that the wall clock is ahead of UTC at this instant. */
  offsetAt(instant: number): number
  /** The wall clock at this instant. */
  localOf(instant: number): number
  /**
   * The instant of a wall clock reading. One that occurs twice is its first occurrence; one that a change of
   * the clock leaves out is moved on by the length of the gap, so that the start of a day without a midnight
   * is that day's first instant.
   */
  instantOf(local: number): number
  /** ISO 8601 with milliseconds and the offset: `2024-10-27T02:00:00.000+01:00`. */
  format(instant: number): string
  /** Whether every offset of the zone between 1980 and 2060 is a whole number of hours. */
  hasWholeHours(): boolean
}

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** Stretches of time whose offset is looked up once: a day, and on days of a change a quarter of an hour. */
const steps = [day, 15 * minute] as const

/** Remembered offsets of a zone are dropped beyond this number. */
const remembered = 50_000

const opened = new Map<string, Zone>()

/** @throws {RangeError} when the name is no time zone */
export function openZone(name: string): Zone {
  const known = opened.get(name)
  if (known) return known
  const zone = createZone(name)
  opened.set(name, zone)
  return zone
}

function createZone(name: string): Zone {
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const offsets = steps.map(() => new Map<number, number | 'changes'>())

  function readOffset(instant: number): number {
    const parts: Record<string, number> = {}
    for (const part of clock.formatToParts(instant)) parts[part.type] = Number(part.value)
    const {
      year = 0,
      month = 0,
      day: date = 0,
      hour: hours = 0,
      minute: minutes = 0,
      second: seconds = 0,
    } = parts
    return Date.UTC(year, month - 1, date, hours, minutes, seconds) - Math.floor(instant / second) * second
  }

  /** The one offset of the stretch that holds the instant, unless the clock is changed within it. */
  function offsetOfStretch(instant: number, level: number): number {
    const [step, known] = [steps[level], offsets[level]]
    if (step === undefined || known === undefined) return readOffset(instant)
    const stretch = Math.floor(instant / step)
    let offset = known.get(stretch)
    if (offset === undefined) {
      const first = readOffset(stretch * step)
      offset = first === readOffset((stretch + 1) * step - second) ? first : 'changes'
      if (known.size >= remembered) known.clear()
      known.set(stretch, offset)
    }
    return offset === 'changes' ? offsetOfStretch(instant, level + 1) : offset
  }

  const offsetAt = (instant: number): number => offsetOfStretch(instant, 0)

  function instantOf(local: number): number {
    const before = offsetAt(local - day)
    const after = offsetAt(local + day)
    const first = local - before
    if (before === after || offsetAt(first) === before) return first
    const last = local - after
    return offsetAt(last) === after ? last : first
  }

  let wholeHours: boolean | undefined

  function hasWholeHours(): boolean {
    for (let year = 1980; year < 2060; year++) {
      for (let month = 0; month < 12; month++) {
        if (readOffset(Date.UTC(year, month, 15)) % hour !== 0) return false
      }
    }
    return true
  }

  // Times of a result come in order: most are of the day of the one before.
  let [formattedDay, dayText] = [Number.NaN, '']

  function format(instant: number): string {
    const offset = offsetAt(instant)
    const local = instant + offset
    const midnight = Math.floor(local / day) * day
    if (midnight !== formattedDay) {
      formattedDay = midnight
      dayText = new Date(midnight).toISOString().slice(0, 11)
    }
    return dayText + formatTimeOfDay(local - midnight) + formatOffset(offset)
  }

  return Object.freeze({
    name,
    offsetAt,
    localOf: (instant: number) => instant + offsetAt(instant),
    instantOf,
    format,
    hasWholeHours() {
      wholeHours ??= hasWholeHours()
      return wholeHours
    },
  })
}

const twoDigits = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'))

/** `08:30:00.000` */
function formatTimeOfDay(milliseconds: number): string {
  const [hours, minutes, seconds] = [
    twoDigits[Math.floor(milliseconds / hour)],
    twoDigits[Math.floor(milliseconds / minute) % 60],
    twoDigits[Math.floor(milliseconds / second) % 60],
  ]
  const rest = milliseconds % second
  return `${hours}:${minutes}:${seconds}.${rest === 0 ? '000' : String(rest).padStart(3, '0')}`
}

/** `+05:45` */
function formatOffset(offset: number): string {
  const minutes = Math.abs(Math.trunc(offset / minute))
  return `${offset < 0 ? '-' : '+'}${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}`
}
