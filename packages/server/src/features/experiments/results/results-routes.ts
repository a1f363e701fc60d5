import { planExperiment, readExperimentResults } from '@millrace/contract/operations/experiment-results.ts'
import type { FastifyInstance } from 'fastify'
import { success } from '../../../platform/http/envelope.ts'
import { rawRoute, route, signalOfLeaving } from '../../../platform/http/route.ts'
import type { Principal } from '../../identity/sessions/principal.ts'
import type { WantedResult } from '../../statistics/result-format.ts'
import { csvOfResults, linesOfResults } from './result-table.ts'
import type { ResultsService } from './results-service.ts'

export interface ResultForms {
  /**
   * The form in which a request wants rows, as of a query.
   * @throws {DomainError} `notAcceptable`; `forbidden` without the permission to export
   */
  readonly readWanted: (
    principal: Principal,
    accept: string | undefined,
    format: 'csv' | undefined,
  ) => WantedResult
  /** Content types of bare rows. */
  readonly bareTypes: Readonly<Record<'csv' | 'ndjson', string>>
}

/** Results of experiments and their planning, for the authenticated scope. */
export function registerExperimentResultRoutes(
  scope: FastifyInstance,
  service: ResultsService,
  { readWanted, bareTypes }: ResultForms,
): void {
  rawRoute(scope, readExperimentResults, {
    async handler({ principal, params: { id }, query, headers }, reply) {
      const { format, streamed } = readWanted(principal, headers.accept, query.format)
      const signal = signalOfLeaving(reply)
      const results = await service.read(principal, { id, windows: query.windows ?? 'complete', signal })
      reply.header('vary', 'accept').header('cache-control', 'no-store')
      if (format === 'json') return success(results)
      const rows = format === 'csv' ? csvOfResults(results) : linesOfResults(results)
      return streamed ? reply.type(bareTypes[format]).send(rows) : success(rows)
    },
  })

  route(scope, planExperiment, async ({ body }) => service.plan(body))
}
