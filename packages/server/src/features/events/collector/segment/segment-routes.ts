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
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { rawRoute } from '../../../../platform/http/route.ts'
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
}

const success = JSON.stringify({ success: true })

/** Calls in the Segment shape, mapped to events and then collected as any others are. */
export function segmentRoutes(app: FastifyInstance, dependencies: SegmentRouteDependencies): void {
  const { collector, clock, admission, takeBody, headers } = dependencies

  async function find(id: string, address: string): Promise<CollectorDatasource> {
    const datasource = await collector.find(id, address)
    if (datasource === undefined) throw new DomainError('datasourceNotFound', { id })
    return datasource
  }

  /** @param type of the one call that the body is; undefined for a batch */
  const collect =
    (type?: CallType) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      if (admission.isFull()) throw overloaded()
      const basicKey = readBasicKey(request.headers.authorization)
      let datasource = basicKey === undefined ? undefined : await find(basicKey, request.ip)
      try {
        const outcome = await takeBody(request, async (bytes) => {
          const body = objectOf(parseJsonBody(bytes, readContentType(request.sentContentType)))
          const key = readWriteKey(body, basicKey)
          datasource ??= await find(key, request.ip)
          const events = mapBody(body, type, { companyId: datasource.companyId, receivedAt: clock.now() })
          return await collector.collect(datasource, events, request.headers['user-agent'], request.ip)
        })
        if (outcome === undefined) return reply.hijack()
        return await reply
          .code(outcome === 'bot' ? 202 : 200)
          .headers(headers)
          .type('application/json; charset=utf-8')
          .send(success)
      } catch (error) {
        if (datasource !== undefined && error instanceof DomainError) collector.refuse(datasource, error)
        throw error
      }
    }

  rawRoute(app, sendSegmentBatch, { handler: collect() })
  rawRoute(app, importSegmentBatch, { handler: collect() })
  rawRoute(app, sendSegmentTrack, { handler: collect('track') })
  rawRoute(app, sendSegmentPage, { handler: collect('page') })
  rawRoute(app, sendSegmentScreen, { handler: collect('screen') })
  rawRoute(app, sendSegmentIdentify, { handler: collect('identify') })
  rawRoute(app, sendSegmentGroup, { handler: collect('group') })
  rawRoute(app, sendSegmentAlias, { handler: collect('alias') })
  app.post(shortBatchUrl, collect())
  for (const type of callNames) app.post(shortUrlOf(type), collect(type))
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
