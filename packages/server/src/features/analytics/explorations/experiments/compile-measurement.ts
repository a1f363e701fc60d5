import { events } from '../../catalogue/events.ts'
import { purchases } from '../../catalogue/purchases.ts'
import type { CompiledQuery } from '../../query/compile/compile.ts'
import { timeCondition } from '../../query/compile/compile-conditions.ts'
import { createBuckets } from '../../query/compile/compile-groupings.ts'
import { rowsOf } from '../../query/compile/compile-rows.ts'
import { type EventAliases, storedNamesOf } from '../../query/compile/event-name.ts'
import { createParameters, nested, select } from '../../query/compile/parameters.ts'
import { unionOf } from '../../query/time/interval.ts'
import { day, hour, type Zone } from '../../query/time/zone.ts'
import { eventTime } from '../selection.ts'
import { at, type ExposureContext, exposedSql, reasonSql, reasons, unitColumn } from './compile-exposures.ts'
import type {
  CountedWindows,
  MeasuredExperiment,
  MeasuredMetric,
  MetricSource,
} from './measured-experiment.ts'

/** Days before the start and after the end of an experiment from which exposures are counted as excluded. */
export const excludedDays = 7

/** Columns of a statement's rows before those of the metrics, and how many each metric has. */
export const leadingColumns = ['place', 'day', 'units', ...reasons] as const
export const columnsOfMetric = 8

export interface MeasurementQuery extends Pick<ExposureContext, 'experiment' | 'now'> {
  readonly windows: CountedWindows
  readonly companyId: string
  readonly eventAliases: EventAliases
  readonly zone: Zone
}

/** Facts are of kinds, one bit for each source of metrics. */
const maxKinds = 32

interface Context extends MeasurementQuery, ExposureContext {
  /** The sources of all metrics, each once. */
  readonly kinds: readonly MetricSource[]
  readonly withValues: boolean
  /** The windows of all metrics in hours, each once. */
  readonly windowHours: readonly number[]
  /** The SQL of a local day, over that of milliseconds. */
  readonly dayOf: (milliseconds: string) => string
}

/**
 * Writes the measurement as one statement, in numbers. Exposures become one row for each unit, to which its facts are
 * joined; facts of other units are dropped there, before anything is grouped. Rows of the answer: one for each
 * variant's place and day of first exposure, and one about exposures that do not count.
 */
export function compileMeasurement(query: MeasurementQuery): CompiledQuery {
  const { experiment, companyId, eventAliases, zone, now } = query
  const parameters = createParameters()
  const { startedAt, endedAt, metrics, cupedDays } = experiment
  const before = Math.max(cupedDays ?? 0, excludedDays) * day
  const longest = Math.max(...metrics.map(({ windowHours }) => windowHours * hour), excludedDays * day)
  const end = Math.min(now, endedAt === null ? Infinity : endedAt + longest)
  const times = unionOf([{ from: startedAt - before, to: end + 1 }])
  const buckets = createBuckets(zone, times)
  const daily = { key: 'day', dimension: eventTime, granularity: 'day' } as const
  const context: Context = {
    ...query,
    parameters,
    // A metric names events and measures, and nothing of a workflow.
    rows: { companyId, filters: [], times, eventAliases, visibleWorkflows: 'all', parameters },
    kinds: kindsOf(metrics),
    withValues: metrics.some(({ kind }) => kind === 'revenue_per_user'),
    windowHours: [...new Set(metrics.map(({ windowHours }) => windowHours))],
    dayOf: (milliseconds) =>
      `toInt32(${buckets.sql(daily, `fromUnixTimestamp64Milli(toInt64(${milliseconds}), 'UTC')`, parameters)})`,
  }
  const sums = metrics.flatMap((metric, i) => metricSums(metric, i, context))
  const sql = select(
    [
      'place',
      `if(place < 0, 0, ${context.dayOf('first')}) AS day`,
      'count()',
      ...reasons.map((_, i) => `sum(${reasonSql(i)})`),
      ...sums,
    ],
    nested(cappedSql(measuredSql(context), context)),
    [],
    '\nGROUP BY place, day\nORDER BY day, place',
  )
  return Object.freeze({ ...parameters.statement(sql), columns: [], rangeLabels: [] })
}

