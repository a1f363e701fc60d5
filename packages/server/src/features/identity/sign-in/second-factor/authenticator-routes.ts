import {
  confirmAuthenticator,
  deleteAuthenticator,
  disableAuthenticator,
  offerAuthenticator,
  readAuthenticator,
  renewRecoveryCodes,
} from '@millrace/contract/operations/authenticator.ts'
import type { FastifyInstance } from 'fastify'
import { success } from '../../../../platform/http/envelope.ts'
import type { AuthenticatorService } from './authenticator-service.ts'

interface WithPassword {
  Body: { password: string }
}

/** One-time codes, for the authenticated scope. */
export function registerAuthenticatorRoutes(app: FastifyInstance, service: AuthenticatorService): void {
  app.route({
    ...readAuthenticator,
    async handler({ principal }) {
      return success(await service.readState(principal))
    },
  })

  app.route<WithPassword>({
    ...offerAuthenticator,
    async handler({ principal, body, ip }) {
      return success(await service.offer(principal, body.password, ip))
    },
  })

  app.route<{ Body: { code: string } }>({
    ...confirmAuthenticator,
    async handler({ principal, body, ip }) {
      return success(await service.confirm(principal, body.code, ip))
    },
  })

  app.route<WithPassword>({
    ...renewRecoveryCodes,
    async handler({ principal, body, ip }) {
      return success(await service.renewRecoveryCodes(principal, body.password, ip))
    },
  })

  app.route<WithPassword>({
    ...disableAuthenticator,
    async handler({ principal, body, ip }) {
      await service.disable(principal, body.password, ip)
      return success({})
    },
  })

  app.route<{ Params: { id: string } }>({
    ...deleteAuthenticator,
    async handler({ principal, params, ip }) {
      await service.deleteOf(principal, params.id, ip)
      return success({})
    },
  })
}
