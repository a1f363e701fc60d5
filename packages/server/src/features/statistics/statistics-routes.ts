import { Readable } from 'node:stream'
import { readStatisticsMeta, runQuery } from '@millrace/contract/operations/statistics.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { DomainError } from '../../platform/errors.ts'
import { success } from '../../platform/http/envelope.ts'
import type { Principal } from '../../platform/principal.ts'
import type { ResultFormat } from './query/shape.ts'
import { bareTypes, readWantedResult } from './result-format.ts'
import type { StatisticsService } from './statistics-service.ts'

/** Operations 4 and 5, for the authenticated scope. */
export function registerStatisticsRoutes(app: FastifyInstance, service: StatisticsService): void {
  app.route<{ Body: Query; Querystring: { format?: 'csv' } }>({
    ...runQuery,
    async handler(request, reply) {
      const { format, streamed } = readWantedResult(request.headers.accept, request.query.format)
      assertMayRead(request.principal, format)
      const signal = signalOfLeaving(reply)
      const { companyId } = request.principal
      const pieces = service.answer({ query: request.body, companyId, format, signal })
      reply.header('vary', 'accept').header('cache-control', 'no-store')
      if (format !== 'json' && streamed) {
        return reply.type(bareTypes[format]).send(await readableOf(pieces, signal))
      }
      let data = ''
      for await (const piece of pieces) data += piece
      return success(data)
    },
  })

  app.route({
    ...readStatisticsMeta,
    async handler(request, reply) {
      reply.header('cache-control', 'no-store')
      return success(await service.describe(request.principal.companyId))
    },
  })
}

/** CSV leaves the product with the data, which a role can withhold (decisions.md, Who may call). */
function assertMayRead(principal: Principal, format: ResultFormat): void {
  if (format !== 'csv' || principal.can('statistics', 'export')) return
  const permission = { resource: 'statistics', action: 'export' } as const
  throw new DomainError('forbidden', permission, {
    message: 'Your role does not allow exports: CSV needs the permission Statistics: export',
  })
}

/** Aborted when the connection closes before the reply is complete. */
function signalOfLeaving(reply: FastifyReply): AbortSignal {
  const left = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) left.abort(new DomainError('requestTimeout', {}))
  })
  return left.signal
}

/** The pieces as a stream that begins once the first is there: what fails until then is answered as a failure. */
async function readableOf(pieces: AsyncGenerator<string>, signal: AbortSignal): Promise<Readable> {
  const first = await pieces.next()
  // A stream that nobody came to read ends none of its generators.
  signal.addEventListener('abort', () => void pieces.return(undefined), { once: true })
  async function* all(): AsyncGenerator<string> {
    if (!first.done) yield first.value
    yield* pieces
  }
  return Readable.from(all(), { objectMode: false })
}
