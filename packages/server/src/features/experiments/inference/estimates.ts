import { finite, type UncertainValue } from './lift.ts'
import type {
  MeanStatistics,
  MetricStatistics,
  RatioStatistics,
  StatisticsByVariant,
} from './metric-statistics.ts'

/** The value of a metric in a variant, per unit. */
export interface Estimate extends UncertainValue {
  readonly units: number
  /** Of the variance: units - 1, and infinite for a rate, whose variance follows from the rate. */
  readonly degreesOfFreedom: number
  /** Whether the normal approximation can be relied on: `minConversions` and `minEffectiveUnits`. */
  readonly enoughData: boolean
}

/**
 * Fewest conversions, and fewest units without one, of a rate. Found by simulation, as `minEffectiveUnits`: with fewer
 * the standard error is too small whenever the estimate is too low, and the always-valid test, which meets such days,
 * errs too often where one variant has a tenth of the traffic.
 */
const minConversions = 25
/**
 * Fewest units that a mean or a ratio must rest on, by the formula of Kish (1965, Survey Sampling): the square of the
 * sum over the sum of squares. A single purchase that is most of the revenue makes it about 1.
 */
const minEffectiveUnits = 100

/** The estimates of all variants of a metric. */
export interface Estimates {
  /** Variants without two units have none. */
  readonly byVariant: ReadonlyMap<string, Estimate>
  /** Variance of CUPED's common centre, which is part of every estimate. */
  readonly sharedVariance: number
  /** Share of the variance within variants that CUPED took away; null without a covariate. */
  readonly varianceReduction: number | null
}

/** Estimates every variant of a metric; the statistics are of one kind. */
export function estimateVariants(statistics: StatisticsByVariant): Estimates {
  const present = [...statistics].filter(([, { units }]) => units > 1)
  if (new Set(present.map(([, { kind }]) => kind)).size > 1)
    throw new TypeError('The variants of a metric have statistics of different kinds')
  const centred = present.flatMap(([id, each]) => {
    const moments = each.kind === 'mean' && each.covariate ? centredMoments(each, each.covariate) : undefined
    return moments ? [{ id, ...moments }] : []
  })
  if (centred.length > 0 && centred.length < present.length)
    throw new TypeError('Either all variants of a metric have a covariate, or none has')
  if (centred.length > 0) return adjustByCovariate(centred)
  const byVariant = new Map(
    present.flatMap(([id, each]) => {
      const estimate = estimateOf(each)
      return estimate ? [[id, estimate] as const] : []
    }),
  )
  return { byVariant, sharedVariance: 0, varianceReduction: null }
}

function estimateOf(statistics: MetricStatistics): Estimate | undefined {
  const { units } = statistics
  switch (statistics.kind) {
    case 'rate': {
      const value = statistics.conversions / units
      return {
        units,
        value,
        variance: (value * (1 - value)) / units,
        sharedCovariance: 0,
        degreesOfFreedom: Number.POSITIVE_INFINITY,
        enoughData: Math.min(statistics.conversions, units - statistics.conversions) >= minConversions,
      }
    }
    case 'mean':
      return {
        units,
        value: statistics.sum / units,
        variance: squaresAroundMean(units, statistics) / (units - 1) / units,
        sharedCovariance: 0,
        degreesOfFreedom: units - 1,
        enoughData: restsOnEnough(statistics),
      }
    case 'ratio':
      return estimateRatio(statistics)
  }
}

/**
 * The delta method: the ratio of two means varies, to first order, as the mean of numerator - ratio * denominator over
 * the mean of the denominator (Deng, Knoblich and Lu 2018, doi:10.1145/3219819.3219919).
 */
