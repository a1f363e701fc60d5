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
  route(scope, createVariableProfile, ({ principal, ip, body }) =>
    profiles.create({ principal, address: ip }, body),
  )
  route(scope, replaceVariableProfile, ({ principal, ip, params, body }) =>
    profiles.replace({ principal, address: ip }, params.id, body),
  )
  route(scope, deleteVariableProfile, ({ principal, ip, params }) =>
    profiles.delete({ principal, address: ip }, params.id),
  )
}
