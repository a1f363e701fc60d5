import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { keepBody } from './kept-body.ts'

/**
 * Validates each reply of a server that a test builds, and each that a test fetches from a running service, against
 * the schemas of its operation. Files of a worker share this module.
 */
const violations = new Set<string>()
const report = (violation: string): void => void violations.add(violation)

// Loaded with the first reply: most test files have none.
const load = () => import('./reply-check.ts')
let checks = Promise.resolve()

/** The violations since the last call. */
export async function takeViolations(): Promise<string[]> {
  await checks
  const found = [...violations]
  violations.clear()
  return found
}

subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  let check: Awaited<ReturnType<typeof load>> | undefined
  fastify.addHook('onReady', async () => {
    check = await load()
  })
  fastify.addHook('onRequest', (request, reply, done) => {
    check?.watchReply(request, reply, report)
    done()
  })
})

interface Exchange {
  readonly request: { readonly method: string; readonly path: string }
}
interface Fetched {
  readonly status: number
  readonly contentType: string
  readonly coding: string
  readonly body: ReturnType<typeof keepBody>
}

// What `fetch` receives, as undici tells it (its documentation, Diagnostics Channel Support).
const fetched = new WeakMap<Exchange['request'], Fetched>()
subscribe('undici:request:headers', (message) => {
  const { request, response } = message as Exchange & {
    response: { statusCode: number; headers: readonly Buffer[] }
  }
  if (!/^\/(v1|v2|collect)\//.test(request.path)) return
  const headers = response.headers.map(String)
  const headerOf = (wanted: string): string => {
    const place = headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === wanted)
    return place < 0 ? '' : (headers[place + 1] ?? '')
  }
  fetched.set(request, {
    status: response.statusCode,
    contentType: headerOf('content-type'),
    coding: headerOf('content-encoding'),
    body: keepBody(),
  })
})
subscribe('undici:request:bodyChunkReceived', (message) => {
  const { request, chunk } = message as Exchange & { chunk: Uint8Array }
  fetched.get(request)?.body.add(chunk)
})
subscribe('undici:request:trailers', (message) => {
  const { request } = message as Exchange
  const reply = fetched.get(request)
  if (!reply) return
  checks = checks.then(async () => {
    const { faultsOfReceived } = await load()
    const faults = faultsOfReceived(request.method, request.path, {
      ...reply,
      body: reply.body.text(reply.coding),
    })
    faults.forEach(report)
  })
})
