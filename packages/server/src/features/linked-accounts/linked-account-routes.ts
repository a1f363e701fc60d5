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
  route(scope, createLinkedAccount, ({ caller, body }) => {
    const { provider, name, url, secret } = body
    return service.create(caller, { provider, name, url, secret })
  })
  route(scope, deleteLinkedAccount, ({ caller, params }) => service.delete(caller, params.id))
}
