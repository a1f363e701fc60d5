import type { Schedule } from '@millrace/contract/resources/saved-query.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import { dueTimes, nextTimes } from '../../src/features/saved-queries/schedule/planned-times.ts'
import { type Plan, readSchedule } from '../../src/features/saved-queries/schedule/read-schedule.ts'
import { times } from '../support/long.ts'

/** J04: gaps, overlaps, midnight gaps and short months. */

function planOf(schedule: Schedule): Plan {
  const { plan, faults } = readSchedule(schedule, 'UTC', openZone)
  if (!plan) throw new Error(JSON.stringify(faults))
  return plan
}

/** Planned times from a day of UTC on, as their zone shows them. */
function shown(schedule: Schedule, from: string, count: number): string[] {
  const { recurrence, zone } = planOf(schedule)
  return nextTimes(recurrence, zone, Date.parse(from), count).map((at) =>
    zone.format(at).replace(':00.000', ''),
  )
}

const daily = (time: string, timezone: string): Schedule => ({ frequency: 'daily', time, timezone })
const custom = (cron: string, timezone = 'UTC'): Schedule => ({ frequency: 'custom', cron, timezone })

describe('a time of day', () => {
  test('that the clock skips happens at the first instant after the gap', () => {
    expect(shown(daily('02:30', 'Europe/Paris'), '2026-03-28T00:00:00Z', 3)).toEqual([
      '2026-03-28T02:30+01:00',
      '2026-03-29T03:00+02:00',
      '2026-03-30T02:30+02:00',
    ])
  })

  test('that comes twice happens the first time', () => {
    expect(shown(daily('02:30', 'Europe/Paris'), '2026-10-24T00:00:00Z', 3)).toEqual([
      '2026-10-24T02:30+02:00',
      '2026-10-25T02:30+02:00',
      '2026-10-26T02:30+01:00',
    ])
  })

  test('in a midnight that does not exist happens when that day begins (Santiago)', () => {
    expect(shown(daily('00:15', 'America/Santiago'), '2026-09-05T00:00:00Z', 3)).toEqual([
      '2026-09-05T00:15-04:00',
      '2026-09-06T01:00-03:00',
      '2026-09-07T00:15-03:00',
    ])
  })

  test('in the last hour of a day that does not have it happens when the next one begins (Nuuk)', () => {
    expect(shown(daily('23:30', 'America/Nuuk'), '2024-03-29T12:00:00Z', 4)).toEqual([
      '2024-03-29T23:30-02:00',
      '2024-03-31T00:00-01:00',
      '2024-03-31T23:30-01:00',
      '2024-04-01T23:30-01:00',
    ])
  })

  test('follows changes of half an hour (Lord Howe)', () => {
    expect(shown(daily('02:15', 'Australia/Lord_Howe'), '2026-10-02T20:00:00Z', 3)).toEqual([
      '2026-10-04T02:30+11:00',
      '2026-10-05T02:15+11:00',
      '2026-10-06T02:15+11:00',
    ])
  })

  test('does not happen on a day that the zone leaves out (Apia, 30 December 2011)', () => {
    expect(shown(daily('09:00', 'Pacific/Apia'), '2011-12-29T12:00:00Z', 3)).toEqual([
      '2011-12-29T09:00-10:00',
      '2011-12-31T09:00+14:00',
      '2012-01-01T09:00+14:00',
    ])
  })
})

describe('days', () => {
  test('of the week count from Monday', () => {
    const schedule: Schedule = {
      frequency: 'weekly',
      weekdays: [1, 7],
      time: '08:00',
      timezone: 'Asia/Kolkata',
    }
    expect(shown(schedule, '2026-11-20T00:00:00Z', 3)).toEqual([
      '2026-11-22T08:00+05:30',
      '2026-11-23T08:00+05:30',
      '2026-11-29T08:00+05:30',
    ])
  })

  test('that a month does not have are its last one, once', () => {
    const schedule: Schedule = { frequency: 'monthly', days: [29, 30, 31], time: '08:00', timezone: 'UTC' }
    expect(shown(schedule, '2027-01-30T12:00:00Z', 5).map((text) => text.slice(0, 10))).toEqual([
      '2027-01-31',
      '2027-02-28',
      '2027-03-29',
      '2027-03-30',
      '2027-03-31',
    ])
  })
})

