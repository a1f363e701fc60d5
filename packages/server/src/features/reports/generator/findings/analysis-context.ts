import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import type { Window } from '@millrace/contract/resources/report.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'

export interface Windows {
  readonly period: Window
  readonly before: Window
  readonly yearBefore?: Window | undefined
}

/** What findings are made with. */
export interface AnalysisContext {
  /** The evidence of a query; undefined where it failed. */
  readonly ask: (query: Query) => Promise<Evidence | undefined>
  /** The same of queries that may differ in their dimensions alone. */
  readonly askTogether: (queries: readonly Query[]) => Promise<readonly (Evidence | undefined)[]>
  readonly meta: StatisticsMeta
  readonly windows: Windows
  /** Whether no day of the period is over, so that nothing can be compared with it. */
  readonly isBegun: boolean
  readonly timezone: string
  /** Of the report: each may err by its part of the whole. */
  readonly subjects: number
}
