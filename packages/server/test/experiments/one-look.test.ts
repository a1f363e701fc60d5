import { describe, expect, it } from 'vitest'
import { analyseMetrics } from '../../src/features/experiments/inference/analysis.ts'
import { times } from '../support/long.ts'
import { type Behaviour, seededRandom, simulateCourse } from '../support/simulated-experiments.ts'

const experiments = times(10_000, 1_000)

interface Scenario {
  readonly baseline: Behaviour
  readonly treatment: Behaviour
  readonly lift: number
  readonly units: number
  readonly baseShare?: number
}

/** In which share of experiments, read once, the interval of the lift lies above the true lift, and below it. */
function missesOf({ baseline, treatment, lift, units, baseShare = 0.5 }: Scenario) {
  const random = seededRandom(4_711)
  const variants = [
    { id: 'base', allocation: baseShare, behaviour: baseline },
    { id: 'changed', allocation: 1 - baseShare, behaviour: treatment },
  ]
  const design = { baselineVariantId: 'base', variants, plannedSample: units }
  let [above, below] = [0, 0]
  for (let each = 0; each < experiments; each++) {
    const [statistics = new Map()] = simulateCourse(random, { days: 1, dailyUnits: units, variants })
    const [result] = analyseMetrics(design, [{ id: 'metric', role: 'success', statistics }])
    const interval = result?.variants[1]?.comparison?.fixedHorizon.lift
    if ((interval?.low ?? Number.NEGATIVE_INFINITY) > lift) above++
    if ((interval?.high ?? Number.POSITIVE_INFINITY) < lift) below++
  }
  return { above: above / experiments, below: below / experiments }
}

const conversion = (rate: number): Behaviour => ({ kind: 'conversion', rate })
const revenue = (average: number): Behaviour => ({ kind: 'revenue', buyers: 0.1, average, skew: 0.8 })
const returning = (average: number): Behaviour => ({ kind: 'returning', average })
const clicks = (rate: number): Behaviour => ({ kind: 'clicks', rate })

const scenarios: Record<string, Scenario> = {
  'a rate without an effect': {
    baseline: conversion(0.05),
    treatment: conversion(0.05),
    lift: 0,
    units: 20_000,
  },
  'a rate that doubles': {
    baseline: conversion(0.02),
    treatment: conversion(0.04),
    lift: 1,
    units: 20_000,
  },
  'a rate that falls, over a baseline of a third': {
    baseline: conversion(0.1),
    treatment: conversion(0.07),
    lift: -0.3,
    units: 9_000,
    baseShare: 1 / 3,
  },
  'revenue without an effect': { baseline: revenue(50), treatment: revenue(50), lift: 0, units: 20_000 },
  'revenue that rises by half': { baseline: revenue(50), treatment: revenue(75), lift: 0.5, units: 20_000 },
  'CUPED without an effect': { baseline: returning(20), treatment: returning(20), lift: 0, units: 600 },
  // The variance of the common centre counts here: without it the interval of so large a lift would be too short.
  'CUPED with a mean that is four times as large': {
    baseline: returning(20),
    treatment: returning(80),
    lift: 3,
    units: 600,
  },
  'a click rate that rises by half': {
    baseline: clicks(0.1),
    treatment: clicks(0.15),
    lift: 0.5,
    units: 1_000,
  },
}

describe(`the interval of one look misses the lift in 5 of 100 of ${experiments} experiments`, () => {
  for (const [name, scenario] of Object.entries(scenarios))
    it(name, () => {
      const { above, below } = missesOf(scenario)
      // A point and a half for the normal approximation, and three standard errors.
      const tolerance = 0.015 + 3 * Math.sqrt((0.05 * 0.95) / experiments)
      expect(Math.abs(above + below - 0.05)).toBeLessThan(tolerance)
      expect(Math.max(above, below)).toBeLessThan(0.025 + tolerance)
    })
})
