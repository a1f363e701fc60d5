import type { Schedule } from '@millrace/contract/resources/saved-query.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import type { SavedQueries } from '../../src/features/saved-queries/saved-queries.ts'
import { createSavedQueryStore } from '../../src/features/saved-queries/saved-query-store.ts'
import { nextTimes } from '../../src/features/saved-queries/schedule/planned-times.ts'
import { readSchedule } from '../../src/features/saved-queries/schedule/read-schedule.ts'
import { newId } from '../../src/platform/ids.ts'
import { wireSavedQueries } from '../../src/wiring/saved-queries.ts'
import { day, minute } from '../support/fake-time.ts'
import { isFull } from '../support/long.ts'
import type { TestDatabase } from '../support/postgres.ts'
import { eventsQuery, openSavedQueries, type SavedQueriesApp } from '../support/saved-queries.ts'
import { sharedBeside } from '../support/service.ts'

const long = isFull(import.meta.filename)

/**
 * J01, J02, J04: three processes on one database, which are killed at any statement, run the schedules of a year.
 * What is expected is read from the calendar by `Intl` alone.
 */

let app: SavedQueriesApp

beforeAll(async () => {
  app = await openSavedQueries()
})

afterAll(() => app.close())

const zones = [
  'Europe/Paris',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Asia/Kolkata',
] as const

/** The whole year, or in the short form two days around some changes of a clock. */
const periods: readonly (readonly [from: string, days: number])[] = long
  ? [['2027-01-01', 365]]
  : [
      ['2027-03-13', 2],
      ['2027-04-03', 2],
      ['2027-09-04', 2],
      ['2027-10-30', 2],
    ]

/** The same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A process that works on schedules, until it is killed before one of its statements. */
interface Process {
  readonly loops: SavedQueries['loops']
  readonly database: TestDatabase
  /** Statements that it still sends. */
  left: number
}

function startProcess(): Process {
  const database = app.relational.reopen()
  const { loops } = wireSavedQueries(sharedBeside(app.app.auth.context, database), {
    validate: async () => {},
    answer: () => ({
      pieces: (async function* () {
        yield 'events.count\r\n'
        yield '17\r\n'
      })(),
      warnings: [],
      total: () => undefined,
    }),
  }).savedQueries
  const process: Process = { loops, database, left: Number.POSITIVE_INFINITY }
  database.beforeStatement = () => {
    process.left--
    return process.left < 0 ? Promise.reject(new Error('killed')) : undefined
  }
  return process
}

const schedulesOf = (timezone: string): Schedule[] => {
  const base = { timezone, recipients: [app.people.analyst.email] }
  const early = timezone === 'America/Santiago' ? '00:15' : '02:15'
  return [
    { ...base, frequency: 'daily', time: early },
    { ...base, frequency: 'custom', cron: '45 1,13 * * *' },
    { ...base, frequency: 'weekly', time: early, weekdays: [1, 7] },
    { ...base, frequency: 'monthly', time: early, days: [15, 31] },
  ]
}

/** The local days on which a schedule has to run, each as often as it runs then. */
function expectedDays({ frequency, timezone = '', time }: Schedule, from: number, to: number): string[] {
  const clock = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  const hoursAndMinutes = frequency === 'custom' ? ['01:45', '13:45'] : [time ?? '']
  const days: string[] = []
  // Midnight of UTC, one for each calendar day that the period can touch.
  for (let at = Math.floor(from / day) * day - day; at <= to + day; at += day) {
    const date = new Date(at).toISOString().slice(0, 10)
    const [weekday, dayOfMonth] = [new Date(at).getUTCDay(), new Date(at).getUTCDate()]
    const isLast = new Date(at + day).getUTCDate() === 1
    if (frequency === 'weekly' && weekday > 1) continue
    if (frequency === 'monthly' && dayOfMonth !== 15 && !isLast) continue
    for (const each of hoursAndMinutes) {
      // The first instant at which the clock shows this time or, where it skips it, a later one.
      let instant = at - 15 * 60 * minute
      while (clock.format(instant) < `${date} ${each}`) instant += 15 * minute
      if (instant > from && instant <= to) days.push(date)
    }
  }
  return days
}

