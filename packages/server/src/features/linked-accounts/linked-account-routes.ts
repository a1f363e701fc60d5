import {
  createLinkedAccount,
  deleteLinkedAccount,
  listLinkedAccounts,
} from '@millrace/contract/operations/linked-accounts.ts'
import type { LinkedAccountCreation } from '@millrace/contract/resources/linked-account.ts'
import type { FastifyInstance } from 'fastify'
import { success } from '../../platform/http/envelope.ts'
import type { LinkedAccountService } from './linked-account-service.ts'

/** Operation 14 and what goes along with it, for the authenticated scope. */
export function registerLinkedAccountRoutes(app: FastifyInstance, service: LinkedAccountService): void {
  app.route<{ Querystring: { userId?: string } }>({
    ...listLinkedAccounts,
    async handler({ principal, query }) {
      return success(await service.list(principal, query.userId))
    },
  })

  app.route<{ Body: LinkedAccountCreation }>({
    ...createLinkedAccount,
    async handler({ principal, ip, body }) {
      const { provider, name, url, secret } = body
      return success(await service.create({ principal, address: ip }, { provider, name, url, secret }))
    },
  })

  app.route<{ Params: { id: string } }>({
    ...deleteLinkedAccount,
    async handler({ principal, ip, params }) {
      await service.delete({ principal, address: ip }, params.id)
      return success({})
    },
  })
}
