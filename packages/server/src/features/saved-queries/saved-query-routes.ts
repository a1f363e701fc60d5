import { Readable } from 'node:stream'
import {
  deleteSavedQuery,
  listNextRuns,
  listSavedQueries,
  listSavedQueryRuns,
  previewSchedule,
  readRunResult,
  readSavedQuery,
  runSavedQuery,
  saveQuery,
  updateSavedQuery,
} from '@millrace/contract/operations/saved-queries.ts'
import type { FastifyInstance } from 'fastify'
import { bareTypes } from '../../platform/http/answer-form.ts'
import { expectedBy } from '../../platform/http/entity-tag.ts'
import { rawRoute, route } from '../../platform/http/route.ts'
import type { SavedQueryService } from './saved-query-service.ts'

/** Operations 6 and 7 and what belongs to them, for the authenticated scope. */
export function registerSavedQueryRoutes(scope: FastifyInstance, service: SavedQueryService): void {
  route(scope, saveQuery, ({ principal, body, headers }) =>
    service.save(principal, body, headers['idempotency-key']),
  )
  route(scope, updateSavedQuery, ({ principal, params, headers, body }) =>
    service.update(principal, params.id, body, expectedBy(headers)),
  )
  route(scope, listSavedQueries, ({ principal, query }) => service.list(principal, query))
  route(scope, readSavedQuery, ({ principal, params }) => service.read(principal, params.id))
  route(scope, deleteSavedQuery, ({ principal, params, headers }) =>
    service.delete(principal, params.id, expectedBy(headers)),
  )
  route(scope, runSavedQuery, ({ principal, params }) => service.run(principal, params.id))
  route(scope, listSavedQueryRuns, ({ principal, params, query }) =>
    service.listRuns(principal, params.id, query),
  )
  route(scope, previewSchedule, ({ principal, body }) => service.previewSchedule(principal, body))
  route(scope, listNextRuns, ({ principal, params }) => service.listNextRuns(principal, params.id))

  rawRoute(scope, readRunResult, {
    async handler({ principal, params }, reply) {
      const { id, runId, index } = params
      const result = await service.readResult(principal, { id, runId, index: Number(index) })
      return reply
        .type(bareTypes.csv)
        .header('cache-control', 'no-store')
        .header('content-length', result.bytes)
        .header('content-disposition', attachmentHeader(result.fileName))
        .send(Readable.from(result.pieces))
    },
  })
}

/** RFC 6266: the name in UTF-8, and in ASCII for readers that know no other. */
function attachmentHeader(fileName: string): string {
  const ascii = fileName.replaceAll(/[^ -~]|["\\%]/g, '_')
  const encoded = encodeURIComponent(fileName).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
