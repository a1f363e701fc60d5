import { planExperiment, readExperimentResults } from '@millrace/contract/operations/experiment-results.ts'
import type { FastifyInstance } from 'fastify'
import { bareTypes } from '../../../platform/http/answer-form.ts'
import { success } from '../../../platform/http/envelope.ts'
import { rawRoute, route, signalOfLeaving } from '../../../platform/http/route.ts'
import { csvOfResults, linesOfResults } from './result-table.ts'
import type { ResultsService } from './results-service.ts'

/** Results of experiments and their planning, for the authenticated scope. */
export function registerExperimentResultRoutes(scope: FastifyInstance, service: ResultsService): void {
  rawRoute(scope, readExperimentResults, {
    async handler({ principal, params, query }, reply, { format, bare }) {
      const signal = signalOfLeaving(reply)
      const results = await service.read(principal, params.id, query.windows ?? 'complete', signal)
      reply.header('vary', 'accept').header('cache-control', 'no-store')
      if (format === 'json') return success(results)
      const rows = format === 'csv' ? csvOfResults(results) : linesOfResults(results)
      return bare ? reply.type(bareTypes[format]).send(rows) : success(rows)
    },
  })

  route(scope, planExperiment, async ({ body }) => service.plan(body))
}
