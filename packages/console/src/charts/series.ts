import type { AlignedData } from 'uplot'
import type { Granularity, MeasureMeta } from '../data/format.ts'

/** One line, area or set of bars. */
export interface Series {
  readonly id: string
  readonly label: string
  /** One for each bucket; null where nothing is known. */
  readonly values: readonly (number | null)[]
  /** Of the range that is compared with: dashed, in the colour of the series that it belongs to. */
  readonly isComparison?: boolean
  /** Its place among the colours; its own place when absent. */
  readonly colour?: number
  /** How its values read, where that is not as in the whole chart: it then has the axis at the end. */
  readonly format?: MeasureMeta['format'] | undefined
}

export interface SeriesData {
  /** First instants of the buckets, as the answer writes them. */
  readonly buckets: readonly string[]
  readonly granularity: Granularity
  readonly series: readonly Series[]
  /** The last bucket is not over yet. */
  readonly isLastOpen?: boolean
}

/** Seconds on the wall clock of the query's zone: the chart shows them as UTC. */
export const wallSeconds = (bucket: string): number => Date.parse(`${bucket.slice(0, 19)}Z`) / 1_000

/** Sums from the first series to each: what is drawn where areas or bars stand on each other. */
export function stacked(series: readonly Series[]): (number | null)[][] {
  const sums: number[] = []
  return series.map(({ values }) =>
    values.map((value, i) => {
      sums[i] = (sums[i] ?? 0) + (value ?? 0)
      return value === null ? null : sums[i]
    }),
  )
}

/**
 * The columns that uPlot draws: for an open last bucket a second one for each series, whose line begins where the first
 * one ends.
 */
export function columnsOf(
  { buckets, series, isLastOpen }: SeriesData,
  isStacked: boolean,
  isOfBars = false,
): AlignedData {
  const x = buckets.map(wallSeconds)
  const values = isStacked ? stacked(series) : series.map((each) => [...each.values])
  const last = buckets.length - 1
  const columns = values.flatMap((column) => {
    if (!isLastOpen || last < 1) return [column]
    return [
      column.map((value, i) => (i === last ? null : value)),
      column.map((value, i) => (i >= (isOfBars ? last : last - 1) ? value : null)),
    ]
  })
  return [x, ...columns] as AlignedData
}
