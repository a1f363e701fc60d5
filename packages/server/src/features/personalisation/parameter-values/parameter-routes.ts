import { listParameters, listParameterValues } from '@millrace/contract/operations/workflows.ts'
import type { FastifyInstance } from 'fastify'
import { warned } from '../../../platform/http/envelope.ts'
import { rawRoute, signalOfLeaving } from '../../../platform/http/route.ts'
import type { ParameterService } from './parameter-service.ts'

/** Operation 12 and the list of names, for the authenticated scope. */
export function registerParameterRoutes(scope: FastifyInstance, parameters: ParameterService): void {
  rawRoute(scope, listParameterValues, {
    async handler({ principal, query }, reply) {
      const { values, warnings } = await parameters.listValues(principal, query.name, signalOfLeaving(reply))
      return warned(values, warnings)
    },
  })
  rawRoute(scope, listParameters, {
    async handler({ principal }, reply) {
      const { parameters: used, warnings } = await parameters.listUsed(principal, signalOfLeaving(reply))
      return warned(used, warnings)
    },
  })
}
