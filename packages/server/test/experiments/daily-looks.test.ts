import { describe, expect, it } from 'vitest'
import { analyseMetrics, type ExperimentDesign } from '../../src/features/experiments/inference/analysis.ts'
import type { StatisticsByVariant } from '../../src/features/experiments/inference/metric-statistics.ts'
import { times } from '../support/long.ts'
import { type Behaviour, seededRandom, simulateCourse } from '../support/simulated-experiments.ts'

interface Scenario {
  readonly baseline: Behaviour
  /** As the baseline where absent. */
  readonly treatment?: Behaviour
  readonly lift?: number
  readonly allocations: readonly number[]
  readonly dailyUnits: number
  /** As many as come where absent. */
  readonly plannedSample?: number | null
}

/** In how many experiments it happened on some day. */
interface Count {
  alwaysValidAlarms: number
  fixedHorizonAlarms: number
  /** The always-valid interval left the true lift out. */
  misses: number
  /** The always-valid test spoke at all. */
  spoken: number
}

const days = 28
const experiments = times(10_000, 200)
/** Five in a hundred; the seeds are fixed, so that a run of either length ends as the one before it. */
const accepted = 0.05 * experiments

function simulate(scenario: Scenario): Count {
  const { baseline, treatment = baseline, lift = 0, allocations, dailyUnits } = scenario
  const random = seededRandom(20_260_101)
  const variants = allocations.map((allocation, at) => ({
    id: `variant${at}`,
    allocation,
    behaviour: at === 0 ? baseline : treatment,
  }))
  const design: ExperimentDesign = {
    baselineVariantId: 'variant0',
    variants,
    plannedSample: scenario.plannedSample === undefined ? days * dailyUnits : scenario.plannedSample,
  }
  const count: Count = { alwaysValidAlarms: 0, fixedHorizonAlarms: 0, misses: 0, spoken: 0 }
  for (let each = 0; each < experiments; each++) {
    const course = simulateCourse(random, { days, dailyUnits, variants })
    const looks = course.map((statistics) => lookAt(design, statistics, lift))
    if (looks.some(({ alwaysValidAlarm }) => alwaysValidAlarm)) count.alwaysValidAlarms++
    if (looks.some(({ fixedHorizonAlarm }) => fixedHorizonAlarm)) count.fixedHorizonAlarms++
    if (looks.some(({ miss }) => miss)) count.misses++
    if (looks.some(({ spoken }) => spoken)) count.spoken++
  }
  return count
}

function lookAt(design: ExperimentDesign, statistics: StatisticsByVariant, lift: number) {
  const [result] = analyseMetrics(design, [{ id: 'metric', role: 'success', statistics }])
  const compared = (result?.variants ?? []).flatMap(({ comparison }) => comparison ?? [])
  const isAlarm = (pValue: number | null) => pValue !== null && pValue <= 0.05
  return {
    alwaysValidAlarm: compared.some(({ alwaysValid }) => isAlarm(alwaysValid.adjusted.pValue)),
    fixedHorizonAlarm: compared.some(({ fixedHorizon }) => isAlarm(fixedHorizon.adjusted.pValue)),
    miss: compared.some(({ alwaysValid: { adjusted } }) => {
      const { low, high } = adjusted.lift
      return (low !== null && low > lift) || (high !== null && high < lift)
    }),
    spoken: compared.some(({ alwaysValid }) => alwaysValid.pValue !== null),
  }
}

const half = [0.5, 0.5]
const holdout = [0.1, 0.9]
const conversion = (rate: number): Behaviour => ({ kind: 'conversion', rate })
const revenue = (average: number, skew = 1): Behaviour => ({ kind: 'revenue', buyers: 0.03, average, skew })

