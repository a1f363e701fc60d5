import {
  createRole,
  deleteRole,
  listRoles,
  readRole,
  updateRole,
} from '@millrace/contract/operations/roles.ts'
import type { RoleCreation, RoleUpdate } from '@millrace/contract/resources/role.ts'
import type { FastifyInstance } from 'fastify'
import { paginated, success } from '../../../../platform/http/envelope.ts'
import type { Page } from '../../../../platform/paging.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { RoleService } from './role-service.ts'

/** Roles, for the authenticated scope. */
export function registerRoleRoutes(app: FastifyInstance, service: RoleService): void {
  app.route<{ Querystring: Page }>({
    ...listRoles,
    async handler({ principal, query }) {
      return paginated({ ...(await service.list(principal, query)), ...query })
    },
  })

  app.route<{ Params: { id: string } }>({
    ...readRole,
    async handler({ principal, params }) {
      return success(await service.read(principal, params.id))
    },
  })

  app.route<{ Body: RoleCreation }>({
    ...createRole,
    async handler(request) {
      return success(await service.create(callerOf(request), request.body))
    },
  })

  app.route<{ Params: { id: string }; Body: RoleUpdate }>({
    ...updateRole,
    async handler(request) {
      return success(await service.update(callerOf(request), request.params.id, request.body))
    },
  })

  app.route<{ Params: { id: string } }>({
    ...deleteRole,
    async handler(request) {
      await service.delete(callerOf(request), request.params.id)
      return success({})
    },
  })
}