/** When there is something to do next. */
async function nextEvent(): Promise<number | undefined> {
  const { rows } = await app.relational.pool.query<{ at: Date | null }>(
    `select least(
       (select min(next_run_at) from saved_queries as saved where not exists (select 1 from saved_query_runs as run
          where run.saved_query_id = saved.id and run.state in ('queued', 'running'))),
       (select min(due_at) from saved_query_runs where state = 'queued'),
       (select min(lease_until) from saved_query_runs where state = 'running')) as at`,
  )
  return rows[0]?.at?.getTime()
}

test.each(periods)(
  'from %s for %i days every planned run happens exactly once',
  async (start, days) => {
    const { pool, db, time } = app.relational
    await pool.query('delete from saved_queries')
    await pool.query('delete from outgoing_mails')
    const from = Date.parse(`${start}T12:00:00Z`)
    const to = from + days * day
    time.advance(from - time.clock.now())
    const store = createSavedQueryStore(db)
    const schedules = new Map<string, Schedule>()
    for (const schedule of zones.flatMap(schedulesOf)) {
      const { plan } = readSchedule(schedule, 'UTC', openZone)
      if (!plan) throw new Error('the schedule is valid')
      const id = newId()
      schedules.set(id, schedule)
      await store.insert({
        ...{ id, name: 'Sales', queries: [eventsQuery], schedule, plannedTo: new Date(from) },
        companyId: app.app.companyId,
        ownerId: app.people.analyst.id,
        nextRunAt: new Date(nextTimes(plan.recurrence, plan.zone, from, 1)[0] ?? 0),
      })
    }

    const random = createRandom(days + from)
    let processes = [startProcess(), startProcess(), startProcess()]
    let [kills, killedAt] = [0, 0]
    for (;;) {
      const next = await nextEvent()
      if (next === undefined || next > to) break
      time.advance(Math.max(next - time.clock.now(), 1_000))
      // So far apart that no run meets four of them, after which it would rightly fail.
      if (time.clock.now() - killedAt > 10 * minute && random() < 0.5) {
        const victim = processes[Math.floor(random() * processes.length)]
        if (victim) victim.left = Math.floor(random() * 30)
        killedAt = time.clock.now()
      }
      await Promise.all(
        processes.map(async ({ loops: { planner, worker } }) => {
          try {
            while (await planner.plan());
            while (await worker.runOne());
          } catch (error) {
            if (!String((error as Error).message).includes('killed')) throw error
          }
        }),
      )
      const killed = processes.filter(({ left }) => left < 0)
      kills += killed.length
      // What a killed process has not committed goes with its connections.
      await Promise.all(killed.map(({ database }) => database.close()))
      processes = processes.map((each) => (each.left < 0 ? startProcess() : each))
    }
    await Promise.all(processes.map(({ database }) => database.close()))

    const { rows } = await pool.query<{
      saved_query_id: string
      planned_for: Date
      state: string
      attempts: number
    }>('select * from saved_query_runs order by planned_for')
    expect(rows.filter(({ state }) => state !== 'delivered')).toEqual([])
    for (const [id, schedule] of schedules) {
      const local = new Intl.DateTimeFormat('sv-SE', { timeZone: schedule.timezone, dateStyle: 'short' })
      const ran = rows.filter((run) => run.saved_query_id === id).map((run) => local.format(run.planned_for))
      expect({ schedule, ran }).toEqual({ schedule, ran: expectedDays(schedule, from, to) })
    }
    const mails = await pool.query('select 1 from outgoing_mails')
    expect(mails.rows).toHaveLength(rows.length)
    // Otherwise nothing was tested: some processes were killed, some of them with a run in their hands.
    expect(kills).toBeGreaterThan(2)
    if (long) expect(rows.filter(({ attempts }) => attempts > 1).length).toBeGreaterThan(10)
  },
  long ? 3_600_000 : 600_000,
)
