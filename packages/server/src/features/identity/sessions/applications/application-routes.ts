import { deleteApplication, listApplications } from '@millrace/contract/operations/applications.ts'
import type { FastifyInstance } from 'fastify'
import { success } from '../../../../platform/http/envelope.ts'
import type { ApplicationService } from './application-service.ts'

/** The applications that act for a user, for the authenticated scope. */
export function registerApplicationRoutes(app: FastifyInstance, service: ApplicationService): void {
  app.route({
    ...listApplications,
    async handler({ principal }) {
      return success(await service.list(principal))
    },
  })

  app.route<{ Params: { id: string } }>({
    ...deleteApplication,
    async handler({ principal, params, ip }) {
      await service.withdraw({ principal, address: ip }, params.id)
      return success({})
    },
  })
}
