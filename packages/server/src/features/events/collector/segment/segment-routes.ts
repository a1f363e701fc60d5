import {
  importSegmentBatch,
  sendSegmentAlias,
  sendSegmentBatch,
  sendSegmentGroup,
  sendSegmentIdentify,
  sendSegmentPage,
  sendSegmentScreen,
  sendSegmentTrack,
} from '@millrace/contract/operations/segment.ts'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { type Exchange, type ExchangeRoute, exchangeRoute } from '../../../../platform/http/exchange.ts'
import { type Admission, overloaded } from '../admission.ts'
import { parseJsonBody, readContentType } from '../body/collector-body.ts'
import type { TakeBody } from '../body/take-body.ts'
import type { CollectorService } from '../collector-service.ts'
import type { CollectorDatasource } from '../datasource-cache.ts'
import { type CallType, callNames } from './map-call.ts'
import { mapBody, objectOf } from './segment-body.ts'
import { readBasicKey, readWriteKey } from './write-key.ts'

export interface SegmentRouteDependencies {
  readonly collector: CollectorService
  readonly clock: Clock
  readonly admission: Admission
  readonly takeBody: TakeBody
  /** Of every answer. */
  readonly headers: Readonly<Record<string, string>>
  readonly failureHeaders: ExchangeRoute['failureHeaders'] & {}
}

const success = JSON.stringify({ success: true })

/** Calls in the Segment shape, mapped to events and then collected as any others are. */
export function segmentRoutes(app: FastifyInstance, dependencies: SegmentRouteDependencies): void {
  const { collector, clock, admission, takeBody, failureHeaders } = dependencies
  const replyHeaders = {
    ...dependencies.headers,
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-length': String(Buffer.byteLength(success)),
  }

  async function find(id: string, address: string): Promise<CollectorDatasource> {
    const datasource = await collector.find(id, address)
    if (datasource === undefined) throw new DomainError('datasourceNotFound', { id })
    return datasource
  }

  /** @param type of the one call that the body is; undefined for a batch */
  const collect = (type?: CallType) => ({
    failureHeaders,
    async answer({ request, response, address, isLast }: Exchange): Promise<void> {
      if (admission.isFull()) throw overloaded()
      const { authorization, 'content-type': contentType, 'user-agent': userAgent } = request.headers
      const basicKey = readBasicKey(authorization)
      let datasource = basicKey === undefined ? undefined : await find(basicKey, address)
      try {
        const outcome = await takeBody(request, async (bytes) => {
          const bodyType = readContentType(contentType)
          if (datasource !== undefined && basicKey !== undefined) {
            const form = { shape: 'calls', type: bodyType, call: type, key: basicKey } as const
            return await collector.collectBody(datasource, bytes, form, userAgent, address)
          }
          const body = objectOf(parseJsonBody(bytes, bodyType))
          datasource = await find(readWriteKey(body, basicKey), address)
          const events = mapBody(body, type, { companyId: datasource.companyId, receivedAt: clock.now() })
          return await collector.collect(datasource, events, userAgent, address)
        })
        if (outcome === undefined) return
        response.writeHead(outcome === 'bot' ? 202 : 200, {
          ...replyHeaders,
          ...(isLast() && { connection: 'close' }),
        })
        response.end(success)
      } catch (error) {
        if (datasource !== undefined && error instanceof DomainError) collector.refuse(datasource, error)
        throw error
      }
    },
  })

  exchangeRoute(app, sendSegmentBatch, collect())
  exchangeRoute(app, importSegmentBatch, collect())
  exchangeRoute(app, sendSegmentTrack, collect('track'))
  exchangeRoute(app, sendSegmentPage, collect('page'))
  exchangeRoute(app, sendSegmentScreen, collect('screen'))
  exchangeRoute(app, sendSegmentIdentify, collect('identify'))
  exchangeRoute(app, sendSegmentGroup, collect('group'))
  exchangeRoute(app, sendSegmentAlias, collect('alias'))
  exchangeRoute(app, { method: 'POST', url: shortBatchUrl }, collect())
  for (const type of callNames) exchangeRoute(app, { method: 'POST', url: shortUrlOf(type) }, collect(type))
}

// Clients of browsers and phones call each by its first letter.
const shortBatchUrl = '/v1/b'
const shortUrlOf = (type: CallType): string => `/v1/${type.charAt(0)}`

/** Every address that takes calls. */
export const segmentUrls: readonly string[] = [
  ...['batch', 'import', ...callNames].map((name) => `/v1/${name}`),
  shortBatchUrl,
  ...callNames.map(shortUrlOf),
]