describe('cron', () => {
  test('of every hour follows the clock: nothing in a gap, both times of an overlap', () => {
    expect(shown(custom('0 * * * *', 'Europe/Paris'), '2026-03-28T23:30:00Z', 3)).toEqual([
      '2026-03-29T01:00+01:00',
      '2026-03-29T03:00+02:00',
      '2026-03-29T04:00+02:00',
    ])
    expect(shown(custom('0 * * * *', 'Europe/Paris'), '2026-10-24T23:30:00Z', 3)).toEqual([
      '2026-10-25T02:00+02:00',
      '2026-10-25T02:00+01:00',
      '2026-10-25T03:00+01:00',
    ])
  })

  test('of every hour keeps its order where the end of a day comes twice (Santiago)', () => {
    expect(shown(custom('30 * * * *', 'America/Santiago'), '2026-04-05T02:00:00Z', 3)).toEqual([
      '2026-04-04T23:30-03:00',
      '2026-04-04T23:30-04:00',
      '2026-04-05T00:30-04:00',
    ])
  })

  test('with fixed hours happens once on each day', () => {
    expect(shown(custom('30 2 * * *', 'Europe/Paris'), '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T02:30+02:00',
      '2026-10-26T02:30+01:00',
    ])
  })

  test('looks forty years ahead, at the days of its months alone', () => {
    const dates = (cron: string, from: string) =>
      shown(custom(cron), from, 10).map((text) => text.slice(0, 10))
    const leapDays = Array.from({ length: 10 }, (_, i) => `${2028 + 4 * i}-02-29`)
    expect(dates('0 9 29 2 *', '2026-11-24T00:00:00Z')).toEqual(leapDays)
    // On a Sunday; 2100 has none.
    expect(dates('0 9 29 2 */7', '2060-03-01T00:00:00Z')).toEqual(['2088-02-29'])
    expect(dates('0 9 29 2 */7', '2088-03-01T00:00:00Z')).toEqual(['2128-02-29'])
    const { recurrence, zone } = planOf(custom('0 9 29 2 */7'))
    let days = 0
    const runsOn: typeof recurrence.runsOn = (date) => {
      days++
      return recurrence.runsOn(date)
    }
    nextTimes({ ...recurrence, runsOn }, zone, 0, 10)
    expect(days).toBeLessThan(41 * 29)
  })

  test('needs one of two restricted days, and both where one begins with a star', () => {
    expect(shown(custom('0 0 13 * 5'), '2026-11-01T00:00:00Z', 3).map((text) => text.slice(0, 10))).toEqual([
      '2026-11-06',
      '2026-11-13',
      '2026-11-20',
    ])
    expect(shown(custom('0 0 */10 * 0'), '2026-11-01T01:00:00Z', 1)).toEqual(['2027-01-31T00:00+00:00'])
  })

  test('takes names, and 0 and 7 as Sunday', () => {
    const sunday = shown(custom('0 6 * * SUN'), '2026-11-20T00:00:00Z', 1)
    expect(sunday).toEqual(['2026-11-22T06:00+00:00'])
    expect(shown(custom('0 6 * * 0'), '2026-11-20T00:00:00Z', 1)).toEqual(sunday)
    expect(shown(custom('0 6 * * 7'), '2026-11-20T00:00:00Z', 1)).toEqual(sunday)
    expect(shown(custom('0 6 * * 5-7'), '2026-11-20T12:00:00Z', 2)).toEqual([
      '2026-11-21T06:00+00:00',
      '2026-11-22T06:00+00:00',
    ])
  })

  test('finds the 29 February of leap years', () => {
    expect(shown(custom('0 0 29 2 *'), '2096-03-01T00:00:00Z', 1)).toEqual(['2104-02-29T00:00+00:00'])
  })
})

