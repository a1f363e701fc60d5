import type { Row } from '../../data/statistics.ts'

export interface Cell {
  readonly people: number
  readonly rate: number
  readonly isComplete: boolean
}

/** The people of one period, and how many of them came back in each from there on. */
export interface Triangle {
  readonly cohorts: readonly {
    readonly start: string
    readonly size: number
    /** By period; undefined where it has not begun. */
    readonly cells: readonly (Cell | undefined)[]
  }[]
  /** Of each period the share of all whose period is over, each person counted alike; null where none is over. */
  readonly average: readonly (number | null)[]
}

export function triangleOf(rows: readonly Row[], periods: number): Triangle {
  const found = new Map<string, { start: string; size: number; cells: (Cell | undefined)[] }>()
  for (const row of rows) {
    const start = String(row.cohort)
    const cohort = found.get(start) ?? {
      start,
      size: Number(row.size),
      cells: Array.from({ length: periods }, () => undefined),
    }
    found.set(start, cohort)
    const period = Number(row.period)
    if (period < periods)
      cohort.cells[period] = {
        people: Number(row.people),
        rate: Number(row.rate),
        isComplete: row.isComplete === true,
      }
  }
  const cohorts = [...found.values()]
  const average = Array.from({ length: periods }, (_, period) => {
    const over = cohorts.filter(({ cells }) => cells[period]?.isComplete)
    const size = over.reduce((sum, each) => sum + each.size, 0)
    if (size === 0) return null
    return over.reduce((sum, { cells }) => sum + (cells[period]?.people ?? 0), 0) / size
  })
  return { cohorts, average }
}
