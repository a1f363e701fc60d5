import type { FunnelQuery } from '@millrace/contract/resources/funnel.ts'
import type { StoredEvent } from './statistics-events.ts'
import { passing, rangeOf } from './statistics-oracle.ts'
import { eventFacts, type Fact } from './statistics-oracle-facts.ts'
import { bucketOf, dateIn, dayBegins, isoIn } from './statistics-oracle-time.ts'

type Value = string | boolean | null
type Row = Record<string, Value | number>

/** An event of a funnel. */
interface Met {
  readonly time: number
  /** Whether it meets each step. */
  readonly steps: readonly boolean[]
  readonly value: Value
}

/** The attempt that counts for one person or session. */
interface Attempt {
  readonly times: readonly number[]
  readonly value: Value
}

const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 }

/** Answers funnels by trying every event as the first of an attempt (docs/statistics.md, Funnels). */
export function createFunnelOracle(events: readonly StoredEvent[]): {
  rows(query: FunnelQuery, zone: string): Row[]
} {
  const facts = eventFacts(events)
  return {
    rows(query, zone) {
      const ranges = query.compareDateRange ?? [query.dateRange ?? []]
      const found = ranges.map((range) => {
        const [from, to] = rangeOf(range, zone)
        const label = query.compareDateRange ? { compareDateRange: labelOf(from, to, zone) } : {}
        return { label, attempts: attemptsIn(facts, query, from, to, zone) }
      })
      const totals = new Map<Value, number>()
      for (const { attempts } of found) {
        for (const { attempt } of attempts) totals.set(attempt.value, (totals.get(attempt.value) ?? 0) + 1)
      }
      const ranked = [...totals]
        .sort(([a, n], [b, m]) => m - n || compareValues(a, b))
        .map(([value]) => value)
      return found.flatMap(({ label, attempts }) => rowsOf(query, label, attempts, ranked))
    },
  }
}

/** Days where the range has whole ones, else instants. */
function labelOf(from: number, to: number, zone: string): string {
  const whole = [from, to].every((instant) => dayBegins(dateIn(instant, zone), zone) === instant)
  return whole
    ? `${dateIn(from, zone)} - ${dateIn(to - 1, zone)}`
    : `${isoIn(from, zone)} - ${isoIn(to, zone)}`
}

interface Counted {
  readonly bucket: string | undefined
  readonly attempt: Attempt
}

function attemptsIn(
  facts: readonly Fact[],
  query: FunnelQuery,
  from: number,
  to: number,
  zone: string,
): Counted[] {
  return [...actorsOf(facts, query).values()].flatMap((events) => {
    const best = new Map<string | undefined, Attempt>()
    for (const [i, event] of events.entries()) {
      const { time } = event
      if (time < from || time >= to) continue
      const times = attemptFrom(events.slice(i), query)
      if (times.length === 0) continue
      const bucket = query.granularity ? bucketOf(time, query.granularity, zone) : undefined
      if (times.length > (best.get(bucket)?.times.length ?? 0))
        best.set(bucket, { times, value: leastOfEqual(events, event) })
    }
    return [...best].map(([bucket, attempt]) => ({ bucket, attempt }))
  })
}

/** The least value of the events that are equal to one in time and steps, which the order puts first. */
function leastOfEqual(events: readonly Met[], { time, steps, value }: Met): Value {
  const isEqual = (each: Met) => each.time === time && each.steps.every((met, i) => met === steps[i])
  return events.find(isEqual)?.value ?? value
}

/** The events of each person, or session, that meet a step, in order. */
function actorsOf(facts: readonly Fact[], query: FunnelQuery): Map<string, Met[]> {
  const people = new Map<string, Fact[]>()
  for (const fact of facts) people.set(fact.person, [...(people.get(fact.person) ?? []), fact])
  const actors = new Map<string, Met[]>()
  for (const [person, all] of people) {
    all.sort((a, b) => a.time - b.time)
    let session = 0
    for (const [i, fact] of all.entries()) {
      if (query.per === 'session' && i > 0 && fact.time - (all[i - 1]?.time ?? 0) > 1_800_000) session++
      const steps = query.steps.map(({ events, filters }) => {
        if (events && !events.includes(fact.texts.get('name') ?? '')) return false
        return passing(fact, [...(query.filters ?? []), ...(filters ?? [])]) !== undefined
      })
      if (!steps.includes(true)) continue
      const value = query.breakdown ? valueFor(fact, query.breakdown.slice('events.'.length)) : null
      const key = JSON.stringify([person, session])
      actors.set(key, [...(actors.get(key) ?? []), { time: fact.time, steps, value }])
    }
  }
  for (const events of actors.values()) events.sort(compareEvents)
  return actors
}

