/**
 * Calendar arithmetic for the oracle: slow, from the time zone database alone, and by other means than the
 * service uses.
 */

const formats = new Map<string, Intl.DateTimeFormat>()
const remembered = new Map<string, string>()

/** The wall clock as `2026-03-29T02:30:00` and the offset as `+02:00`. */
function wallClock(instant: number, zone: string): { readonly local: string; readonly offset: string } {
  const key = `${zone} ${Math.floor(instant / 1000)}`
  let text = remembered.get(key)
  if (text === undefined) {
    let format = formats.get(zone)
    if (!format) {
      format = new Intl.DateTimeFormat('sv-SE', {
        timeZone: zone,
        dateStyle: 'short',
        timeStyle: 'medium',
      })
      formats.set(zone, format)
    }
    const local = format.format(instant).replace(' ', 'T')
    const minutes = (Date.parse(`${local}Z`) - Math.floor(instant / 1000) * 1000) / 60_000
    const sign = minutes < 0 ? '-' : '+'
    const part = (n: number) => String(n).padStart(2, '0')
    text = `${local}${sign}${part(Math.floor(Math.abs(minutes) / 60))}:${part(Math.abs(minutes) % 60)}`
    remembered.set(key, text)
  }
  return { local: text.slice(0, 19), offset: text.slice(19) }
}

/** ISO 8601 in the zone. */
export function isoIn(instant: number, zone: string): string {
  const { local, offset } = wallClock(instant, zone)
  return `${local}.${String(((instant % 1000) + 1000) % 1000).padStart(3, '0')}${offset}`
}

export function dateIn(instant: number, zone: string): string {
  return wallClock(instant, zone).local.slice(0, 10)
}

const begun = new Map<string, number>()

export function dayBegins(date: string, zone: string): number {
  const key = `${zone} ${date}`
  const known = begun.get(key) ?? findBegin(date, zone)
  begun.set(key, known)
  return known
}

/** The first instant of a calendar day: the earlier of its midnights, or found by halving where it has none. */
function findBegin(date: string, zone: string): number {
  const midnight = Date.parse(`${date}T00:00:00Z`)
  for (const hours of [-30, 30]) {
    const { offset } = wallClock(midnight + hours * 3_600_000, zone)
    const instant = Date.parse(`${date}T00:00:00${offset}`)
    if (wallClock(instant, zone).local === `${date}T00:00:00`) return instant
  }
  let before = Date.parse(`${date}T00:00:00Z`) - 26 * 3_600_000
  let after = before + 52 * 3_600_000
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2000) * 1000
    if (dateIn(middle, zone) >= date) after = middle
    else before = middle
  }
  return after
}

export function daysLater(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}

function firstDay(date: string, granularity: string): string {
  const [year = '', month = ''] = date.split('-')
  switch (granularity) {
    case 'week': {
      let monday = date
      while (new Date(`${monday}T00:00:00Z`).getUTCDay() !== 1) monday = daysLater(monday, -1)
      return monday
    }
    case 'month':
      return `${year}-${month}-01`
    case 'quarter':
      return `${year}-${['01', '04', '07', '10'][Math.ceil(Number(month) / 3) - 1]}-01`
    case 'year':
      return `${year}-01-01`
    default:
      return date
  }
}

/** The start of the unit that the clock shows, or the change of the clock after it that this instant is behind. */
function unitBegins(instant: number, cut: number, zone: string): number {
  const { local, offset } = wallClock(instant, zone)
  let before = Date.parse(`${local.slice(0, cut)}${'0000-00-00T00:00:00'.slice(cut)}${offset}`)
  if (wallClock(before, zone).offset === offset) return before
  let after = Math.floor(instant / 1000) * 1000
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2000) * 1000
    if (wallClock(middle, zone).offset === offset) after = middle
    else before = middle
  }
  return after
}

/** The bucket of an instant, as a row shows it: its first instant. */
export function bucketOf(instant: number, granularity: string, zone: string): string {
  const cut = { second: 19, minute: 16, hour: 13 }[granularity]
  if (cut !== undefined) return isoIn(unitBegins(instant, cut, zone), zone)
  return isoIn(dayBegins(firstDay(dateIn(instant, zone), granularity), zone), zone)
}
