import type { MetricKind } from '@millrace/contract/resources/experiment.ts'
import type { UnitSums } from '../../analytics/explorations/experiments/measured-experiment.ts'
import type { MetricStatistics } from '../inference/metric-statistics.ts'

export const noSums: UnitSums = {
  units: 0n,
  open: 0n,
  converted: 0n,
  sum: 0n,
  squares: 0n,
  otherSum: 0n,
  otherSquares: 0n,
  products: 0n,
}

export function addSums(a: UnitSums, b: UnitSums): UnitSums {
  return {
    units: a.units + b.units,
    open: a.open + b.open,
    converted: a.converted + b.converted,
    sum: a.sum + b.sum,
    squares: a.squares + b.squares,
    otherSum: a.otherSum + b.otherSum,
    otherSquares: a.otherSquares + b.otherSquares,
    products: a.products + b.products,
  }
}

/** Amounts are summed in hundredths, so that only the last step rounds. */
export function amountOf(hundredths: bigint): number {
  return Number(hundredths) / 100
}

const squareOf = (tenThousandths: bigint): number => Number(tenThousandths) / 10_000

/** @param isReduced whether revenue before exposure was measured */
export function statisticsOfSums(kind: MetricKind, sums: UnitSums, isReduced: boolean): MetricStatistics {
  const units = Number(sums.units)
  switch (kind) {
    case 'unique_conversion':
      return { kind: 'rate', units, conversions: Number(sums.converted) }
    case 'conversion':
      return { kind: 'mean', units, sum: Number(sums.sum), sumSquares: Number(sums.squares) }
    case 'click_rate':
      return {
        kind: 'ratio',
        units,
        numerator: { sum: Number(sums.sum), sumSquares: Number(sums.squares) },
        denominator: { sum: Number(sums.otherSum), sumSquares: Number(sums.otherSquares) },
        sumProducts: Number(sums.products),
      }
    case 'revenue_per_user': {
      const own = {
        kind: 'mean',
        units,
        sum: amountOf(sums.sum),
        sumSquares: squareOf(sums.squares),
      } as const
      if (!isReduced) return own
      const covariate = {
        sum: amountOf(sums.otherSum),
        sumSquares: squareOf(sums.otherSquares),
        sumProducts: squareOf(sums.products),
      }
      return { ...own, covariate }
    }
  }
}
