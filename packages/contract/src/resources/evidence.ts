import { type Static, Type } from 'typebox'
import { dateTime, mapOf, named, object, text } from './formats.ts'
import { Query } from './query.ts'

/** One value of a result row, with a link where it names an object. */
export const Cell = named('Cell', {
  value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
  metadata: Type.Optional(
    object({
      link: text('Address of the object', '/v2/workflows/65f0c0ffee5ca1ab1e0ddba1'),
    }),
  ),
})
export type Cell = Static<typeof Cell>

/** A query that was run, with its rows, on which statements of a report rest (docs/interface.md, Evidence). */
export const Evidence = named('Evidence', {
  id: Type.String(),
  query: Query,
  rows: Type.Array(mapOf(Cell, 'From column name to cell')),
  sources: Type.Array(
    object({
      service: Type.Literal('statistics'),
      queryLayer: Type.Literal('cube'),
      members: Type.Array(Type.String()),
    }),
  ),
  freshness: object({ capturedAt: dateTime('When the rows were read') }),
  state: Type.Enum(['success', 'warning', 'failure'], { type: 'string' }),
  executedAt: dateTime('When the query was run'),
  durationMs: Type.Number(),
  rowCount: Type.Number({ description: 'Rows of the whole result' }),
  embeddedRowCount: Type.Number({ description: 'Rows that are in `rows`' }),
  payloadBytes: Type.Number(),
  resultHash: Type.String(),
  operationId: Type.Optional(Type.String()),
  warning: Type.Optional(Type.String()),
  failureCode: Type.Optional(Type.String()),
  failureMessage: Type.Optional(Type.String()),
})
export type Evidence = Static<typeof Evidence>
