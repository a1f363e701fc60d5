import { previewCompanyRetention } from '@millrace/contract/operations/company.ts'
import { previewDatasourceRetention } from '@millrace/contract/operations/worker-datasources.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../platform/http/route.ts'
import type { RetentionService } from './retention-service.ts'

/** Previews of retention, for the authenticated scope. */
export function registerRetentionRoutes(scope: FastifyInstance, retention: RetentionService): void {
  route(scope, previewCompanyRetention, ({ principal, query }) =>
    retention.previewCompany(principal, query.days),
  )
  route(scope, previewDatasourceRetention, ({ principal, params, query }) =>
    retention.previewDatasource(principal, params.id, query.days),
  )
}
