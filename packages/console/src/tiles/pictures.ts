import type { Row } from '../data/statistics.ts'

const numberOf = (value: Row[string] | undefined): number => (typeof value === 'number' ? value : 0)

export interface Step {
  readonly step: number
  readonly name: string
  readonly people: number
  /** Of those of the first step. */
  readonly share: number
}

/** Steps of a funnel that counts persons or sessions. */
export function stepsOf(rows: readonly Row[]): Step[] {
  const counted = rows.map((row) => numberOf(row.people ?? row.sessions))
  return rows.map((row, i) => ({
    step: numberOf(row.step),
    name: String(row.name ?? ''),
    people: counted[i] ?? 0,
    share: counted[0] ? (counted[i] ?? 0) / counted[0] : 0,
  }))
}

export interface RetentionLine {
  readonly cohort: string
  readonly size: number
  /** By period; null where it has not begun. */
  readonly rates: readonly (number | null)[]
}

/** The triangle of retention, the newest cohorts last. */
export function retentionOf(rows: readonly Row[]): {
  readonly lines: readonly RetentionLine[]
  readonly periods: number
} {
  const periods = Math.max(0, ...rows.map(({ period }) => numberOf(period) + 1))
  const cohorts = new Map<string, { size: number; rates: (number | null)[] }>()
  for (const row of rows) {
    const key = String(row.cohort)
    const line = cohorts.get(key) ?? {
      size: numberOf(row.size),
      rates: Array.from({ length: periods }, () => null),
    }
    cohorts.set(key, line)
    line.rates[numberOf(row.period)] = typeof row.rate === 'number' ? row.rate : null
  }
  return { periods, lines: [...cohorts].map(([cohort, line]) => ({ cohort, ...line })) }
}

export interface Edge {
  readonly id: string
  readonly from: string | undefined
  readonly to: string | undefined
  readonly sessions: number
}

/** Steps from one event to the next, over all depths, those of most sessions first; starts and what is left over are none. */
export function edgesOf(rows: readonly Row[]): Edge[] {
  const edges = new Map<string, Edge>()
  for (const { kind, from, to, sessions } of rows) {
    if (kind !== 'step' && kind !== 'end') continue
    const id = JSON.stringify([from, to])
    const known = edges.get(id)?.sessions ?? 0
    const text = (value: Row[string] | undefined) =>
      value === null || value === undefined ? undefined : String(value)
    edges.set(id, { id, from: text(from), to: text(to), sessions: known + numberOf(sessions) })
  }
  return [...edges.values()].sort((a, b) => b.sessions - a.sessions)
}
