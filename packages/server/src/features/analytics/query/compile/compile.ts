import type { ColumnarParam } from '../../../../platform/stores/columnar.ts'
import type { Measure, PlainMeasure } from '../../catalogue/member.ts'
import type { Plan } from '../plan.ts'
import { unionOf } from '../time/interval.ts'
import { type BranchContext, branchSql, groupBy, groupColumns, zeroOf } from './compile-branches.ts'
import { measureCondition, treeSql } from './compile-conditions.ts'
import type { Attribution } from './compile-credits.ts'
import { filledSql } from './compile-fill.ts'
import { type CellForm, createBuckets, formOf } from './compile-groupings.ts'
import { type Definitions, noDefinitions } from './compile-lookups.ts'
import type { VisibleWorkflows } from './compile-workflows.ts'
import type { EventAliases } from './event-name.ts'
import { createParameters, nested, select } from './parameters.ts'
import { scansOf } from './scans.ts'

export interface ResultColumn {
  readonly key: string
  readonly form: CellForm
}

/** Settings of the company that decide about statements. */
export interface CompileSettings {
  /** Whether distinct counts are exact at any size. */
  readonly exactCounts: boolean
  readonly eventAliases: EventAliases
  /** Of the user who reads the answer. */
  readonly visibleWorkflows: VisibleWorkflows
  readonly attribution: Attribution
  /** Absent where the query looks up no text. */
  readonly definitions?: Definitions
}

/** One statement, its bound values, and what its columns are. */
export interface CompiledQuery {
  readonly sql: string
  readonly params: Readonly<Record<string, ColumnarParam>>
  readonly columns: readonly ResultColumn[]
  /** Of a comparison: what the key `compareDateRange` shows, by index. */
  readonly rangeLabels: readonly string[]
  /**
   * Rows of the result, of each range where ranges are compared; the statement gives one more (row-limit.ts). Without
   * it there is no bound.
   */
  readonly limit?: number
  /** Rows that are left out first. */
  readonly offset?: number
  /** A statement with the same values that counts the rows of all ranges without limit and offset, where it is wanted. */
  readonly countSql?: string
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
  { eventAliases, visibleWorkflows, attribution, exactCounts, definitions = noDefinitions }: CompileSettings,
): CompiledQuery {
  const parameters = createParameters()
  const compared = plan.ranges.some(({ label }) => label !== undefined)
  const buckets = createBuckets(plan.zone, unionOf(plan.ranges.flatMap(({ times }) => times)))
  const contexts = scansOf(plan).map((scan) => ({
    plan,
    scan,
    buckets,
    companyId,
    eventAliases,
    visibleWorkflows,
    attribution,
    definitions,
    exactCounts,
    parameters,
  }))
  const columns = [
    ...(compared ? [{ key: rangeKey, form: 'range' } as const] : []),
    ...plan.groupings.map((grouping) => ({ key: grouping.key, form: formOf(grouping) })),
    ...plan.selected.map(({ id }) => ({ key: id, form: 'number' as const })),
  ]
  const sql = compared ? comparisonSql(plan, contexts) : contexts.map((context) => answerSql(context)).join()
  const countSql = plan.total ? totalSql(contexts) : undefined
  return Object.freeze({
    ...parameters.statement(sql),
    columns,
    rangeLabels: plan.ranges.flatMap(({ label }) => label ?? []),
    offset: plan.offset,
    ...(plan.limit === undefined ? {} : { limit: plan.limit }),
    ...(countSql === undefined ? {} : { countSql: parameters.statement(countSql).sql }),
  })
}

/** The answers of all ranges, one after the other. */
function comparisonSql(plan: Plan, contexts: readonly BranchContext[]): string {
  const hidden = plan.order.flatMap(({ unselected }, i) =>
    unselected ? [`${selectedSql(plan, unselected)} AS o${i}`] : [],
  )
  const answers = contexts.map((context) => {
    const [{ index } = { index: 0 }, ...others] = context.scan.ranges
    return answerSql(context, [others.length > 0 ? 'range' : `${index} AS range`], hidden)
  })
  const shown =
    hidden.length === 0 ? ['*'] : ['range', ...groupingColumns(plan), ...plan.selected.map((_, i) => `s${i}`)]
  const order = orderedBy(['range', ...orderTerms(plan, (_, i) => `o${i}`)])
  return select(shown, nested(answers.join('\nUNION ALL\n')), [], order)
}

/** The columns of the groupings. */
const groupingColumns = ({ groupings }: Plan): string[] => groupings.map((_, i) => `g${i}`)