function valueFor(fact: Fact, name: string): Value {
  return name === 'isIdentified' ? fact.identified : (fact.texts.get(name) ?? null)
}

function compareEvents(a: Met, b: Met): number {
  const byStep = a.steps.indexOf(true) - b.steps.indexOf(true)
  const differing = a.steps.findLastIndex((met, step) => met !== b.steps[step])
  const byLast = differing < 0 ? 0 : Number(a.steps[differing]) - Number(b.steps[differing])
  return a.time - b.time || byStep || byLast || compareValues(a.value, b.value)
}

function compareValues(a: Value, b: Value): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  return typeof a === 'string'
    ? Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
    : Number(a) - Number(b)
}

/** The times of the steps that an attempt reaches which begins with the first of these events. */
function attemptFrom(events: readonly Met[], { steps, order, window }: FunnelQuery): number[] {
  const [first, ...later] = events
  if (!first) return []
  const { value = 14, unit = 'day' } = window ?? {}
  const inWindow = ({ time }: Met) => time - first.time <= value * unitMs[unit]
  if (order === 'any') {
    const times = steps.flatMap((_, step) => events.find((event) => event.steps[step])?.time ?? [])
    return times.filter((time) => inWindow({ ...first, time })).sort((a, b) => a - b)
  }
  if (!first.steps[0]) return []
  const times = [first.time]
  for (const event of later) {
    if (!inWindow(event)) break
    if (event.steps[times.length]) times.push(event.time)
    else if (order === 'strict') break
  }
  return times
}

function rowsOf(
  query: FunnelQuery,
  label: Row,
  attempts: readonly Counted[],
  ranked: readonly Value[],
): Row[] {
  const placeOf = (value: Value) => (query.breakdown ? Math.min(ranked.indexOf(value), 20) : 0)
  const groups = new Map<string, { bucket: string | undefined; place: number; attempts: Attempt[] }>()
  if (!query.granularity && !query.breakdown) groups.set('', { bucket: undefined, place: 0, attempts: [] })
  for (const { bucket, attempt } of attempts) {
    const place = placeOf(attempt.value)
    const key = bucket === undefined && !query.breakdown ? '' : JSON.stringify([bucket, place])
    const group = groups.get(key) ?? { bucket, place, attempts: [] }
    groups.set(key, group)
    group.attempts.push(attempt)
  }
  const begins = ({ bucket }: { bucket: string | undefined }) =>
    bucket === undefined ? 0 : Date.parse(bucket)
  return [...groups.values()]
    .sort((a, b) => begins(a) - begins(b) || a.place - b.place)
    .flatMap((group) => stepRows(query, label, group, ranked))
}

function stepRows(
  query: FunnelQuery,
  label: Row,
  group: { bucket: string | undefined; place: number; attempts: readonly Attempt[] },
  ranked: readonly Value[],
): Row[] {
  const reached = query.steps.map((_, step) => group.attempts.filter(({ times }) => times.length > step))
  return query.steps.map(({ name, events }, step): Row => {
    const here = reached[step] ?? []
    const before = reached[step - 1]
    const gaps = here.map(({ times }) => (times[step] ?? 0) - (times[step - 1] ?? 0)).sort((a, b) => a - b)
    const middle = ((gaps[(gaps.length - 1) >> 1] ?? 0) + (gaps[gaps.length >> 1] ?? 0)) / 2
    const anyName = `${step + 1} of ${query.steps.length} steps`
    return {
      ...label,
      ...(group.bucket === undefined ? {} : { [`events.time.${query.granularity}`]: group.bucket }),
      ...(query.breakdown
        ? {
            [query.breakdown]: group.place < 20 ? (ranked[group.place] ?? null) : null,
            isRest: group.place === 20,
          }
        : {}),
      step: step + 1,
      name: query.order === 'any' ? anyName : (name ?? events?.join(' or ') ?? 'any event'),
      [query.per === 'session' ? 'sessions' : 'people']: here.length,
      conversionFromPrevious: before && before.length > 0 ? here.length / before.length : null,
      conversionFromFirst: reached[0]?.length ? here.length / reached[0].length : null,
      medianSeconds: before && here.length > 0 ? middle / 1000 : null,
    }
  })
}
