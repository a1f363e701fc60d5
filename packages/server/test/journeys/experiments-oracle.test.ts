import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compileMeasurement } from '../../src/features/analytics/explorations/experiments/compile-measurement.ts'
import type {
  MeasuredExperiment,
  MeasuredMetric,
  Measurement,
} from '../../src/features/analytics/explorations/experiments/measured-experiment.ts'
import { readMeasurement } from '../../src/features/analytics/explorations/experiments/read-measurement.ts'
import { defaultRunLimits, rowsOfCompiled } from '../../src/features/analytics/query/run.ts'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import { times } from '../support/long.ts'
import { measureByHand } from '../support/measurement-oracle.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { type StoredEvent, storedEvent } from '../support/statistics-events.ts'

/** Companies with a history of their own each, and experiments that are measured. */
const histories = times(60, 6)
const runs = times(1_000, 15)

let engine: StatisticsEngine
let companies: StoredEvent[][]

const experimentId = '65f0c0ffee5ca1ab1e0dd001'
const otherExperimentId = '65f0c0ffee5ca1ab1e0dd002'
const variantIds = ['control', 'green', 'blue'] as const
const tagValueIds = variantIds.map((_, i) => `65f0c0ffee5ca1ab1e0dda0${i}`)

const from = <T>(values: readonly T[]) => fc.constantFrom(...values)
const hour = 3_600_000
const day = 24 * hour
/** Two days before Paris sets its clock on. */
const begin = Date.parse('2026-03-27T00:00:00Z')

/** Whole hours, and a millisecond beside: few enough that events share one and that windows end at one. */
const instant = fc
  .tuple(fc.oneof(fc.nat(12), fc.nat(5 * 24), fc.nat(60 * 24)), from([0, 0, 0, 0, -1, 1]))
  .map(([hours, beside]) => begin + hours * hour + beside)

const sampleEvent = fc
  .record({
    time: instant,
    name: from([
      'experiment_exposure',
      'experiment_exposure',
      'experiment_exposure',
      'workflow_display',
      'workflow_display',
      'workflow_click',
      'signup',
      'signup',
      'purchase',
      'purchase',
      'purchase_references',
      'identify',
    ] as const),
    person: fc.nat(40),
    device: fc.nat(1),
    known: fc.boolean(),
    // Mostly one variant for each person, so that few meet several.
    ownVariant: fc.nat(19).map((n) => n > 0),
    variant: from([...variantIds, 'unknown']),
    experiment: from([experimentId, experimentId, experimentId, experimentId, otherExperimentId]),
    preview: from(['true', 'false', undefined, undefined, undefined, undefined]),
    tags: fc.oneof(fc.constant([]), fc.subarray(tagValueIds, { minLength: 1 })),
    listed: from(['json', 'commas'] as const),
    value: from(['12.34', '0.01', '-7.50', '0.00', '1000.10', null]),
    order: fc.nat(6),
  })
  .map(
    ({ person, device, known, ownVariant, variant, experiment, preview, tags, listed, order, ...event }) => {
      const { name, value } = event
      const own = person % variantIds.length
      const shown = ownVariant && tags.length > 0 ? [tagValueIds[own] ?? ''] : tags
      const of = {
        experiment_exposure: {
          experimentId: experiment,
          variantId: (ownVariant ? variantIds[own] : variant) ?? variant,
        },
        workflow_display:
          shown.length === 0
            ? {}
            : { tagValueIds: listed === 'json' ? JSON.stringify(shown) : shown.join(',') },
      }
      const labels = name === 'experiment_exposure' || name === 'workflow_display' ? of[name] : {}
      const isPurchase = name === 'purchase' || name === 'purchase_references'
      const identifies = name === 'identify' && person > 0
      return {
        ...event,
        value: name === 'purchase' || name === 'signup' ? value : null,
        tmpId: `device-${person}-${device}`,
        clientId: identifies || (known && person % 5 === 2) ? `client-${Math.floor(person / 2)}` : '',
        transId: isPurchase && order > 0 ? `order-${person}-${order}` : '',
        labels: { ...labels, ...(preview === undefined ? {} : { preview }) },
      } satisfies Partial<StoredEvent>
    },
  )

