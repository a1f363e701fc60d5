import {
  createTeam,
  deleteTeam,
  listTeams,
  readTeam,
  updateTeam,
} from '@millrace/contract/operations/teams.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../../platform/http/route.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { TeamService } from './team-service.ts'

/** Teams, for the authenticated scope. */
export function registerTeamRoutes(scope: FastifyInstance, service: TeamService): void {
  route(scope, listTeams, ({ principal, query }) => service.list(principal, query.search, query))
  route(scope, readTeam, ({ principal, params }) => service.read(principal, params.id))
  route(scope, createTeam, (request) => service.create(callerOf(request), request.body))
  route(scope, updateTeam, (request) => service.update(callerOf(request), request.params.id, request.body))
  route(scope, deleteTeam, (request) => service.delete(callerOf(request), request.params.id))
}
