import { answeredInRows, rowsReply } from '../answered-in-rows.ts'
import type { Operation } from '../operation.ts'
import { example } from '../operation-builders.ts'
import { PathsQuery, pathLimits } from '../resources/paths.ts'

export const explorePaths = {
  ...answeredInRows,
  id: 'explorePaths',
  url: '/v2/statistics/paths',
  summary: 'Explore paths',
  description: `What persons do one after the other within a session, from its start, from a step or to one, as edges between steps up to ${pathLimits.depth} deep. docs/statistics.md, Paths, says exactly what counts.

One row for each edge: \`depth\`, from 1; \`kind\`, which is \`start\` for the beginning of a session, \`step\`, \`end\` for a session that ended there, or \`rest\` for all edges of the depth beyond \`limit\` together; \`from\` and \`to\`, null where there is no step; \`sessions\` and \`people\` with this edge. Every session that counts has one edge of depth 1.

Filters, zones, formats and limits are those of a query.`,
  examples: {
    pages: example('Which pages people see one after the other', {
      by: 'path',
      dateRange: 'last 7 days',
      depth: 4,
      limit: 20,
    }),
    toPurchase: example('What leads to an order on desktops', {
      by: 'event',
      to: 'purchase',
      dateRange: ['2026-01-01', '2026-01-31'],
      filters: [{ member: 'events.deviceType', operator: 'equals', values: ['desktop'] }],
    }),
  },
  replies: rowsReply(
    [
      { depth: 1, kind: 'start', from: null, to: '/', sessions: 900, people: 700 },
      { depth: 2, kind: 'step', from: '/', to: '/cart', sessions: 120, people: 110 },
      { depth: 2, kind: 'end', from: '/', to: null, sessions: 80, people: 75 },
      { depth: 2, kind: 'rest', from: null, to: null, sessions: 700, people: 610 },
    ],
    'depth,kind,from,to,sessions,people\r\n1,start,,/,900,700\r\n',
  ),
  schema: { ...answeredInRows.schema, body: PathsQuery },
} as const satisfies Operation
