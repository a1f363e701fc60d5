import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyseExperiment, analyseMetrics, type ExperimentDesign, type Metric } from './analysis.ts'
import type { MeanStatistics, MetricStatistics, RateStatistics } from './metric-statistics.ts'

const design = (variants = 2, plannedSample: number | null = 10_000): ExperimentDesign => ({
  baselineVariantId: 'variant0',
  variants: Array.from({ length: variants }, (_, at) => ({ id: `variant${at}`, allocation: 1 / variants })),
  plannedSample,
})

function metric(
  statistics: readonly MetricStatistics[],
  role: 'success' | 'guard' = 'success',
  id = 'a',
): Metric {
  return { id, role, statistics: new Map(statistics.map((each, at) => [`variant${at}`, each])) }
}

/** The second variant of an experiment with one metric. */
function compared(baseline: MetricStatistics, treatment: MetricStatistics) {
  const result = analyseMetrics(design(), [metric([baseline, treatment])])[0]?.variants[1]
  if (!result?.comparison) throw new Error('There is no comparison')
  return { ...result, comparison: result.comparison }
}

const rate = (conversions: number, units: number): RateStatistics => ({ kind: 'rate', units, conversions })

function mean(values: readonly number[]): MeanStatistics {
  const sum = values.reduce((total, value) => total + value, 0)
  return {
    kind: 'mean',
    units: values.length,
    sum,
    sumSquares: values.reduce((all, value) => all + value * value, 0),
  }
}

const anyRate = fc
  .tuple(fc.integer({ min: 0, max: 100_000 }), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([units, share]) => rate(Math.round(units * share), units))
const anyMean = fc.array(fc.integer({ min: -500, max: 5_000 }), { maxLength: 60 }).map(mean)
const anyStatistics = fc.oneof(fc.tuple(anyRate, anyRate), fc.tuple(anyMean, anyMean))

const holds = (interval: { low: number | null; high: number | null }, value: number) =>
  interval.low === null || interval.high === null || (interval.low <= value && value <= interval.high)

