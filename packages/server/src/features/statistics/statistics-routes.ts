import { readStatisticsMeta, runQuery } from '@millrace/contract/operations/statistics.ts'
import type { FastifyInstance } from 'fastify'
import { rawRoute, route } from '../../platform/http/route.ts'
import type { AnswerBodies } from './answer-body.ts'
import { createSendAnswer } from './answer-reply.ts'
import type { StatisticsService } from './statistics-service.ts'

/** Operations 4 and 5, for the authenticated scope. */
export function registerStatisticsRoutes(
  scope: FastifyInstance,
  service: StatisticsService,
  bodies: AnswerBodies,
): void {
  const sendAnswer = createSendAnswer(bodies)
  rawRoute(scope, runQuery, {
    handler: (request, reply) =>
      sendAnswer(request, reply, (asked) => service.answer({ ...asked, query: request.body })),
  })

  route(scope, readStatisticsMeta, ({ principal }) => service.describe(principal.companyId))
}
