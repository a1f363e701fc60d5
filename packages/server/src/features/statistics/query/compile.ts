import type { Granularity } from '@millrace/contract/resources/query.ts'
import type { ColumnarParam } from '../../../platform/stores/columnar.ts'
import type { Measure, PlainMeasure } from '../members/member.ts'
import { measureCondition, timeCondition } from './compile-conditions.ts'
import { rowsOf } from './compile-rows.ts'
import { hullOf, type TimeSet } from './interval.ts'
import { createParameters, type Parameters } from './parameters.ts'
import { type Branch, maximumRows, type Plan, type PlannedRange } from './plan.ts'
import type { Grouping } from './query.ts'
import { minute, type Zone } from './zone.ts'

/** How a column's cells come from the engine, and so how they are shown. */
export type CellForm =
  /** Index of a range of the comparison. */
  | 'range'
  /** A local date, the start of its day. */
  | 'date'
  /** An instant in seconds, or in milliseconds, since 1970. */
  | 'seconds'
  | 'milliseconds'
  | 'text'
  | 'boolean'
  /** A number, as text where it has 64 bits or is a decimal. */
  | 'number'

export interface ResultColumn {
  readonly key: string
  readonly form: CellForm
}

/** One statement, its bound values, and what its columns are. */
export interface CompiledQuery {
  readonly sql: string
  readonly params: Readonly<Record<string, ColumnarParam>>
  readonly columns: readonly ResultColumn[]
  /** Of a comparison: what the key `compareDateRange` shows, by index. */
  readonly rangeLabels: readonly string[]
}

/** A run of one person's events ends with a gap longer than this. */
const sessionGap = 30 * minute

/** Key of the range in the rows of a comparison (decisions.md, Operations). */
const rangeKey = 'compareDateRange'

/**
 * Writes the plan as one statement. Its text is made of the catalogue's expressions and of placeholders; the
 * predicate on the company stands in every scan of a table.
 */
export function compileQuery(plan: Plan, companyId: string): CompiledQuery {
  const parameters = createParameters()
  const compared = plan.ranges.some(({ label }) => label !== undefined)
  const answers = plan.ranges.map((range, i) =>
    answerSql(plan, range, companyId, parameters, compared ? [`${i} AS range`] : []),
  )
  const [only = ''] = answers
  const sql = compared
    ? `SELECT *\nFROM ${nested(answers.join('\nUNION ALL\n'))}\nORDER BY ${['range', ...orderTerms(plan)].join(', ')}\nLIMIT ${maximumRows}`
    : only
  return Object.freeze({
    sql,
    params: Object.freeze({ ...parameters.values }),
    columns: [
      ...(compared ? [{ key: rangeKey, form: 'range' } as const] : []),
      ...plan.groupings.map((grouping) => ({ key: grouping.key, form: formOf(grouping) })),
      ...plan.selected.map(({ id }) => ({ key: id, form: 'number' as const })),
    ],
    rangeLabels: plan.ranges.flatMap(({ label }) => label ?? []),
  })
}

function nested(sql: string): string {
  return `(\n  ${sql.replaceAll('\n', '\n  ')}\n)`
}

/** The rows of one range: groups and aggregates, then filters on measures, ratios, order and limit. */
function answerSql(
  plan: Plan,
  range: PlannedRange,
  companyId: string,
  parameters: Parameters,
  first: readonly string[],
): string {
  const columns = [
    ...first,
    ...plan.groupings.map((_, i) => `g${i}`),
    ...plan.selected.map((measure, i) => `${selectedSql(plan, measure)} AS s${i}`),
  ]
  const conditions = plan.measureFilters.map((filter) =>
    measureCondition(measureColumn(plan, filter.measure), filter, parameters),
  )
  const where = conditions.length > 0 ? `\nWHERE ${conditions.join('\n  AND ')}` : ''
  const order = orderTerms(plan)
  return (
    `SELECT ${columns.join(', ')}\nFROM ${nested(groupsSql(plan, range, companyId, parameters))}${where}` +
    (order.length > 0 ? `\nORDER BY ${order.join(', ')}` : '') +
    `\nLIMIT ${plan.limit}`
  )
}

