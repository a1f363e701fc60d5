import {
  createExport,
  deleteExport,
  downloadExportFile,
  listExports,
  readExport,
} from '@millrace/contract/operations/exports.ts'
import type { FastifyInstance } from 'fastify'
import { rawRoute, route } from '../../platform/http/route.ts'
import type { ExportService } from './export-service.ts'

/** Exports in bulk, for the authenticated scope. */
export function registerExportRoutes(scope: FastifyInstance, exports: ExportService): void {
  route(scope, createExport, ({ caller, body }) => exports.create(caller, body))
  route(scope, listExports, ({ principal, query }) => exports.list(principal, query))
  route(scope, readExport, ({ principal, params }) => exports.read(principal, params.id))
  route(scope, deleteExport, ({ caller, params }) => exports.delete(caller, params.id))

  rawRoute(scope, downloadExportFile, {
    async handler({ caller, params, headers }, reply) {
      const { range, 'if-range': ifRange } = headers
      const file = await exports.download(caller, {
        ...params,
        ...(range !== undefined && { range }),
        ...(ifRange !== undefined && { ifRange }),
      })
      const { start, end, bytes } = file
      const isPart = end - start < bytes
      if (isPart) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${bytes}`)
      return reply
        .headers({
          'content-type': 'application/octet-stream',
          'content-length': end - start,
          'content-disposition': `attachment; filename="${file.name}"`,
          'accept-ranges': 'bytes',
          'cache-control': 'no-store',
          etag: file.etag,
        })
        .send(file.open())
    },
  })
}
