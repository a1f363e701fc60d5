import { previewWorkflow } from '@millrace/contract/operations/runner.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../platform/http/route.ts'
import type { PreviewService } from './preview-service.ts'

export function registerPreviewRoutes(scope: FastifyInstance, service: PreviewService): void {
  route(scope, previewWorkflow, ({ principal, params, body }) => service.preview(principal, params.id, body))
}