function measureColumn(plan: Plan, measure: PlainMeasure): string {
  return `m${plan.measures.indexOf(measure)}`
}

/** The text of a selected measure over the columns of the plain ones; a ratio over 0 is null. */
function selectedSql(plan: Plan, measure: Measure): string {
  if (!measure.virtual) return measureColumn(plan, measure)
  const [numerator, denominator] = [measure.numerator, measure.denominator].map((id) => {
    const part = plan.measures.find((each) => each.id === id)
    if (!part) throw new Error(`the plan lacks ${id} for ${measure.id}`)
    return measureColumn(plan, part)
  })
  return `if(${denominator} = 0, NULL, toFloat64(${numerator}) / toFloat64(${denominator}))`
}

function orderTerms(plan: Plan): string[] {
  return plan.order.map(({ key, direction }) => {
    const grouping = plan.groupings.findIndex((each) => each.key === key)
    const column = grouping >= 0 ? `g${grouping}` : `s${plan.selected.findIndex(({ id }) => id === key)}`
    return `${column} ${direction === 'asc' ? 'ASC' : 'DESC'} NULLS LAST`
  })
}

/** One row for each group with all plain measures; those of several sources or passes are joined by adding up. */
function groupsSql(plan: Plan, range: PlannedRange, companyId: string, parameters: Parameters): string {
  const [only, ...others] = plan.branches
  if (!only) throw new Error('a plan has at least one branch')
  if (others.length === 0) return branchSql(plan, only, range.times, companyId, parameters, 'm')
  const parts = plan.branches.map((each) => branchSql(plan, each, range.times, companyId, parameters, 'part'))
  const columns = [
    ...plan.groupings.map((_, i) => `g${i}`),
    ...plan.measures.map((_, i) => `sum(part${i}) AS m${i}`),
  ]
  return `SELECT ${columns.join(', ')}\nFROM ${nested(parts.join('\nUNION ALL\n'))}${groupBy(plan)}`
}

function groupBy(plan: Plan): string {
  return plan.groupings.length > 0 ? `\nGROUP BY ${plan.groupings.map((_, i) => `g${i}`).join(', ')}` : ''
}

/** What a source adds to a group that it has nothing for. */
function zeroOf(measure: PlainMeasure): string {
  return measure.format === 'amount' ? 'toDecimal128(0, 2)' : 'toUInt64(0)'
}

function branchSql(
  plan: Plan,
  branch: Branch,
  times: TimeSet,
  companyId: string,
  parameters: Parameters,
  prefix: string,
): string {
  const compile = branch.over === 'sessions' ? sessionsSql : aggregatesSql
  return compile(plan, branch, times, companyId, parameters, (measure, i) => {
    const sql = branch.measures.includes(measure) ? aggregateOf(branch, measure).sql : zeroOf(measure)
    return `${sql} AS ${prefix}${i}`
  })
}

function aggregateOf(branch: Branch, measure: PlainMeasure) {
  const perItem = branch.groupings.some(({ dimension }) => dimension.perItem)
  return (perItem ? measure.perItem : undefined) ?? measure.aggregate
}

type MeasureColumn = (measure: PlainMeasure, index: number) => string

function aggregatesSql(
  plan: Plan,
  branch: Branch,
  times: TimeSet,
  companyId: string,
  parameters: Parameters,
  measureColumnOf: MeasureColumn,
): string {
  const { source, filters, groupings } = branch
  const rows = rowsOf({ source, companyId, filters, times, parameters })
  const columns = groupings.map(
    (grouping, i) =>
      `${groupingSql(grouping, rows.dimension(grouping.dimension), plan.zone, parameters)} AS g${i}`,
  )
  for (const measure of branch.measures) rows.need(aggregateOf(branch, measure).columns)
  columns.push(...plan.measures.map(measureColumnOf))
  // The relation lies in the hull; several stretches of time are told apart here.
  const inside = times.length > 1 ? timeCondition('time', times, 'time', parameters) : undefined
  if (inside !== undefined) rows.need(['time'])
  const where = inside === undefined ? '' : `\nWHERE ${inside}`
  return `SELECT ${columns.join(', ')}\nFROM ${rows.relation()}${where}${groupBy(plan)}`
}