describe('what is refused', () => {
  test.each([
    ['* * * * *', /at least 5 minutes/],
    ['*/4 * * * *', /at least 5 minutes/],
    ['0,58 * * * *', /at least 5 minutes/],
    ['58,0 0,23 * * *', /at least 5 minutes/],
    ['0 0 30 2 *', /never runs/],
    ['0 0 31 4,6,9,11 *', /never runs/],
    ['0 0 0 * * *', /five fields/],
    ['*/5 * * *', /five fields/],
    ['@daily', /five fields/],
    ['61 * * * *', /five fields/],
    ['0 0 L * *', /five fields/],
    ['0 0 * * 1#2', /five fields/],
    ['H 0 * * *', /five fields/],
    ['a b c d e', /five fields/],
  ])('V02: cron %s', (cron, message) => {
    const { plan, faults } = readSchedule(custom(cron), 'UTC', openZone)
    expect(plan).toBeUndefined()
    expect(faults).toEqual([{ path: 'schedule.cron', message: expect.stringMatching(message) }])
  })

  test.each(['Mars/Phobos', '+05:30', 'not a zone', ' UTC'])('V02: the time zone %s', (timezone) => {
    const { faults } = readSchedule(daily('08:00', timezone), 'UTC', openZone)
    expect(faults).toEqual([{ path: 'schedule.timezone', message: expect.stringContaining('IANA') }])
  })

  test.each<[Schedule, string[]]>([
    [{ enabled: true }, ['frequency']],
    [{ time: '08:00' }, ['frequency', 'time']],
    [{ frequency: 'daily' }, ['time']],
    [{ frequency: 'weekly', time: '08:00', weekdays: [] }, ['weekdays']],
    [{ frequency: 'monthly', time: '08:00' }, ['days']],
    [{ frequency: 'custom', time: '08:00' }, ['time', 'cron']],
    [{ frequency: 'daily', time: '08:00', cron: '0 0 * * *', days: [1] }, ['days', 'cron']],
  ])('V02: %j', (schedule, paths) => {
    const { faults } = readSchedule(schedule, 'UTC', openZone)
    expect(faults.map(({ path }) => path)).toEqual(paths.map((path) => `schedule.${path}`))
  })
})

test('J03: of what has passed the latest is due, and the others are missed', () => {
  const { recurrence, zone } = planOf(custom('0 * * * *'))
  const [from, now] = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2026-01-04T00:30:00Z')]
  const { latest, missed, next } = dueTimes(recurrence, zone, from - 1, now)
  expect(latest).toBe(Date.parse('2026-01-04T00:00:00Z'))
  expect(missed).toHaveLength(72)
  expect(missed[0]).toBe(from)
  expect(next).toBe(Date.parse('2026-01-04T01:00:00Z'))
  expect(dueTimes(recurrence, zone, now - 60_000, now)).toMatchObject({ latest: undefined, missed: [] })
})

test('a daily run happens exactly once on each local day, in any zone', () => {
  const day = 86_400_000
  const zones = Intl.supportedValuesOf('timeZone')
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 1_439 }),
      fc.integer({ min: 1990, max: 2040 }),
      (name, minutes, year) => {
        const time = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
        const { recurrence, zone } = planOf(daily(time, name))
        const from = Date.UTC(year, 0, 10)
        const planned = nextTimes(recurrence, zone, from, 366)
        // A time that is skipped counts for its own day, also where the clock goes on with the next one.
        const days = planned.map((at) => Math.floor((zone.localOf(at) - minutes * 60_000) / day))
        const repeated = days.filter((each, i) => i > 0 && each <= (days[i - 1] ?? 0))
        // Between two runs lies no local day, unless the zone has left it out.
        const leftOut = days.filter(
          (each, i) =>
            i > 0 &&
            each > (days[i - 1] ?? 0) + 1 &&
            Math.floor(zone.localOf(zone.instantOf((each - 1) * day)) / day) === each - 1,
        )
        expect(repeated).toEqual([])
        expect(leftOut).toEqual([])
        expect(planned).toEqual(planned.toSorted((a, b) => a - b))
      },
    ),
    { numRuns: times(500, 40) },
  )
})
