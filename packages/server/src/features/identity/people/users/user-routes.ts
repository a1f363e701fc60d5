import {
  deactivateUser,
  deleteUser,
  listUsers,
  reactivateUser,
  readUser,
  unlinkUser,
  updateUser,
} from '@millrace/contract/operations/users.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../../platform/http/route.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { UserService } from './user-service.ts'

/** The users of a company, for the authenticated scope. */
export function registerUserRoutes(scope: FastifyInstance, service: UserService): void {
  route(scope, listUsers, ({ principal, query }) => {
    const { page, perPage, resourceGroupId: teamId, ...filter } = query
    return service.list(principal, { ...filter, teamId }, { page, perPage })
  })
  route(scope, readUser, ({ principal, params }) => service.read(principal, params.id))
  route(scope, updateUser, (request) => service.update(callerOf(request), request.params.id, request.body))
  route(scope, deactivateUser, (request) => service.deactivate(callerOf(request), request.params.id))
  route(scope, reactivateUser, (request) => service.reactivate(callerOf(request), request.params.id))
  route(scope, unlinkUser, (request) => service.unlink(callerOf(request), request.params.id))
  route(scope, deleteUser, (request) => service.delete(callerOf(request), request.params.id))
}
