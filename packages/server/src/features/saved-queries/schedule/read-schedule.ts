import type { Fault } from '@millrace/contract/failure-data.ts'
import type { Schedule } from '@millrace/contract/resources/saved-query.ts'
import type { Zone } from '../../analytics/query/time/zone.ts'
import { nextTimes, type Recurrence } from './planned-times.ts'
import { neverRuns, readCron } from './read-cron.ts'

/** When a schedule runs. */
export interface Plan {
  readonly recurrence: Recurrence
  readonly zone: Zone
}

/** What a schedule says; a plan is absent where it says nothing of when. */
export interface ScheduleReading {
  readonly plan?: Plan
  readonly faults: readonly Fault[]
}

type Field = 'time' | 'weekdays' | 'days' | 'cron'
type Frequency = NonNullable<Schedule['frequency']>

/** The fields that each frequency needs; the others have no meaning beside it. */
const needed: Readonly<Record<Frequency, readonly Field[]>> = {
  daily: ['time'],
  weekly: ['time', 'weekdays'],
  monthly: ['time', 'days'],
  custom: ['cron'],
}
const fields: readonly Field[] = ['time', 'weekdays', 'days', 'cron']
const meanings: Readonly<Record<Field, string>> = {
  time: 'the time of day as HH:MM',
  weekdays: 'at least one day from 1 (Monday) to 7 (Sunday)',
  days: 'at least one day of the month from 1 to 31',
  cron: 'five fields of cron',
}

/** Whether runs are wanted: an empty schedule means never, and `enabled` is true when it is absent. */
export const isOn = (schedule: Schedule): boolean =>
  Object.keys(schedule).length > 0 && schedule.enabled !== false

/**
 * Reads a schedule that conforms to the contract.
 * @param timezone that of the company, for a schedule without one
 * @param openZone throws a RangeError for a name that is none
 */
export function readSchedule(
  schedule: Schedule,
  timezone: string,
  openZone: (name: string) => Zone,
): ScheduleReading {
  const faults: Fault[] = []
  const add = (path: string, message: string) => faults.push({ path: `schedule.${path}`, message })
  const { frequency } = schedule
  const zone = zoneOf(schedule.timezone ?? timezone, openZone)
  if (!zone) {
    add('timezone', `must be the IANA name of a time zone, as Europe/Paris; "${schedule.timezone}" is none`)
  }
  if (frequency === undefined) {
    if (isOn(schedule)) add('frequency', 'is required: daily, weekly, monthly or custom')
    for (const field of fields) {
      if (isGiven(schedule, field)) add(field, 'has no meaning without a frequency')
    }
    return { faults }
  }
  for (const field of fields) {
    const isNeeded = needed[frequency].includes(field)
    const given = isGiven(schedule, field)
    if (isNeeded && !given) add(field, `is required for ${frequency}: ${meanings[field]}`)
    if (!isNeeded && given) add(field, `has no meaning for ${frequency}: leave it out`)
  }
  if (faults.length > 0 || !zone) return { faults }
  const reading = frequency === 'custom' ? readCron(schedule.cron ?? '') : { recurrence: atTime(schedule) }
  if ('fault' in reading) {
    add('cron', reading.fault)
    return { faults }
  }
  const { recurrence } = reading
  // Any instant will do: what has no day within forty years has none at all.
  if (nextTimes(recurrence, zone, 0, 1).length === 0) add('cron', neverRuns)
  return faults.length > 0 ? { faults } : { plan: { recurrence, zone }, faults }
}

function isGiven(schedule: Schedule, field: Field): boolean {
  const value = schedule[field]
  return Array.isArray(value) ? value.length > 0 : value !== undefined
}

const everyMonth: ReadonlySet<number> = new Set(Array.from({ length: 12 }, (_, i) => i + 1))

function atTime({ time = '', weekdays = [], days = [], frequency }: Schedule): Recurrence {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const last = Math.max(...days)
  const runsOn: Recurrence['runsOn'] =
    frequency === 'weekly'
      ? ({ weekday }) => weekdays.includes(weekday)
      : frequency === 'monthly'
        ? ({ dayOfMonth, daysInMonth }) =>
            days.includes(dayOfMonth) || (dayOfMonth === daysInMonth && last > daysInMonth)
        : () => true
  return { runsOn, months: everyMonth, minutes: [hours * 60 + minutes], followsClock: false }
}

/** Undefined for what is no name of a zone, such as an offset. */
function zoneOf(name: string, openZone: (name: string) => Zone): Zone | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined
  try {
    return openZone(name)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
