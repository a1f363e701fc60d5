import type { Warning } from '@millrace/contract/envelope.ts'
import type { CompiledQuery } from './compile/compile.ts'
import type { EngineCell } from './run.ts'

/** Keeps a result to its limit: the statement gives one row more of each range, which says that there are more. */
export function createRowLimit({
  limit,
  offset = 0,
  rangeLabels,
}: Pick<CompiledQuery, 'limit' | 'offset' | 'rangeLabels'>) {
  // Every row counts as one within the limit where there is none.
  const bound = limit ?? Number.POSITIVE_INFINITY
  const counts = new Map<number, number>()
  // The range is the first column of a comparison.
  const rangeOf = (row: readonly EngineCell[]) => (rangeLabels.length === 0 ? 0 : Number(row[0]))
  return {
    /** The rows that belong to the result. */
    keep: (rows: readonly EngineCell[][]): readonly EngineCell[][] =>
      rows.filter((row) => {
        const range = rangeOf(row)
        const count = (counts.get(range) ?? 0) + 1
        counts.set(range, count)
        return count <= bound
      }),

    /** The number of all rows after the last one, or nothing where some were left out before or behind. */
    total(): number | undefined {
      const seen = [...counts.values()]
      return offset === 0 && seen.every((count) => count <= bound)
        ? seen.reduce((a, b) => a + b, 0)
        : undefined
    },

    /** Warnings about the rows that were left out; complete after the last row. */
    warnings: (): Warning[] =>
      [...counts].flatMap(([range, count]) => {
        if (count <= bound) return []
        const label = rangeLabels[range]
        const what = label === undefined ? 'the result' : `the range ${label}`
        const message = `${what} has more rows than its limit of ${bound}: the rows beyond it are left out`
        return { path: 'limit', message }
      }),
  }
}
