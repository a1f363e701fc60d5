import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ActivityFeed } from '../../src/features/events/activity/activity-feed.ts'
import type { AdmissionLimits } from '../../src/features/events/collector/admission.ts'
import { collectorRoutes } from '../../src/features/events/collector/collector-routes.ts'
import {
  type CollectorService,
  createCollectorService,
} from '../../src/features/events/collector/collector-service.ts'
import type { CollectorDatasource } from '../../src/features/events/collector/datasource-cache.ts'
import { createCountryDatabase } from '../../src/features/events/collector/senders/country-database.ts'
import type { ValidationThreads } from '../../src/features/events/collector/threads/validation-threads.ts'
import type { RefusedPersons } from '../../src/features/events/persons/refused-persons.ts'
import { createHttpServer } from '../../src/platform/http/server.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { EventLog } from '../../src/platform/stores/event-log.ts'
import { openSegmentLog } from '../../src/platform/stores/segment-log.ts'

export const companyId = '65f0c0ffee5ca1ab1e0ddba1'
export const datasourceId = '65f0c0ffee5ca1ab1e0ddba2'
export const startTime = Date.UTC(2026, 0, 15, 12)

/** A row of the event log with its short keys; see event-row.ts. */
export type Row = Record<string, unknown> & { q: number; z: string }

export interface Reply {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

let counter = 0

/** A complete event with an id of its own; every field can be replaced, and left out by undefined. */
export function event(fields: Record<string, unknown> = {}): Record<string, unknown> {
  counter++
  return {
    key: companyId,
    name: 'product_page',
    url: 'https://shop.example/p/1',
    tmpId: 'device-1',
    data: { ids: ['A'] },
    eventId: `event-${counter}`,
    v: 1,
    ...fields,
  }
}

/** A collector of its own on a real event log, behind a real socket; datasources, clock and log are in the test's hands. */
export async function startCollector(
  options: {
    log?: Pick<EventLog, 'reserve' | 'append'>
    limits?: AdmissionLimits
    trustedProxies?: readonly string[]
    threads?: ValidationThreads
    /** Of whom no event is taken. */
    refusedBy?: (companyId: string) => RefusedPersons | undefined
    activity?: ActivityFeed
  } = {},
) {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-collector-'))
  const segmentLog = await openSegmentLog({ directory: join(directory, 'log') })
  const datasources = new Map<string, CollectorDatasource>()
  const world = { now: startTime, databaseDown: false, asked: 0 }
  datasources.set(datasourceId, { id: datasourceId, companyId, active: true, countries: true })

  const collector: CollectorService = createCollectorService({
    countries: createCountryDatabase({ logger: silentLogger }),
    log: options.log ?? segmentLog,
    clock: { now: () => world.now },
    logger: silentLogger,
    ...(options.threads && { threads: options.threads }),
    erased: { refusedBy: options.refusedBy ?? (() => undefined) },
    ...(options.activity && { activity: options.activity }),
    async findDatasource(id) {
      world.asked++
      if (world.databaseDown) throw new Error('the database is down')
      return datasources.get(id)
    },
  })
  const app = createHttpServer({ logger: silentLogger, trustedProxies: options.trustedProxies ?? [] })
  await app.register(collectorRoutes({ collector, limits: options.limits ?? {} }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo

  /** Sends these headers and bytes: nothing is added but Host, and the length of a body that is not chunked. */
  function send(request: {
    method?: string
    path?: string
    headers?: Record<string, string>
    body?: string | Buffer
  }): Promise<Reply> {
    const { method = 'POST', path = `/collect/${datasourceId}/tracker`, headers = {}, body = '' } = request
    const isSized = body.length > 0 && headers['transfer-encoding'] === undefined
    const sent = isSized ? { 'content-length': String(Buffer.byteLength(body)), ...headers } : headers
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest({ port, method, path, headers: sent }, (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        )
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  /** Every row in the log since the last call. */
  let position = segmentLog.start()
  async function rows(): Promise<Row[]> {
    const found: Row[] = []
    for (;;) {
      const batch = await segmentLog.read(position, 64 * 1024 * 1024)
      if (batch === undefined) return found
      position = batch.next
      const lines = batch.payload.toString().trimEnd().split('\n')
      found.push(...lines.map((line) => JSON.parse(line) as Row))
    }
  }

  return {
    world,
    datasources,
    collector,
    app,
    port,
    send,
    rows,
    /** Sends events as JSON and answers the status. */
    async post(events: unknown, headers: Record<string, string> = {}): Promise<number> {
      const reply = await send({
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(events),
      })
      return reply.status
    },
    async stop(): Promise<void> {
      await app.close()
      await collector.close()
      await segmentLog.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
