import { planExperiment, readExperimentResults } from '@millrace/contract/operations/experiment-results.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { success } from '../../../platform/http/envelope.ts'
import { rawRoute, route, signalOfLeaving } from '../../../platform/http/route.ts'
import type { Principal } from '../../identity/sessions/principal.ts'
import type { WantedResult } from '../../statistics/result-format.ts'
import { csvOfResults, linesOfResults } from './result-table.ts'
import type { ResultsService } from './results-service.ts'

/** How rows are asked for and sent, as of a query. */
export interface RowForms {
  /** @throws {DomainError} `notAcceptable`; `forbidden` for CSV without the permission to export */
  readonly readWanted: (request: {
    readonly principal: Principal
    readonly headers: FastifyRequest['headers']
    readonly query: { readonly format?: 'csv' }
  }) => WantedResult
  /** Content types of bare rows. */
  readonly bareTypes: Readonly<Record<'csv' | 'ndjson', string>>
}

/** Results of experiments and their planning, for the authenticated scope. */
export function registerExperimentResultRoutes(
  scope: FastifyInstance,
  service: ResultsService,
  { readWanted, bareTypes }: RowForms,
): void {
  rawRoute(scope, readExperimentResults, {
    async handler(request, reply) {
      const { principal, params, query } = request
      const { format, streamed } = readWanted(request)
      const signal = signalOfLeaving(reply)
      const results = await service.read(principal, params.id, query.windows ?? 'complete', signal)
      reply.header('vary', 'accept').header('cache-control', 'no-store')
      if (format === 'json') return success(results)
      const rows = format === 'csv' ? csvOfResults(results) : linesOfResults(results)
      return streamed ? reply.type(bareTypes[format]).send(rows) : success(rows)
    },
  })

  route(scope, planExperiment, async ({ body }) => service.plan(body))
}