/** Events of one order never share an instant, which decides about its time, its value and its device. */
function withoutEqualTimes(events: StoredEvent[]): StoredEvent[] {
  const seen = new Set<string>()
  return events.filter(({ transId, time }) => {
    const key = `${transId} ${time}`
    const isNew = transId === '' || !seen.has(key)
    seen.add(key)
    return isNew
  })
}

beforeAll(async () => {
  engine = await openStatisticsEngine()
  const history = fc.array(sampleEvent, { minLength: 100, maxLength: 300 })
  companies = fc.sample(history, { numRuns: histories, seed: 13 }).map((events, i) => {
    const company = `64b7f0a1c2d3e4f5a6b9${String(i).padStart(4, '0')}`
    return withoutEqualTimes(events.map((event) => storedEvent({ ...event, company })))
  })
  // What arrives late, an identify too, is in a batch of its own.
  for (const half of [0, 1]) {
    await engine.load(companies.flatMap((events) => events.filter((_, i) => i % 2 === half)))
  }
})

afterAll(() => engine.close())

const sampleMetric: fc.Arbitrary<MeasuredMetric> = fc
  .record({
    id: fc.uuid(),
    kind: from(['unique_conversion', 'conversion', 'revenue_per_user', 'click_rate'] as const),
    event: from(['signup', 'workflow_click', 'workflow_display', 'purchase', undefined]),
    windowHours: from([1, 2, 24, 24 * 7, 24 * 30, 24 * 400]),
  })
  .map(({ kind, event, ...metric }) => ({
    ...metric,
    kind,
    source: event === undefined || kind === 'revenue_per_user' ? { purchases: true } : { event },
  }))

const sampleExperiment: fc.Arbitrary<MeasuredExperiment> = fc
  .record({
    unit: from(['user', 'device'] as const),
    variants: from([2, 3]),
    tagged: fc.boolean(),
    metrics: fc.array(sampleMetric, { minLength: 1, maxLength: 4 }),
    start: fc.oneof(fc.constant(0), fc.nat(12), fc.nat(20 * 24)),
    length: fc.option(fc.oneof(fc.nat(24), fc.nat(60 * 24))),
    outlierCap: from([null, 0.5, 0.9, 0.99]),
    cupedDays: from([null, 1, 14]),
  })
  .map(({ variants, tagged, start, length, ...experiment }) => ({
    ...experiment,
    id: experimentId,
    variants: variantIds
      .slice(0, variants)
      .map((id, i) => ({ id, ...(tagged ? { tagValueId: tagValueIds[i] ?? '' } : {}) })),
    startedAt: begin + start * hour,
    endedAt: length === null ? null : begin + (start + length) * hour,
  }))

async function measure(
  companyId: string,
  experiment: MeasuredExperiment,
  { windows, zone, now }: Parameters<typeof measureByHand>[2],
): Promise<Measurement> {
  const compiled = compileMeasurement({
    experiment,
    windows,
    companyId,
    eventAliases: new Map(),
    zone: openZone(zone),
    now,
  })
  return readMeasurement(await rowsOfCompiled(engine.columnar, compiled, defaultRunLimits), experiment)
}

it('measures what a plain computation over the events measures', {
  timeout: 600_000 + 1_000 * runs,
}, async () => {
  let units = 0
  let converted = 0
  await fc.assert(
    fc.asyncProperty(
      fc.nat(histories - 1),
      sampleExperiment,
      fc.record({
        windows: from(['complete', 'all'] as const),
        zone: from(['UTC', 'Europe/Paris', 'America/Sao_Paulo', 'Asia/Kathmandu']),
        now: from([0, 1, 2, 3]).chain((n) => (n > 0 ? fc.constant(begin + 100 * day) : instant)),
      }),
      async (company, experiment, asked) => {
        const events = companies[company] ?? []
        const byHand = measureByHand(events, experiment, asked)
        expect(await measure(events[0]?.company ?? '', experiment, asked)).toEqual(byHand)
        for (const each of byHand.days) {
          units += each.units
          converted += Number(each.metrics[0]?.converted)
        }
      },
    ),
    { numRuns: runs, seed: 13 },
  )
  // Otherwise the comparison would be of nothing with nothing.
  expect(units).toBeGreaterThan(runs)
  expect(converted).toBeGreaterThan(runs / 4)
})
