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
  route(scope, offerAuthenticator, ({ principal, body, ip }) => service.offer(principal, body.password, ip))
  route(scope, confirmAuthenticator, ({ principal, body, ip }) => service.confirm(principal, body.code, ip))
  route(scope, renewRecoveryCodes, ({ principal, body, ip }) =>
    service.renewRecoveryCodes(principal, body.password, ip),
  )
  route(scope, disableAuthenticator, ({ principal, body, ip }) =>
    service.disable(principal, body.password, ip),
  )
  route(scope, deleteAuthenticator, ({ principal, params, ip }) => service.deleteOf(principal, params.id, ip))
}