function kindsOf(metrics: readonly MeasuredMetric[]): MetricSource[] {
  const kinds = new Map(metrics.map(({ source }) => [keyOf(source), source]))
  if (kinds.size > maxKinds) throw new Error(`${kinds.size} sources of metrics are too many for a fact`)
  return [...kinds.values()]
}

function keyOf(source: MetricSource): string {
  return 'event' in source ? source.event : ''
}

function bitOf(source: MetricSource, { kinds }: Context): number {
  return kinds.findIndex((each) => keyOf(each) === keyOf(source))
}

/**
 * Of a unit, by window: whether metrics count it, and whether the window is not over. They are columns because the
 * engine plans each condition by hashing all that stands below it: written out in every sum they took it longer than
 * reading the events.
 */
function countedSql({ windowHours, windows, now, parameters }: Context): string[] {
  return windowHours.flatMap((hours, i) => {
    const isOpen = `toInt64(first) >= ${parameters.bind('Int64', now - hours * hour)}`
    const isCounted = windows === 'all' ? 'place >= 0' : `place >= 0 AND NOT ${isOpen}`
    return [`${isCounted} AS counted${i}`, `place >= 0 AND ${isOpen} AS open${i}`]
  })
}

/** One row for each unit of an exposure, with what it did. */
function measuredSql(context: Context): string {
  const values = context.experiment.metrics.flatMap((metric, i) => valuesSql(metric, i, context))
  const ofUnits = select(
    [
      'any(exposed.place) AS place',
      'any(exposed.first) AS first',
      'any(exposed.excluded) AS excluded',
      ...values,
    ],
    `${nested(factsSql(context))} AS fact\nRIGHT JOIN ${nested(exposedSql(context))} AS exposed ON fact.unit = exposed.of_unit`,
    [],
    '\nGROUP BY exposed.of_unit',
  )
  return select(['*', ...countedSql(context)], nested(ofUnits))
}

/** What units did, exposed or not: whose, when, of which kinds, and with `cents` where that is asked for. */
function factsSql(context: Context): string {
  const bought = context.kinds.findIndex((source) => 'purchases' in source)
  const parts = bought < 0 ? [] : [purchaseFactsSql(bought, context)]
  if (bought < 0 || context.kinds.length > 1) parts.push(eventFactsSql(context))
  return parts.join('\nUNION ALL\n')
}

function eventFactsSql(context: Context): string {
  const { experiment, eventAliases, parameters, kinds } = context
  const named = kinds.flatMap((source, bit) =>
    'event' in source ? [{ bit, stored: storedNamesOf([source.event], eventAliases) }] : [],
  )
  const names = parameters.bind('Array(String)', [...new Set(named.flatMap(({ stored }) => stored))])
  const rows = rowsOf({ ...context.rows, source: events, conditions: [`name IN ${names}`] })
  const unit = unitColumn(experiment)
  rows.need([unit, 'time', 'name'])
  const isOf = named.map(({ bit, stored }) => {
    return `if(name IN ${parameters.bind('Array(String)', stored)}, ${2 ** bit}, 0)`
  })
  return select(
    [
      `${unit} AS unit`,
      at,
      `toUInt32(${isOf.join(' + ')}) AS kinds`,
      ...(context.withValues ? ['toInt64(0) AS cents'] : []),
    ],
    rows.relation(),
  )
}

/** Purchases as facts. A device is that of the earliest event of an order, which its row does not always have. */
function purchaseFactsSql(bit: number, context: Context): string {
  const { experiment, companyId, parameters, withValues } = context
  const rows = rowsOf({ ...context.rows, source: purchases, allBindings: true })
  const ofPerson = experiment.unit === 'user'
  rows.need([ofPerson ? 'person' : 'purchase', 'time', ...(withValues ? ['value'] : [])])
  const columns = [
    `${ofPerson ? 'person' : 'of_device'} AS unit`,
    at,
    `toUInt32(${2 ** bit}) AS kinds`,
    // The number behind a decimal counts its hundredths.
    ...(withValues ? ['reinterpretAsInt64(ifNull(value, 0)) AS cents'] : []),
  ]
  if (ofPerson) return select(columns, rows.relation())
  const inTime = timeCondition('time', context.rows.times, 'time', parameters) ?? '1'
  const devices = select(
    [
      'purchase AS of_purchase',
      'argMin(device, (time, sipHash64(datasource, event_uuid, event_text))) AS of_device',
    ],
    'purchases',
    [`company = ${parameters.bind('String', companyId)}`, inTime],
    '\nGROUP BY purchase',
  )
  return select(
    columns,
    `${rows.relation()} AS bought\nINNER JOIN ${nested(devices)} AS buyer ON bought.purchase = buyer.of_purchase`,
  )
}

