import {
  deleteEventAlias,
  listEventAliases,
  setEventAlias,
} from '@millrace/contract/operations/event-aliases.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../platform/http/route.ts'
import type { EventAliasService } from './event-alias-service.ts'

/** Names under which renamed events answer, for the authenticated scope. */
export function registerEventAliasRoutes(scope: FastifyInstance, service: EventAliasService): void {
  route(scope, listEventAliases, ({ principal }) => service.list(principal))
  route(scope, setEventAlias, ({ caller, params, body }) => service.set(caller, params.name, body.alias))
  route(scope, deleteEventAlias, ({ caller, params }) => service.delete(caller, params.name))
}
