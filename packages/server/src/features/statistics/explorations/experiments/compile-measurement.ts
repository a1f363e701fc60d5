import { events } from '../../members/events.ts'
import { purchases } from '../../members/purchases.ts'
import type { CompiledQuery } from '../../query/compile/compile.ts'
import { timeCondition } from '../../query/compile/compile-conditions.ts'
import { createBuckets } from '../../query/compile/compile-groupings.ts'
import { rowsOf } from '../../query/compile/compile-rows.ts'
import { type EventAliases, storedNamesOf } from '../../query/compile/event-name.ts'
import { createParameters, type Parameters } from '../../query/compile/parameters.ts'
import { nested, select } from '../../query/compile/sql-text.ts'
import { type TimeSet, unionOf } from '../../query/time/interval.ts'
import { day, hour, type Zone } from '../../query/time/zone.ts'
import { eventTime } from '../selection.ts'
import type {
  CountedWindows,
  MeasuredExperiment,
  MeasuredMetric,
  MetricSource,
} from './measured-experiment.ts'

/** Days before the start and after the end of an experiment from which exposures are counted as excluded. */
export const excludedDays = 7

/** Columns of a statement's rows before those of the metrics, and how many each metric has. */
export const leadingColumns = ['place', 'day', 'units', 'preview', 'unknown', 'before', 'after'] as const
export const columnsOfMetric = 8

/** `place` of units that met several variants, and of those that met none that counts. */
export const severalVariants = -1
const noVariant = -2

export interface MeasurementQuery {
  readonly experiment: MeasuredExperiment
  readonly windows: CountedWindows
  readonly companyId: string
  readonly eventAliases: EventAliases
  readonly zone: Zone
  /** When results are read: nothing later is. */
  readonly now: number
}

/**
 * A fact is one number: 42 bits of milliseconds, which reach beyond the last time that is stored, and one bit for each
 * kind that it is of. The last kind is a display: an exposure, whether it is the first or not.
 */
const kindBits = 22
const displayKind = 21
/** What exposures say: a bit for each variant, and these. */
const experimentBit = 40
const previewBit = 41

interface Context extends MeasurementQuery {
  readonly parameters: Parameters
  /** The sources of all metrics, each once. */
  readonly kinds: readonly MetricSource[]
  readonly withValues: boolean
  readonly withDisplays: boolean
  readonly times: TimeSet
}

/**
 * Writes the measurement as one statement, in which units are numbers and each is one row: its first exposure, the
 * variants that it met, and its facts as a list. Rows of the answer: one for each place of a variant and day of first
 * exposure, with exact sums, and further ones with exposures that do not count.
 */
export function compileMeasurement(query: MeasurementQuery): CompiledQuery {
  const { experiment, now } = query
  const parameters = createParameters()
  const { startedAt, endedAt, metrics, cupedDays } = experiment
  const before = Math.max(cupedDays ?? 0, excludedDays) * day
  const longest = Math.max(...metrics.map(({ windowHours }) => windowHours * hour), excludedDays * day)
  const end = Math.min(now, endedAt === null ? Infinity : endedAt + longest)
  const context: Context = {
    ...query,
    parameters,
    kinds: kindsOf(metrics),
    withValues: metrics.some(({ kind }) => kind === 'revenue_per_user'),
    withDisplays: metrics.some(({ kind }) => kind === 'click_rate'),
    times: unionOf([{ from: startedAt - before, to: end + 1 }]),
  }
  const measured = cappedSql(measuredSql(context), context)
  const sums = metrics.flatMap((metric, i) => sumsSql(metric, i, context))
  const reasons = ['preview', 'unknown', 'before', 'after'].map((name) => `sum(${name})`)
  const sql = select(
    ['place', 'day', 'count() AS units', ...reasons, ...sums],
    nested(measured),
    [],
    '\nGROUP BY place, day\nORDER BY day, place',
  )
  return Object.freeze({ ...parameters.statement(sql), columns: [], rangeLabels: [] })
}

function kindsOf(metrics: readonly MeasuredMetric[]): MetricSource[] {
  const kinds = new Map(metrics.map(({ source }) => [keyOf(source), source]))
  if (kinds.size > displayKind) throw new Error(`${kinds.size} sources of metrics are too many for a fact`)
  return [...kinds.values()]
}

