import { readCompany, updateCompany } from '@millrace/contract/operations/company.ts'
import type { CompanyUpdate } from '@millrace/contract/resources/company.ts'
import type { FastifyInstance } from 'fastify'
import { success } from '../../../../platform/http/envelope.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { CompanyService } from './company-service.ts'

/** The caller's company, for the authenticated scope. */
export function registerCompanyRoutes(app: FastifyInstance, service: CompanyService): void {
  app.route({
    ...readCompany,
    async handler({ principal }) {
      return success(await service.read(principal))
    },
  })

  app.route<{ Body: CompanyUpdate }>({
    ...updateCompany,
    async handler(request) {
      return success(await service.update(callerOf(request), request.body))
    },
  })
}
