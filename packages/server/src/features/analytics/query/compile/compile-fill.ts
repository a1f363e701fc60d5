import { maxBuckets } from '../plan.ts'
import { type BranchContext, groupBy, zeroOf } from './compile-branches.ts'
import { nested, select } from './parameters.ts'

/**
 * The groups and, for each combination of the dimensions besides time that occurs, the buckets of time in which it
 * does not: their counts and sums are 0. The facts are read once: the groups of a combination become an array, to which
 * all buckets are added as groups of nothing.
 */
export function filledSql(groups: string, context: BranchContext, filled: readonly number[]): string {
  const { plan, buckets, parameters } = context
  const axis = plan.groupings.findIndex(({ granularity }) => granularity !== undefined)
  const grouping = plan.groupings[axis]
  if (!grouping) throw new Error('rows are filled along a time')
  const others = plan.groupings.flatMap((_, i) => (i === axis ? [] : [`g${i}`]))
  const measures = plan.measures.map((_, i) => `m${i}`)

  const instant = "fromUnixTimestamp64Milli(instant, 'UTC')"
  const bucket = buckets.sql(grouping, instant, parameters)
  const instants = `(SELECT arrayJoin(${parameters.bind('Array(Int64)', filled)}) AS instant)`
  const all = nested(select([`groupUniqArray(${bucket})`], instants))

  const present = `groupArray(tuple(${[`g${axis}`, ...measures].join(', ')})) AS present`
  const counted = others.length > 0 ? ['count() OVER () AS combinations'] : []
  const combined = select(
    [...others, present, ...counted, `${all} AS buckets`],
    nested(groups),
    [],
    others.length > 0 ? `\nGROUP BY ${others.join(', ')}` : '',
  )
  const empty = `tuple(${['bucket', ...plan.measures.map(zeroOf)].join(', ')})`
  const rows = select(
    [...others, `arrayJoin(arrayConcat(present, arrayMap(bucket -> ${empty}, buckets))) AS row`],
    nested(combined),
    // The number of combinations is only known here.
    others.length > 0 ? [`NOT throwIf(combinations * length(buckets) > ${maxBuckets})`] : [],
  )
  const columns = plan.groupings.map((_, i) => (i === axis ? `row.1 AS g${i}` : `g${i}`))
  const sums = measures.map((name, i) => `sum(row.${i + 2}) AS ${name}`)
  return select([...columns, ...sums], nested(rows), [], groupBy(context))
}
