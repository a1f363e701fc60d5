import type { FilterOperator } from '@millrace/contract/resources/query.ts'
import type { DimensionMeta, MeasureMeta } from '@millrace/contract/resources/statistics-meta.ts'

/** Members are named `<source>.<member>`. */
export type SourceId = 'events' | 'purchases' | 'sessions' | 'workflows'

export type MemberType = DimensionMeta['type']

/** ClickHouse SQL, and the columns of its relation that it names. The text is ours: it holds nothing from outside. */
export interface Expression {
  readonly sql: string
  readonly columns: readonly string[]
}

/** What identities give to a row: the person to whom its device is bound, as number or text; of later devices too. */
export type IdentityColumn = 'bound' | 'bound_id' | 'later_bound' | 'later_bound_id'

/** A column that is computed for each stored row; `columns` are those of the table. */
export interface RowColumn extends Expression {
  readonly identity?: readonly IdentityColumn[]
}

/** One kind of fact: the rows of a table, and columns that are computed for each of them. */
export interface Source {
  readonly id: SourceId
  readonly title: string
  readonly table: 'events' | 'orders' | 'workflow_events'
  /** The column of the table that maps keys to texts, for dimensions that read a label. */
  readonly labels: 'labels' | 'parameters'
  /** Rows of one place replace each other: only the last of them is a fact (ReplacingMergeTree). */
  readonly replacing: boolean
  readonly columns: Readonly<Record<string, RowColumn>>
}

/** What definitions say now about an identifier that facts have: of the workflow, of the category, of the tags. */
export type Lookup =
  | { readonly of: 'workflowName' | 'workflowTeams' | 'categoryName' }
  | { readonly of: 'categoryLevel'; readonly level: 1 | 2 | 3 }
  | { readonly of: 'tag'; readonly keyId: string }

export interface Dimension extends Expression {
  readonly kind: 'dimension'
  readonly id: string
  readonly source: SourceId
  /** Part of the id after the source. Times, and dimensions that are `shared`, mean the same in every source. */
  readonly name: string
  readonly shared: boolean
  readonly type: MemberType
  readonly title: string
  readonly description: string
  readonly format?: string
  /** All values, where they are few and fixed. */
  readonly values?: readonly string[]
  /** Rows may lack it. */
  readonly nullable: boolean
  /** Multiplies rows: one for each identifier in `ids`. */
  readonly perItem?: true
  /** It is the name of the event, which a company may have renamed. */
  readonly eventName?: true
  /** It is of an interaction: the credits of a purchase have that of theirs, the purchase itself has none. */
  readonly ofCredits?: true
  /** Its text is looked up in definitions; `sql` is the identifier that is looked up. */
  readonly lookup?: Lookup
  /** The label that it reads. */
  readonly label?: string
  /** It selects rows of every source and groups none. */
  readonly filterOnly?: true
  /**
   * It names a workflow, where that is shown or what it is given: one value stands for all workflows that the reader does not see.
   * The column of the relation that says whether the row's own is shown.
   */
  readonly shownBy?: 'is_shown' | 'entry_shown' | 'exit_shown'
}

interface MeasureBase {
  readonly kind: 'measure'
  readonly id: string
  readonly source: SourceId
  readonly title: string
  readonly description: string
  readonly format: MeasureMeta['format']
}

export interface PlainMeasure extends MeasureBase {
  readonly virtual: false
  /**
   * `rows` aggregates the source's rows, `sessions` counts runs of one person's rows, `openings` those of one
   * person's displays at one place, `credits` aggregates what purchases are credited to.
   */
  readonly over: 'rows' | 'sessions' | 'openings' | 'credits'
  /** A mean is absent where there is nothing to take it of, and a float. */
  readonly mean?: true
  /** The aggregate of a group. */
  readonly aggregate: Expression
  /** Of a distinct count of one group of all rows: exact up to `estimatedFrom`, within `estimateError` beyond. */
  readonly estimate?: Expression
  /** The aggregate where the rows are one for each identifier, if it is another. */
  readonly perItem?: Expression
}

/** Computed from others after aggregation. */
export interface VirtualMeasure extends MeasureBase {
  readonly virtual: true
  /** Ids of the measures that it is made of. */
  readonly parts: readonly string[]
  /** SQL of its value over theirs, in their order. */
  readonly compute: (...values: string[]) => string
}

export type Measure = PlainMeasure | VirtualMeasure

/** What a virtual measure that divides one by another is made of; over 0 it is null. */
export function ratioOf(
  numerator: string,
  denominator: string,
): Pick<VirtualMeasure, 'description' | 'parts' | 'compute'> {
  return {
    description: `\`${numerator}\` / \`${denominator}\`.`,
    parts: [numerator, denominator],
    compute: (above, below) => `if(${below} = 0, NULL, toFloat64(${above}) / toFloat64(${below}))`,
  }
}

const textOperators = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'startsWith',
  'notStartsWith',
  'endsWith',
  'notEndsWith',
  'gt',
  'gte',
  'lt',
  'lte',
  'set',
  'notSet',
] as const satisfies FilterOperator[]

const comparisons = ['equals', 'notEquals', 'gt', 'gte', 'lt', 'lte'] as const satisfies FilterOperator[]

/** Filters that a dimension takes. */
export function operatorsFor({ type, filterOnly }: Dimension): readonly FilterOperator[] {
  return filterOnly ? ['equals', 'notEquals'] : operatorsOf[type]
}

/** Filters that a member of each type takes. */
export const operatorsOf: Readonly<Record<MemberType, readonly FilterOperator[]>> = {
  string: textOperators,
  number: comparisons,
  boolean: ['equals', 'notEquals', 'set', 'notSet'],
  time: [
    ...comparisons,
    'inDateRange',
    'notInDateRange',
    'beforeDate',
    'beforeOrOnDate',
    'afterDate',
    'afterOrOnDate',
  ],
}
