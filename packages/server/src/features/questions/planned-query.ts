import type { Query } from '@millrace/contract/resources/query.ts'

/** A query that answers a part of a question or a dashboard. */
export interface PlannedQuery {
  /** With absolute ranges and a time zone, so that it can be run again. */
  readonly query: Query
  /** In words, in the language of the report. */
  readonly asks: string
  readonly chart: 'bar' | 'line' | 'table'
}
