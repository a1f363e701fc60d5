import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { varyBy } from './compression.ts'

export interface CrossOriginOptions {
  /** Whether pages of this origin may read answers. Never throws. */
  readonly allows: (origin: string) => Promise<boolean>
  /** Whether an address, the pattern of a route where there is one, is for pages of other origins at all. */
  readonly covers: (path: string) => boolean
}

/**
 * Everything that authenticates is a header that a page sets by itself. Cookies are none of it: no answer says
 * `Access-Control-Allow-Credentials`.
 */
const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type, If-Match, Idempotency-Key',
  'access-control-max-age': '600',
} as const

const exposedHeaders = 'Retry-After, ETag, WWW-Authenticate, Location, X-Millrace-Warnings'

const routePathOf = ({ routeOptions, url }: FastifyRequest): string =>
  routeOptions.url ?? url.split('?', 1)[0] ?? url

/**
 * Answers pages of other origins (CORS): every reply to an address that is covered, a failure too, names an origin
 * that is allowed. It decides who may read, not who may ask: that is for the token alone.
 */
export function createCrossOrigin({ allows, covers }: CrossOriginOptions) {
  async function markReply(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    if (!covers(routePathOf(request))) return false
    varyBy(reply, 'Origin')
    const { origin } = request.headers
    if (origin === undefined || origin === 'null' || !(await allows(origin))) return false
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': exposedHeaders,
    })
    return true
  }

  return {
    /** For a reply that no hook sees. */
    markReply,

    /** Marks every reply of the app. */
    markReplies(app: FastifyInstance): void {
      app.addHook('onSend', async (request, reply) => {
        await markReply(request, reply)
      })
    },

    /** Answers preflights of allowed origins; others are answered like any request with the method OPTIONS. */
    answerPreflights(app: FastifyInstance): void {
      app.addHook('onRequest', (request, reply, done) => {
        const { method, headers } = request
        const asks = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
        if (!asks || headers.origin === undefined || !covers(routePathOf(request))) return done()
        markReply(request, reply).then((isAllowed) => {
          if (isAllowed) reply.code(204).headers(preflightHeaders).send()
          else done()
        }, done)
      })
    },
  }
}
