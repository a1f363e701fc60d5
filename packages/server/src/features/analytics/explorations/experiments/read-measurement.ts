import type { EngineCell } from '../../query/run.ts'
import { day } from '../../query/time/zone.ts'
import { severalVariants } from './compile-exposures.ts'
import { columnsOfMetric, leadingColumns } from './compile-measurement.ts'
import type { MeasuredDay, MeasuredExperiment, Measurement, UnitSums } from './measured-experiment.ts'

/** Reads the rows of a measurement's statement. */
export function readMeasurement(
  rows: readonly (readonly EngineCell[])[],
  { variants, metrics }: Pick<MeasuredExperiment, 'variants' | 'metrics'>,
): Measurement {
  const excluded = { preview: 0, unknownVariant: 0, beforeStart: 0, afterEnd: 0, multipleVariants: 0 }
  const days: MeasuredDay[] = []
  for (const row of rows) {
    const [place = 0, number = 0, units = 0, preview, unknown, before, after] = row
      .slice(0, leadingColumns.length)
      .map(Number)
    excluded.preview += preview ?? 0
    excluded.unknownVariant += unknown ?? 0
    excluded.beforeStart += before ?? 0
    excluded.afterEnd += after ?? 0
    if (place === severalVariants) excluded.multipleVariants += units
    const variant = variants[place]
    if (!variant) continue
    days.push({
      variantId: variant.id,
      day: new Date(number * day).toISOString().slice(0, 10),
      units,
      metrics: metrics.map((_, i) => readSums(row, leadingColumns.length + i * columnsOfMetric)),
    })
  }
  return { excluded, days }
}

function readSums(row: readonly EngineCell[], from: number): UnitSums {
  const cell = (i: number) => BigInt(row[from + i] ?? 0)
  return {
    units: cell(0),
    open: cell(1),
    converted: cell(2),
    sum: cell(3),
    squares: cell(4),
    otherSum: cell(5),
    otherSquares: cell(6),
    products: cell(7),
  }
}