describe('a comparison', () => {
  it('has an interval of the lift that leaves 0 out exactly when its p-value is at most alpha', () => {
    fc.assert(
      fc.property(anyStatistics, ([baseline, treatment]) => {
        const { comparison } = compared(baseline, treatment)
        for (const { pValue, lift, difference } of [comparison.fixedHorizon, comparison.alwaysValid]) {
          if (pValue === null || Math.abs(pValue - 0.05) < 1e-9) continue
          expect(holds(difference, 0)).toBe(pValue > 0.05)
          if (lift.low !== null) expect(holds(lift, 0)).toBe(pValue > 0.05)
        }
      }),
    )
  })

  it('is wider and less sure where it may be looked at any time', () => {
    fc.assert(
      fc.property(anyStatistics, ([baseline, treatment]) => {
        const { fixedHorizon, alwaysValid } = compared(baseline, treatment).comparison
        if (alwaysValid.pValue === null) return
        expect(alwaysValid.pValue).toBeGreaterThanOrEqual(fixedHorizon.pValue ?? 1)
        const width = ({ low, high }: { low: number | null; high: number | null }) => (high ?? 0) - (low ?? 0)
        expect(width(alwaysValid.difference)).toBeGreaterThan(width(fixedHorizon.difference))
      }),
    )
  })

  it('gives the same lift and p-value in cents as in euros', () => {
    const euros = mean([9, 4, 12.5, 3, 6, 20, 7, 5, 8, 15])
    const others = mean([9, 20, 12.5, 3, 11, 24, 9, 8, 21, 15])
    const inCents = ({ kind, units, sum, sumSquares }: MeanStatistics): MeanStatistics => ({
      kind,
      units,
      sum: sum * 100,
      sumSquares: sumSquares * 10_000,
    })
    const one = compared(euros, others).comparison.fixedHorizon
    const other = compared(inCents(euros), inCents(others)).comparison.fixedHorizon
    expect(other.pValue).toBeCloseTo(one.pValue ?? Number.NaN, 12)
    expect(other.lift.estimate).toBeCloseTo(one.lift.estimate ?? Number.NaN, 12)
    expect(other.adjusted.lift.high).toBeCloseTo(one.adjusted.lift.high ?? Number.NaN, 12)
  })

  it('has no lift over a baseline of 0, and a difference all the same', () => {
    const { comparison } = compared(rate(0, 1_000), rate(40, 1_000))
    expect(comparison.fixedHorizon.lift).toEqual({ estimate: null, low: null, high: null })
    expect(comparison.fixedHorizon.difference.low).toBeGreaterThan(0)
    expect(comparison.fixedHorizon.pValue).toBeLessThan(0.001)
    expect(comparison.difference).toBe(0.04)
  })

  it('has no bounds of the lift over a baseline that may as well be 0', () => {
    const { lift } = compared(rate(2, 1_000), rate(40, 1_000)).comparison.fixedHorizon
    expect(lift.estimate).toBeCloseTo(19, 12)
    expect(lift).toMatchObject({ low: null, high: null })
  })

  it('has no lift over a baseline below 0, as where refunds exceed purchases', () => {
    const { comparison } = compared(mean([-5, -3, -4, -6]), mean([2, 3, 1, 4]))
    expect(comparison.fixedHorizon.lift).toEqual({ estimate: null, low: null, high: null })
    expect(comparison.fixedHorizon.pValue).toBeLessThan(0.01)
  })

  it('has no p-value where no unit differs from another, whatever rounding leaves of the sums', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 2, max: 30 }), (cents, units) => {
        const equal = mean(Array.from({ length: units }, () => cents / 100))
        expect(compared(equal, equal).comparison.fixedHorizon.pValue).toBeNull()
      }),
    )
    const { comparison, standardError } = compared(mean([0.1, 0.1, 0.1]), mean([0.1, 0.1, 0.1, 0.1]))
    expect(standardError).toBe(0)
    expect(comparison.fixedHorizon).toMatchObject({ pValue: null, confidence: null })
    expect(comparison.fixedHorizon.lift).toMatchObject({ low: null, high: null })
  })

  it.each([
    ['no units', rate(0, 0)],
    ['one unit', rate(1, 1)],
    ['one unit with a value', mean([5])],
  ])('says nothing with %s', (_, few) => {
    const full = few.kind === 'rate' ? rate(30, 1_000) : mean([1, 2, 3])
    for (const pair of [
      [few, full],
      [full, few],
    ] as const) {
      const { comparison } = compared(...pair)
      expect(comparison.difference).toBeNull()
      expect(comparison.fixedHorizon.pValue).toBeNull()
      expect(comparison.alwaysValid.lift).toEqual({ estimate: null, low: null, high: null })
    }
  })

  it('waits with the always-valid test for 25 units that convert and 25 that do not', () => {
    const alwaysValid = (few: number) =>
      compared(rate(few, 1_000), rate(200, 1_000)).comparison.alwaysValid.pValue
    expect(alwaysValid(24)).toBeNull()
    expect(alwaysValid(25)).toBeLessThan(0.05)
    expect(alwaysValid(976)).toBeNull()
    expect(compared(rate(24, 1_000), rate(200, 1_000)).enoughData).toBe(true)
  })

  it('waits with the always-valid test until a mean rests on 100 units', () => {
    const bought = (buyers: number) => mean(Array.from({ length: 400 }, (_, at) => (at < buyers ? 30 : 0)))
    expect(compared(bought(200), bought(99)).comparison.alwaysValid.pValue).toBeNull()
    expect(compared(bought(200), bought(100)).comparison.alwaysValid.pValue).toBeLessThan(0.001)
    expect(compared(bought(99), bought(200)).comparison.alwaysValid.pValue).toBeNull()
  })

  it('is narrowest at the planned sample where it may be looked at any time', () => {
    const widthWhenPlannedFor = (
      plannedSample: number | null,
      [first = 0, second = 0]: readonly number[],
    ) => {
      const variants = [first, second].map((units, at) => ({
        id: `variant${at}`,
        allocation: units / (first + second),
      }))
      const statistics = [rate(first / 10, first), rate(second / 10, second)]
      const [result] = analyseMetrics({ ...design(), variants, plannedSample }, [metric(statistics)])
      const { low, high } = result?.variants[1]?.comparison?.alwaysValid.difference ?? {}
      return (high ?? Number.NaN) - (low ?? Number.NaN)
    }
    for (const units of [
      [5_000, 5_000],
      [1_000, 9_000],
    ]) {
      const narrowest = widthWhenPlannedFor(10_000, units)
      expect(widthWhenPlannedFor(9_900, units)).toBeGreaterThan(narrowest)
      expect(widthWhenPlannedFor(10_100, units)).toBeGreaterThan(narrowest)
      expect(widthWhenPlannedFor(null, units)).toBe(narrowest)
      const standardError = Math.sqrt(units.reduce((sum, each) => sum + 0.09 / each, 0))
      expect(narrowest).toBeCloseTo(2 * 3.035122413 * standardError, 9)
    }
  })

  it('waits with the always-valid test until no purchase is most of the revenue', () => {
    const many = mean(Array.from({ length: 400 }, (_, at) => (at % 2) * 10))
    const one = mean(Array.from({ length: 400 }, (_, at) => (at % 2) * 10 + (at === 0 ? 3_000 : 0)))
    expect(compared(many, many).comparison.alwaysValid.pValue).toBe(1)
    expect(compared(many, one).comparison.alwaysValid.pValue).toBeNull()
    expect(compared(many, one).enoughData).toBe(false)
  })
})

