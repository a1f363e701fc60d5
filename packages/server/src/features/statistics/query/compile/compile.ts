import type { ColumnarParam } from '../../../../platform/stores/columnar.ts'
import type { Measure, PlainMeasure } from '../../members/member.ts'
import type { Plan } from '../plan.ts'
import { unionOf } from '../time/interval.ts'
import { type BranchContext, branchSql, groupBy } from './compile-branches.ts'
import { measureCondition, treeSql } from './compile-conditions.ts'
import { type CellForm, createBuckets } from './compile-groupings.ts'
import type { EventAliases } from './event-name.ts'
import { createParameters } from './parameters.ts'
import { nested, select } from './sql-text.ts'

export interface ResultColumn {
  readonly key: string
  readonly form: CellForm
}

/** Settings of the company that decide about statements. */
export interface CompileSettings {
  readonly eventAliases: EventAliases
}

/** One statement, its bound values, and what its columns are. */
export interface CompiledQuery {
  readonly sql: string
  readonly params: Readonly<Record<string, ColumnarParam>>
  readonly columns: readonly ResultColumn[]
  /** Of a comparison: what the key `compareDateRange` shows, by index. */
  readonly rangeLabels: readonly string[]
  /** Rows of the result, of each range where ranges are compared; the statement gives one more (row-limit.ts). */
  readonly limit: number
}

/** Key of the range in the rows of a comparison (docs/interface.md, Operations). */
const rangeKey = 'compareDateRange'

/**
 * Writes the plan as one statement. Its text is made of the catalogue's expressions and of placeholders; the
 * predicate on the company stands in every scan of a table.
 */
export function compileQuery(
  plan: Plan,
  companyId: string,
  { eventAliases }: CompileSettings,
): CompiledQuery {
  const parameters = createParameters()
  const compared = plan.ranges.some(({ label }) => label !== undefined)
  const buckets = createBuckets(plan.zone, unionOf(plan.ranges.flatMap(({ times }) => times)))
  const answers = plan.ranges.map(({ times }, i) =>
    answerSql(
      { plan, times, buckets, companyId, eventAliases, parameters },
      compared ? [`${i} AS range`] : [],
    ),
  )
  const [only = ''] = answers
  const sql = compared
    ? select(['*'], nested(answers.join('\nUNION ALL\n')), [], orderedBy(['range', ...orderTerms(plan)]))
    : only
  return Object.freeze({
    sql: parameters.prelude() + sql,
    params: Object.freeze({ ...parameters.values }),
    columns: [
      ...(compared ? [{ key: rangeKey, form: 'range' } as const] : []),
      ...plan.groupings.map((grouping) => ({ key: grouping.key, form: buckets.formOf(grouping) })),
      ...plan.selected.map(({ id }) => ({ key: id, form: 'number' as const })),
    ],
    rangeLabels: plan.ranges.flatMap(({ label }) => label ?? []),
    limit: plan.limit,
  })
}

/** The rows of one range: groups and aggregates, then filters on measures, ratios, order and limit. */
function answerSql(context: BranchContext, first: readonly string[]): string {
  const { plan, parameters } = context
  const columns = [
    ...first,
    ...plan.groupings.map((_, i) => `g${i}`),
    ...plan.selected.map((measure, i) => `${selectedSql(plan, measure)} AS s${i}`),
  ]
  const conditions = plan.measureFilters.map((tree) =>
    treeSql(tree, (filter) => measureCondition(measureColumn(plan, filter.measure), filter, parameters)),
  )
  const order = `${orderedBy(orderTerms(plan))}\nLIMIT ${plan.limit + 1}`
  return select(columns, nested(groupsSql(context)), conditions, order)
}

function orderedBy(terms: readonly string[]): string {
  return terms.length > 0 ? `\nORDER BY ${terms.join(', ')}` : ''
}

/** One row for each group with all plain measures; those of several sources or passes are joined by adding up. */
function groupsSql(context: BranchContext): string {
  const { plan } = context
  const [only, ...others] = plan.branches
  if (!only) throw new Error('a plan has at least one branch')
  if (others.length === 0) return branchSql(only, context, 'm')
  const parts = plan.branches.map((branch) => branchSql(branch, context, 'part'))
  const columns = [
    ...plan.groupings.map((_, i) => `g${i}`),
    ...plan.measures.map((_, i) => `sum(part${i}) AS m${i}`),
  ]
  return select(columns, nested(parts.join('\nUNION ALL\n')), [], groupBy(plan))
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
