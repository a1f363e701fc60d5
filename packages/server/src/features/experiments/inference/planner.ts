import { normalSurvival, normalUpperQuantile } from '../../../platform/distributions/normal.ts'
import { solveDecreasing } from '../../../platform/distributions/solve.ts'
import { alwaysValidTest } from './always-valid.ts'

/** What the units of the baseline are expected to do. */
export type ExpectedBaseline =
  | { readonly kind: 'rate'; readonly rate: number }
  | { readonly kind: 'mean'; readonly mean: number; readonly standardDeviation: number }

export interface PlanDesign {
  /** Its rate lies between 0 and 1, its mean above 0. */
  readonly baseline: ExpectedBaseline
  /** Shares of the traffic that sum to 1, the baseline's first. */
  readonly allocations: readonly number[]
  /** Chance to find the effect where there is one, above alpha; 0.8 when absent. */
  readonly power?: number
  /** Accepted rate of false alarms, 0.05 when absent. It is divided by the number of comparisons. */
  readonly alpha?: number
}

export interface PlannedSample {
  /** Over all variants. */
  readonly units: number
  /** In the order of the allocations. */
  readonly unitsByVariant: readonly number[]
  /** Null where it is not known how many units come on a day. */
  readonly days: number | null
}

export interface Plan {
  /** For one look, when all units are there. */
  readonly fixedHorizon: PlannedSample
  /** For looks at any time: by then the bound has been reached with the power asked for. */
  readonly alwaysValid: PlannedSample & {
    /** Units over all variants at which the expected course reaches the bound. */
    readonly typicalUnits: number
    /** Its units over those of one look; it depends on alpha, power and the number of comparisons only. */
    readonly ratio: number
  }
}

/**
 * How many units find a relative effect: as many as bring it, in the variant with the smallest share, to the distance
 * from 0 in standard errors that the test rejects with the power asked for. Normal approximation: a rate varies in the
 * variant by its own rate, a mean as in the baseline.
 * @param effect relative to the baseline, negative for a decrease
 * @param dailyUnits that are exposed for the first time on a day, over all variants; null when not known
 * @throws RangeError for an effect of 0, or one that brings a rate out of 0 to 1
 */
export function planSample(design: PlanDesign, effect: number, dailyUnits: number | null): Plan {
  if (!(Math.abs(effect) > 0)) throw new RangeError('An effect to find is not 0')
  const { oneLook, anyLook } = requiredDistances(design)
  const spread = spreadOf(design, effect)
  const difference = Math.abs(effect) * baselineValue(design)
  const sampleFor = (distance: number): PlannedSample => {
    // Two units are the fewest that have a variance.
    const fewest = 2 / Math.min(...design.allocations)
    const units = Math.ceil(Math.max(fewest, ((distance * spread) / difference) ** 2))
    return {
      units,
      unitsByVariant: divide(units, design.allocations),
      days: dailyUnits === null ? null : Math.ceil(units / dailyUnits),
    }
  }
  const alwaysValid = sampleFor(anyLook)
  return {
    fixedHorizon: sampleFor(oneLook),
    alwaysValid: {
      ...alwaysValid,
      typicalUnits: Math.ceil(alwaysValid.units * typicalShare(design, anyLook)),
      ratio: (anyLook / oneLook) ** 2,
    },
  }
}

/** Whole units by their shares, which sum to all: those left over go to the largest remainders, the first of equal ones. */
function divide(units: number, shares: readonly number[]): number[] {
  const exact = shares.map((share) => units * share)
  const whole = exact.map(Math.floor)
  const left = units - whole.reduce((sum, each) => sum + each, 0)
  const remainderOf = (i: number) => (exact[i] ?? 0) - (whole[i] ?? 0)
  const largest = shares
    .map((_, i) => i)
    .sort((a, b) => remainderOf(b) - remainderOf(a))
    .slice(0, left)
  return whole.map((each, i) => each + (largest.includes(i) ? 1 : 0))
}

/** The chance that one look at so many units finds an effect, in the variant with the smallest share. */
export function powerOf(design: PlanDesign, effect: number, units: number): number {
  const distance = (Math.abs(effect) * baselineValue(design) * Math.sqrt(units)) / spreadOf(design, effect)
  return rejectionChance(distance, normalUpperQuantile(alphaOf(design) / 2))
}

/** That a normal variable with this mean and variance 1 lies outside the bounds on either side. */
function rejectionChance(distance: number, criticalValue: number): number {
  return normalSurvival(criticalValue - distance) + normalSurvival(criticalValue + distance)
}

/** Bonferroni over the comparisons with the baseline. */
function alphaOf({ alpha = 0.05, allocations }: PlanDesign): number {
  return alpha / Math.max(1, allocations.length - 1)
}

function alwaysValidBound(design: PlanDesign, share: number): number {
  const test = alwaysValidTest({ sample: share, plannedSample: 1, tunedTo: design.alpha ?? 0.05 })
  return test.criticalValue(alphaOf(design))
}

/** How many standard errors an effect must be away from 0 to be found with the power asked for. */
function requiredDistances(design: PlanDesign): { oneLook: number; anyLook: number } {
  const power = design.power ?? 0.8
  const distanceFor = (criticalValue: number) =>
    solveDecreasing((distance) => power - rejectionChance(distance, criticalValue), {
      low: 0,
      high: criticalValue + Math.max(0, -normalUpperQuantile(power)) + 1,
    })
  return {
    oneLook: distanceFor(normalUpperQuantile(alphaOf(design) / 2)),
    anyLook: distanceFor(alwaysValidBound(design, 1)),
  }
}

/** The share of the sample at which a course that grows as expected meets the bound that falls. */
function typicalShare(design: PlanDesign, distance: number): number {
  const below = (share: number) => alwaysValidBound(design, share) - distance * Math.sqrt(share)
  return solveDecreasing(below, { low: 1e-6, high: 1 })
}

/** Standard error of the difference times the square root of all units. */
function spreadOf({ baseline, allocations: [own = 1, ...others] }: PlanDesign, effect: number): number {
  const smallest = Math.min(...others)
  if (baseline.kind === 'mean') return baseline.standardDeviation * Math.sqrt(1 / own + 1 / smallest)
  const rate = baseline.rate * (1 + effect)
  if (!(rate >= 0 && rate <= 1))
    throw new RangeError(`A rate of ${baseline.rate} cannot change by ${effect}: it would be ${rate}`)
  return Math.sqrt((baseline.rate * (1 - baseline.rate)) / own + (rate * (1 - rate)) / smallest)
}

function baselineValue({ baseline }: PlanDesign): number {
  return baseline.kind === 'rate' ? baseline.rate : baseline.mean
}
