import {
  explainQuery,
  listStatisticsValues,
  readStatisticsMeta,
  runQuery,
} from '@millrace/contract/operations/statistics.ts'
import type { FastifyInstance } from 'fastify'
import { weakTagOf } from '../../platform/http/compression.ts'
import { matchesEntityTag } from '../../platform/http/entity-tag.ts'
import { success } from '../../platform/http/envelope.ts'
import { rawRoute, route } from '../../platform/http/route.ts'
import { negotiateLanguage } from '../../platform/i18n/language.ts'
import type { AnswerBodies } from './answer-body.ts'
import { createSendAnswer } from './answer-reply.ts'
import { frenchMeta } from './catalogue/french.ts'
import type { StatisticsService } from './statistics-service.ts'

/** Operations 4 and 5, and the values of dimensions, for the authenticated scope. */
export function registerStatisticsRoutes(
  scope: FastifyInstance,
  service: StatisticsService,
  bodies: AnswerBodies,
): void {
  const sendAnswer = createSendAnswer(bodies)
  rawRoute(scope, runQuery, {
    handler: (request, reply, form) =>
      sendAnswer(request, reply, form, (asked) => service.answer({ ...asked, query: request.body })),
  })

  route(scope, listStatisticsValues, ({ principal, query }, leaving) => {
    const { companyId, userId } = principal
    return service.listValues({ ...query, companyId, userId, readerId: userId, signal: leaving() })
  })

  route(scope, explainQuery, ({ principal, body }, leaving) => {
    const { companyId, userId } = principal
    return service.explain({
      query: body,
      companyId,
      userId,
      readerId: userId,
      showsStatement: principal.can('company', 'update'),
      signal: leaving(),
    })
  })

  rawRoute(scope, readStatisticsMeta, {
    async handler({ principal, headers }, reply) {
      const described = await service.describe(principal.companyId)
      const language = negotiateLanguage(undefined, headers['accept-language'])
      const meta = language === 'fr' ? frenchMeta(described) : described
      const etag = weakTagOf(JSON.stringify(meta))
      reply.headers({
        etag,
        'cache-control': 'private, no-cache',
        vary: 'Accept-Language',
        'content-language': language,
      })
      return matchesEntityTag(headers['if-none-match'], etag) ? reply.code(304).send() : success(meta)
    },
  })
}
