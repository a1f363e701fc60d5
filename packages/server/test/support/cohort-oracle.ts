import type { CohortRule, SeenWithin } from '@millrace/contract/resources/cohort.ts'
import type { StoredEvent } from './statistics-events.ts'
import { momentOf, passing, rangeOf } from './statistics-oracle.ts'
import { eventFacts, type Fact } from './statistics-oracle-facts.ts'

/** Says by a plain computation over events in memory who belongs to a cohort; it knows nothing of the service. */
export interface CohortOracle {
  /** In the order of their names' bytes. */
  members(rule: CohortRule, zone: string): string[]
  /** Of a list of identifiers: clients, and devices, which stand for the persons to whom they are bound. */
  listed(persons: readonly string[]): string[]
  factsOf(person: string): readonly Fact[]
}

export function createCohortOracle(events: readonly StoredEvent[]): CohortOracle {
  const people = new Map<string, Fact[]>()
  for (const fact of eventFacts(events)) people.set(fact.person, [...(people.get(fact.person) ?? []), fact])
  // Whose a device's events are when they name no client.
  const owners = new Map<string, string>()
  const unnamed = events.map((event) => ({
    ...event,
    clientId: event.name === 'identify' ? event.clientId : '',
  }))
  for (const { device, person } of eventFacts(unnamed)) owners.set(device, person)
  const sorted = (names: Iterable<string>) =>
    [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return {
    members: (rule, zone) =>
      sorted([...people].flatMap(([name, facts]) => (holds(rule, facts, zone) ? [name] : []))),
    listed(persons) {
      const named = new Set(persons.flatMap((each) => [each, owners.get(each) ?? each]))
      return sorted([...people.keys()].filter((name) => named.has(name)))
    },
    factsOf: (person) => people.get(person) ?? [],
  }
}

function holds(rule: CohortRule, facts: readonly Fact[], zone: string): boolean {
  if (rule.and) return rule.and.every((each) => holds(each, facts, zone))
  if (rule.or) return rule.or.some((each) => holds(each, facts, zone))
  if (rule.not) return !holds(rule.not, facts, zone)
  const times = facts.map(({ time }) => time)
  if (rule.firstSeen) return isWithin(Math.min(...times), rule.firstSeen, zone)
  if (rule.lastSeen) return isWithin(Math.max(...times), rule.lastSeen, zone)
  const within = facts.filter(
    ({ time }) => rule.dateRange == null || isWithin(time, { dateRange: rule.dateRange }, zone),
  )
  const { label } = rule
  if (label) {
    const filter = { member: `events.label.${label.key}`, operator: label.operator, values: label.values }
    return within.some((fact) => passing(fact, [filter]))
  }
  const { events: names } = rule.event ?? {}
  const filters = rule.event?.filters ?? []
  const count = within.filter(
    (fact) => (names?.includes(fact.texts.get('name') ?? '') ?? true) && passing(fact, filters),
  ).length
  return count >= (rule.atLeast ?? 1) && count <= (rule.atMost ?? Number.POSITIVE_INFINITY)
}

function isWithin(time: number, { dateRange, before, after }: SeenWithin, zone: string): boolean {
  const [from, to] = dateRange === undefined ? [-Infinity, Infinity] : rangeOf(dateRange, zone)
  return (
    time >= from &&
    time < to &&
    (before === undefined || time < momentOf(before, zone)[0]) &&
    (after === undefined || time >= momentOf(after, zone)[1])
  )
}