function totalSql(contexts: readonly BranchContext[]): string {
  const counts = contexts.map((context) =>
    select(['count() AS rows'], nested(groupsSql(context)), filterConditions(context)),
  )
  return select(['sum(rows)'], nested(counts.join('\nUNION ALL\n')))
}

/** The rows of one scan: groups and aggregates, then filters on measures, ratios, order and limit. */
function answerSql(
  context: BranchContext,
  first: readonly string[] = [],
  last: readonly string[] = [],
): string {
  const { plan, scan } = context
  const isCompared = scan.ranges.length > 1
  const columns = [
    ...first,
    ...groupingColumns(plan),
    ...plan.selected.map((measure, i) => `${selectedSql(plan, measure)} AS s${i}`),
    ...last,
  ]
  const terms = orderTerms(plan, (measure) => selectedSql(plan, measure))
  const order = orderedBy([...(isCompared ? ['range'] : []), ...terms]) + pageOf(plan, isCompared)
  return select(columns, nested(groupsSql(context)), filterConditions(context), order)
}

/** The rows of the page, of each range where there are several, and one more, which shows that there are further ones. */
function pageOf({ limit, offset }: Plan, isCompared: boolean): string {
  const bound = limit === undefined ? '' : `\nLIMIT ${limit + 1}`
  const page = offset === 0 ? bound : `${bound}\nOFFSET ${offset}`
  return isCompared && page !== '' ? `${page} BY range` : page
}

function filterConditions({ plan, parameters }: BranchContext): string[] {
  return plan.measureFilters.map((tree) =>
    treeSql(tree, (filter) => measureCondition(measureColumn(plan, filter.measure), filter, parameters)),
  )
}

function orderedBy(terms: readonly string[]): string {
  return terms.length > 0 ? `\nORDER BY ${terms.join(', ')}` : ''
}

/** One row for each group with all plain measures, those of empty buckets included where they are wanted. */
function groupsSql(context: BranchContext): string {
  const { filled } = context.scan
  return filled ? filledSql(joinedSql(context), context, filled) : joinedSql(context)
}

/** One row for each group with all plain measures; those of several sources or scans are joined by adding up. */
function joinedSql(context: BranchContext): string {
  const { plan, scan } = context
  const [only, ...others] = plan.branches
  if (!only) throw new Error('a plan has at least one branch')
  // The totals of a range are a row also where it has no facts.
  const bare = scan.ranges.length > 1 && plan.groupings.length === 0 ? [emptySql(context)] : []
  if (others.length === 0 && bare.length === 0) return branchSql(only, context, 'm')
  const parts = plan.branches.map((branch) => branchSql(branch, context, 'part'))
  const columns = [...groupColumns(context), ...plan.measures.map((_, i) => `sum(part${i}) AS m${i}`)]
  return select(columns, nested([...parts, ...bare].join('\nUNION ALL\n')), [], groupBy(context))
}

/** A row of nothing for each range of a scan. */
function emptySql({ plan, scan }: BranchContext): string {
  const range = `arrayJoin([${scan.ranges.map(({ index }) => index).join(', ')}]) AS range`
  const zeros = plan.measures.map((measure, i) => `${zeroOf(measure)} AS part${i}`)
  return `SELECT ${[range, ...zeros].join(', ')}`
}

function measureColumn(plan: Plan, measure: PlainMeasure): string {
  return `m${plan.measures.indexOf(measure)}`
}

/** The text of a selected measure over the columns of the plain ones. */
export function selectedSql(plan: Plan, measure: Measure): string {
  if (!measure.virtual) return measureColumn(plan, measure)
  const parts = measure.parts.map((id) => {
    const part = plan.measures.find((each) => each.id === id)
    if (!part) throw new Error(`the plan lacks ${id} for ${measure.id}`)
    return measureColumn(plan, part)
  })
  return measure.compute(...parts)
}

/** @param unselectedSql the column of the i-th term, by a measure that the rows do not show */
export function orderTerms(plan: Plan, unselectedSql: (measure: Measure, i: number) => string): string[] {
  return plan.order.map(({ key, direction, unselected }, i) => {
    const grouping = plan.groupings.findIndex((each) => each.key === key)
    const selected = `s${plan.selected.findIndex(({ id }) => id === key)}`
    const column = grouping >= 0 ? `g${grouping}` : unselected ? unselectedSql(unselected, i) : selected
    return `${column} ${direction === 'asc' ? 'ASC' : 'DESC'} NULLS LAST`
  })
}
