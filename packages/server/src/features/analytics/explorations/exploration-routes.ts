import { exploreFunnel } from '@millrace/contract/operations/funnels.ts'
import { explorePaths } from '@millrace/contract/operations/paths.ts'
import { exploreRetention } from '@millrace/contract/operations/retention.ts'
import type { SavedExploration } from '@millrace/contract/resources/saved-exploration.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AnswerForm } from '../../../platform/http/answer-form.ts'
import { rawRoute } from '../../../platform/http/route.ts'
import type { AnswerBodies } from '../answer-body.ts'
import { createSendAnswer } from '../answer-reply.ts'
import type { Question } from '../question.ts'
import type { StatisticsService } from '../statistics-service.ts'
import { explorationQuestion, funnelQuestion, pathsQuestion, retentionQuestion } from './questions.ts'

type Asking<Body> = Pick<FastifyRequest, 'principal'> & { readonly body: Body }

/** Explorations, for the authenticated scope. Each is answered as a query is. */
export function registerExplorationRoutes(
  scope: FastifyInstance,
  service: StatisticsService,
  bodies: AnswerBodies,
): void {
  const sendAnswer = createSendAnswer(bodies)

  const explorer =
    <Body>(questionOf: (body: Body) => Question) =>
    (request: Asking<Body>, reply: FastifyReply, form: AnswerForm): Promise<FastifyReply> =>
      sendAnswer(request, reply, form, (asked) =>
        service.explore({ ...asked, question: questionOf(request.body) }),
      )

  rawRoute(scope, exploreFunnel, { handler: explorer(funnelQuestion) })
  rawRoute(scope, exploreRetention, { handler: explorer(retentionQuestion) })
  rawRoute(scope, explorePaths, { handler: explorer(pathsQuestion) })
}

/** Answers an exploration whose definition is stored, as its own operation does. */
export function explorationAnswers({
  statistics,
  answerBodies,
}: {
  readonly statistics: StatisticsService
  readonly answerBodies: AnswerBodies
}) {
  const sendAnswer = createSendAnswer(answerBodies)
  return (
    request: Pick<FastifyRequest, 'principal'>,
    reply: FastifyReply,
    form: AnswerForm,
    { exploration, definition }: Pick<SavedExploration, 'exploration' | 'definition'>,
  ): Promise<FastifyReply> =>
    sendAnswer(request, reply, form, (asked) =>
      statistics.explore({ ...asked, question: explorationQuestion(exploration, definition) }),
    )
}