describe('results', () => {
  it('hold null and never NaN or infinity, whatever the statistics (docs/faults.md, X02)', () => {
    const extreme = fc.constantFrom(0, 1, 2, 1e-300, 5e-324, 1e15, 1e150, 1e300)
    const arbitrary = fc.oneof(
      anyRate,
      anyMean,
      fc.record({ kind: fc.constant('mean' as const), units: extreme, sum: extreme, sumSquares: extreme }),
      fc.record({
        kind: fc.constant('mean' as const),
        units: extreme,
        sum: extreme,
        sumSquares: extreme,
        covariate: fc.record({ sum: extreme, sumSquares: extreme, sumProducts: extreme }),
      }),
      fc.record({
        kind: fc.constant('ratio' as const),
        units: extreme,
        numerator: fc.record({ sum: extreme, sumSquares: extreme }),
        denominator: fc.record({ sum: extreme, sumSquares: extreme }),
        sumProducts: extreme,
      }),
    )
    const sameKind = fc
      .array(arbitrary, { minLength: 1, maxLength: 40 })
      .map((all) =>
        all
          .filter(
            (each) => each.kind === all[0]?.kind && 'covariate' in each === 'covariate' in (all[0] ?? {}),
          )
          .slice(0, 4),
      )
    fc.assert(
      fc.property(sameKind, fc.constantFrom(null, 1, 10_000), (statistics, plannedSample) => {
        const results = analyseExperiment(
          design(4, plannedSample),
          [metric(statistics), metric(statistics, 'guard', 'b')],
          new Map(),
        )
        for (const number of numbersOf(results)) expect(number).toSatisfy(Number.isFinite)
      }),
      { numRuns: 500 },
    )
  })

  it('come in the order of the design, with null for the baseline and units of 0 for who has none', () => {
    const [result] = analyseMetrics(design(3), [metric([rate(50, 1_000), rate(60, 1_000)])])
    expect(result?.variants.map(({ variantId, units }) => [variantId, units])).toEqual([
      ['variant0', 1_000],
      ['variant1', 1_000],
      ['variant2', 0],
    ])
    expect(result?.variants[0]?.comparison).toBeNull()
    expect(result?.variants[2]).toMatchObject({ estimate: null, standardError: null, enoughData: false })
    expect(result?.variants[2]?.comparison?.fixedHorizon.pValue).toBeNull()
  })

  it('refuse statistics of different kinds for one metric, and a covariate of some variants only', () => {
    expect(() => analyseMetrics(design(), [metric([rate(5, 10), mean([1, 2])])])).toThrow(/different kinds/)
    const covariate = { sum: 1, sumSquares: 1, sumProducts: 1 }
    expect(() => analyseMetrics(design(), [metric([{ ...mean([1, 2]), covariate }, mean([1, 2])])])).toThrow(
      /covariate/,
    )
  })

  it('are what they are without CUPED where all units did the same before', () => {
    const same = { sum: 3, sumSquares: 3 }
    const [first, second] = [mean([1, 5, 3]), mean([2, 9, 4])]
    const withCovariate = [first, second].map((each) => ({
      ...each,
      covariate: { ...same, sumProducts: each.sum },
    }))
    const [plain] = analyseMetrics(design(), [metric([first, second])])
    const [adjusted] = analyseMetrics(design(), [metric(withCovariate)])
    expect(adjusted?.variants).toEqual(plain?.variants)
    expect(adjusted?.varianceReduction).toBe(0)
    expect(plain?.varianceReduction).toBeNull()
  })
})

