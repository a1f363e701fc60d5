import type { Expression, PlainMeasure } from '../../catalogue/member.ts'
import type { Branch, Plan } from '../plan.ts'
import { hullOf, type TimeSet } from '../time/interval.ts'
import { second } from '../time/zone.ts'
import { boundTime, type TimeForm, timeCondition } from './compile-conditions.ts'
import { type Attribution, creditRowsOf } from './compile-credits.ts'
import type { Buckets } from './compile-groupings.ts'
import type { Definitions } from './compile-lookups.ts'
import { rowsOf } from './compile-rows.ts'
import { sessionGap, sessionRowsOf } from './compile-sessions.ts'
import { nested, select } from './parameters.ts'
import type { Rows, StatementContext } from './rows.ts'
import type { Scan } from './scans.ts'

/** Input for the compilation of one branch. */
export interface BranchContext extends StatementContext {
  readonly plan: Plan
  readonly scan: Scan
  readonly buckets: Buckets
  /** Whether distinct counts are exact at any size. */
  readonly exactCounts: boolean
  readonly attribution: Attribution
  readonly definitions: Definitions
  /** Whether rows are grouped by each grouping by itself, and `part` says by which, instead of by all together. */
  readonly isApart?: boolean
}

/**
 * One row for each group of a branch: the range as `range` where the scan has several, the groupings as `g0`, `g1`, ...,
 * then every measure of the plan as `<prefix>0`, `<prefix>1`, ..., of which those of other branches are 0.
 */
export function branchSql(branch: Branch, context: BranchContext, prefix: string): string {
  const measures = context.plan.measures.map((measure, i) => {
    const sql = branch.measures.includes(measure)
      ? aggregateOf(branch, measure, context).sql
      : zeroOf(measure)
    return `${sql} AS ${prefix}${i}`
  })
  switch (branch.over) {
    case 'sessions':
      return runsSql(branch, context, measures, sessionRuns)
    case 'openings':
      return runsSql(branch, context, measures, openingRuns)
    default:
      return aggregatesSql(branch, context, measures)
  }
}

/** The columns that tell the groups of a scan apart. */
export function groupColumns({ plan, scan }: Pick<BranchContext, 'plan' | 'scan'>): string[] {
  return [...(scan.ranges.length > 1 ? ['range'] : []), ...plan.groupings.map((_, i) => `g${i}`)]
}

export function groupBy(context: Pick<BranchContext, 'plan' | 'scan' | 'isApart'>): string {
  const { plan, scan, isApart } = context
  if (isApart) {
    const range = scan.ranges.length > 1 ? ['range'] : []
    const sets = plan.groupings.map((_, i) => `(${[...range, `g${i}`].join(', ')})`)
    return `\nGROUP BY GROUPING SETS (${sets.join(', ')})`
  }
  const columns = groupColumns(context)
  return columns.length > 0 ? `\nGROUP BY ${columns.join(', ')}` : ''
}

/** By which grouping a row is grouped, where each is by itself. */
function partColumn({ plan, isApart }: BranchContext): string[] {
  if (!isApart) return []
  const cases = plan.groupings.slice(0, -1).map((_, i) => `grouping(g${i}) = 0, ${i}`)
  return [`multiIf(${cases.join(', ')}, ${plan.groupings.length - 1}) AS part`]
}

/** In which range of its scan a time lies, where there are several: they follow each other. */
function rangeColumn(sql: string, form: TimeForm, { scan, parameters }: BranchContext): string[] {
  const last = scan.ranges.at(-1)
  if (!last || scan.ranges.length === 1) return []
  const earlier = scan.ranges.slice(0, -1)
  const cases = earlier.map(({ index, to }) => `${sql} < ${boundTime(to, form, parameters)}, ${index}`)
  return [`multiIf(${cases.join(', ')}, ${last.index}) AS range`]
}

/** What a source adds to a group that it has nothing for: means stay absent (docs/statistics.md, Joining sources). */
export function zeroOf(measure: PlainMeasure): string {
  if (measure.mean) return "CAST(NULL, 'Nullable(Float64)')"
  if (measure.format === 'decimal') return 'toDecimal128(0, 6)'
  return measure.format === 'amount' ? 'toDecimal128(0, 2)' : 'toUInt64(0)'
}

function aggregateOf(
  { groupings }: Branch,
  measure: PlainMeasure,
  { exactCounts }: BranchContext,
): Expression {
  if (measure.estimate && groupings.length === 0 && !exactCounts) return measure.estimate
  const perItem = groupings.some(({ dimension }) => dimension.perItem)
  return (perItem ? measure.perItem : undefined) ?? measure.aggregate
}

