import type {
  CountedWindows,
  MeasuredExperiment,
  MeasuredMetric,
  Measurement,
  MetricSource,
  UnitSums,
} from '../../src/features/analytics/explorations/experiments/measured-experiment.ts'
import type { StoredEvent } from './statistics-events.ts'
import { eventFacts, purchaseFacts } from './statistics-oracle-facts.ts'
import { dateIn } from './statistics-oracle-time.ts'

interface UnitFact {
  readonly unit: string
  readonly time: number
  readonly cents: bigint
}

interface Unit {
  readonly variants: Set<number>
  first: number
}

const hour = 3_600_000
const day = 24 * hour

/** Measures an experiment by a plain computation over events in memory (docs/experiments.md, Results). */
export function measureByHand(
  events: readonly StoredEvent[],
  experiment: MeasuredExperiment,
  { windows, zone, now }: { readonly windows: CountedWindows; readonly zone: string; readonly now: number },
): Measurement {
  const { variants, metrics, startedAt, endedAt } = experiment
  const facts = eventFacts(events)
  const unitOf = (i: number) => (experiment.unit === 'user' ? facts[i]?.person : facts[i]?.device) ?? ''
  const excluded = { preview: 0, unknownVariant: 0, beforeStart: 0, afterEnd: 0, multipleVariants: 0 }
  const units = new Map<string, Unit>()
  const displays: UnitFact[] = []

  const longest = Math.max(7 * 24, ...metrics.map(({ windowHours }) => windowHours)) * hour
  const latest = Math.min(now, endedAt === null ? Infinity : endedAt + longest)
  const earliest = startedAt - Math.max(7, experiment.cupedDays ?? 0) * day
  for (const [i, event] of events.entries()) {
    if (event.time < earliest || event.time > latest) continue
    const { labels, name, time } = event
    let met: number[]
    if (name === 'experiment_exposure') {
      if (labels.experimentId !== experiment.id) continue
      met = variants.flatMap(({ id }, place) => (id === labels.variantId ? [place] : []))
    } else if (name === 'workflow_display') {
      const shown = labels.tagValueIds ?? ''
      met = variants.flatMap(({ tagValueId }, place) =>
        tagValueId !== undefined && shown.includes(tagValueId) ? [place] : [],
      )
      if (met.length === 0) continue
    } else continue
    if (met.length > 0 && labels.preview !== 'true') displays.push({ unit: unitOf(i), time, cents: 0n })
    if (labels.preview === 'true') excluded.preview++
    else if (met.length === 0) excluded.unknownVariant++
    else if (time < startedAt) excluded.beforeStart++
    else if (endedAt !== null && time >= endedAt) excluded.afterEnd++
    else {
      const unit = units.get(unitOf(i)) ?? { variants: new Set(), first: Infinity }
      for (const place of met) unit.variants.add(place)
      unit.first = Math.min(unit.first, time)
      units.set(unitOf(i), unit)
    }
  }
  for (const { variants } of units.values()) if (variants.size > 1) excluded.multipleVariants++
  const kept = [...units].flatMap(([unit, { variants, first }]) =>
    variants.size === 1 ? [{ unit, first, place: [...variants][0] ?? 0, day: dateIn(first, zone) }] : [],
  )

  function factsOf(source: MetricSource): UnitFact[] {
    if ('purchases' in source) {
      return purchaseFacts(events).map(({ person, device, time, value }) => ({
        unit: experiment.unit === 'user' ? person : device,
        time,
        cents: value,
      }))
    }
    return events.flatMap(({ name, time, value }, i) =>
      name === source.event
        ? [{ unit: unitOf(i), time, cents: BigInt(Math.round(Number(value ?? 0) * 100)) }]
        : [],
    )
  }

  const measured = metrics.map((metric) => {
    const known = (of: MetricSource) => factsOf(of).filter(({ time }) => time <= now)
    const source = known(metric.source)
    const counted = kept
      .filter(({ first }) => windows === 'all' || first + metric.windowHours * hour < now)
      .map(({ unit, first }) => {
        const inWindow = (all: UnitFact[]) =>
          all.filter(
            (each) =>
              each.unit === unit && each.time >= first && each.time <= first + metric.windowHours * hour,
          )
        const own = inWindow(source)
        const before = source.filter(
          (each) =>
            each.unit === unit && each.time < first && each.time >= first - (experiment.cupedDays ?? 0) * day,
        )
        return {
          unit,
          converted: own.length > 0,
          value: metricValue(metric, own),
          other: otherValue(metric, inWindow(displays), before),
        }
      })
    const cap = metric.kind === 'revenue_per_user' ? experiment.outlierCap : null
    const capValue = capOf(
      cap,
      counted.map(({ value }) => value),
    )
    const capOther = capOf(
      cap,
      counted.map(({ other }) => other),
    )
    return new Map(
      counted.map((each) => [
        each.unit,
        { ...each, value: capValue(each.value), other: capOther(each.other) },
      ]),
    )
  })

  const groups = [...new Set(kept.map((each) => `${each.day} ${each.place}`))].sort()
  return {
    excluded,
    days: groups.map((group) => {
      const [date = '', place = ''] = group.split(' ')
      const members = kept.filter((each) => each.day === date && each.place === Number(place))
      return {
        variantId: variants[Number(place)]?.id ?? '',
        day: date,
        units: members.length,
        metrics: measured.map((values, i) => {
          const length = (metrics[i]?.windowHours ?? 0) * hour
          const open = members.filter(({ first }) => first + length >= now).length
          return sumsOf(
            members.flatMap(({ unit }) => values.get(unit) ?? []),
            BigInt(open),
          )
        }),
      }
    }),
  }
}

function metricValue({ kind }: MeasuredMetric, facts: readonly UnitFact[]): bigint {
  if (kind === 'revenue_per_user') return facts.reduce((sum, { cents }) => sum + cents, 0n)
  if (kind === 'unique_conversion') return facts.length > 0 ? 1n : 0n
  return BigInt(facts.length)
}

function otherValue(
  metric: MeasuredMetric,
  displays: readonly UnitFact[],
  before: readonly UnitFact[],
): bigint {
  if (metric.kind === 'click_rate') return BigInt(displays.length)
  return metric.kind === 'revenue_per_user' ? metricValue(metric, before) : 0n
}

function capOf(quantile: number | null, values: readonly bigint[]): (value: bigint) => bigint {
  const positive = values.filter((value) => value > 0n).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const cap = quantile === null ? undefined : positive[Math.floor(quantile * positive.length)]
  return (value) => (cap !== undefined && value > cap ? cap : value)
}

function sumsOf(
  units: readonly { readonly converted: boolean; readonly value: bigint; readonly other: bigint }[],
  open: bigint,
): UnitSums {
  const sum = (of: (unit: (typeof units)[number]) => bigint) =>
    units.reduce((total, unit) => total + of(unit), 0n)
  return {
    units: BigInt(units.length),
    open,
    converted: sum(({ converted }) => (converted ? 1n : 0n)),
    sum: sum(({ value }) => value),
    squares: sum(({ value }) => value * value),
    otherSum: sum(({ other }) => other),
    otherSquares: sum(({ other }) => other * other),
    products: sum(({ value, other }) => value * other),
  }
}
