import {
  createRole,
  deleteRole,
  listRoles,
  readRole,
  updateRole,
} from '@millrace/contract/operations/roles.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../../platform/http/route.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { RoleService } from './role-service.ts'

/** Roles, for the authenticated scope. */
export function registerRoleRoutes(scope: FastifyInstance, service: RoleService): void {
  route(scope, listRoles, ({ principal, query }) => service.list(principal, query))
  route(scope, readRole, ({ principal, params }) => service.read(principal, params.id))
  route(scope, createRole, (request) => service.create(callerOf(request), request.body))
  route(scope, updateRole, (request) => service.update(callerOf(request), request.params.id, request.body))
  route(scope, deleteRole, (request) => service.delete(callerOf(request), request.params.id))
}
