import { events } from '../../catalogue/events.ts'
import { rowsOf } from '../../query/compile/compile-rows.ts'
import { nested, type Parameters, select } from '../../query/compile/parameters.ts'
import type { RowsOptions } from '../../query/compile/rows.ts'
import { hour } from '../../query/time/zone.ts'
import type { MeasuredExperiment } from './measured-experiment.ts'

/** Why exposures do not count. */
export const reasons = ['preview', 'unknown', 'before', 'after'] as const

/** `place` of units that met several variants, and of those that met none that counts. */
export const severalVariants = -1
const noVariant = -2
/** Later than every event; it is the first exposure of a unit that has none. */
const endOfTime = `toUInt64(${Date.UTC(2100, 0)})`

/** What an exposure says: a bit for each variant, and these. */
const experimentBit = 40
const previewBit = 41
const isPreview = `bitTest(code, ${previewBit})`

/** Bits of a counter of exposures that do not count: one for each reason, side by side in one number. */
const reasonBits = 32

export interface ExposureContext {
  readonly experiment: MeasuredExperiment
  /** When results are read: nothing later is. */
  readonly now: number
  readonly parameters: Parameters
  readonly rows: Omit<RowsOptions, 'source' | 'conditions'>
}

/** What a number of `exposures` says of the experiment, as SQL over that of the number. */
function codeSql(number: string, { experiment, parameters }: ExposureContext): string {
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
  const numbers = bits.map((bit) => `toUInt64(${2 ** bit})`)
  return `transform(${number}, arrayConcat(${hashes.join(', ')}), [${numbers.join(', ')}], toUInt64(0))`
}

/** The condition that a stored event is an exposure of the experiment, and what it says, all bits together. */
function exposureSql(context: ExposureContext): { readonly isExposure: string; readonly code: string } {
  const code = codeSql('number', context)
  return {
    isExposure: `arrayExists(number -> ${code} != 0, exposures)`,
    code: `arraySum(arrayDistinct(arrayMap(number -> ${code}, exposures)))`,
  }
}

export const at = 'toUInt64(toUnixTimestamp64Milli(time)) AS at'

export function unitColumn({ unit }: MeasuredExperiment): 'person' | 'device' {
  return unit === 'user' ? 'person' : 'device'
}

/** Of the code of an exposure: the bits of variants. */
function variantsIn({ variants }: MeasuredExperiment): string {
  return `bitAnd(code, ${2 ** variants.length - 1})`
}

/**
 * One row for each unit of an exposure: the place of its variant, when it met it `first`, and how many of its exposures
 * do not count, by reason.
 */
export function exposedSql(context: ExposureContext): string {
  const { experiment, parameters, now } = context
  const { isExposure, code } = exposureSql(context)
  const rows = rowsOf({ ...context.rows, source: events, conditions: [isExposure] })
  const unit = unitColumn(experiment)
  rows.need([unit, 'time', 'exposures'])
  const exposures = select([`${unit} AS unit`, at, `${code} AS code`], rows.relation())
  const start = parameters.bind('Int64', experiment.startedAt)
  const end = parameters.bind('Int64', experiment.endedAt ?? now + 1)
  const variants = variantsIn(experiment)
  const isLive = `NOT ${isPreview} AND ${variants} != 0`
  const counts = `${isLive} AND at >= ${start} AND at < ${end}`
  const reason = (name: (typeof reasons)[number]) =>
    `bitShiftLeft(toUInt128(1), ${reasons.indexOf(name) * reasonBits})`
  const displays = experiment.metrics.some(({ kind }) => kind === 'click_rate')
  const placed = select(
    [
      'unit',
      `if(${counts}, ${variants}, 0) AS met`,
      `if(${counts}, at, ${endOfTime}) AS first`,
      `multiIf(${isPreview}, ${reason('preview')}, ${variants} = 0, ${reason('unknown')}, ${counts}, toUInt128(0), ` +
        `at < ${start}, ${reason('before')}, ${reason('after')}) AS excluded`,
      ...(displays ? ['at', `${isLive} AS is_display`] : []),
    ],
    nested(exposures),
  )
  const ofUnits = select(
    [
      'unit AS of_unit',
      'groupBitOr(met) AS met',
      'min(first) AS first',
      'sum(excluded) AS excluded',
      ...(displays ? ['groupArrayIf(at, is_display) AS displays'] : []),
    ],
    nested(placed),
    [],
    '\nGROUP BY unit',
  )
  // A single bit is as high as there are bits below it.
  const place = `multiIf(met = 0, ${noVariant}, bitCount(met) > 1, ${severalVariants}, bitCount(met - 1))`
  return select(
    ['of_unit', `toInt16(${place}) AS place`, 'first', 'excluded', ...displaysSql(context)],
    nested(ofUnits),
  )
}

/** Of a unit, by the list of its displays: how many a metric's window holds. */
function displaysSql({ experiment, parameters }: ExposureContext): string[] {
  return experiment.metrics.flatMap(({ kind, windowHours }, i) => {
    if (kind !== 'click_rate') return []
    const window = parameters.bind('Int64', windowHours * hour)
    return [`arrayCount(at -> at >= first AND at <= first + ${window}, displays) AS x${i}`]
  })
}

/** How many exposures do not count for a reason. */
export function reasonSql(i: number): string {
  return `bitAnd(bitShiftRight(excluded, ${i * reasonBits}), ${2 ** reasonBits - 1})`
}
