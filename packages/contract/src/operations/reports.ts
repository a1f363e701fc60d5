import { Type } from 'typebox'
import { successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { strict } from '../resources/formats.ts'
import { ReportSummary } from '../resources/report.ts'

/** Operation 3. */
export const listReports = {
  id: 'listReports',
  number: 3,
  method: 'GET',
  url: '/v2/statistics/reports',
  scope: 'authenticated',
  permission: { resource: 'statistics', action: 'access' },
  tag: 'Statistics',
  summary: 'List analysis reports',
  description:
    'The analysis reports of your company, the newest first, as summaries: the sections themselves are not in them.',
  errors: [],
  replies: { 200: { description: 'The reports' } },
  schema: {
    querystring: Type.Object(
      {
        includeArchived: Type.Optional(
          Type.Boolean({ description: 'Whether archived reports are listed too; they are not when absent' }),
        ),
      },
      strict,
    ),
    response: { 200: successEnvelope(Type.Array(ReportSummary)) },
  },
} as const satisfies Operation
