import {
  createScimToken,
  deleteScimToken,
  listScimTokens,
  readScimConfig,
  updateScimConfig,
} from '@millrace/contract/operations/provisioning.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../platform/http/route.ts'
import type { ScimConfigService } from './config/scim-config-service.ts'
import type { ScimTokenService } from './config/scim-token-service.ts'

export interface ProvisioningRoutesDependencies {
  readonly config: ScimConfigService
  readonly tokens: ScimTokenService
}

/** Operations 17 and 18 and the tokens of the identity provider, for the authenticated scope. */
export function registerProvisioningRoutes(
  scope: FastifyInstance,
  { config, tokens }: ProvisioningRoutesDependencies,
): void {
  route(scope, readScimConfig, ({ principal }) => config.read(principal))
  route(scope, updateScimConfig, ({ principal, body, ip }) => config.update(principal, body, ip))
  route(scope, listScimTokens, ({ principal }) => tokens.list(principal))
  route(scope, createScimToken, ({ principal, body, ip }) => tokens.create(principal, body.label, ip))
  route(scope, deleteScimToken, ({ principal, params, ip }) => tokens.revoke(principal, params.id, ip))
}
