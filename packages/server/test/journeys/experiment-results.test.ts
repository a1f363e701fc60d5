import type { Metric } from '@millrace/contract/resources/experiment.ts'
import { ExperimentResults } from '@millrace/contract/resources/experiment-results.ts'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createExperimentMeasure } from '../../src/features/analytics/explorations/experiments/experiment-measure.ts'
import { defaultAttribution } from '../../src/features/analytics/query/compile/compile-credits.ts'
import { defaultRunLimits, rowsOfCompiled } from '../../src/features/analytics/query/run.ts'
import { createStatisticsStore } from '../../src/features/analytics/statistics-store.ts'
import type { MeasuredExperiment } from '../../src/features/experiments/measured-experiment.ts'
import { csvOfResults, linesOfResults } from '../../src/features/experiments/results/result-table.ts'
import {
  createDecisionReader,
  createResultsReader,
  type ReadExperimentResults,
} from '../../src/features/experiments/results/results-service.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, type StoredEvent, storedEvent, testCompany } from '../support/statistics-events.ts'

const id = '65f0c0ffee5ca1ab1e0dd001'
const tagValueId = '65f0c0ffee5ca1ab1e0dda01'
const asked = { userId: '75f0c0ffee5ca1ab1e0ddba1', signal: new AbortController().signal }
const hour = 3_600_000
const day = 24 * hour
const start = Date.parse('2026-03-01T00:00:00Z')

let engine: StatisticsEngine
let readResults: ReadExperimentResults
let experiment: MeasuredExperiment
let now: number
let eventAliases: Map<string, string>
/** Of what is stored, where it must not change: merging in the background may change it. */
let fixedVersion: string | undefined

beforeAll(async () => {
  engine = await openStatisticsEngine()
  readResults = createResultsReader(
    createExperimentMeasure({
      readSettings: async () => ({
        timezone: 'Europe/Paris',
        attribution: defaultAttribution,
        exactCounts: false,
        eventAliases,
      }),
      readVersion: async () =>
        fixedVersion ?? createStatisticsStore({ ...engine, hidden: { ids: () => [] } }).readVersion(),
      run: (_, statement) => rowsOfCompiled(engine.columnar, statement, defaultRunLimits),
      clock: { now: () => now },
    }),
  )
})

afterAll(() => engine.close())

beforeEach(async () => {
  await engine.empty()
  now = start + 30 * day
  eventAliases = new Map()
  fixedVersion = undefined
  experiment = {
    id,
    companyId: testCompany,
    type: 'ab',
    unit: 'user',
    status: 'running',
    variants: [
      { id: 'control', name: 'Control', allocation: 0.5 },
      { id: 'green', name: 'Green', allocation: 0.5, tagValueId },
    ],
    baselineVariantId: 'control',
    startedAt: start,
    endedAt: null,
    readAt: null,
    metrics: [metric('signups', 'unique_conversion', { event: 'signup' })],
    conversionWindowHours: 24,
    plannedSample: null,
    outlierCap: null,
    cupedDays: null,
  }
})

function metric(name: string, kind: Metric['kind'], source: Metric['source']): Metric {
  return {
    id: name,
    kind,
    source,
    windowHours: 24,
    role: name === 'signups' ? 'success' : 'guard',
    direction: 'increase',
  }
}

function exposure(unit: string, variantId: string, time: number, labels = {}): StoredEvent {
  const name = 'experiment_exposure'
  return storedEvent({ name, tmpId: unit, time, labels: { experimentId: id, variantId, ...labels } })
}

const event = (unit: string, name: string, time: number, fields: Partial<StoredEvent> = {}) =>
  storedEvent({ name, tmpId: unit, time, ...fields })

async function read(windows: 'complete' | 'all' = 'complete'): Promise<ExperimentResults> {
  const results = await readResults(experiment, { ...asked, windows })
  // NaN and infinities do not survive JSON: what is not defined must be null already.
  expect(JSON.parse(JSON.stringify(results))).toEqual(results)
  expect([...Value.Errors(ExperimentResults, results)]).toEqual([])
  return results
}

