import { describe, expect, it } from 'vitest'
import { createDecisionReader, createResultsService, type ReadExperimentResults } from './results-service.ts'

const service = createResultsService({
  readMeasured: async () => Promise.reject(new Error('a plan reads no experiment')),
  readResults: async () => Promise.reject(new Error('a plan reads no results')),
})

const compared = (variantId: string, pValue: number) => {
  const test = { lift: { estimate: 0.1 }, adjusted: { pValue, lift: { low: 0.02, high: 0.2 } } }
  return { variantId, comparison: { fixedHorizon: test, alwaysValid: test } }
}

describe('a decision', () => {
  it.each([
    [true, 'always_valid_bound', { b: true, c: false }],
    [true, 'planned_sample', { b: true, c: true }],
    [false, 'sample_ratio', { b: false, c: false }],
  ])('is validated by its own variant: %s by %s', async (validated, validation, expected) => {
    const variants = [{ variantId: 'a', comparison: null }, compared('b', 0.01), compared('c', 0.4)]
    const results = { validated, validation, confidenceLevel: 0.95, metrics: [{ variants }] }
    const read = createDecisionReader(
      async () => results as unknown as Awaited<ReturnType<ReadExperimentResults>>,
    )
    const experiment = {} as Parameters<typeof read>[0]
    const found = await read(experiment, { userId: 'u', signal: new AbortController().signal })
    expect(Object.fromEntries(found.variants.map((each) => [each.variantId, each.validated]))).toEqual(
      expected,
    )
  })
})

describe('a plan', () => {
  it('says how many units and days find an effect', () => {
    const plan = service.plan({ baseline: { rate: 0.05 }, effect: 0.1, dailyUnits: 1_000 })
    // Per variant: (1.959964 + 0.841621)^2 (0.05 0.95 + 0.055 0.945) / 0.005^2.
    expect(plan.fixedHorizon.units).toBeGreaterThan(62_000)
    expect(plan.fixedHorizon.units).toBeLessThan(63_000)
    expect(plan.fixedHorizon.days).toBe(Math.ceil(plan.fixedHorizon.units / 1_000))
    expect(plan.alwaysValid.units).toBeGreaterThan(plan.fixedHorizon.units)
    expect(
      service.plan({ baseline: { mean: 4, standardDeviation: 20 }, effect: -0.1 }).fixedHorizon.days,
    ).toBeNull()
  })

  it.each([
    [{ baseline: { rate: 0.5 }, effect: 0 }, 'effect'],
    [{ baseline: { rate: 0.5 }, effect: 1.5 }, 'effect'],
    [{ baseline: { rate: 0.5 }, effect: 0.1, allocations: [0.5, 0.6] }, 'allocations'],
    // Their units are no number, or none that JSON and a plan could hold.
    [{ baseline: { rate: 1e-300 }, effect: 1e-300 }, 'effect'],
    [{ baseline: { mean: 1, standardDeviation: 1 }, effect: 1e-12 }, 'effect'],
  ])('refuses what cannot be planned: %j', (asked, path) => {
    expect(() => service.plan(asked)).toThrow(
      expect.objectContaining({
        errorName: 'validation',
        data: { errors: [expect.objectContaining({ path })] },
      }),
    )
  })
})