function rowsWithin(
  branch: Branch,
  context: BranchContext,
  times: TimeSet,
  conditions: readonly string[] = [],
): Rows {
  const { companyId, eventAliases, visibleWorkflows, definitions, parameters } = context
  const { source, filters } = branch
  const options = { companyId, filters, times, eventAliases, visibleWorkflows, definitions, parameters }
  if (source.id === 'sessions') return sessionRowsOf(options)
  if (branch.over === 'credits') return creditRowsOf({ ...options, source, attribution: context.attribution })
  return rowsOf({ ...options, source, conditions })
}

function aggregatesSql(branch: Branch, context: BranchContext, measures: readonly string[]): string {
  const { scan, buckets, parameters } = context
  const { times } = scan
  const rows = rowsWithin(branch, context, times)
  const columns = branch.groupings.map((grouping, i) => {
    const sql = rows.dimension(grouping.dimension)
    return `${buckets.sql(grouping, sql, parameters)} AS g${i}`
  })
  for (const measure of branch.measures) rows.need(aggregateOf(branch, measure, context).columns)
  // The relation lies in the hull; separate intervals are distinguished here.
  const inside = times.length > 1 ? timeCondition('time', times, 'time', parameters) : undefined
  const range = rangeColumn('time', 'time', context)
  if (inside !== undefined || range.length > 0) rows.need(['time'])
  return select(
    [...partColumn(context), ...range, ...columns, ...measures],
    rows.relation(),
    inside === undefined ? [] : [inside],
    groupBy(context),
  )
}

/** Runs of rows of one person: a row that no other precedes by the gap or less begins one. */
interface Runs {
  /** Milliseconds. */
  readonly gap: number
  /** Columns that divide the rows of a person. */
  readonly keys: readonly string[]
  /** On the columns of the table, of rows that make runs. */
  readonly conditions: readonly string[]
  /** Runs of the rows that have 1 in this column are counted beside those of all; `is_marked` says which a run is. */
  readonly marked?: string
}

const sessionRuns: Runs = { gap: sessionGap, keys: [], conditions: [] }

/** docs/statistics.md, workflows: displays at one place are one opening while they follow each other this closely. */
const openingRuns: Runs = {
  gap: 30 * second,
  keys: ['place'],
  conditions: ['click = 0'],
  marked: 'individualized',
}

/**
 * Runs of the rows: the times of each person, in each value of the dimensions, in order. Looking back by one gap before
 * the range is enough to know what begins a run.
 */
function runsSql(branch: Branch, context: BranchContext, measures: readonly string[], runs: Runs): string {
  const { scan, buckets, parameters } = context
  const hull = hullOf(scan.times)
  const read = hull ? [{ from: hull.from - runs.gap, to: hull.to }] : []
  const rows = rowsWithin(branch, context, read, runs.conditions)
  rows.need(['time', 'person', ...runs.keys])
  const people: string[] = []
  const keys = ['person', ...runs.keys]
  const columns = branch.groupings.map((grouping, i) => {
    const { dimension } = grouping
    if (dimension.type === 'time') {
      return `${buckets.sql(grouping, "fromUnixTimestamp64Milli(start, 'UTC')", parameters)} AS g${i}`
    }
    people.push(`${rows.dimension(dimension)} AS g${i}`)
    keys.push(`g${i}`)
    return `g${i}`
  })
  const milliseconds = 'toUnixTimestamp64Milli(time)'
  people.push(`arraySort(groupArray(${milliseconds})) AS times`)
  const startsOf = (list: string) =>
    `arrayFilter((time, previous) -> time - previous > ${runs.gap}, ${list}, ` +
    `arrayShiftRight(${list}, 1, ${-(2 ** 53)}))`
  let starts = `${startsOf('times')} AS start`
  if (runs.marked !== undefined) {
    rows.need([runs.marked])
    people.push(`arraySort(groupArrayIf(${milliseconds}, ${runs.marked} = 1)) AS marked_times`)
    const [all, marked] = [startsOf('times'), startsOf('marked_times')]
    starts =
      `arrayConcat(${all}, ${marked}) AS start, ` +
      `arrayConcat(arrayMap(time -> false, ${all}), arrayMap(time -> true, ${marked})) AS is_marked`
  }
  const timesOfPeople = select(people, rows.relation(), [], `\nGROUP BY ${keys.join(', ')}`)
  const inRange = timeCondition('start', scan.times, 'milliseconds', parameters)
  return select(
    [...rangeColumn('start', 'milliseconds', context), ...columns, ...measures],
    `${nested(timesOfPeople)}\nARRAY JOIN ${starts}`,
    inRange === undefined ? [] : [inRange],
    groupBy(context),
  )
}