/** Units of a variant on so many days, of which some sign up and buy. */
function planted(
  variantId: string,
  units: number,
  signups: number,
  revenue: readonly string[] = [],
): StoredEvent[] {
  return Array.from({ length: units }, (_, i) => {
    const unit = `${variantId}-${i}`
    const time = start + (i % 10) * day + (i % 7) * hour
    const bought = revenue[i]
    return [
      exposure(unit, variantId, time),
      ...(i < signups ? [event(unit, 'signup', time + hour)] : []),
      ...(bought === undefined ? [] : [event(unit, 'purchase', time + 2 * hour, { value: bought })]),
    ]
  }).flat()
}

describe('a planted effect', () => {
  it('is found, by both tests, with figures that a calculator gives', async () => {
    await engine.load([...planted('control', 2_000, 200), ...planted('green', 2_000, 300)])
    const results = await read()
    const [signups] = results.metrics
    expect(
      signups?.variants.map(({ units, conversions, total, rate }) => [units, conversions, total, rate]),
    ).toEqual([
      [2_000, 200, 200, 0.1],
      [2_000, 300, 300, 0.15],
    ])
    const green = signups?.variants[1]
    expect(green?.standardError).toBeCloseTo(Math.sqrt((0.15 * 0.85) / 2_000), 4)
    expect(green?.comparison?.difference).toBeCloseTo(0.05, 12)
    expect(green?.comparison?.fixedHorizon.lift.estimate).toBeCloseTo(0.5, 12)
    for (const test of [green?.comparison?.fixedHorizon, green?.comparison?.alwaysValid]) {
      expect(test?.pValue).toBeLessThan(0.001)
      expect(test?.confidence).toBeCloseTo(1 - (test?.pValue ?? 1), 12)
      expect(test?.lift.low).toBeGreaterThan(0)
      expect(test?.lift.low).toBeLessThan(0.5)
      expect(test?.lift.high).toBeGreaterThan(0.5)
    }
    expect(signups?.variants[0]?.comparison).toBeNull()
    expect(results.sampleRatio).toEqual({ pValue: 1, holds: true })
    expect(results).toMatchObject({
      validated: true,
      validation: 'always_valid_bound',
      confidenceLevel: 0.95,
    })
  })

  it('has a course whose last day is the result', async () => {
    await engine.load([...planted('control', 1_000, 100), ...planted('green', 1_000, 160)])
    const { course, metrics } = await read()
    const green = metrics[0]?.variants[1]
    expect(course.map(({ day }) => day)).toEqual(
      Array.from({ length: 10 }, (_, i) => `2026-03-${String(i + 1).padStart(2, '0')}`),
    )
    expect(course.map(({ units }) => units)).toEqual(Array.from({ length: 10 }, (_, i) => (i + 1) * 100))
    expect(course.at(-1)).toEqual({
      day: '2026-03-10',
      variantId: 'green',
      units: 1_000,
      estimate: green?.estimate,
      lift: green?.comparison?.fixedHorizon.lift,
      alwaysValidLift: {
        low: green?.comparison?.alwaysValid.lift.low,
        high: green?.comparison?.alwaysValid.lift.high,
      },
    })
  })

  it('does not stand while the sample ratio is broken', async () => {
    await engine.load([...planted('control', 2_000, 200), ...planted('green', 1_500, 300)])
    const results = await read()
    expect(results.sampleRatio.holds).toBe(false)
    expect(results).toMatchObject({ validated: false, validation: 'sample_ratio' })
  })

  it('stands with the planned sample, whatever was found', async () => {
    experiment = { ...experiment, plannedSample: 400 }
    await engine.load([...planted('control', 200, 20), ...planted('green', 200, 20)])
    expect(await read()).toMatchObject({ validated: true, validation: 'planned_sample', plannedSample: 400 })
    experiment = { ...experiment, plannedSample: 401 }
    expect(await read()).toMatchObject({ validated: false, validation: 'too_early' })
  })
})