const withoutEffect: Record<string, Scenario> = {
  'a rate of 5 %': { baseline: conversion(0.05), allocations: half, dailyUnits: 1_000 },
  'a rate of 1 %': { baseline: conversion(0.01), allocations: half, dailyUnits: 1_000 },
  'a rate of 1 % and a holdout of a tenth': {
    baseline: conversion(0.01),
    allocations: holdout,
    dailyUnits: 5_000,
  },
  'a rate of 97 %': { baseline: conversion(0.97), allocations: half, dailyUnits: 500 },
  'few units': { baseline: conversion(0.3), allocations: half, dailyUnits: 40 },
  'no planned sample': {
    baseline: conversion(0.05),
    allocations: half,
    dailyUnits: 1_000,
    plannedSample: null,
  },
  'a planned sample that is far too small': {
    baseline: conversion(0.05),
    allocations: half,
    dailyUnits: 1_000,
    plannedSample: 500,
  },
  'four variants': {
    baseline: conversion(0.05),
    allocations: [0.25, 0.25, 0.25, 0.25],
    dailyUnits: 1_200,
  },
  'skewed revenue': { baseline: revenue(50), allocations: half, dailyUnits: 1_000 },
  'skewed revenue and a holdout of a tenth': {
    baseline: revenue(50),
    allocations: holdout,
    dailyUnits: 4_000,
  },
  'very skewed revenue and a holdout of a tenth': {
    baseline: revenue(50, 1.5),
    allocations: holdout,
    dailyUnits: 20_000,
  },
  'revenue with CUPED': {
    baseline: { kind: 'returning', average: 20 },
    allocations: half,
    dailyUnits: 60,
  },
  'a click rate': { baseline: { kind: 'clicks', rate: 0.1 }, allocations: half, dailyUnits: 60 },
}

const withEffect: Record<string, Scenario & { readonly lift: number }> = {
  'a rate that rises by a tenth': {
    baseline: conversion(0.05),
    treatment: conversion(0.055),
    lift: 0.1,
    allocations: half,
    dailyUnits: 1_000,
  },
  'a small rate that falls by a fifth': {
    baseline: conversion(0.01),
    treatment: conversion(0.008),
    lift: -0.2,
    allocations: half,
    dailyUnits: 2_000,
  },
  'a rate that rises by half over a holdout of a tenth': {
    baseline: conversion(0.02),
    treatment: conversion(0.03),
    lift: 0.5,
    allocations: holdout,
    dailyUnits: 2_000,
  },
  'skewed revenue that rises by a fifth': {
    baseline: revenue(50),
    treatment: revenue(60),
    lift: 0.2,
    allocations: half,
    dailyUnits: 1_000,
  },
  'skewed revenue that falls by two fifths below a holdout of a tenth': {
    baseline: revenue(50),
    treatment: revenue(30),
    lift: -0.4,
    allocations: holdout,
    dailyUnits: 4_000,
  },
  'revenue with CUPED that doubles': {
    baseline: { kind: 'returning', average: 20 },
    treatment: { kind: 'returning', average: 40 },
    lift: 1,
    allocations: half,
    dailyUnits: 60,
  },
  'a click rate that rises by a fifth': {
    baseline: { kind: 'clicks', rate: 0.1 },
    treatment: { kind: 'clicks', rate: 0.12 },
    lift: 0.2,
    allocations: half,
    dailyUnits: 60,
  },
}

describe(`over ${experiments} experiments with 28 daily looks`, () => {
  for (const [name, scenario] of Object.entries(withoutEffect))
    it(`the always-valid test errs in at most 5 % without an effect: ${name}`, () => {
      const count = simulate(scenario)
      expect(count.alwaysValidAlarms).toBeLessThanOrEqual(accepted)
      // The test of one look errs far more often, so the simulation would show an always-valid one that does.
      expect(count.fixedHorizonAlarms).toBeGreaterThan(2 * accepted)
      expect(count.spoken).toBeGreaterThan(0.8 * experiments)
    })

  for (const [name, scenario] of Object.entries(withEffect))
    it(`the always-valid interval covers the true lift on all days in at least 95 %: ${name}`, () => {
      const count = simulate(scenario)
      expect(count.misses).toBeLessThanOrEqual(accepted)
      expect(count.spoken).toBeGreaterThan(0.8 * experiments)
      // An interval that covers because it says nothing would be no use.
      expect(count.alwaysValidAlarms).toBeGreaterThan(accepted)
    })
})
