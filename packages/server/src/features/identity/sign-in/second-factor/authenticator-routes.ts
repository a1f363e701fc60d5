import {
  confirmAuthenticator,
  deleteAuthenticator,
  disableAuthenticator,
  offerAuthenticator,
  readAuthenticator,
  renewRecoveryCodes,
} from '@millrace/contract/operations/authenticator.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../../platform/http/route.ts'
import type { AuthenticatorService } from './authenticator-service.ts'

/** One-time codes, for the authenticated scope. */
export function registerAuthenticatorRoutes(scope: FastifyInstance, service: AuthenticatorService): void {
  route(scope, readAuthenticator, ({ principal }) => service.readState(principal))
  route(scope, offerAuthenticator, ({ caller, body }) => service.offer(caller, body.password))
  route(scope, confirmAuthenticator, ({ caller, body }) => service.confirm(caller, body.code))
  route(scope, renewRecoveryCodes, ({ caller, body }) => service.renewRecoveryCodes(caller, body.password))
  route(scope, disableAuthenticator, ({ caller, body }) => service.disable(caller, body.password))
  route(scope, deleteAuthenticator, ({ caller, params }) => service.deleteOf(caller, params.id))
}
