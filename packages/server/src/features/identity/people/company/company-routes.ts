import { readCompany, updateCompany } from '@millrace/contract/operations/company.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../../platform/http/route.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { CompanyService } from './company-service.ts'

/** The caller's company, for the authenticated scope. */
export function registerCompanyRoutes(scope: FastifyInstance, service: CompanyService): void {
  route(scope, readCompany, ({ principal }) => service.read(principal))
  route(scope, updateCompany, (request) => service.update(callerOf(request), request.body))
}
