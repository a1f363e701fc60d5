import {
  createIntegration,
  deleteIntegration,
  listIntegrations,
  readIntegration,
  readIntegrationSnippet,
  updateIntegration,
} from '@millrace/contract/operations/integrations.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../platform/http/route.ts'
import type { IntegrationService } from './integration-service.ts'

export function registerIntegrationRoutes(scope: FastifyInstance, integrations: IntegrationService): void {
  route(scope, listIntegrations, ({ principal, params }) => integrations.list(principal, params.id))
  route(scope, readIntegration, ({ principal, params }) =>
    integrations.read(principal, params.id, params.integrationId),
  )
  route(scope, readIntegrationSnippet, ({ principal, params }) =>
    integrations.readSnippet(principal, params.id, params.integrationId),
  )
  route(scope, createIntegration, ({ caller, params, body }) => integrations.create(caller, params.id, body))
  route(scope, updateIntegration, ({ caller, params, body }) =>
    integrations.update(caller, params.id, params.integrationId, body),
  )
  route(scope, deleteIntegration, ({ caller, params }) =>
    integrations.delete(caller, params.id, params.integrationId),
  )
}
