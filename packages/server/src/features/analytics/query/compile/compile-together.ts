import type { Plan } from '../plan.ts'
import { unionOf } from '../time/interval.ts'
import { type CompiledQuery, type CompileSettings, compileQuery, orderTerms, selectedSql } from './compile.ts'
import { branchSql } from './compile-branches.ts'
import { createBuckets } from './compile-groupings.ts'
import { noDefinitions } from './compile-lookups.ts'
import { createParameters, nested, type Statement, select } from './parameters.ts'
import { scansOf } from './scans.ts'

/** One statement that answers several queries. */
export interface SharedStatement extends Statement {
  /** What each query is by itself: its columns, its limit. */
  readonly parts: readonly CompiledQuery[]
  /** Which of them a row of the statement answers, and the cells that it has there. */
  read<Cell>(row: readonly Cell[]): { readonly part: number; readonly cells: Cell[] }
}

/**
 * What plans have in common that one statement can answer, as text: everything but the one dimension that each groups by.
 * Undefined where a plan has to be answered by itself: its dimension multiplies what is counted, or it is of another form.
 */
export function sharedForm(
  plan: Plan,
  { attribution }: Pick<CompileSettings, 'attribution'>,
): string | undefined {
  const { branches, groupings, ranges, limit, offset, total, measureFilters, order, zone } = plan
  const [branch, ...otherBranches] = branches
  const [grouping, ...otherGroupings] = groupings
  if (!branch || !grouping || otherBranches.length > 0 || otherGroupings.length > 0) return undefined
  const { dimension, key } = grouping
  // Where one interaction takes all, a workflow is a column of its credit; else a purchase has one for each.
  const multiplies = dimension.perItem || (dimension.ofCredits && attribution.model !== 'last-touch')
  const isPlain = limit !== undefined && offset === 0 && !total && measureFilters.length === 0
  const isOneScan = scansOf(plan).length === 1 && (ranges.length > 1 || ranges[0]?.label === undefined)
  const isOfBuckets = dimension.type === 'time' || ranges.some(({ filled }) => filled)
  const isOfRuns = branch.over === 'sessions' || branch.over === 'openings'
  if (multiplies || !isPlain || !isOneScan || isOfBuckets || isOfRuns) return undefined
  return JSON.stringify([
    [branch.source.id, branch.over, zone.name, limit],
    [plan.measures, plan.selected].map((measures) => measures.map(({ id }) => id)),
    [ranges, branch.filters],
    order.map((each) => (each.key === key ? [each.direction] : [each.direction, each.key])),
  ])
}

/** Answers plans of one form (`sharedForm`) in one scan, which groups by the dimension of each. */
export function compileTogether(
  plans: readonly Plan[],
  companyId: string,
  settings: CompileSettings,
): SharedStatement {
  const [first] = plans
  const [branch] = first?.branches ?? []
  const [scan] = first ? scansOf(first) : []
  if (!first || !branch || !scan) throw new Error('there is nothing to answer')
  const plan: Plan = { ...first, groupings: plans.flatMap(({ groupings }) => groupings) }
  const ofBranch = plans.flatMap(({ branches }) => branches.flatMap(({ groupings }) => groupings))
  const parameters = createParameters()
  const buckets = createBuckets(plan.zone, unionOf(plan.ranges.flatMap(({ times }) => times)))
  const context = {
    ...settings,
    plan,
    scan,
    buckets,
    companyId,
    parameters,
    isApart: true,
    definitions: noDefinitions,
  }
  const apart = ['part', ...(scan.ranges.length > 1 ? ['range'] : [])]
  const groups = plan.groupings.map((_, i) => `g${i}`)
  const [own] = first.groupings
  const terms = first.order.flatMap((each) =>
    // Those of the other plans are one value in all rows of a plan.
    each.key === own?.key
      ? groups.map((column) => `${column} ${each.direction === 'asc' ? 'ASC' : 'DESC'} NULLS LAST`)
      : orderTerms({ ...plan, order: [each] }, (measure) => selectedSql(plan, measure)),
  )
  const measures = plan.selected.map((measure, i) => `${selectedSql(plan, measure)} AS s${i}`)
  const sql = select(
    [...apart, ...groups, ...measures],
    nested(branchSql({ ...branch, groupings: ofBranch }, context, 'm')),
    [],
    `\nORDER BY ${[...apart, ...terms].join(', ')}\nLIMIT ${(plan.limit ?? 0) + 1} BY ${apart.join(', ')}`,
  )
  return {
    ...parameters.statement(sql),
    parts: plans.map((each) => compileQuery(each, companyId, settings)),
    read(row) {
      const part = Number(row[0])
      const at = apart.length + part
      return {
        part,
        cells: [
          ...row.slice(1, apart.length),
          ...row.slice(at, at + 1),
          ...row.slice(apart.length + plans.length),
        ],
      }
    },
  }
}