function keyOf(source: MetricSource): string {
  return 'event' in source ? source.event : ''
}

function bitOf(source: MetricSource, { kinds }: Context): number {
  return kinds.findIndex((each) => keyOf(each) === keyOf(source))
}

/** What each number of `exposures` says: the hashes, as arrays that the engine computes once, and their bits. */
function codesOf({ experiment, parameters }: Context): { hashes: string; bits: string } {
  const { id, variants } = experiment
  const bound = parameters.bind('String', id)
  const ids = parameters.bind(
    'Array(String)',
    variants.map((each) => each.id),
  )
  const tagged = variants.flatMap(({ tagValueId }, i) =>
    tagValueId === undefined ? [] : [{ tagValueId, i }],
  )
  const tags = parameters.bind(
    'Array(String)',
    tagged.map((each) => each.tagValueId),
  )
  const hashes = [
    `[sipHash64(${bound}), sipHash64('preview', ${bound})]`,
    `arrayMap(variant -> sipHash64(${bound}, variant), ${ids})`,
    `arrayMap(tag -> sipHash64(tag), ${tags})`,
    `arrayMap(tag -> sipHash64('preview', tag), ${tags})`,
  ]
  const bits = [
    experimentBit,
    previewBit,
    ...variants.map((_, i) => i),
    ...tagged.map(({ i }) => i),
    ...tagged.map(() => previewBit),
  ]
  return {
    hashes: `arrayConcat(${hashes.join(', ')})`,
    bits: `[${bits.map((bit) => `toUInt64(${2 ** bit})`).join(', ')}]`,
  }
}

/** Events that are exposures or facts: whose, when, what they say of the experiment, and which kinds they are of. */
function eventsSql(context: Context): string {
  const { experiment, companyId, eventAliases, parameters, kinds, times } = context
  const { hashes, bits } = codesOf(context)
  const code = (number: string) => `transform(${number}, ${hashes}, ${bits}, toUInt64(0))`
  const named = kinds.flatMap((source, bit) =>
    'event' in source
      ? [{ bit, names: parameters.bind('Array(String)', storedNamesOf([source.event], eventAliases)) }]
      : [],
  )
  const isExposure = `arrayExists(number -> ${code('number')} != 0, exposures)`
  const isWanted = [isExposure, ...named.map(({ names }) => `name IN ${names}`)].join(' OR ')
  const rows = rowsOf({
    source: events,
    companyId,
    filters: [],
    times,
    eventAliases,
    parameters,
    conditions: [`(${isWanted})`],
  })
  const unit = unitColumn(experiment)
  rows.need([unit, 'time', 'exposures', 'name'])
  const facts = named.map(({ bit, names }) => `if(name IN ${names}, ${2 ** bit}, 0)`)
  if (context.withDisplays) {
    facts.push(
      `if(bitAnd(code, ${variantBits(experiment)}) != 0 AND NOT ${isPreview}, ${2 ** displayKind}, 0)`,
    )
  }
  return select(
    [
      `${unit} AS unit`,
      'toUInt64(toUnixTimestamp64Milli(time)) AS at',
      `arraySum(arrayDistinct(arrayMap(number -> ${code('number')}, exposures))) AS code`,
      `toUInt32(${facts.length > 0 ? facts.join(' + ') : '0'}) AS kinds`,
      ...(context.withValues ? ['toDecimal64(0, 2) AS value'] : []),
    ],
    rows.relation(),
  )
}

const isPreview = `bitTest(code, ${previewBit})`

function variantBits({ variants }: MeasuredExperiment): number {
  return 2 ** variants.length - 1
}

function unitColumn({ unit }: MeasuredExperiment): 'person' | 'device' {
  return unit === 'user' ? 'person' : 'device'
}