describe('a second reading', () => {
  it('computes nothing while what is stored and asked stays the same, for ten seconds', async () => {
    await engine.load([...planted('control', 20, 2), ...planted('green', 20, 4)])
    fixedVersion = 'the same'
    const before = engine.statements.length
    const results = await read()
    now += 9_999
    expect(await read()).toEqual(results)
    expect(engine.statements.length - before).toBe(1)
    now += 1
    expect((await read()).readAt).toBe(new Date(now).toISOString())
    expect(engine.statements.length - before).toBe(2)
  })

  it('counts what was stored meanwhile, and what is asked otherwise', async () => {
    await engine.load([...planted('control', 20, 2), ...planted('green', 20, 4)])
    await read()
    await engine.load([exposure('later', 'green', start), event('later', 'signup', start + hour)])
    const conversions = async () => (await read()).metrics[0]?.variants.map((each) => each.conversions)
    expect(await conversions()).toEqual([2, 5])
    experiment = { ...experiment, metrics: [metric('others', 'unique_conversion', { event: 'other' })] }
    expect(await conversions()).toEqual([0, 0])
  })

  it('is for those who ask at the same time, too', async () => {
    await engine.load([...planted('control', 20, 2), ...planted('green', 20, 4)])
    fixedVersion = 'of that time'
    const before = engine.statements.length
    const [first, second] = await Promise.all([read(), read()])
    expect(second).toEqual(first)
    expect(engine.statements.length - before).toBe(1)
  })
})

describe('revenue', () => {
  const revenue = { ...metric('revenue', 'revenue_per_user', { purchases: true }) }

  it('is a mean over all units, exact in cents, with refunds and values that float arithmetic rounds', async () => {
    experiment = { ...experiment, metrics: [revenue] }
    await engine.load([
      ...planted('control', 20, 0, ['0.10', '0.20', '-0.05']),
      ...planted('green', 20, 0, ['9999999999999.99', '0.01', '0.03']),
    ])
    const [control, green] = (await read()).metrics[0]?.variants ?? []
    expect(control).toMatchObject({ total: 0.25, conversions: 3, rate: 0.15, mean: 0.0125 })
    expect(green).toMatchObject({ total: 10_000_000_000_000.03, conversions: 3 })
  })

  it('is cut at a quantile of the revenues above 0 of all variants together', async () => {
    experiment = { ...experiment, metrics: [revenue], outlierCap: 0.5 }
    await engine.load([
      ...planted('control', 20, 0, ['1.00', '2.00']),
      ...planted('green', 20, 0, ['3.00', '1000.00', '-5.00']),
    ])
    const variants = (await read()).metrics[0]?.variants
    expect(variants?.map(({ total, conversions }) => [total, conversions])).toEqual([
      [3, 2],
      [1, 3],
    ])
  })

  it('varies less with what the same units spent before', async () => {
    experiment = { ...experiment, metrics: [revenue], cupedDays: 14 }
    const units = ['control', 'green'].flatMap((variantId, variant) =>
      Array.from({ length: 200 }, (_, i) => {
        const unit = `${variantId}-${i}`
        const habit = (i * 37) % 101
        const time = start + day + i * 1000
        return [
          event(unit, 'purchase', time - day, { value: `${habit}.00` }),
          exposure(unit, variantId, time),
          event(unit, 'purchase', time + hour, { value: `${habit + variant + (i % 3)}.00` }),
        ]
      }),
    )
    await engine.load(units.flat())
    const reduced = (await read()).metrics[0]
    experiment = { ...experiment, cupedDays: null }
    const plain = (await read()).metrics[0]
    expect(reduced?.varianceReduction).toBeGreaterThan(0.99)
    expect(plain?.varianceReduction).toBeNull()
    const [a, b] = [reduced, plain].map((each) => each?.variants[1])
    expect(a?.comparison?.difference).toBeCloseTo(1, 1)
    expect(a?.comparison?.fixedHorizon.pValue).toBeLessThan(1e-6)
    expect(b?.comparison?.fixedHorizon.pValue).toBeGreaterThan(0.1)
  })
})

