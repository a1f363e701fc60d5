import { CronExpressionParser } from 'cron-parser'
import type { LocalDay, Recurrence } from './planned-times.ts'

/** Numbers, names, lists, ranges and steps; the library knows further letters, some of which mean random times. */
const field = '(?:[0-9*,/-]|[A-Za-z]{3})+'
const expression = new RegExp(`^ *${field}(?: +${field}){4} *$`)

const hoursOfDay = 24
const minutesOfDay = 1_440
/** Runs of one schedule are at least this far apart. */
const minMinutesApart = 5
const weekdays = 7

export type CronReading = { readonly recurrence: Recurrence } | { readonly fault: string }

/**
 * Reads five fields: minute, hour, day of month, month, day of week. When both days are restricted, one of them is
 * enough, as cron has it.
 * @returns the recurrence, or in words what would be right
 */
export function readCron(text: string): CronReading {
  const fault =
    'must be five fields of cron: minute, hour, day of month, month and day of week, as 30 7 * * 1-5'
  if (!expression.test(text)) return { fault }
  let fields: ReturnType<typeof CronExpressionParser.parse>['fields']
  try {
    fields = CronExpressionParser.parse(text.trim(), { tz: 'UTC' }).fields
  } catch (error) {
    const { message } = error as Error
    // The library finds the 30 February by itself.
    return { fault: message.includes('explicit day of month') ? neverRuns : `${fault} (${message})` }
  }
  const { minute, hour, dayOfMonth, month, dayOfWeek } = fields
  if ([dayOfMonth, dayOfWeek].some(({ values }) => values.some((value) => typeof value !== 'number'))) {
    return { fault }
  }
  const months = new Set(month.values.map(Number))
  const days = new Set<unknown>(dayOfMonth.values)
  const daysOfWeek = new Set<unknown>(dayOfWeek.values.map((value) => Number(value) % weekdays))
  const [dayField, , weekdayField] = text.trim().split(/ +/).slice(2) as [string, string, string]
  const isEither = !dayField.startsWith('*') && !weekdayField.startsWith('*')
  const runsOn = ({ dayOfMonth: onDay, weekday }: LocalDay): boolean => {
    const [onDate, onWeekday] = [days.has(onDay), daysOfWeek.has(weekday % weekdays)]
    return isEither ? onDate || onWeekday : onDate && onWeekday
  }
  const hours = hour.values.map(Number)
  const minutes = hours.flatMap((each) => minute.values.map((past) => each * 60 + Number(past)))
  minutes.sort((a, b) => a - b)
  if (closest(minutes) < minMinutesApart) {
    return { fault: `must leave at least ${minMinutesApart} minutes between two runs` }
  }
  return { recurrence: { runsOn, months, minutes, followsClock: hours.length === hoursOfDay } }
}

export const neverRuns = 'never runs: no month has such a day'

/** The least minutes between two of these times of day, midnight included. */
function closest(minutes: readonly number[]): number {
  const [first = 0] = minutes
  return minutes.reduce((least, each, i) => {
    const next = minutes[i + 1] ?? first + minutesOfDay
    return Math.min(least, next - each)
  }, minutesOfDay)
}
