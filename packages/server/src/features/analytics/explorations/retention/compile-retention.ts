import { sources } from '../../catalogue/catalogue.ts'
import type { CompiledQuery, CompileSettings, ResultColumn } from '../../query/compile/compile.ts'
import { createBuckets } from '../../query/compile/compile-groupings.ts'
import { rowsOf } from '../../query/compile/compile-rows.ts'
import { createParameters, nested, select } from '../../query/compile/parameters.ts'
import type { StatementContext } from '../../query/compile/rows.ts'
import { eventTime, namesOfAny } from '../selection.ts'
import type { ParsedRetention } from './parse-retention.ts'

/** More than the rows of all cohorts. */
const limit = 10_000

/** Milliseconds later than every event: no first event. Times are not negative, so -1 is no returning one. */
const never = 2 ** 53

const columns: readonly ResultColumn[] = [
  { key: 'cohort', form: 'milliseconds' },
  { key: 'size', form: 'number' },
  { key: 'period', form: 'number' },
  { key: 'people', form: 'number' },
  { key: 'rate', form: 'number' },
  { key: 'isComplete', form: 'boolean' },
]

interface Context extends StatementContext {
  readonly retention: ParsedRetention
}

/**
 * One statement. Its rows shrink from inside: events, periods of persons, persons, their cohorts, cohorts. Persons are
 * numbers in it, periods are numbered from that of the first cohort.
 */
export function compileRetention(
  retention: ParsedRetention,
  companyId: string,
  { eventAliases, visibleWorkflows }: Pick<CompileSettings, 'eventAliases' | 'visibleWorkflows'>,
): CompiledQuery {
  const parameters = createParameters()
  const context = { retention, companyId, eventAliases, visibleWorkflows, parameters }
  const { calendar, firstCohort, lastCohort, periods, now } = retention
  const starts = Array.from({ length: lastCohort - firstCohort + 1 }, (_, i) =>
    calendar.startOf(firstCohort + i),
  )
  const current = parameters.bind('Int64', calendar.numberAt(now.instant) - firstCohort)
  const sql = select(
    [
      `${parameters.bind('Array(Int64)', starts)}[cohort + 1] AS cohort_start`,
      'size',
      'place',
      'people',
      'people / size AS rate',
      `toBool(cohort + place < ${current}) AS is_complete`,
    ],
    `${nested(cohortsSql(context))}\nARRAY JOIN people_of AS people, range(${periods}) AS place`,
    [`cohort + place <= ${current}`],
    `\nORDER BY cohort, place\nLIMIT ${limit + 1}`,
  )
  return Object.freeze({
    ...parameters.statement(sql),
    columns,
    rangeLabels: [],
    limit,
  })
}

/** `cohort`, `size`, and `people_of` by period. */
function cohortsSql(context: Context): string {
  const { periods, isUnbounded } = context.retention
  // Within the cohort's own period only what is not before the first event is a return.
  const inOwn = 'member.3 >= member.2'
  const counted = isUnbounded
    ? `if(place = 0, ${inOwn} OR last > cohort, last >= cohort + place)`
    : `if(place = 0, ${inOwn}, has(returns, cohort + place))`
  const members = select(
    ['member.1 AS cohort', `arrayMap(place -> ${counted}, range(${periods})) AS counts`],
    `${nested(personsSql(context))}\nARRAY JOIN cohorts AS member`,
  )
  return select(
    ['cohort', 'count() AS size', 'sumForEach(counts) AS people_of'],
    nested(members),
    [],
    '\nGROUP BY cohort',
  )
}

/** One row for each person: `cohorts` as (period, first, last return in it), and `returns` or the `last` of them. */
function personsSql(context: Context): string {
  const { isFirstTime, isUnbounded, range } = context.retention
  const cohorts = isFirstTime
    ? `if(min(first) BETWEEN ${range.from} AND ${never - 1}, [argMin((period, first, returned), first)], [])`
    : `groupArrayIf((period, first, returned), first < ${never})`
  const returns = isUnbounded
    ? 'max(if(returned >= 0, period, -1)) AS last'
    : 'groupArrayIf(period, returned >= 0) AS returns'
  return select(
    [`${cohorts} AS cohorts`, returns],
    nested(periodsSql(context)),
    [],
    '\nGROUP BY person\nHAVING notEmpty(cohorts)',
  )
}

/** One row for each person and period: when the `first` event was, and the last that `returned`. */
function periodsSql(context: Context): string {
  return select(
    [
      'person',
      'period',
      `min(if(is_first, at, ${never})) AS first`,
      'max(if(is_return, at, -1)) AS returned',
    ],
    nested(eventsSql(context)),
    ['is_first OR is_return'],
    '\nGROUP BY person, period',
  )
}

/** The events that matter, with the number of their period: -1 before the first cohort. */
function eventsSql({ retention, ...context }: Context): string {
  const { parameters } = context
  const { calendar, unit, range, firstCohort, lastCohort, periods, isFirstTime, isUnbounded } = retention
  const periodsEnd = lastCohort - firstCohort + periods
  const shown = { from: range.from, to: calendar.startOf(firstCohort + periodsEnd) }
  const read = { from: isFirstTime ? -Infinity : range.from, to: isUnbounded ? Infinity : shown.to }
  const rows = rowsOf({
    ...context,
    source: sources.events,
    filters: [...retention.filters, ...namesOfAny([retention.first, retention.returning])],
    times: range.from < range.to ? [read] : [],
  })
  rows.need(['time', 'person'])
  const bind = (instant: number) => parameters.bind('Int64', instant)
  const buckets = createBuckets(retention.now.zone, [shown])
  const date = buckets.sql({ key: 'period', dimension: eventTime, granularity: unit }, 'time', parameters)
  const number = `${calendar.numberSql(date)} - ${bind(firstCohort)}`
  // The buckets know only the times that are shown. Of others it matters only that they are earlier or later.
  const outside = [
    ...(isFirstTime ? [`at < ${bind(shown.from)}, -1`] : []),
    ...(isUnbounded ? [`at >= ${bind(shown.to)}, ${periodsEnd}`] : []),
  ]
  return select(
    [
      'person',
      'toUnixTimestamp64Milli(time) AS at',
      `toInt32(${outside.length > 0 ? `multiIf(${outside.join(', ')}, ${number})` : number}) AS period`,
      `at < ${bind(range.to)} AND ${rows.condition(retention.first)} AS is_first`,
      `at >= ${bind(range.from)} AND ${rows.condition(retention.returning)} AS is_return`,
    ],
    rows.relation(),
  )
}