describe('units', () => {
  it('are counted once their window is over, or all where that is asked for', async () => {
    const last = now - 24 * hour
    await engine.load([
      exposure('early', 'control', last - 1),
      event('early', 'signup', last),
      exposure('late', 'control', last),
      event('late', 'signup', last + 1),
    ])
    expect((await read()).metrics[0]?.variants[0]).toMatchObject({ units: 1, openUnits: 1, conversions: 1 })
    expect((await read('all')).metrics[0]?.variants[0]).toMatchObject({
      units: 2,
      openUnits: 1,
      conversions: 2,
    })
  })

  it('that met several variants are left out, and exposures that do not count are told apart (X08)', async () => {
    const time = start + day
    experiment = { ...experiment, status: 'ended', endedAt: start + 10 * day }
    await engine.load([
      exposure('both', 'control', time),
      exposure('both', 'green', time),
      exposure('preview', 'control', time, { preview: 'true' }),
      exposure('unknown', 'blue', time),
      exposure('before', 'control', start - 1),
      exposure('after', 'control', start + 10 * day),
      exposure('last', 'control', start + 10 * day - 1),
      event('shown', 'workflow_display', time, {
        labels: { tagValueIds: `["${'0'.repeat(24)}","${tagValueId}"]` },
      }),
      event('shown too', 'workflow_display', time, { labels: { tagValueIds: tagValueId, preview: 'true' } }),
      event('not shown', 'workflow_display', time, { labels: { tagValueIds: '0'.repeat(24) } }),
      exposure('elsewhere', 'control', time, { experimentId: '0'.repeat(24) }),
      storedEvent({ ...exposure('of others', 'control', time), company: otherCompany }),
    ])
    const { excluded, variants } = await read()
    expect(excluded).toEqual({
      multipleVariants: 1,
      preview: 2,
      unknownVariant: 1,
      beforeStart: 1,
      afterEnd: 1,
    })
    expect(variants.map(({ units }) => units)).toEqual([1, 1])
  })

  it('are persons, whose devices may be bound later, or devices', async () => {
    const time = start + day
    await engine.load([
      exposure('phone', 'control', time),
      event('laptop', 'signup', time + hour),
      exposure('tablet', 'green', time),
    ])
    await engine.load(
      ['phone', 'laptop'].map((tmpId) => event(tmpId, 'identify', time + 2 * day, { clientId: 'ada' })),
    )
    expect((await read()).metrics[0]?.variants[0]).toMatchObject({ units: 1, conversions: 1 })
    experiment = { ...experiment, unit: 'device' }
    expect((await read()).metrics[0]?.variants[0]).toMatchObject({ units: 1, conversions: 0 })
    experiment = { ...experiment, unit: 'user' }
    await engine.load([event('tablet', 'identify', time + 3 * day, { clientId: 'ada' })])
    expect((await read()).excluded.multipleVariants).toBe(1)
  })

  it('do what a renamed event says under either of its names', async () => {
    await engine.load([exposure('a', 'control', start), event('a', 'sign_up', start + hour)])
    expect((await read()).metrics[0]?.variants[0]?.conversions).toBe(0)
    eventAliases = new Map([['sign_up', 'signup']])
    expect((await read()).metrics[0]?.variants[0]?.conversions).toBe(1)
  })
})

describe('an experiment without units', () => {
  it('has null for what is not defined, never NaN (X02)', async () => {
    const kinds = ['unique_conversion', 'conversion', 'revenue_per_user', 'click_rate'] as const
    experiment = {
      ...experiment,
      metrics: kinds.map((kind) =>
        metric(kind, kind, kind === 'revenue_per_user' ? { purchases: true } : { event: 'workflow_click' }),
      ),
      outlierCap: 0.99,
      cupedDays: 7,
    }
    for (const events of [[], planted('control', 1, 1), planted('green', 1, 0)]) {
      await engine.load(events)
      const { metrics, validated, validation, sampleRatio } = await read()
      expect({ validated, validation, sampleRatio }).toEqual({
        validated: false,
        validation: 'too_few_units',
        sampleRatio: { pValue: null, holds: null },
      })
      for (const { variants } of metrics)
        expect(variants[1]?.comparison?.fixedHorizon.pValue ?? null).toBeNull()
    }
  })

  it('is refused before it has started', async () => {
    experiment = { ...experiment, status: 'draft', startedAt: null }
    await expect(read()).rejects.toMatchObject({ errorName: 'experimentNotStarted', data: { id } })
  })
})

