import type { Dimension, Source } from '../../catalogue/member.ts'
import type { DimensionFilter, FilterTree } from '../query.ts'
import type { TimeSet } from '../time/interval.ts'
import type { Definitions } from './compile-lookups.ts'
import type { VisibleWorkflows } from './compile-workflows.ts'
import type { EventAliases } from './event-name.ts'
import type { Parameters } from './parameters.ts'

/** The rows of one source for one query: asked for columns, it knows the relation that has them. */
export interface Rows {
  /** The SQL of a dimension over the relation. */
  dimension(dimension: Dimension): string
  /** Makes the relation have these columns. */
  need(columns: readonly string[]): void
  /**
   * The relation as SQL, in parentheses, to be called last. Its rows pass the filters and lie between the
   * first and the last instant of `times`.
   */
  relation(): string
}

/** Rows that were stored, one for each fact. */
export interface StoredRows extends Rows {
  /** The SQL of whether a row of the relation passes these filters too. */
  condition(filters: readonly FilterTree<DimensionFilter>[]): string
}

/** Whose facts a statement reads, and for whom. */
export interface StatementContext {
  readonly companyId: string
  readonly eventAliases: EventAliases
  /** Of the user who reads the answer. */
  readonly visibleWorkflows: VisibleWorkflows
  readonly parameters: Parameters
}

export interface RowsOptions extends StatementContext {
  readonly source: Source
  /** All of them hold. */
  readonly filters: readonly FilterTree<DimensionFilter>[]
  readonly times: TimeSet
  /** Absent where no dimension looks up a text. */
  readonly definitions?: Definitions
  /** Further conditions on the table's own columns. */
  readonly conditions?: readonly string[]
  /** Reads all bindings of the company, for a statement that does so anyway: looking for those of the rows costs more. */
  readonly allBindings?: boolean
}
