import type { ExperimentResults } from '@millrace/contract/resources/experiment-results.ts'
import { csvText } from '../../../platform/text/csv.ts'

type Cell = string | number | null
type Row = Readonly<Record<string, Cell>>

/** One row for each metric and variant. */
function rowsOf({ metrics }: ExperimentResults): Row[] {
  return metrics.flatMap(({ id, kind, role, variants }) =>
    variants.map(({ variantId, comparison, enoughData, ...figures }) => {
      const { fixedHorizon, alwaysValid } = comparison ?? {}
      return {
        metric: id,
        kind,
        role,
        variant: variantId,
        ...figures,
        lift: fixedHorizon?.lift.estimate ?? null,
        liftLow: fixedHorizon?.lift.low ?? null,
        liftHigh: fixedHorizon?.lift.high ?? null,
        pValue: fixedHorizon?.pValue ?? null,
        adjustedPValue: fixedHorizon?.adjusted.pValue ?? null,
        alwaysValidLow: alwaysValid?.lift.low ?? null,
        alwaysValidHigh: alwaysValid?.lift.high ?? null,
        alwaysValidPValue: alwaysValid?.pValue ?? null,
      }
    }),
  )
}

/** RFC 4180 with a header; an absent value is empty. */
export function csvOfResults(results: ExperimentResults): string {
  const rows = rowsOf(results)
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
}

function csvCell(cell: Cell): string {
  if (cell === null) return ''
  return typeof cell === 'string' ? csvText(cell) : String(cell)
}

/** One JSON object per line. */
export function linesOfResults(results: ExperimentResults): string {
  return rowsOf(results)
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('')
}
