import {
  createVariableProfile,
  deleteVariableProfile,
  listVariableProfiles,
  readVariableProfile,
  replaceVariableProfile,
} from '@millrace/contract/operations/workflow-settings.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../platform/http/route.ts'
import type { VariableProfileService } from './variable-profile-service.ts'

export function registerVariableProfileRoutes(
  scope: FastifyInstance,
  profiles: VariableProfileService,
): void {
  route(scope, listVariableProfiles, ({ principal, query }) => profiles.list(principal, query))
  route(scope, readVariableProfile, ({ principal, params }) => profiles.read(principal, params.id))
  route(scope, createVariableProfile, ({ caller, body }) => profiles.create(caller, body))
  route(scope, replaceVariableProfile, ({ caller, params, body }) =>
    profiles.replace(caller, params.id, body),
  )
  route(scope, deleteVariableProfile, ({ caller, params }) => profiles.delete(caller, params.id))
}
