import type { Row } from '../../data/statistics.ts'

export interface StepFigures {
  readonly step: number
  readonly name: string
  readonly count: number
  readonly fromFirst: number | null
  readonly fromPrevious: number | null
  readonly medianSeconds: number | null
}

/** The steps of one value of the breakdown, or of all where there is none. */
export interface FunnelGroup {
  readonly id: string
  readonly value: Row[string]
  /** All values together that have no rows of their own. */
  readonly isRest: boolean
  readonly steps: readonly StepFigures[]
}

const numberOf = (value: Row[string] | undefined): number | null => (typeof value === 'number' ? value : null)

/** Rows of a funnel without a trend: the groups of its range, and of the range that it is compared with. */
export function groupsOf(
  rows: readonly Row[],
  per: 'person' | 'session',
  breakdown: string | undefined,
): { readonly now: readonly FunnelGroup[]; readonly before: ReadonlyMap<string, FunnelGroup> } {
  const first = rows[0]?.compareDateRange
  const read = (isNow: boolean) => {
    const groups = new Map<string, Omit<FunnelGroup, 'steps'> & { steps: StepFigures[] }>()
    for (const row of rows) {
      if ((row.compareDateRange === first) !== isNow) continue
      const value = breakdown === undefined ? null : (row[breakdown] ?? null)
      const isRest = row.isRest === true
      const id = JSON.stringify([value, isRest])
      const group = groups.get(id) ?? { id, value, isRest, steps: [] }
      groups.set(id, group)
      group.steps.push({
        step: Number(row.step),
        name: String(row.name ?? ''),
        count: numberOf(row[per === 'session' ? 'sessions' : 'people']) ?? 0,
        fromFirst: numberOf(row.conversionFromFirst),
        fromPrevious: numberOf(row.conversionFromPrevious),
        medianSeconds: numberOf(row.medianSeconds),
      })
    }
    return groups
  }
  return { now: [...read(true).values()], before: read(false) }
}

/** Rows of the last step, as `seriesOf` reads them: the conversion of the whole funnel over time. */
export function trendRows(
  rows: readonly Row[],
  lastStep: number,
  breakdown: string | undefined,
  rest: string,
): readonly Row[] {
  return rows
    .filter(({ step }) => step === lastStep)
    .map((row) => (breakdown !== undefined && row.isRest === true ? { ...row, [breakdown]: rest } : row))
}