/**
 * Sessions of the rows: the times of each person, in each value of the dimensions, in order; a time that no
 * other precedes by the gap or less starts one. Looking back by one gap before the range is enough to know.
 */
function sessionsSql(
  plan: Plan,
  branch: Branch,
  times: TimeSet,
  companyId: string,
  parameters: Parameters,
  measureColumnOf: MeasureColumn,
): string {
  const { source, filters, groupings } = branch
  const hull = hullOf(times)
  const scanned = hull ? [{ from: hull.from - sessionGap, to: hull.to }] : []
  const rows = rowsOf({ source, companyId, filters, times: scanned, parameters })
  rows.need(['time', 'person'])
  const start = "fromUnixTimestamp64Milli(start, 'UTC')"
  const inner: string[] = []
  const keys = ['person']
  const columns = groupings.map((grouping, i) => {
    if (grouping.dimension.type === 'time')
      return `${groupingSql(grouping, start, plan.zone, parameters)} AS g${i}`
    inner.push(`${rows.dimension(grouping.dimension)} AS g${i}`)
    keys.push(`g${i}`)
    return `g${i}`
  })
  const sorted = 'arraySort(groupArray(toUnixTimestamp64Milli(time))) AS times'
  const people = `SELECT ${[...inner, sorted].join(', ')}\nFROM ${rows.relation()}\nGROUP BY ${keys.join(', ')}`
  const starts = `arrayFilter((time, previous) -> time - previous > ${sessionGap}, times, arrayShiftRight(times, 1, ${-(2 ** 53)}))`
  const inRange = timeCondition('start', times, 'milliseconds', parameters)
  const where = inRange === undefined ? '' : `\nWHERE ${inRange}`
  const from = `${nested(people)}\nARRAY JOIN ${starts} AS start`
  return `SELECT ${[...columns, ...plan.measures.map(measureColumnOf)].join(', ')}\nFROM ${from}${where}${groupBy(plan)}`
}

function formOf({ dimension, granularity }: Grouping): CellForm {
  if (dimension.type !== 'time') return dimension.type === 'boolean' ? 'boolean' : 'text'
  if (granularity === undefined) return 'milliseconds'
  return granularity === 'second' || granularity === 'minute' || granularity === 'hour' ? 'seconds' : 'date'
}

const dateFunctions = {
  day: 'toDate',
  week: 'toMonday',
  month: 'toStartOfMonth',
  quarter: 'toStartOfQuarter',
  year: 'toStartOfYear',
} as const satisfies Partial<Record<Granularity, string>>

/**
 * The bucket of a time in the zone. Days and longer are local dates. Hours are instants, of which two of one
 * name stay apart when a clock is set back.
 */
function groupingSql(
  { dimension, granularity }: Grouping,
  sql: string,
  zone: Zone,
  parameters: Parameters,
): string {
  if (dimension.type !== 'time') return sql
  const seconds = `toUnixTimestamp(${sql})`
  switch (granularity) {
    case undefined:
      return `toUnixTimestamp64Milli(${sql})`
    case 'second':
      return seconds
    case 'minute':
      return `intDiv(${seconds}, 60) * 60`
    case 'hour':
      if (zone.hasWholeHours()) return `intDiv(${seconds}, 3600) * 3600`
      return `${seconds} - positiveModulo(${seconds} + timezoneOffset(toTimeZone(${sql}, ${parameters.bind('String', zone.name)})), 3600)`
    default:
      return `${dateFunctions[granularity]}(${sql}, ${parameters.bind('String', zone.name)})`
  }
}
