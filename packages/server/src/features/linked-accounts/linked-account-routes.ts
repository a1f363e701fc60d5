import {
  createLinkedAccount,
  deleteLinkedAccount,
  listLinkedAccounts,
} from '@millrace/contract/operations/linked-accounts.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../platform/http/route.ts'
import type { LinkedAccountService } from './linked-account-service.ts'

/** Operation 14 and the other operations on linked accounts, for the authenticated scope. */
export function registerLinkedAccountRoutes(scope: FastifyInstance, service: LinkedAccountService): void {
  route(scope, listLinkedAccounts, ({ principal, query }) => service.list(principal, query.userId))
  route(scope, createLinkedAccount, ({ principal, ip, body }) => {
    const { provider, name, url, secret } = body
    return service.create({ principal, address: ip }, { provider, name, url, secret })
  })
  route(scope, deleteLinkedAccount, ({ principal, ip, params }) =>
    service.delete({ principal, address: ip }, params.id),
  )
}
