import type { Filter } from '@millrace/contract/resources/query.ts'
import type { RetentionQuery } from '@millrace/contract/resources/retention.ts'
import type { StoredEvent } from './statistics-events.ts'
import { passing, type Row, rangeOf } from './statistics-oracle.ts'
import { eventFacts, type Fact } from './statistics-oracle-facts.ts'
import { bucketOf, dateIn, dayBegins, daysLater } from './statistics-oracle-time.ts'

/** Answers questions about retention by a plain computation over events in memory (docs/statistics.md, Retention). */
export interface RetentionOracle {
  rows(query: RetentionQuery, zone: string, now: number): Row[]
}

export function createRetentionOracle(events: readonly StoredEvent[]): RetentionOracle {
  const facts = eventFacts(events).sort((a, b) => a.time - b.time)

  function selected(
    { events: names, filters }: RetentionQuery['firstEvent'],
    common: readonly Filter[],
  ): Fact[] {
    return facts.filter(
      (fact) =>
        (!names || names.includes(fact.texts.get('name') ?? '')) &&
        passing(fact, [...common, ...(filters ?? [])]),
    )
  }

  return {
    rows(query, zone, now) {
      const [from, to] = rangeOf(query.dateRange, zone)
      const periods = query.periods ?? 8
      const latest = Math.max(now, to, facts.at(-1)?.time ?? 0)
      const starts = bucketsBetween(from, latest, query.granularity, zone)
      const numberOf = (time: number) => starts.indexOf(bucketOf(time, query.granularity, zone))
      const common = query.filters ?? []
      const firsts = selected(query.firstEvent, common).filter(({ time }) => time < to)
      const returns = selected(query.returnEvent, common).filter(({ time }) => time >= from)

      /** The first event of each person in each of their cohorts. */
      const members = new Map<string, Fact>()
      const seen = new Set<string>()
      for (const fact of firsts) {
        const isFirst = !seen.has(fact.person)
        seen.add(fact.person)
        if (fact.time < from || (query.cohorts !== 'recurring' && !isFirst)) continue
        const key = `${numberOf(fact.time)} ${fact.person}`
        if (!members.has(key)) members.set(key, fact)
      }

      return starts.flatMap((cohort, number) => {
        const persons = [...members.values()].filter(({ time }) => numberOf(time) === number)
        if (persons.length === 0) return []
        return Array.from({ length: periods }, (_, period): Row => {
          const people = persons.filter((first) =>
            returns.some(({ person, time }) => {
              if (person !== first.person || time < first.time) return false
              const distance = numberOf(time) - number
              return query.returns === 'on-or-after' ? distance >= period : distance === period
            }),
          ).length
          const isComplete = number + period < numberOf(now)
          return { cohort, size: persons.length, period, people, rate: people / persons.length, isComplete }
        }).filter(({ period }) => number + Number(period) <= numberOf(now))
      })
    },
  }
}

/** The buckets of all days from one instant to another, each once. */
function bucketsBetween(from: number, to: number, granularity: string, zone: string): string[] {
  const buckets = new Set([bucketOf(from, granularity, zone)])
  const last = daysLater(dateIn(to, zone), 1)
  for (let date = dateIn(from, zone); date <= last; date = daysLater(date, 1)) {
    buckets.add(bucketOf(dayBegins(date, zone), granularity, zone))
  }
  return [...buckets]
}
