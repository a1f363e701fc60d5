import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PlanDesign, planSample, powerOf } from './planner.ts'

const halves = [0.5, 0.5]
const conversion = (rate: number, more: Partial<PlanDesign> = {}): PlanDesign => ({
  baseline: { kind: 'rate', rate },
  allocations: halves,
  ...more,
})
const revenue: PlanDesign = {
  baseline: { kind: 'mean', mean: 12, standardDeviation: 40 },
  allocations: halves,
}

const anyDesign = fc.record({
  baseline: fc.oneof(
    fc.record({ kind: fc.constant('rate' as const), rate: fc.double({ min: 0.001, max: 0.4, noNaN: true }) }),
    fc.record({
      kind: fc.constant('mean' as const),
      mean: fc.double({ min: 0.01, max: 1_000, noNaN: true }),
      standardDeviation: fc.double({ min: 0.01, max: 10_000, noNaN: true }),
    }),
  ),
  allocations: fc.constantFrom(halves, [0.1, 0.9], [0.2, 0.5, 0.3], [0.25, 0.25, 0.25, 0.25]),
  power: fc.constantFrom(0.5, 0.8, 0.9, 0.99),
  alpha: fc.constantFrom(0.01, 0.05, 0.2),
})
const anyEffect = fc.oneof(
  fc.double({ min: 0.01, max: 1, noNaN: true }),
  fc.double({ min: -0.9, max: -0.01, noNaN: true }),
)

describe('a plan', () => {
  it('has the fewest units that find the effect with the power asked for', () => {
    fc.assert(
      fc.property(anyDesign, anyEffect, (design, effect) => {
        const { units, unitsByVariant } = planSample(design, effect, null).fixedHorizon
        // More cannot be added up.
        fc.pre(units <= Number.MAX_SAFE_INTEGER)
        expect(unitsByVariant.reduce((sum, each) => sum + each, 0)).toBe(units)
        for (const each of unitsByVariant) expect(each).toBeGreaterThanOrEqual(2)
        expect(powerOf(design, effect, units)).toBeGreaterThanOrEqual(design.power - 1e-9)
        // Unless it is the fewest units that have a variance.
        if (units > Math.ceil(2 / Math.min(...design.allocations)))
          expect(powerOf(design, effect, units - 1)).toBeLessThan(design.power + 1e-9)
      }),
    )
  })

  it('says how much longer looking at any time takes, which no baseline changes', () => {
    const { alwaysValid, fixedHorizon } = planSample(conversion(0.05), 0.1, 1_000)
    expect(alwaysValid.ratio).toBeCloseTo(1.9148, 4)
    expect(alwaysValid.units / fixedHorizon.units).toBeCloseTo(alwaysValid.ratio, 4)
    expect(alwaysValid.typicalUnits).toBeGreaterThan(fixedHorizon.units)
    expect(alwaysValid.typicalUnits).toBeLessThan(alwaysValid.units)
    expect(planSample(revenue, 0.3, null).alwaysValid.ratio).toBe(alwaysValid.ratio)
  })

  it('counts days by the units of a day, and none where they are not known', () => {
    const plan = planSample(conversion(0.05, { allocations: [0.2, 0.8] }), 0.1, 1_000)
    expect(plan.fixedHorizon.days).toBe(Math.ceil(plan.fixedHorizon.units / 1_000))
    expect(plan.fixedHorizon.unitsByVariant).toEqual([
      Math.round(plan.fixedHorizon.units * 0.2),
      Math.round(plan.fixedHorizon.units * 0.8),
    ])
    expect(planSample(conversion(0.05), 0.1, null).alwaysValid.days).toBeNull()
  })

  it('needs more units for more comparisons, unequal shares, more power and fewer false alarms', () => {
    const units = (more: Partial<PlanDesign>) =>
      planSample(conversion(0.05, more), 0.1, null).fixedHorizon.units
    expect(units({ allocations: [1 / 3, 1 / 3, 1 / 3] })).toBeGreaterThan(1.5 * units({}))
    expect(units({ allocations: [0.1, 0.9] })).toBeGreaterThan(2 * units({}))
    expect(units({ power: 0.9 })).toBeGreaterThan(units({}))
    expect(units({ alpha: 0.01 })).toBeGreaterThan(units({}))
  })

  it('has two units for each variant at least', () => {
    const sure: PlanDesign = { ...revenue, baseline: { kind: 'mean', mean: 5, standardDeviation: 0 } }
    expect(planSample(sure, 0.5, null).fixedHorizon.unitsByVariant).toEqual([2, 2])
  })

  it('refuses an effect of 0, and one that no rate can have', () => {
    expect(() => planSample(conversion(0.05), 0, null)).toThrow(RangeError)
    expect(() => planSample(conversion(0.6), 0.7, null)).toThrow(/A rate of 0.6 cannot change by 0.7/)
    expect(() => planSample(conversion(0.6), -1.5, null)).toThrow(RangeError)
    expect(planSample(conversion(0.5), 1, null).fixedHorizon.units).toBeGreaterThan(0)
  })
})
