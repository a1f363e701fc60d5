import { funnelLimits } from '@millrace/contract/resources/funnel.ts'
import { queryLimits } from '@millrace/contract/resources/query.ts'
import type { CompiledQuery, ResultColumn } from '../../query/compile/compile.ts'
import { createBuckets, formOf } from '../../query/compile/compile-groupings.ts'
import type { VisibleWorkflows } from '../../query/compile/compile-workflows.ts'
import { createParameters, nested, type Parameters, select } from '../../query/compile/parameters.ts'
import { unionOf } from '../../query/time/interval.ts'
import { attemptsSql, isCompared, rangeIndexes, stepNumbers } from './compile-attempts.ts'
import type { Funnel } from './parse-funnel.ts'

const median = 'quantileExactInclusive'

/** Writes a funnel as one statement: rows of each range, bucket, value and step, in this order. */
export function compileFunnel(
  funnel: Funnel,
  companyId: string,
  visibleWorkflows: VisibleWorkflows,
): CompiledQuery {
  const parameters = createParameters()
  const { eventAliases } = funnel
  const buckets = createBuckets(funnel.zone, unionOf(funnel.ranges.map(({ interval }) => interval)))
  const counted = countedSql(
    funnel,
    attemptsSql({ funnel, buckets, companyId, eventAliases, visibleWorkflows, parameters }),
  )
  const rows = rowsSql(funnel, funnel.breakdown ? largestSql(funnel, counted) : counted, parameters)
  return Object.freeze({
    ...parameters.statement(rows),
    columns: columnsOf(funnel),
    rangeLabels: funnel.ranges.flatMap(({ label }) => label ?? []),
    limit: queryLimits.rows,
  })
}

function columnsOf(funnel: Funnel): ResultColumn[] {
  const { trend, breakdown, per } = funnel
  return [
    ...(isCompared(funnel) ? [{ key: 'compareDateRange', form: 'range' } as const] : []),
    ...(trend ? [{ key: trend.key, form: formOf(trend) }] : []),
    ...(breakdown
      ? ([
          { key: breakdown.id, form: breakdown.type === 'boolean' ? 'boolean' : 'text' },
          { key: 'isRest', form: 'boolean' },
        ] as const)
      : []),
    { key: 'step', form: 'number' },
    { key: 'name', form: 'text' },
    { key: per === 'session' ? 'sessions' : 'people', form: 'number' },
    { key: 'conversionFromPrevious', form: 'number' },
    { key: 'conversionFromFirst', form: 'number' },
    { key: 'medianSeconds', form: 'number' },
  ]
}

/**
 * How many reached each step, as `people<step>`, and the median milliseconds from the step before, as `gap<step>`: a
 * state of it where values are put together later.
 */
function countedSql(funnel: Funnel, attempts: string): string {
  const { trend, breakdown } = funnel
  const compared = isCompared(funnel)
  const keys = [...(compared ? ['range'] : []), ...(trend ? ['g0'] : []), ...(breakdown ? ['value'] : [])]
  // A range without attempts has rows too, where nothing else divides them.
  const each = compared && !trend && !breakdown
  const none = `SELECT arrayJoin(${rangeIndexes(funnel)}) AS range, 0 AS level, emptyArrayInt64() AS times`
  const aggregate = breakdown ? `${median}StateIf` : `${median}If`
  const columns = stepNumbers(funnel).flatMap((step) => {
    const people = `countIf(level >= ${step}) AS people${step}`
    if (step === 1) return [people]
    return [people, `${aggregate}(0.5)(times[${step}] - times[${step - 1}], level >= ${step}) AS gap${step}`]
  })
  return select(
    [...keys, ...columns],
    nested(each ? `${attempts}\nUNION ALL\n${none}` : attempts),
    [],
    keys.length > 0 ? `\nGROUP BY ${keys.join(', ')}` : '',
  )
}

/** The largest values over all ranges, and the others together as the last one, which has no value. */
function largestSql(funnel: Funnel, counted: string): string {
  const { trend } = funnel
  const totals = select(['*', 'sum(people1) OVER (PARTITION BY value) AS total'], nested(counted))
  const ranked = select(
    ['*', 'dense_rank() OVER (ORDER BY total DESC, value ASC NULLS LAST) AS place'],
    nested(totals),
  )
  const rest = funnelLimits.values + 1
  const cut = select(
    [
      '* EXCEPT (value, place)',
      `least(place, ${rest}) AS place`,
      `if(place < ${rest}, value, NULL) AS value`,
    ],
    nested(ranked),
  )
  const keys = [...(isCompared(funnel) ? ['range'] : []), ...(trend ? ['g0'] : []), 'place', 'value']
  const columns = stepNumbers(funnel).flatMap((step) => {
    const people = `sum(people${step}) AS people${step}`
    return step === 1 ? [people] : [people, `${median}Merge(0.5)(gap${step}) AS gap${step}`]
  })
  return select(
    [...keys, `place = ${rest} AS rest`, ...columns],
    nested(cut),
    [],
    `\nGROUP BY ${keys.join(', ')}`,
  )
}

/** One row for each step. */
function rowsSql(funnel: Funnel, counted: string, parameters: Parameters): string {
  const { trend, breakdown } = funnel
  const compared = isCompared(funnel)
  const numbers = stepNumbers(funnel)
  const joined = [
    `[${numbers.join(', ')}] AS step`,
    `${parameters.bind('Array(String)', funnel.names)} AS name`,
    `[${numbers.map((step) => `people${step}`).join(', ')}] AS people`,
    `[${numbers.map((step) => (step === 1 ? 'NULL' : `people${step - 1}`)).join(', ')}] AS before`,
    `[${numbers.map((step) => (step === 1 ? 'NULL' : `gap${step}`)).join(', ')}] AS gap`,
  ]
  const columns = [
    ...(compared ? ['range'] : []),
    ...(trend ? ['g0'] : []),
    ...(breakdown ? ['value', 'toBool(rest) AS rest'] : []),
    'step',
    'name',
    'people',
    'if(before > 0, people / before, NULL) AS from_previous',
    'if(people1 > 0, people / people1, NULL) AS from_first',
    'if(people > 0, gap / 1000, NULL) AS seconds',
  ]
  const order = [
    ...(compared ? ['range'] : []),
    ...(trend ? ['g0'] : []),
    ...(breakdown ? ['place'] : []),
    'step',
  ]
  const limit = `LIMIT ${queryLimits.rows + 1}${compared ? ' BY range' : ''}`
  return select(
    columns,
    `${nested(counted)}\nARRAY JOIN ${joined.join(', ')}`,
    [],
    `\nORDER BY ${order.join(', ')}\n${limit}`,
  )
}
