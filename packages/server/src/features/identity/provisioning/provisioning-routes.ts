import {
  createScimToken,
  deleteScimToken,
  listScimTokens,
  readScimConfig,
  updateScimConfig,
} from '@millrace/contract/operations/provisioning.ts'
import type { ScimConfigUpdate } from '@millrace/contract/resources/scim-config.ts'
import type { ScimTokenCreation } from '@millrace/contract/resources/scim-token.ts'
import type { FastifyInstance } from 'fastify'
import { success } from '../../../platform/http/envelope.ts'
import type { ScimConfigService } from './config/scim-config-service.ts'
import type { ScimTokenService } from './config/scim-token-service.ts'

export interface ProvisioningRoutesDependencies {
  readonly config: ScimConfigService
  readonly tokens: ScimTokenService
}

/** Operations 17 and 18 and the tokens of the identity provider, for the authenticated scope. */
export function registerProvisioningRoutes(
  app: FastifyInstance,
  { config, tokens }: ProvisioningRoutesDependencies,
): void {
  app.route({
    ...readScimConfig,
    async handler({ principal }) {
      return success(await config.read(principal))
    },
  })

  app.route<{ Body: ScimConfigUpdate }>({
    ...updateScimConfig,
    async handler({ principal, body, ip }) {
      return success(await config.update(principal, body, ip))
    },
  })

  app.route({
    ...listScimTokens,
    async handler({ principal }) {
      return success(await tokens.list(principal))
    },
  })

  app.route<{ Body: ScimTokenCreation }>({
    ...createScimToken,
    async handler({ principal, body, ip }) {
      return success(await tokens.create(principal, body.label, ip))
    },
  })

  app.route<{ Params: { id: string } }>({
    ...deleteScimToken,
    async handler({ principal, params, ip }) {
      await tokens.revoke(principal, params.id, ip)
      return success({})
    },
  })
}
