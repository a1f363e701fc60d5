import type { Report } from '@millrace/contract/resources/report.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Reports } from '../../src/features/reports/reports.ts'
import { wireReports } from '../../src/wiring/reports.ts'
import { day, hour, minute } from '../support/fake-time.ts'
import { isFull } from '../support/long.ts'
import type { TestDatabase } from '../support/postgres.ts'
import { createPlainWriting, type PlainWriting } from '../support/report-writing.ts'
import { openReports, type ReportsApp } from '../support/reports.ts'
import { sharedBeside } from '../support/service.ts'

const long = isFull(import.meta.filename)

/** J01, J02, J04: three processes on one database, which are killed at any statement, make reports by hand and by themselves. */

let app: ReportsApp

beforeAll(async () => {
  app = await openReports()
})

afterAll(() => app.close())

/** The same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A process that makes reports, until it is killed before one of its statements. */
interface Process {
  readonly loops: Reports['loops']
  readonly plain: PlainWriting
  readonly database: TestDatabase
  /** Statements that it still sends. */
  left: number
}

function startProcess(): Process {
  const database = app.relational.reopen()
  const plain = createPlainWriting()
  const shared = sharedBeside(app.app.auth.context, database, { reportWriting: plain.writing })
  const { loops } = wireReports(shared, {
    validate: async () => {},
    answer: () => ({
      pieces: (async function* () {
        yield '[{"events.count":17}]'
      })(),
      warnings: [],
      total: () => undefined,
    }),
    answerTogether: async ({ queries }) => queries.map(() => undefined),
    describe: async () => {
      throw new Error('the writer of this test asks for nothing')
    },
  })
  const process: Process = { loops, plain, database, left: Number.POSITIVE_INFINITY }
  database.beforeStatement = () => {
    process.left--
    return process.left < 0 ? Promise.reject(new Error('killed')) : undefined
  }
  return process
}

async function work({ loops: { planner, worker } }: Process): Promise<void> {
  try {
    while (await planner.plan());
    while (await worker.runOne());
  } catch (error) {
    if (!String((error as Error).message).includes('killed')) throw error
  }
}

/** What a killed process has not committed goes with its connections. */
const end = ({ database }: Process) => database.close()

async function empty(): Promise<void> {
  const { pool } = app.relational
  await pool.query('delete from reports')
  await pool.query('delete from report_settings')
  await pool.query('delete from outgoing_mails')
}

/** What has to hold of a report that is complete, whatever happened to those who made it. */
function expectWhole(report: Report): void {
  const { sectionCount, lastGenerationFailure, activeGeneration } = report
  expect({ sectionCount, lastGenerationFailure, activeGeneration }).toEqual({ sectionCount: 1 })
  expect(report.evidence.map(({ query }) => query.measures[0])).toEqual([
    'events.count',
    'events.people',
    'events.sessions',
  ])
  const [cell] = report.sections[0]?.paragraphs[0]?.figures[0]?.cells ?? []
  expect(report.evidence.map(({ id }) => id)).toContain(cell?.evidenceId)
}

test('J02: killed at every statement in turn, a generation goes on elsewhere with what was stored', async () => {
  await empty()
  await app.advanceTo('2027-05-10T12:00:00Z')
  let isDone = false
  let [kills, reused] = [0, 0]
  for (let statements = 0; !isDone; statements += long ? 1 : 3) {
    const { id } = await app.create({ guidedAnalysis: 'revenue' }, statements % 2 === 0 ? 'reader' : 'admin')
    const victim = startProcess()
    victim.left = statements
    await work(victim)
    isDone = victim.left >= 0
    if (!isDone) kills++
    await end(victim)
    app.app.time.advance(2 * minute)
    const heir = startProcess()
    await work(heir)
    await end(heir)
    reused += heir.plain.requests.reduce((sum, { kept }) => sum + kept.length, 0)
    expectWhole(await app.read(id))
    const { rows } = await app.relational.pool.query<{ count: number }>(
      `select count(*)::int as count from report_evidence where report_id = $1`,
      [id],
    )
    expect(rows).toEqual([{ count: 3 }])
    // A user starts 30 an hour.
    if (statements % 20 > 16) await app.advance(hour)
  }
  expect(kills).toBeGreaterThan(5)
  expect(reused).toBeGreaterThan(3)
})

