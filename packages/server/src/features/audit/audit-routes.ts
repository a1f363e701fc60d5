import { Readable } from 'node:stream'
import { listAuditEntries } from '@millrace/contract/operations/audit.ts'
import type { FastifyInstance } from 'fastify'
import { bareTypes } from '../../platform/http/answer-form.ts'
import { paginated } from '../../platform/http/envelope.ts'
import { rawRoute } from '../../platform/http/route.ts'
import type { AuditService } from './audit-service.ts'

/** The audit log, for the authenticated scope. */
export function registerAuditRoutes(scope: FastifyInstance, service: AuditService): void {
  rawRoute(scope, listAuditEntries, {
    async handler({ principal, query }, reply, form) {
      const { page, perPage, category, action, actorId, targetId, outcome, from, to } = query
      const within = { from: instantOf(from), to: instantOf(to) }
      const filter = { category, action, actorId, targetId, outcome, ...within }
      reply.header('vary', 'accept')
      if (form.format === 'json') {
        const listed = await service.list(principal, filter, { page, perPage })
        return paginated({ ...listed, page, perPage })
      }
      const pieces = service.export(principal, filter)
      // The first piece is taken here, so that a refusal is answered as one.
      const first = await pieces.next()
      reply.header('content-disposition', 'attachment; filename="audit-log.csv"')
      return reply.type(bareTypes.csv).send(Readable.from(joined(first.value, pieces)))
    },
  })
}

async function* joined(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first
  yield* rest
}

function instantOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}