/** Aggregates of a unit: `k0` facts in the window, `y0` their value, `x0` displays, or value before exposure. */
function valuesSql(metric: MeasuredMetric, i: number, context: Context): string[] {
  const { parameters, experiment } = context
  const { kind, source, windowHours } = metric
  const window = parameters.bind('Int64', windowHours * hour)
  const isOf = (bit: number) => `bitTest(kinds, ${bit})`
  const inWindow = `at >= exposed.first AND at <= exposed.first + ${window}`
  const bit = bitOf(source, context)
  const columns = [`countIf(${isOf(bit)} AND ${inWindow}) AS k${i}`]
  if (kind === 'click_rate') columns.push(`any(exposed.x${i}) AS x${i}`)
  if (kind === 'revenue_per_user') {
    columns.push(`sumIf(toInt128(cents), ${isOf(bit)} AND ${inWindow}) AS y${i}`)
  }
  if (isReduced(metric, experiment)) {
    const earlier = parameters.bind('Int64', (experiment.cupedDays ?? 0) * day)
    const before = `${isOf(bit)} AND at < exposed.first AND at + ${earlier} >= exposed.first`
    columns.push(`sumIf(toInt128(cents), ${before}) AS x${i}`)
  }
  return columns
}

function windowOf({ windowHours }: MeasuredMetric, context: Context): number {
  return context.windowHours.indexOf(windowHours)
}

/** Whether what units did before their exposure reduces the variance of a metric. */
function isReduced({ kind }: MeasuredMetric, { cupedDays }: MeasuredExperiment): boolean {
  return cupedDays !== null && kind === 'revenue_per_user'
}

/**
 * The same rows with amounts above the quantile cut to it: that of the amounts above 0, over all variants together, so
 * that few who buy do not make it 0.
 */
function cappedSql(ofUnits: string, context: Context): string {
  const { experiment } = context
  const quantile = experiment.outlierCap
  const capped = experiment.metrics.flatMap((metric, i) => {
    if (metric.kind !== 'revenue_per_user') return []
    const names = isReduced(metric, experiment) ? [`y${i}`, `x${i}`] : [`y${i}`]
    return names.map((name) => ({ name, of: `counted${windowOf(metric, context)}` }))
  })
  if (quantile === null || capped.length === 0) return ofUnits
  const caps = capped.map(
    ({ name, of }) => `quantileExactIf(${quantile})(${name}, ${name} > 0 AND ${of}) OVER () AS cap_${name}`,
  )
  const cut = capped.map(({ name }) => `if(${name} > 0, least(${name}, cap_${name}), ${name}) AS ${name}`)
  return select([`* REPLACE (${cut.join(', ')})`], nested(select(['*', ...caps], nested(ofUnits))))
}

/** The sums of a metric, `columnsOfMetric` in number, as integers: of amounts in hundredths and ten-thousandths. */
function metricSums(metric: MeasuredMetric, i: number, context: Context): string[] {
  const window = windowOf(metric, context)
  const of = `counted${window}`
  const sum = (value: string) => `sumIf(${value}, ${of})`
  // The square of an amount has more than 128 bits in the worst case.
  const product = (a: string, b: string) => sum(`toInt256(${a}) * toInt256(${b})`)
  const [k, x, y] = [`k${i}`, `x${i}`, `y${i}`]
  const converted = sum(`${k} > 0`)
  const own = [`countIf(${of})`, `countIf(open${window})`, converted]
  switch (metric.kind) {
    case 'unique_conversion':
      return [...own, converted, converted, '0', '0', '0']
    case 'conversion':
      return [...own, sum(k), sum(`${k} * ${k}`), '0', '0', '0']
    case 'click_rate':
      return [...own, sum(k), sum(`${k} * ${k}`), sum(x), sum(`${x} * ${x}`), sum(`${k} * ${x}`)]
    case 'revenue_per_user':
      own.push(sum(y), product(y, y))
      if (!isReduced(metric, context.experiment)) return [...own, '0', '0', '0']
      return [...own, sum(x), product(x, x), product(y, x)]
  }
}
