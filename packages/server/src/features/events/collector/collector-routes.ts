import type { IncomingMessage } from 'node:http'
import { collectEvents } from '@millrace/contract/operations/collector.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Clock, systemClock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { rawRoute } from '../../../platform/http/route.ts'
import { isId, normalizeId } from '../../../platform/ids.ts'
import { type AdmissionLimits, createAdmission, overloaded } from './admission.ts'
import { parseBody, readContentType } from './body/collector-body.ts'
import { discardedBytes } from './body/read-body.ts'
import { createBodyTaker } from './body/take-body.ts'
import type { CollectorService } from './collector-service.ts'
import { segmentRoutes, segmentUrls } from './segment/segment-routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** `Content-Type` as it was sent to the collector. */
    sentContentType: string | undefined
  }
}

/** Any page may send events and none may send credentials; pages that isolate themselves may too. */
const openHeaders = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
} as const

const emptyReply = ['content-length', '0', ...Object.entries(openHeaders).flat()]
const lastReply = [...emptyReply, 'connection', 'close']

/** Seconds for which a browser need not ask again. */
const preflightSeconds = 86_400

/**
 * Operation 19, and the same in the Segment shape. Fastify routes the request and answers every failure; the body is
 * read and the success is written on Node's own objects, because that is most of what an event costs.
 */
export function collectorRoutes(dependencies: {
  collector: CollectorService
  clock?: Clock
  /** What requests may hold at once; see `Admission`. */
  limits?: AdmissionLimits
}) {
  const { collector, clock = systemClock } = dependencies
  const admission = createAdmission(dependencies.limits)
  const takeBody = createBodyTaker(admission)

  async function collect(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const id = readId(request)
    if (admission.isFull()) throw overloaded()
    const found = collector.find(id, request.ip)
    const datasource = found instanceof Promise ? await found : found
    if (datasource === undefined) throw new DomainError('datasourceNotFound', { id })
    try {
      const outcome = await takeBody(request, (body) => {
        const events = parseBody(body, readContentType(request.sentContentType))
        return collector.collect(datasource, events, request.headers['user-agent'], request.ip)
      })
      reply.hijack()
      if (outcome === undefined) return reply
      reply.raw.writeHead(outcome === 'bot' ? 202 : 200, request.server.isClosing() ? lastReply : emptyReply)
      reply.raw.end()
      return reply
    } catch (error) {
      if (error instanceof DomainError) collector.refuse(datasource, error)
      throw error
    }
  }

  return async function routes(app: FastifyInstance): Promise<void> {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    // A logger of its own for each request is work for lines that are never written.
    app.setChildLoggerFactory((logger) => logger)
    app.decorateRequest('sentContentType', undefined)
    app.addHook('onRequest', (request, _reply, done) => {
      // Senders name content types that are none, and Fastify would refuse them before the handler.
      request.sentContentType = request.headers['content-type']
      request.raw.headers['content-type'] = undefined
      done()
    })
    app.addHook('onError', async (request, reply, error) => {
      reply.headers(openHeaders)
      if (error instanceof DomainError && error.errorName === 'writeKeyMissing')
        reply.header('www-authenticate', 'Basic realm="collector", charset="UTF-8"')
      if (isEndless(request.raw, error)) reply.header('connection', 'close')
    })
    app.addHook('onListen', () => void collector.loadCountries())
    rawRoute(app, collectEvents, { handler: collect })
    segmentRoutes(app, { collector, clock, admission, takeBody, headers: openHeaders })
    for (const url of [collectEvents.url, ...segmentUrls])
      app.options(url, (request, reply) => {
        const asked = request.headers['access-control-request-headers']
        return reply
          .code(204)
          .headers({
            ...openHeaders,
            'access-control-allow-methods': 'POST',
            'access-control-allow-headers': asked ?? '*',
            'access-control-max-age': String(preflightSeconds),
          })
          .send()
      })
  }
}

function readId(request: FastifyRequest): string {
  const { datasourceId = '' } = request.params as { datasourceId?: string }
  if (isId(datasourceId)) return normalizeId(datasourceId)
  throw new DomainError('invalidDatasourceId', { id: datasourceId.slice(0, 100) })
}

/** What is still to come of a body that is far too large is not worth reading. */
function isEndless(request: IncomingMessage, error: Error): boolean {
  if (request.complete) return false
  const isTooLarge = error instanceof DomainError && error.errorName === 'eventsTooLarge'
  return isTooLarge || Number(request.headers['content-length'] ?? 0) > discardedBytes
}
