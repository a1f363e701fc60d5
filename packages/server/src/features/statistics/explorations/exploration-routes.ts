import { exploreFunnel } from '@millrace/contract/operations/funnels.ts'
import { explorePaths } from '@millrace/contract/operations/paths.ts'
import { exploreRetention } from '@millrace/contract/operations/retention.ts'
import type { FastifyInstance } from 'fastify'
import { rawRoute } from '../../../platform/http/route.ts'
import type { AnswerBodies } from '../answer-body.ts'
import { createSendAnswer } from '../answer-reply.ts'
import type { StatisticsService } from '../statistics-service.ts'
import { funnelQuestion, pathsQuestion, retentionQuestion } from './questions.ts'

/** Explorations, for the authenticated scope. Each is answered as a query is. */
export function registerExplorationRoutes(
  scope: FastifyInstance,
  service: StatisticsService,
  bodies: AnswerBodies,
): void {
  const sendAnswer = createSendAnswer(bodies)

  rawRoute(scope, exploreFunnel, {
    handler: (request, reply, form) =>
      sendAnswer(request, reply, form, (asked) =>
        service.explore({ ...asked, question: funnelQuestion(request.body) }),
      ),
  })
  rawRoute(scope, exploreRetention, {
    handler: (request, reply, form) =>
      sendAnswer(request, reply, form, (asked) =>
        service.explore({ ...asked, question: retentionQuestion(request.body) }),
      ),
  })

  rawRoute(scope, explorePaths, {
    handler: (request, reply, form) =>
      sendAnswer(request, reply, form, (asked) =>
        service.explore({ ...asked, question: pathsQuestion(request.body) }),
      ),
  })
}
