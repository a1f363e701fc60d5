import type { IncomingMessage } from 'node:http'
import { collectEvents } from '@millrace/contract/operations/collector.ts'
import type { FastifyInstance } from 'fastify'
import { type Clock, systemClock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { type Exchange, exchangeRoute } from '../../../platform/http/exchange.ts'
import { isId, normalizeId } from '../../../platform/ids.ts'
import { type AdmissionLimits, createAdmission, overloaded } from './admission.ts'
import { readContentType } from './body/collector-body.ts'
import { discardedBytes } from './body/read-body.ts'
import { createBodyTaker } from './body/take-body.ts'
import type { CollectorService } from './collector-service.ts'
import { segmentRoutes, segmentUrls } from './segment/segment-routes.ts'

/** Any page may send events and none may send credentials; pages that isolate themselves may too. */
const openHeaders = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
} as const

const emptyReply = ['content-length', '0', ...Object.entries(openHeaders).flat()]
const lastReply = [...emptyReply, 'connection', 'close']

/** Seconds for which a browser need not ask again. */
const preflightSeconds = 86_400

/** Operation 19, and the same in the Segment shape. */
export function collectorRoutes(dependencies: {
  collector: CollectorService
  clock?: Clock
  /** What requests may hold at once; see `Admission`. */
  limits?: AdmissionLimits
}) {
  const { collector, clock = systemClock } = dependencies
  const admission = createAdmission(dependencies.limits)
  const takeBody = createBodyTaker(admission)

  async function collect(exchange: Exchange): Promise<void> {
    const { request, response, address } = exchange
    const id = readId(exchange.part)
    if (admission.isFull()) throw overloaded()
    const found = collector.find(id, address)
    const datasource = found instanceof Promise ? await found : found
    if (datasource === undefined) throw new DomainError('datasourceNotFound', { id })
    try {
      const { headers } = request
      const outcome = await takeBody(request, (body) => {
        const form = { shape: 'events', type: readContentType(headers['content-type']) } as const
        return collector.collectBody(datasource, body, form, headers['user-agent'], address)
      })
      if (outcome === undefined) return
      response.writeHead(outcome === 'bot' ? 202 : 200, exchange.isLast() ? lastReply : emptyReply)
      response.end()
    } catch (error) {
      if (error instanceof DomainError) collector.refuse(datasource, error)
      throw error
    }
  }

  return async function routes(app: FastifyInstance): Promise<void> {
    app.addHook('onListen', () => void collector.loadCountries())
    exchangeRoute(app, collectEvents, { answer: collect, failureHeaders })
    segmentRoutes(app, { collector, clock, admission, takeBody, failureHeaders, headers: openHeaders })
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

function readId(datasourceId: string): string {
  if (isId(datasourceId)) return normalizeId(datasourceId)
  throw new DomainError('invalidDatasourceId', { id: datasourceId.slice(0, 100) })
}

function failureHeaders(error: DomainError, request: IncomingMessage): Record<string, string> {
  const isWithoutKey = error.errorName === 'writeKeyMissing'
  return {
    ...openHeaders,
    ...(isWithoutKey && { 'www-authenticate': 'Basic realm="collector", charset="UTF-8"' }),
    ...(isEndless(request, error) && { connection: 'close' }),
  }
}

/** What is still to come of a body that is far too large is not worth reading. */
function isEndless(request: IncomingMessage, error: DomainError): boolean {
  if (request.complete) return false
  return (
    error.errorName === 'eventsTooLarge' || Number(request.headers['content-length'] ?? 0) > discardedBytes
  )
}