describe('comparisons that are corrected together', () => {
  const rounding = 1e-12
  const arms = [rate(500, 10_000), rate(560, 10_000), rate(600, 10_000)]

  it('correct the success metrics by Holm, over variants and metrics', () => {
    const results = analyseMetrics(design(3), [metric(arms), metric(arms, 'success', 'b')])
    const first = results[0]?.variants[2]?.comparison?.fixedHorizon
    expect(first?.adjusted.pValue).toBeCloseTo(4 * (first?.pValue ?? 0), 12)
    expect(results[1]?.variants[1]?.comparison?.fixedHorizon.adjusted.pValue).toBeCloseTo(
      2 * (results[1]?.variants[1]?.comparison?.fixedHorizon.pValue ?? 0),
      12,
    )
  })

  it('leave guard metrics out of the family of the success metrics', () => {
    const results = analyseMetrics(design(2), [
      metric(arms.slice(0, 2)),
      metric(arms.slice(0, 2), 'guard', 'b'),
      metric([rate(500, 10_000), rate(501, 10_000)], 'guard', 'c'),
    ])
    const [success, guard] = results.map(({ variants }) => variants[1]?.comparison?.fixedHorizon)
    expect(success?.adjusted.pValue).toBe(success?.pValue)
    expect(success?.adjusted.lift).toMatchObject({ low: success?.lift.low, high: success?.lift.high })
    expect(guard?.adjusted.pValue).toBeCloseTo(2 * (guard?.pValue ?? 0), 12)
  })

  it('have corrected intervals that hold the raw ones, and for guards agree with their p-values', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 380, max: 640 }), { minLength: 2, maxLength: 6 }), (counts) => {
        const statistics = counts.map((count) => rate(count, 10_000))
        for (const role of ['success', 'guard'] as const) {
          const [result] = analyseMetrics(design(counts.length), [metric(statistics, role)])
          for (const { comparison } of result?.variants ?? [])
            for (const each of comparison ? [comparison.fixedHorizon, comparison.alwaysValid] : []) {
              expect(each.adjusted.pValue).toBeGreaterThanOrEqual(each.pValue ?? 1)
              expect(each.adjusted.lift.low).toBeLessThanOrEqual((each.lift.low ?? Number.NaN) + rounding)
              expect(each.adjusted.lift.high).toBeGreaterThanOrEqual(
                (each.lift.high ?? Number.NaN) - rounding,
              )
              const found = (each.adjusted.pValue ?? 1) <= 0.05
              if (role === 'guard') expect(holds(each.adjusted.lift, 0)).toBe(!found)
              else if (!found) expect(holds(each.adjusted.lift, 0)).toBe(true)
            }
        }
      }),
    )
  })
})

describe('an experiment', () => {
  const analyse = (statistics: readonly RateStatistics[], plannedSample: number | null) =>
    analyseExperiment(
      design(2, plannedSample),
      [metric(statistics), metric([rate(100, 500), rate(400, 500)], 'guard', 'guard')],
      new Map(statistics.map(({ units }, at) => [`variant${at}`, units])),
    ).validation

  it('stands when all planned units are counted, though nothing was found', () => {
    expect(analyse([rate(500, 10_000), rate(501, 10_000)], 20_000)).toEqual({
      validated: true,
      reason: 'planned_sample',
    })
  })

  it('stands earlier when the always-valid test of a success metric has reached its bound', () => {
    expect(analyse([rate(500, 10_000), rate(700, 10_000)], 200_000)).toEqual({
      validated: true,
      reason: 'always_valid_bound',
    })
  })

  it('does not stand by the test of one look before its time, nor by a guard metric', () => {
    const statistics = [rate(500, 10_000), rate(565, 10_000)]
    const { comparison } = compared(...(statistics as [RateStatistics, RateStatistics]))
    expect(comparison.fixedHorizon.pValue).toBeLessThan(0.05)
    expect(analyse(statistics, 200_000)).toEqual({ validated: false, reason: 'too_early' })
    expect(analyse(statistics, null)).toEqual({ validated: false, reason: 'too_early' })
  })

  it('does not stand when the units did not come as they were to', () => {
    expect(analyse([rate(500, 10_000), rate(700, 10_600)], 20_000)).toEqual({
      validated: false,
      reason: 'sample_ratio',
    })
  })

  it('does not stand with too few units for the check of their shares', () => {
    expect(analyse([rate(1, 4), rate(3, 4)], 8)).toEqual({ validated: false, reason: 'too_few_units' })
  })
})

/** All numbers in a result, however deep. */
function numbersOf(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(numbersOf)
}