test('J02: a generation whose process ends during every attempt fails, and can be tried again', async () => {
  await empty()
  await app.advance(hour)
  const { id } = await app.create()
  for (let attempt = 0; attempt < 3; attempt++) {
    const victim = startProcess()
    victim.plain.beforeQuery = () => {
      victim.left = 0
      return undefined
    }
    await work(victim)
    expect(victim.left).toBeLessThan(0)
    await end(victim)
    app.app.time.advance(2 * minute)
  }
  const heir = startProcess()
  await work(heir)
  const { lastGenerationFailure } = await app.read(id)
  expect(lastGenerationFailure).toMatchObject({ code: 'service-ended', retryable: true })
  expect(heir.plain.requests).toHaveLength(0)
  await app.act(id, 'retry')
  await work(heir)
  await end(heir)
  expectWhole(await app.read(id))
})

test('J02: a process that was only slow publishes and stores nothing once another has the generation', async () => {
  await empty()
  await app.advance(hour)
  const { id } = await app.create()
  const [slow, heir] = [startProcess(), startProcess()]
  slow.plain.beforeQuery = async (index) => {
    if (index !== 1) return
    app.app.time.advance(2 * minute)
    await work(heir)
  }
  await work(slow)
  await Promise.all([slow, heir].map(end))
  expectWhole(await app.read(id))
  // The first had stored one, the other went on with it.
  expect(slow.plain.asked).toEqual(['events.count', 'events.people'])
  expect(heir.plain.asked).toEqual(['events.people', 'events.sessions'])
})

test('a process that stops gives its generation back as if it had not begun', async () => {
  await empty()
  await app.advance(hour)
  const { id } = await app.create()
  const [stopped, heir] = [startProcess(), startProcess()]
  const stopping = new AbortController()
  stopped.plain.beforeQuery = async (index) => {
    if (index === 2) stopping.abort(new Error('the service stops'))
  }
  await stopped.loops.worker.runOne(stopping.signal)
  const { rows } = await app.relational.pool.query(
    'select state, attempts from report_generations where report_id = $1',
    [id],
  )
  expect(rows).toEqual([{ state: 'queued', attempts: 0 }])
  await work(heir)
  await Promise.all([stopped, heir].map(end))
  expectWhole(await app.read(id))
  expect(heir.plain.asked).toEqual(['events.sessions'])
})

test('a company has two generations at once, and another company its own', async () => {
  await empty()
  await app.advance(hour)
  for (let i = 0; i < 4; i++) await app.create()
  for (let i = 0; i < 2; i++) await app.create({ guidedAnalysis: 'impact' }, 'stranger')
  const processes = Array.from({ length: 5 }, () => startProcess())
  const running = new Map<string, number>()
  let most = 0
  const gate = Promise.withResolvers<void>()
  for (const process of processes) {
    process.plain.beforeQuery = async (index, { companyId }) => {
      if (index !== 0) return
      running.set(companyId, (running.get(companyId) ?? 0) + 1)
      most = Math.max(most, ...running.values())
      if ([...running.values()].reduce((sum, each) => sum + each, 0) === 4) gate.resolve()
      await gate.promise
      running.set(companyId, (running.get(companyId) ?? 0) - 1)
    }
  }
  await Promise.all(processes.map(work))
  await app.work()
  await Promise.all(processes.map(end))
  expect(most).toBe(2)
  expect(await app.list()).toHaveLength(4)
  for (const { id } of await app.list()) expectWhole(await app.read(id))
})

