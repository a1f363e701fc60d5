import { describe, expect, it } from 'vitest'
import { analyseMetrics } from '../../src/features/experiments/inference/analysis.ts'
import { planSample } from '../../src/features/experiments/inference/planner.ts'
import { times } from '../support/long.ts'
import { type Behaviour, seededRandom, simulateCourse } from '../support/simulated-experiments.ts'

const experiments = times(10_000, 500)
const days = 28

/** How often an experiment of so many units finds the effect on its last day, and on any. */
function findings(
  { base, changed, baseShare }: { base: Behaviour; changed: Behaviour; baseShare: number },
  plannedSample: number,
): { lastLook: number; anyLook: number } {
  const random = seededRandom(77)
  const variants = [
    { id: 'base', allocation: baseShare, behaviour: base },
    { id: 'changed', allocation: 1 - baseShare, behaviour: changed },
  ]
  const design = { baselineVariantId: 'base', variants, plannedSample }
  let [lastLook, anyLook] = [0, 0]
  for (let each = 0; each < experiments; each++) {
    const found = simulateCourse(random, { days, dailyUnits: plannedSample / days, variants }).map(
      (statistics) => {
        const [result] = analyseMetrics(design, [{ id: 'metric', role: 'success', statistics }])
        const comparison = result?.variants[1]?.comparison
        return {
          fixedHorizon: (comparison?.fixedHorizon.pValue ?? 1) <= 0.05,
          alwaysValid: (comparison?.alwaysValid.pValue ?? 1) <= 0.05,
        }
      },
    )
    if (found.at(-1)?.fixedHorizon) lastLook++
    if (found.some(({ alwaysValid }) => alwaysValid)) anyLook++
  }
  return { lastLook: lastLook / experiments, anyLook: anyLook / experiments }
}

describe('experiments of the planned size find the effect', () => {
  const conversion = (rate: number): Behaviour => ({ kind: 'conversion', rate })
  it.each([
    { rate: 0.05, effect: 0.2, baseShare: 0.5, power: 0.8 },
    { rate: 0.02, effect: -0.3, baseShare: 0.5, power: 0.9 },
    { rate: 0.05, effect: 0.3, baseShare: 0.1, power: 0.8 },
  ])('a rate of $rate that changes by $effect, a baseline of $baseShare', (planned) => {
    const { rate, effect, baseShare, power } = planned
    const plan = planSample(
      { baseline: { kind: 'rate', rate }, allocations: [baseShare, 1 - baseShare], power },
      effect,
      null,
    )
    const behaviours = { base: conversion(rate), changed: conversion(rate * (1 + effect)), baseShare }
    const oneLook = findings(behaviours, plan.fixedHorizon.units)
    // Three points for the normal approximation and three standard errors of the short form.
    expect(Math.abs(oneLook.lastLook - power)).toBeLessThan(0.03 + 3 * Math.sqrt(0.16 / experiments))
    const anyLook = findings(behaviours, plan.alwaysValid.units)
    expect(anyLook.anyLook).toBeGreaterThan(power)
    // It is not planned twice as long as needed either.
    expect(anyLook.anyLook).toBeLessThan(power + 0.08)
  })
})