/** Purchases as facts. A device is that of the earliest event of an order, which its row does not always have. */
function purchasesSql(
  bit: number,
  { experiment, companyId, parameters, withValues, times, ...context }: Context,
): string {
  const { eventAliases } = context
  const rows = rowsOf({ source: purchases, companyId, filters: [], times, eventAliases, parameters })
  const ofPerson = experiment.unit === 'user'
  rows.need([ofPerson ? 'person' : 'purchase', 'time', ...(withValues ? ['value'] : [])])
  const columns = [
    `${ofPerson ? 'person' : 'of_device'} AS unit`,
    'toUInt64(toUnixTimestamp64Milli(time)) AS at',
    'toUInt64(0) AS code',
    `toUInt32(${2 ** bit}) AS kinds`,
    ...(withValues ? ['ifNull(value, 0) AS value'] : []),
  ]
  if (ofPerson) return select(columns, rows.relation())
  const scope = [
    `company = ${parameters.bind('String', companyId)}`,
    ...[timeCondition('time', times, 'time', parameters) ?? '1'],
  ]
  const devices = select(
    [
      'purchase AS of_purchase',
      'argMin(device, (time, sipHash64(datasource, event_uuid, event_text))) AS of_device',
    ],
    'purchases',
    scope,
    '\nGROUP BY purchase',
  )
  return select(
    columns,
    `${rows.relation()} AS bought\nINNER JOIN ${nested(devices)} AS buyer ON bought.purchase = buyer.of_purchase`,
  )
}

/** One row for each unit: which variants it `met`, when `first`, its facts as `done`, and exposures that do not count. */
function unitsSql(context: Context): string {
  const { experiment, parameters, kinds, withValues } = context
  const bought = kinds.findIndex((source) => 'purchases' in source)
  const parts = [eventsSql(context), ...(bought < 0 ? [] : [purchasesSql(bought, context)])]
  const start = parameters.bind('Int64', experiment.startedAt)
  const end = parameters.bind('Int64', experiment.endedAt ?? context.now + 1)
  const variants = `bitAnd(code, ${variantBits(experiment)})`
  const isLive = `NOT ${isPreview} AND ${variants} != 0`
  const counts = `${isLive} AND at >= ${start} AND at < ${end}`
  const fact = `bitShiftLeft(at, ${kindBits}) + kinds`
  return select(
    [
      'unit',
      `groupBitOrIf(${variants}, ${counts}) AS met`,
      `minIf(at, ${counts}) AS first`,
      `countIf(${isPreview}) AS preview`,
      `countIf(bitTest(code, ${experimentBit}) AND NOT ${isPreview} AND ${variants} = 0) AS unknown`,
      `countIf(${isLive} AND at < ${start}) AS before`,
      `countIf(${isLive} AND at >= ${end}) AS after`,
      `groupArrayIf(${withValues ? `(${fact}, value)` : fact}, kinds != 0) AS done`,
    ],
    nested(parts.join('\nUNION ALL\n')),
    [],
    '\nGROUP BY unit',
  )
}

/** One row for each unit with the values of all metrics: `k0` facts, `y0` the value, `x0` what it is compared with. */
function measuredSql(context: Context): string {
  const { experiment, zone, times, parameters } = context
  const several = 'bitCount(met) > 1'
  const buckets = createBuckets(zone, times)
  const date = buckets.sql(
    { key: 'day', dimension: eventTime, granularity: 'day' },
    `fromUnixTimestamp64Milli(toInt64(first), 'UTC')`,
    parameters,
  )
  const placed = select(
    [
      // A single bit is as high as there are bits below it.
      `toInt16(multiIf(met = 0, ${noVariant}, ${several}, ${severalVariants}, bitCount(met - 1))) AS place`,
      `if(place < 0, 0, toInt32(${date})) AS day`,
      'first',
      'preview',
      'unknown',
      'before',
      'after',
      `if(place < 0, [], done) AS all_facts`,
      ...(context.withValues ? ['all_facts.1 AS facts', 'all_facts.2 AS amounts'] : ['all_facts AS facts']),
    ],
    nested(unitsSql(context)),
  )
  const values = experiment.metrics.flatMap((metric, i) => valuesSql(metric, i, context))
  return select(['place', 'day', 'first', 'preview', 'unknown', 'before', 'after', ...values], nested(placed))
}

/** The facts from a time on are not smaller than this. */
const factsFrom = (time: string): string => `bitShiftLeft(toUInt64(${time}), ${kindBits})`