/** The local calendar of what has to be made, read by `Intl` alone. */
function expectedKeys(cadence: string, timezone: string, from: number, to: number): string[] {
  const clock = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  const keys = new Set<string>()
  let month = clock.format(from).slice(0, 7)
  for (let at = from; at <= to; at += hour) {
    const next = clock.format(at).slice(0, 7)
    if (next === month) continue
    const [year = '', number = ''] = month.split('-')
    if (cadence === 'monthly') keys.add(month)
    if (cadence === 'quarterly' && Number(number) % 3 === 0) keys.add(`${year}-Q${Number(number) / 3}`)
    if (cadence === 'yearly' && number === '12') keys.add(year)
    month = next
  }
  return [...keys]
}

test.each(
  long ? ['Europe/Paris', 'Australia/Lord_Howe', 'America/Santiago', 'Pacific/Apia'] : ['America/Santiago'],
)(
  'J01, J04: over a year in %s every period has one report, no matter which process is killed',
  async (timezone) => {
    const { pool, time } = app.relational
    await empty()
    const year = new Date(time.clock.now()).getUTCFullYear() + 1
    const from = Date.parse(`${year}-02-20T12:00:00Z`)
    const to = from + 366 * day
    await app.advanceTo(from)
    const cadences = {
      impact: 'monthly',
      revenue: 'monthly',
      engagement: 'quarterly',
      retention: 'yearly',
    } as const
    for (const [slug, cadence] of Object.entries(cadences)) {
      await app.set(slug as keyof typeof cadences, {
        enabled: true,
        cadence,
        recipients: [app.people.reader.email],
      })
    }
    const random = createRandom(year)
    let processes = Array.from({ length: 3 }, () => startProcess())
    let kills = 0
    await pool.query('update companies set timezone = $1', [timezone])
    await pool.query('update report_settings set next_at = now()')
    for (;;) {
      const { rows } = await pool.query<{ at: Date | null }>(
        `select least((select min(next_at) from report_settings),
           (select min(due_at) from report_generations where state = 'queued'),
           (select min(lease_until) from report_generations where state = 'running')) as at`,
      )
      const next = rows[0]?.at?.getTime()
      if (next === undefined || next > to) break
      time.advance(Math.max(next - time.clock.now(), 1_000))
      if (random() < (long ? 0.7 : 0.4)) {
        const victim = processes[Math.floor(random() * processes.length)]
        if (victim) victim.left = Math.floor(random() * 40)
      }
      await Promise.all(processes.map(work))
      const killed = processes.filter(({ left }) => left < 0)
      kills += killed.length
      await Promise.all(killed.map(end))
      processes = processes.map((each) => (each.left < 0 ? startProcess() : each))
    }
    await Promise.all(processes.map(end))
    await app.advance(0)
    // One that was killed during each of its three attempts says so, and may be tried again.
    const given = (await app.list()).filter(
      ({ lastGenerationFailure }) => lastGenerationFailure?.code === 'service-ended',
    )
    for (const { id } of given) await app.act(id, 'retry')
    const last = startProcess()
    await work(last)
    await end(last)
    const made = await app.list()
    for (const [slug, cadence] of Object.entries(cadences)) {
      const keys = made.flatMap(({ automatic }) => (automatic?.slug === slug ? [automatic.period.key] : []))
      expect({ slug, keys: keys.sort() }).toEqual({
        slug,
        keys: expectedKeys(cadence, timezone, from, to - 4 * hour),
      })
    }
    for (const { id, automatic } of made) {
      expectWhole(await app.read(id))
      const clock = new Intl.DateTimeFormat('sv-SE', {
        timeZone: timezone,
        timeStyle: 'medium',
        dateStyle: 'short',
      })
      const { start, end: until } = automatic?.period ?? { start: '', end: '' }
      expect([start, until].map((each) => clock.format(Date.parse(each)).slice(8))).toEqual(
        Array(2).fill('01 00:00:00'),
      )
    }
    const subjects = (await app.app.takeMails()).map(({ subject }) => subject)
    const failures = subjects.filter((subject) => subject.includes('failed'))
    expect(failures).toHaveLength(given.length)
    expect(subjects).toHaveLength(made.length + failures.length)
    expect(kills).toBeGreaterThan(2)
  },
  long ? 3_600_000 : 600_000,
)
