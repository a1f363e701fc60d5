import {
  createTeam,
  deleteTeam,
  listTeams,
  readTeam,
  updateTeam,
} from '@millrace/contract/operations/teams.ts'
import type { TeamCreation, TeamUpdate } from '@millrace/contract/resources/team.ts'
import type { FastifyInstance } from 'fastify'
import { paginated, success } from '../../../../platform/http/envelope.ts'
import type { Page } from '../../../../platform/paging.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { TeamService } from './team-service.ts'

/** Teams, for the authenticated scope. */
export function registerTeamRoutes(app: FastifyInstance, service: TeamService): void {
  app.route<{ Querystring: Page & { search?: string } }>({
    ...listTeams,
    async handler({ principal, query }) {
      const { search, page, perPage } = query
      return paginated({ ...(await service.list(principal, search, { page, perPage })), page, perPage })
    },
  })

  app.route<{ Params: { id: string } }>({
    ...readTeam,
    async handler({ principal, params }) {
      return success(await service.read(principal, params.id))
    },
  })

  app.route<{ Body: TeamCreation }>({
    ...createTeam,
    async handler(request) {
      return success(await service.create(callerOf(request), request.body))
    },
  })

  app.route<{ Params: { id: string }; Body: TeamUpdate }>({
    ...updateTeam,
    async handler(request) {
      return success(await service.update(callerOf(request), request.params.id, request.body))
    },
  })

  app.route<{ Params: { id: string } }>({
    ...deleteTeam,
    async handler(request) {
      await service.delete(callerOf(request), request.params.id)
      return success({})
    },
  })
}
