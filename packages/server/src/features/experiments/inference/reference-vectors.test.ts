import { describe, expect, it } from 'vitest'
import { chiSquareSurvival } from '../../../platform/distributions/chi-square.ts'
import { regularisedBeta } from '../../../platform/distributions/incomplete-beta.ts'
import { normalSurvival, normalUpperQuantile } from '../../../platform/distributions/normal.ts'
import { studentSurvival, studentUpperQuantile } from '../../../platform/distributions/student.ts'
import { alwaysValidTest, tunedMixture } from './always-valid.ts'
import { analyseMetrics, type ExperimentDesign } from './analysis.ts'
import type { MetricStatistics } from './metric-statistics.ts'
import { correctByBenjaminiHochberg, correctByHolm } from './multiple-comparisons.ts'
import { type PlanDesign, planSample, powerOf } from './planner.ts'
import vectors from './reference-vectors.json' with { type: 'json' }
import { checkSampleRatio } from './sample-ratio.ts'

// reference-vectors.json names the package and the call behind each value; scripts/inference-vectors.py made it.
const tolerance = 1e-9

/** To nine digits, relative to the reference value. */
function expectEqual(value: number | null | undefined, reference: number | undefined): void {
  if (reference === undefined) throw new Error('There is no reference value')
  expect(value).toBeTypeOf('number')
  expect(Math.abs((value ?? Number.NaN) - reference)).toBeLessThanOrEqual(tolerance * Math.abs(reference))
}

function analyse(variants: readonly MetricStatistics[]) {
  const ids = variants.map((_, at) => `variant${at}`)
  const design: ExperimentDesign = {
    baselineVariantId: 'variant0',
    variants: ids.map((id) => ({ id, allocation: 1 / ids.length })),
    plannedSample: null,
  }
  const statistics = new Map(variants.map((each, at) => [`variant${at}`, each]))
  const [result] = analyseMetrics(design, [{ id: 'metric', role: 'success', statistics }])
  if (!result) throw new Error('There is no result')
  return result
}

describe('distributions equal their reference values', () => {
  it('normal', () => {
    for (const { z, value } of vectors.normalSurvival.cases) expectEqual(normalSurvival(z), value)
    for (const { p, value } of vectors.normalUpperQuantile.cases) expectEqual(normalUpperQuantile(p), value)
  })
  it('Student', () => {
    for (const { t, df, value } of vectors.studentSurvival.cases) expectEqual(studentSurvival(t, df), value)
    for (const { p, df, value } of vectors.studentUpperQuantile.cases)
      expectEqual(studentUpperQuantile(p, df), value)
  })
  it('chi-square', () => {
    for (const { x, df, value } of vectors.chiSquareSurvival.cases)
      expectEqual(chiSquareSurvival(x, df), value)
  })
  it('incomplete beta', () => {
    for (const { x, a, b, value } of vectors.regularisedBeta.cases)
      expectEqual(regularisedBeta({ x, y: 1 - x, a, b }), value)
  })
})

describe('estimates and tests equal their reference values', () => {
  it.each([
    ['means', vectors.means.cases],
    ['rates', vectors.rates.cases],
  ] as const)('%s', (_, cases) => {
    for (const each of cases) {
      const { variants } = analyse([each.baseline, each.treatment] as MetricStatistics[])
      const treatment = variants[1]
      expectEqual(treatment?.estimate, each.estimate)
      expectEqual(treatment?.standardError, each.standardError)
      const fixed = treatment?.comparison?.fixedHorizon
      expectEqual(fixed?.pValue, each.pValue)
      expectEqual(fixed?.difference.low, each.difference[0])
      expectEqual(fixed?.difference.high, each.difference[1])
      expectEqual(fixed?.lift.low, each.lift[0])
      expectEqual(fixed?.lift.high, each.lift[1])
    }
  })
  it('ratios by the delta method', () => {
    for (const each of vectors.ratios.cases) {
      const treatment = analyse([each.baseline, each.treatment] as MetricStatistics[]).variants[1]
      expectEqual(treatment?.estimate, each.estimate)
      expectEqual(treatment?.standardError, each.standardError)
      expectEqual(treatment?.comparison?.fixedHorizon.pValue, each.pValue)
    }
  })
  it('CUPED over two and three variants', () => {
    for (const each of vectors.cuped.cases) {
      const { variants, varianceReduction } = analyse(each.variants as MetricStatistics[])
      expectEqual(varianceReduction, each.varianceReduction)
      each.estimates.forEach((estimate, at) => {
        expectEqual(variants[at]?.estimate, estimate)
        expectEqual(variants[at]?.standardError, each.standardErrors[at])
      })
      variants.slice(1).forEach(({ comparison }, at) => {
        const fixed = comparison?.fixedHorizon
        expectEqual(fixed?.pValue, each.pValues[at])
        expectEqual(fixed?.difference.low, each.differences[at]?.[0])
        expectEqual(fixed?.difference.high, each.differences[at]?.[1])
        expectEqual(fixed?.lift.low, each.lifts[at]?.[0])
        expectEqual(fixed?.lift.high, each.lifts[at]?.[1])
      })
    }
  })
  it('sample ratio', () => {
    for (const { units, allocations, value } of vectors.sampleRatio.cases) {
      const variants = allocations.map((allocation, at) => ({ allocation, units: units[at] ?? 0 }))
      expectEqual(checkSampleRatio(variants).pValue, value)
    }
  })
  it('corrections for many comparisons', () => {
    for (const each of vectors.corrections.cases) {
      correctByHolm(each.pValues, 0.05).pValues.forEach((pValue, at) => {
        expectEqual(pValue, each.holm[at])
      })
      correctByBenjaminiHochberg(each.pValues, 0.05).pValues.forEach((pValue, at) => {
        expectEqual(pValue, each.benjaminiHochberg[at])
      })
    }
  })
})

describe('the always-valid test equals its reference values', () => {
  it('p-values, by an integral over all effects', () => {
    for (const { distance, x, value } of vectors.mixture.cases) {
      const test = alwaysValidTest({ sample: x, plannedSample: tunedMixture(0.05), tunedTo: 0.05 })
      expectEqual(test.pValue(distance), value)
    }
  })
  it('bounds, by the formula of the paper in its own terms', () => {
    for (const { x, alpha, value } of vectors.sequenceBound.cases) {
      const test = alwaysValidTest({ sample: x, plannedSample: tunedMixture(0.05), tunedTo: 0.05 })
      expectEqual(test.criticalValue(alpha), value)
    }
  })
  it('the narrowest bound, by the function of Lambert', () => {
    for (const { alpha, value } of vectors.tunedMixture.cases) expectEqual(tunedMixture(alpha), value)
  })
})

describe('plans equal their reference values', () => {
  it('power', () => {
    for (const { design, effect, units, value } of vectors.power.cases)
      expectEqual(powerOf(design as PlanDesign, effect, units), value)
  })
  it('units', () => {
    for (const { design, effect, units } of vectors.sample.cases)
      expect(planSample(design as PlanDesign, effect, null).fixedHorizon.units).toBe(units)
  })
})
