import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import { newId } from '../ids.ts'
import type { Logger } from '../logger.ts'
import { answerBrokenRequest, headerBytes, headerLines } from './broken-requests.ts'
import { closeInTime } from './closing.ts'
import { compressReplies } from './compression.ts'
import { connectionsWithin, descriptorLimit, limitConnections } from './connection-limit.ts'
import { type CrossOriginOptions, createCrossOrigin } from './cross-origin.ts'
import { standInFront } from './exchange.ts'
import { answerUnroutedAtOnce, useFailureReplies } from './failures.ts'
import { watchForwarding } from './forwarding.ts'
import { takeJsonBodies } from './json-body.ts'
import { isTooMuchToDrain } from './request-framing.ts'
import { compileValidator } from './validation.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Every routed pattern by method, for 405 replies and tests. */
    routePatterns: Map<string, Set<string>>
    /** Address under which users reach the service, where the operator has given it. */
    publicUrl: string | undefined
  }
}

/** Of an operation that names no query parameters: it takes none (docs/interface.md, Envelope). */
const noQuery = { type: 'object', properties: {}, additionalProperties: false }

/** Largest body of an interface call; the collector sets its own bound. */
const interfaceBodyBytes = 1024 * 1024

/** Timeouts of a connection in milliseconds. */
export interface ServerTimeouts {
  /** From the connection or the first byte to the end of the headers. */
  readonly headers: number
  /** From the first byte to the end of the body. */
  readonly request: number
  /** Without a byte in either direction while a request is answered: a reply that the client does not read. */
  readonly silence: number
  /** Between two requests. */
  readonly idle: number
  /** Between two looks at the connections. */
  readonly check: number
  /** From the call to close until requests under way are cut off. */
  readonly closing: number
}

/** The silence is longer than the longest query; the idle time longer than that of usual proxies. */
const defaultTimeouts: ServerTimeouts = {
  headers: 10_000,
  request: 30_000,
  silence: 120_000,
  idle: 72_000,
  check: 5_000,
  closing: 15_000,
}

/**
 * A Fastify instance without routes: bounded times, sizes and headers, strict validation, CORS if wanted, and every
 * failure in the fail envelope.
 */
export function createHttpServer(dependencies: {
  logger: Logger
  trustedProxies: readonly string[]
  /** Address under which users reach the service. */
  publicUrl?: string | undefined
  timeouts?: ServerTimeouts
  /** Beyond it connections are closed as they come; default by the limit of the process. */
  maxConnections?: number
  /** Default: no CORS but what a route itself allows. */
  crossOrigin?: CrossOriginOptions
}): FastifyInstance {
  const { timeouts = defaultTimeouts, maxConnections = connectionsWithin(descriptorLimit()) } = dependencies
  const crossOrigin = dependencies.crossOrigin && createCrossOrigin(dependencies.crossOrigin)
  const app = fastify({
    loggerInstance: dependencies.logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: interfaceBodyBytes,
    requestTimeout: timeouts.request,
    connectionTimeout: timeouts.silence,
    keepAliveTimeout: timeouts.idle,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    trustProxy: dependencies.trustedProxies.length > 0 ? [...dependencies.trustedProxies] : false,
    genReqId: () => newId(),
    routerOptions: { maxParamLength: 2048, ignoreTrailingSlash: false, caseSensitive: true },
    frameworkErrors: (error, request, reply) => {
      const answer = () => void app.errorHandler.call(app, error, request, reply as never)
      // No hook sees these replies.
      if (crossOrigin) crossOrigin.markReply(request as never, reply as never).then(answer, answer)
      else answer()
    },
    clientErrorHandler: answerBrokenRequest,
    http: {
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: timeouts.check,
      maxHeaderSize: headerBytes,
      // Node answers with an empty body; ours is in the envelope.
      requireHostHeader: false,
    },
  })
  app.server.maxHeadersCount = headerLines
  limitConnections(app.server, maxConnections, dependencies.logger)
  // An expectation that is unknown may be ignored (RFC 9110 10.1.1); Node answers 417 with an empty body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  closeInTime(app, timeouts.closing)
  app.decorate('publicUrl', dependencies.publicUrl)
  const watch = watchForwarding({ publicUrl: undefined, ...dependencies })
  standInFront(app, { trustedProxies: dependencies.trustedProxies, watch })
  app.addHook('onRequest', (request, _reply, done) => {
    watch(request.raw)
    done()
  })
  app.decorate('routePatterns', new Map<string, Set<string>>())
  app.addHook('onRoute', (route) => {
    const { scope } = route as { scope?: string }
    if (scope === 'authenticated' && !route.schema?.querystring)
      route.schema = { ...route.schema, querystring: noQuery }
    for (const method of [route.method].flat()) {
      const patterns = app.routePatterns.get(method) ?? new Set<string>()
      app.routePatterns.set(method, patterns.add(route.url))
    }
  })
  app.setValidatorCompiler(compileValidator)
  // Replies are written as the handlers give them: tests validate them against their schemas, where a serializer
  // would hide a missing or superfluous field.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  app.removeAllContentTypeParsers()
  takeJsonBodies(app, 'application/json')
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    if (app.isClosing() || isTooMuchToDrain(request.raw)) reply.header('connection', 'close')
  })
  crossOrigin?.markReplies(app)
  compressReplies(app)
  useFailureReplies(app)
  crossOrigin?.answerPreflights(app)
  answerUnroutedAtOnce(app)
  return app
}
