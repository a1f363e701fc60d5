import {
  deactivateUser,
  deleteUser,
  listUsers,
  reactivateUser,
  readUser,
  unlinkUser,
  updateUser,
} from '@millrace/contract/operations/users.ts'
import type { User, UserUpdate } from '@millrace/contract/resources/user.ts'
import type { FastifyInstance } from 'fastify'
import { paginated, success } from '../../../../platform/http/envelope.ts'
import type { Page } from '../../../../platform/paging.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { UserService } from './user-service.ts'

interface UserQuery extends Page {
  search?: string
  roleId?: string
  resourceGroupId?: string
  status?: User['status']
}

interface ById {
  Params: { id: string }
}

/** The people of a company, for the authenticated scope. */
export function registerUserRoutes(app: FastifyInstance, service: UserService): void {
  app.route<{ Querystring: UserQuery }>({
    ...listUsers,
    async handler({ principal, query }) {
      const { page, perPage, search, roleId, resourceGroupId: teamId, status } = query
      const filter = { search, roleId, teamId, status }
      return paginated({ ...(await service.list(principal, filter, { page, perPage })), page, perPage })
    },
  })

  app.route<ById>({
    ...readUser,
    async handler({ principal, params }) {
      return success(await service.read(principal, params.id))
    },
  })

  app.route<ById & { Body: UserUpdate }>({
    ...updateUser,
    async handler(request) {
      return success(await service.update(callerOf(request), request.params.id, request.body))
    },
  })

  app.route<ById>({
    ...deactivateUser,
    async handler(request) {
      return success(await service.deactivate(callerOf(request), request.params.id))
    },
  })

  app.route<ById>({
    ...reactivateUser,
    async handler(request) {
      return success(await service.reactivate(callerOf(request), request.params.id))
    },
  })

  app.route<ById>({
    ...unlinkUser,
    async handler(request) {
      await service.unlink(callerOf(request), request.params.id)
      return success({})
    },
  })

  app.route<ById>({
    ...deleteUser,
    async handler(request) {
      await service.delete(callerOf(request), request.params.id)
      return success({})
    },
  })
}