function estimateRatio({
  units,
  numerator,
  denominator,
  sumProducts,
}: RatioStatistics): Estimate | undefined {
  if (!(denominator.sum > 0)) return undefined
  const value = numerator.sum / denominator.sum
  // The residuals sum to 0, so their squares need no centring.
  const squares = numerator.sumSquares - 2 * value * sumProducts + value * value * denominator.sumSquares
  const meanDenominator = denominator.sum / units
  return {
    units,
    value,
    variance: positive(squares, numerator.sumSquares) / (units - 1) / units / meanDenominator ** 2,
    sharedCovariance: 0,
    degreesOfFreedom: units - 1,
    enoughData: restsOnEnough(numerator),
  }
}

interface CentredMoments {
  readonly id: string
  readonly units: number
  readonly mean: number
  readonly covariateMean: number
  /** Sums of squares and products around the means of the variant. */
  readonly squares: number
  readonly covariateSquares: number
  readonly products: number
  readonly enoughData: boolean
}

function centredMoments(
  statistics: MeanStatistics,
  covariate: NonNullable<MeanStatistics['covariate']>,
): Omit<CentredMoments, 'id'> {
  const { units, sum } = statistics
  return {
    units,
    mean: sum / units,
    covariateMean: covariate.sum / units,
    squares: squaresAroundMean(units, statistics),
    covariateSquares: squaresAroundMean(units, covariate),
    products: covariate.sumProducts - (sum * covariate.sum) / units,
    enoughData: restsOnEnough(statistics),
  }
}

/**
 * CUPED (Deng, Xu, Kohavi and Walker 2013, doi:10.1145/2433396.2433413): each mean is moved by theta times the distance
 * of its covariate from the common centre. Theta is the regression within the variants, pooled over them, so that
 * an effect of a variant does not enter it.
 */
function adjustByCovariate(variants: readonly CentredMoments[]): Estimates {
  const total = (pick: (variant: CentredMoments) => number) =>
    variants.reduce((sum, variant) => sum + pick(variant), 0)
  const units = total((variant) => variant.units)
  const covariateSquares = total((variant) => variant.covariateSquares)
  // Where the covariate is the same for all, it explains nothing.
  const theta = covariateSquares > 0 ? total((variant) => variant.products) / covariateSquares : 0
  const centre = total((variant) => variant.covariateMean * variant.units) / units
  const residualSquares = (variant: CentredMoments) =>
    positive(
      variant.squares - 2 * theta * variant.products + theta * theta * variant.covariateSquares,
      variant.squares,
    )
  const squares = total((variant) => variant.squares)
  return {
    byVariant: new Map(
      variants.map((variant) => [
        variant.id,
        {
          units: variant.units,
          value: variant.mean - theta * (variant.covariateMean - centre),
          variance: residualSquares(variant) / (variant.units - 1) / variant.units,
          // 0 where theta is just the regression in this variant.
          sharedCovariance:
            (theta * (variant.products - theta * variant.covariateSquares)) / (variant.units - 1) / units,
          degreesOfFreedom: variant.units - 1,
          enoughData: variant.enoughData,
        },
      ]),
    ),
    sharedVariance:
      (theta / units) ** 2 *
      total((variant) => (variant.covariateSquares / (variant.units - 1)) * variant.units),
    varianceReduction: finite(1 - total(residualSquares) / squares),
  }
}

function squaresAroundMean(units: number, { sum, sumSquares }: { sum: number; sumSquares: number }): number {
  return positive(sumSquares - (sum * sum) / units, sumSquares)
}

/** A sum of squares that came about by subtraction: what is left of equal values by rounding is 0. */
function positive(difference: number, subtractedFrom: number): number {
  return difference > subtractedFrom * 64 * Number.EPSILON ? difference : 0
}

function restsOnEnough({ sum, sumSquares }: { readonly sum: number; readonly sumSquares: number }): boolean {
  return sumSquares > 0 && (sum * sum) / sumSquares >= minEffectiveUnits
}

/** Of the whole estimate, with the part that it shares. */
export function standardErrorOf({ variance, sharedCovariance }: Estimate, sharedVariance: number): number {
  return Math.sqrt(Math.max(0, variance + sharedVariance + 2 * sharedCovariance))
}
