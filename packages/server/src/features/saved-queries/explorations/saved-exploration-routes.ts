import {
  deleteSavedExploration,
  listSavedExplorations,
  readSavedExploration,
  runSavedExploration,
  saveExploration,
  updateSavedExploration,
} from '@millrace/contract/operations/saved-explorations.ts'
import type { SavedExploration } from '@millrace/contract/resources/saved-exploration.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AnswerForm } from '../../../platform/http/answer-form.ts'
import { expectedBy } from '../../../platform/http/entity-tag.ts'
import { rawRoute, route } from '../../../platform/http/route.ts'
import type { SavedExplorationService } from './saved-exploration-service.ts'

/** Replies with the rows of an exploration, as its own operation does. */
export type AnswerExploration = (
  request: Pick<FastifyRequest, 'principal'>,
  reply: FastifyReply,
  form: AnswerForm,
  asked: Pick<SavedExploration, 'exploration' | 'definition'>,
) => Promise<FastifyReply>

/** Saved explorations, for the authenticated scope. */
export function registerSavedExplorationRoutes(
  scope: FastifyInstance,
  service: SavedExplorationService,
  answer: AnswerExploration,
): void {
  route(scope, listSavedExplorations, ({ principal, query }) => service.list(principal, query))
  route(scope, saveExploration, ({ principal, body }) => service.save(principal, body))
  route(scope, readSavedExploration, ({ principal, params }) => service.read(principal, params.id))
  route(scope, updateSavedExploration, ({ principal, params, headers, body }) =>
    service.update(principal, params.id, body, expectedBy(headers)),
  )
  route(scope, deleteSavedExploration, ({ principal, params, headers }) =>
    service.delete(principal, params.id, expectedBy(headers)),
  )
  rawRoute(scope, runSavedExploration, {
    handler: async (request, reply, form) =>
      answer(request, reply, form, await service.read(request.principal, request.params.id)),
  })
}