function valuesSql(metric: MeasuredMetric, i: number, context: Context): string[] {
  const { parameters, experiment } = context
  const { kind, source, windowHours } = metric
  const bit = bitOf(source, context)
  const window = parameters.bind('Int64', windowHours * hour)
  const inWindow = (of: number) =>
    `bitTest(fact, ${of}) AND fact >= ${factsFrom('first')} AND fact < ${factsFrom(`first + ${window} + 1`)}`
  const count = (condition: string) => `toUInt64(arrayCount(fact -> ${condition}, facts))`
  const amount = (condition: string) =>
    `toDecimal256(arraySum((fact, amount) -> if(${condition}, amount, 0), facts, amounts), 2)`
  const columns = [`${count(inWindow(bit))} AS k${i}`]
  if (kind === 'click_rate') columns.push(`${count(inWindow(displayKind))} AS x${i}`)
  if (kind === 'revenue_per_user') columns.push(`${amount(inWindow(bit))} AS y${i}`)
  if (isReduced(metric, experiment)) {
    const earlier = parameters.bind('Int64', (experiment.cupedDays ?? 0) * day)
    const from = factsFrom(`greatest(toInt64(first) - ${earlier}, 0)`)
    columns.push(
      `${amount(`bitTest(fact, ${bit}) AND fact >= ${from} AND fact < ${factsFrom('first')}`)} AS x${i}`,
    )
  }
  return columns
}

/** Whether what units did before their exposure reduces the variance of a metric. */
function isReduced({ kind }: MeasuredMetric, { cupedDays }: MeasuredExperiment): boolean {
  return cupedDays !== null && kind === 'revenue_per_user'
}

/** The condition that the window of a unit is over. */
function isOver({ windowHours }: MeasuredMetric, { now, parameters }: Context): string {
  return `toInt64(first) < ${parameters.bind('Int64', now - windowHours * hour)}`
}

/** The condition that a metric counts a unit. */
function counted(metric: MeasuredMetric, context: Context): string {
  return context.windows === 'all' ? 'place >= 0' : `place >= 0 AND ${isOver(metric, context)}`
}

/**
 * The same rows with amounts above the quantile cut to it: that of the amounts above 0, over all variants together, so
 * that few who buy do not make it 0.
 */
function cappedSql(measured: string, context: Context): string {
  const { experiment } = context
  const quantile = experiment.outlierCap
  const capped = experiment.metrics.flatMap((metric, i) => {
    if (metric.kind !== 'revenue_per_user') return []
    const names = isReduced(metric, experiment) ? [`y${i}`, `x${i}`] : [`y${i}`]
    return names.map((name) => ({ name, of: counted(metric, context) }))
  })
  if (quantile === null || capped.length === 0) return measured
  const caps = capped.map(
    ({ name, of }) => `quantileExactIf(${quantile})(${name}, ${name} > 0 AND ${of}) OVER () AS cap_${name}`,
  )
  const cut = capped.map(({ name }) => `if(${name} > 0, least(${name}, cap_${name}), ${name}) AS ${name}`)
  return select([`* REPLACE (${cut.join(', ')})`], nested(select(['*', ...caps], nested(measured))))
}

/** The sums of a metric, `columnsOfMetric` in number, as integers: of amounts in hundredths and ten-thousandths. */
function sumsSql(metric: MeasuredMetric, i: number, context: Context): string[] {
  const of = counted(metric, context)
  const converted = `countIf(${of} AND k${i} > 0)`
  const units = [`countIf(${of})`, `countIf(place >= 0 AND NOT ${isOver(metric, context)})`, converted]
  const sum = (value: string) => `sumIf(${value}, ${of})`
  const hundredths = (value: string) => `toInt256(${sum(value)} * 100)`
  const squares = (value: string) => `toInt256(${sum(value)} * 10000)`
  const [k, x, y] = [`k${i}`, `x${i}`, `y${i}`]
  switch (metric.kind) {
    case 'unique_conversion':
      return [...units, converted, converted, '0', '0', '0']
    case 'conversion':
      return [...units, sum(k), sum(`${k} * ${k}`), '0', '0', '0']
    case 'click_rate':
      return [...units, sum(k), sum(`${k} * ${k}`), sum(x), sum(`${x} * ${x}`), sum(`${k} * ${x}`)]
    case 'revenue_per_user': {
      const own = [...units, hundredths(y), squares(`${y} * ${y}`)]
      if (!isReduced(metric, context.experiment)) return [...own, '0', '0', '0']
      return [...own, hundredths(x), squares(`${x} * ${x}`), squares(`${y} * ${x}`)]
    }
  }
}
