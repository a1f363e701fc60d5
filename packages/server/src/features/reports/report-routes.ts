import {
  archiveReport,
  askFollowUp,
  createReport,
  listReports,
  readReport,
  readReportSettings,
  regenerateReport,
  retryReport,
  updateReportSettings,
  verifyEvidence,
} from '@millrace/contract/operations/reports.ts'
import type { FastifyInstance } from 'fastify'
import { paginated, success } from '../../platform/http/envelope.ts'
import { rawRoute, route } from '../../platform/http/route.ts'
import type { Reports } from './reports.ts'

/** Operation 3 and what belongs to it, for the authenticated scope. */
export function registerReportRoutes(scope: FastifyInstance, { service, settings }: Reports): void {
  rawRoute(scope, listReports, {
    async handler({ principal, query }) {
      const { rows, warnings, page } = await service.list(principal, query)
      if (page) return paginated({ rows, ...page })
      return { ...success(rows), ...(warnings.length > 0 && { warnings: [...warnings] }) }
    },
  })
  route(scope, createReport, ({ principal, ip, body }) => service.create({ principal, address: ip }, body))
  route(scope, readReport, ({ principal, params }) => service.read(principal, params.id))
  route(scope, askFollowUp, ({ principal, params, body }) =>
    service.askFollowUp(principal, params.id, body.question),
  )
  route(scope, retryReport, ({ principal, params }) => service.retry(principal, params.id))
  route(scope, regenerateReport, ({ principal, ip, params }) =>
    service.regenerate({ principal, address: ip }, params.id),
  )
  route(scope, archiveReport, ({ principal, ip, params }) =>
    service.archive({ principal, address: ip }, params.id),
  )
  route(scope, verifyEvidence, ({ principal, params }, leaving) =>
    service.verifyEvidence(principal, params, leaving()),
  )
  route(scope, readReportSettings, ({ principal }) => settings.read(principal))
  route(scope, updateReportSettings, ({ principal, ip, body }) =>
    settings.update({ principal, address: ip }, body),
  )
}
