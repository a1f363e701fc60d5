import type { PathsQuery } from '@millrace/contract/resources/paths.ts'
import type { StoredEvent } from './statistics-events.ts'
import { passing, type Row, rangeOf } from './statistics-oracle.ts'
import { eventFacts, type Fact } from './statistics-oracle-facts.ts'

const minutes = 60_000

/** Answers questions about paths by a plain computation over events in memory (docs/statistics.md, Paths). */
export interface PathsOracle {
  rows(query: PathsQuery, zone: string): Row[]
}

interface Edge {
  readonly from: string | null
  readonly to: string | null
  readonly persons: string[]
}

export function createPathsOracle(events: readonly StoredEvent[]): PathsOracle {
  const facts = eventFacts(events)
  return {
    rows(query, zone) {
      const [from, to] = rangeOf(query.dateRange, zone)
      const counted = facts.filter((fact) => passing(fact, query.filters ?? []))
      const sessions = sessionsOf(counted).filter(([first]) => first && first.time >= from && first.time < to)
      const depths = Array.from({ length: query.depth ?? 5 }, () => new Map<string, Edge>())
      for (const session of sessions) {
        const path = pathOf(session, query)
        for (const [i, edges] of depths.entries()) {
          const [here, next] = [path[i], path[i + 1]]
          if (here === undefined || next === undefined) break
          const [source, target] = query.to ? [next, here] : [here, next]
          const key = JSON.stringify([source, target])
          const edge = edges.get(key) ?? { from: source, to: target, persons: [] }
          edge.persons.push(session[0]?.person ?? '')
          edges.set(key, edge)
        }
      }
      return depths.flatMap((edges, i) => rowsOf([...edges.values()], i + 1, query.limit ?? 50))
    },
  }
}

/** Runs of the facts of a person, each in order. */
function sessionsOf(facts: readonly Fact[]): Fact[][] {
  const ofPersons = Map.groupBy(facts, ({ person }) => person)
  return [...ofPersons.values()].flatMap((own) => {
    const sessions: Fact[][] = []
    for (const fact of own.sort((a, b) => a.time - b.time)) {
      const last = sessions.at(-1)
      if (last && fact.time - (last.at(-1)?.time ?? 0) <= 30 * minutes) last.push(fact)
      else sessions.push([fact])
    }
    return sessions
  })
}

const compareBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** The steps from the anchor on, with null for the ends of the session; empty when the session does not count. */
function pathOf(session: readonly Fact[], query: PathsQuery): (string | null)[] {
  const visited = session
    .map(({ time, texts }) => ({ time, step: texts.get(query.by === 'event' ? 'name' : 'path') ?? '' }))
    .filter(({ step }) => step !== '')
    .sort((a, b) => a.time - b.time || compareBytes(a.step, b.step))
    .map(({ step }) => step)
  const steps = query.repeats === 'keep' ? visited : visited.filter((step, i) => step !== visited[i - 1])
  if (query.from) {
    const at = steps.indexOf(query.from)
    return at < 0 ? [] : [...steps.slice(at), null]
  }
  if (query.to) {
    const at = steps.indexOf(query.to)
    return at < 0 ? [] : [...steps.slice(0, at + 1).reverse(), null]
  }
  return steps.length === 0 ? [] : [null, ...steps, null]
}

function rowsOf(edges: readonly Edge[], depth: number, limit: number): Row[] {
  const sorted = edges.toSorted(
    (a, b) =>
      b.persons.length - a.persons.length ||
      compareBytes(a.from ?? '', b.from ?? '') ||
      compareBytes(a.to ?? '', b.to ?? ''),
  )
  const rest = sorted.slice(limit).flatMap(({ persons }) => persons)
  const count = (persons: readonly string[]) => ({ sessions: persons.length, people: new Set(persons).size })
  return [
    ...sorted.slice(0, limit).map(({ from, to, persons }): Row => {
      const kind = from === null ? 'start' : to === null ? 'end' : 'step'
      return { depth, kind, from, to, ...count(persons) }
    }),
    ...(rest.length > 0 ? [{ depth, kind: 'rest', from: null, to: null, ...count(rest) }] : []),
  ]
}