describe('a decision', () => {
  it('keeps the success metric by the test that the validation rests on, corrected', async () => {
    const three = [...experiment.variants, { id: 'blue', name: 'Blue', allocation: 0.5 }]
    experiment = { ...experiment, variants: three.map((each) => ({ ...each, allocation: 1 / 3 })) }
    await engine.load([
      ...planted('control', 2_000, 200),
      ...planted('green', 2_000, 300),
      ...planted('blue', 2_000, 210),
    ])
    const decide = () => createDecisionReader(readResults)(experiment, asked)
    const [, green, blue] = (await read()).metrics[0]?.variants ?? []
    expect(await decide()).toEqual({
      variants: [green, blue].map((each) => {
        const { lift, adjusted } = each?.comparison?.alwaysValid ?? {}
        const { pValue = null } = adjusted ?? {}
        const bounds = { low: adjusted?.lift.low, high: adjusted?.lift.high }
        return {
          variantId: each?.variantId,
          // The bound that green has reached decides nothing about blue.
          validated: each === green,
          pValue,
          confidence: 1 - (pValue ?? 0),
          lift: { estimate: lift?.estimate, ...bounds },
        }
      }),
    })
    experiment = { ...experiment, plannedSample: 6_000 }
    const [, planned] = (await read()).metrics[0]?.variants ?? []
    const decided = (await decide()).variants
    expect(decided[0]?.pValue).toBe(planned?.comparison?.fixedHorizon.adjusted.pValue)
    expect(decided.map(({ validated }) => validated)).toEqual([true, true])
  })

  it('over a planned sample is that of one look, however long the experiment runs on until it shows something', async () => {
    experiment = { ...experiment, plannedSample: 1_000 }
    const decide = () => createDecisionReader(readResults)(experiment, asked)
    await engine.load([...planted('control', 500, 100), ...planted('green', 500, 110)])
    const atThePlannedSample = await decide()
    expect(atThePlannedSample.variants[0]?.validated).toBe(true)
    expect(atThePlannedSample.variants[0]?.pValue).toBeGreaterThan(0.2)
    const later = (variantId: string, signups: number) =>
      planted(variantId, 400, signups).map((each) => ({
        ...each,
        tmpId: `later-${each.tmpId}`,
        eventId: `later-${each.eventId}`,
        time: each.time + 12 * day,
      }))
    await engine.load([...later('control', 60), ...later('green', 140)])
    const results = await read()
    expect(results.metrics[0]?.variants[1]?.comparison?.fixedHorizon.pValue).toBeLessThan(0.001)
    expect(await decide()).toEqual(atThePlannedSample)
    // Units that came later still tell whether the sample ratio holds.
    await engine.load(Array.from({ length: 200 }, (_, i) => exposure(`odd-${i}`, 'green', start + 25 * day)))
    expect((await decide()).variants[0]?.validated).toBe(false)
  })

  it('stands on no window that is open', async () => {
    await engine.load([...planted('control', 2_000, 200), ...planted('green', 2_000, 300)])
    expect(await read('all')).toMatchObject({ validated: true, validation: 'always_valid_bound' })
    now = start + 9 * day + 12 * hour
    experiment = { ...experiment, plannedSample: 4_000 }
    expect(await read('all')).toMatchObject({ validated: false, validation: 'too_early' })
  })
})

it('gives a row for each metric and variant as CSV and as lines', async () => {
  await engine.load([...planted('control', 20, 2), ...planted('green', 20, 5)])
  const results = await read()
  const [header, ...rows] = csvOfResults(results).split('\r\n')
  expect(header).toBe(
    'metric,kind,role,variant,units,openUnits,conversions,total,displays,rate,mean,estimate,standardError,lift,' +
      'liftLow,liftHigh,pValue,adjustedPValue,alwaysValidLow,alwaysValidHigh,alwaysValidPValue',
  )
  expect(rows.map((row) => row.split(',').slice(0, 11).join(','))).toEqual([
    'signups,unique_conversion,success,control,20,0,2,2,,0.1,0.1',
    'signups,unique_conversion,success,green,20,0,5,5,,0.25,0.25',
    '',
  ])
  const lines = linesOfResults(results)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ variant, rate }) => [variant, rate])).toEqual([
    ['control', 0.1],
    ['green', 0.25],
  ])
})
