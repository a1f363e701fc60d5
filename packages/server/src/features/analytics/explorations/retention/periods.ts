import { startOfLocal } from '../../query/time/calendar.ts'
import { day, type Zone } from '../../query/time/zone.ts'

export type PeriodUnit = 'day' | 'week' | 'month'

/** Periods of a zone's calendar, numbered without gaps. */
export type Periods = ReturnType<typeof createPeriods>

/** 1970-01-01 was a Thursday: Mondays are three days and whole weeks away from it. */
const thursday = 3

export function createPeriods(unit: PeriodUnit, zone: Zone) {
  /** Of a wall clock reading with which a period begins. */
  function numberOf(local: number): number {
    if (unit === 'day') return local / day
    if (unit === 'week') return (local / day + thursday) / 7
    const date = new Date(local)
    return date.getUTCFullYear() * 12 + date.getUTCMonth()
  }

  function localOf(number: number): number {
    if (unit === 'day') return number * day
    if (unit === 'week') return (number * 7 - thursday) * day
    return Date.UTC(Math.floor(number / 12), number % 12)
  }

  return {
    /** The number of the period that holds an instant. */
    numberAt: (instant: number): number => numberOf(startOfLocal(zone.localOf(instant), unit)),
    /** The first instant of a period. */
    startOf: (number: number): number => zone.instantOf(localOf(number)),
    /** The SQL of the number, over the SQL of the local date with which the period begins. */
    numberSql(date: string): string {
      if (unit === 'day') return `toInt32(${date})`
      if (unit === 'week') return `intDiv(toInt32(${date}) + ${thursday}, 7)`
      return `toInt32(toYear(${date})) * 12 + toMonth(${date}) - 1`
    },
  }
}
