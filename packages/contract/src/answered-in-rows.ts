import { Type } from 'typebox'
import { warningEnvelope } from './envelope.ts'
import type { Operation, ReplyDocument } from './operation.ts'
import { object, oneOf, text } from './resources/formats.ts'

/** What explorations have in common: an answer in rows, given as operation 4 gives one. */
export const answeredInRows = {
  method: 'POST',
  scope: 'authenticated',
  permission: { resource: 'statistics', action: 'access' },
  access: 'Statistics: access; for CSV and NDJSON also Statistics: export',
  tag: 'Statistics',
  idempotent: true,
  errors: [
    'unknownMember',
    'incompatibleMembers',
    'invalidQuery',
    'resultTooLarge',
    'tooComplex',
    'notAcceptable',
    'tooManyRequests',
    'timeout',
    'unavailable',
  ],
  schema: {
    querystring: object({
      format: Type.Optional(oneOf(['csv'], 'Gives `data` as CSV instead of JSON text')),
    }),
    response: {
      200: warningEnvelope(text('The rows: JSON text of an array, or CSV')),
    },
  },
} as const satisfies Partial<Operation>

/** The replies of such an operation, with rows as an example. */
export function rowsReply(rows: readonly object[], csv: string) {
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`)
  return {
    200: {
      description: 'The result',
      headers: {
        'X-Millrace-Warnings':
          'Of a streamed result: what to know about it, a JSON list of `path` and `message`; absent when there is nothing',
      },
      examples: {
        rows: { summary: 'Rows as JSON text', value: JSON.stringify(rows) },
        csv: { summary: 'CSV, with format=csv', value: csv },
      },
      alternatives: {
        'text/csv': { description: 'The bare result as RFC 4180 CSV, streamed', example: csv },
        'application/x-ndjson': {
          description: 'The bare result, one JSON object per line, streamed',
          example: lines.join(''),
        },
      },
    },
  } satisfies Record<number, ReplyDocument>
}
