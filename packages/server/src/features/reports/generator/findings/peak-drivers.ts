import { type Row, rowsOf } from '../evidence/table.ts'
import { maxRows, memberCourseQuery, type QueryScope } from '../plans/queries.ts'
import { isAdditive, type Subject } from '../plans/subject.ts'
import type { AnalysisContext } from './analysis-context.ts'
import { type DimensionRows, isPartition } from './members.ts'
import type { Peak } from './peak.ts'
import type { Course, PeakDriver } from './subject-findings.ts'

const maxMembers = 20
/** Dimensions of which a peak is divided. */
const maxDimensions = 4

/**
 * What contributes most to the excess of a peak over the mean of the other buckets, in each dimension whose members add
 * up: an exact division of the excess, asked only of peaks that stand out.
 */
export async function findPeakDrivers(
  question: {
    readonly subject: Subject
    readonly scope: QueryScope
    readonly told: Course
    readonly peak: Peak
    readonly known: readonly DimensionRows[]
  },
  { ask, windows }: AnalysisContext,
): Promise<PeakDriver[]> {
  const { scope, told, peak, known } = question
  const { measure } = question.subject
  const count = told.rows.length
  const excess = excessOf(told.values, peak.index)
  /** The cells of rows, that of the peak before all others. */
  const peakFirst = (rows: readonly Row[]) =>
    [...rows.slice(peak.index, peak.index + 1), ...rows.toSpliced(peak.index, 1)].map((row) =>
      row.cell(measure),
    )
  if (!isAdditive(measure) || excess <= 0) return []
  const found = await Promise.all(
    known
      .filter(isPartition)
      .slice(0, maxDimensions)
      .map(async ({ dimension, now }): Promise<PeakDriver[]> => {
        const members = now
          .slice(0, Math.min(maxMembers, Math.floor(maxRows / count)))
          .map((row) => row.key(dimension))
        if (members.length === 0) return []
        const evidence = await ask(
          memberCourseQuery(scope, [measure], dimension, members, [windows.period], told.granularity),
        )
        if (!evidence) return []
        const byMember = Map.groupBy(rowsOf(evidence), (row) => row.key(dimension))
        let best: { driver: PeakDriver; excess: number } | undefined
        for (const key of members) {
          const rows = byMember.get(key) ?? []
          const inOrder = told.rows.map((bucket) =>
            rows.find((row) => row.key(told.column) === bucket.key(told.column)),
          )
          // Every bucket has a row of each member that has any.
          if (inOrder.some((row) => row === undefined)) continue
          const present = inOrder.filter((row) => row !== undefined)
          const numbers = present.map((row) => row.number(measure) ?? 0)
          const own = excessOf(numbers, peak.index)
          const first = present[peak.index]
          if (!first || own <= 0 || (best && best.excess >= own)) continue
          const [cells, allCells] = [peakFirst(present), peakFirst(told.rows)]
          const member = { dimension, key, cell: first.cell(dimension) }
          best = { excess: own, driver: { member, cells, allCells } }
        }
        return best ? [best.driver] : []
      }),
  )
  return found.flat()
}

function excessOf(values: readonly number[], index: number): number {
  const others = values.filter((_, i) => i !== index)
  return (values[index] ?? 0) - others.reduce((sum, value) => sum + value, 0) / others.length
}
