import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import { newId } from '../ids.ts'
import type { Logger } from '../logger.ts'
import { useFailureReplies } from './failures.ts'
import { parseJsonBody } from './json-body.ts'
import { createValidatorCompiler } from './validation.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Every routed pattern by method: for 405 replies, the document and the tests over the whole interface. */
    routePatterns: Map<string, Set<string>>
  }
}

/** Largest body of an interface call; the collector sets its own bound. */
const interfaceBodyBytes = 1024 * 1024

/**
 * A Fastify instance with the house's rules for requests: bounded times, sizes and headers, strict
 * validation, every failure in the fail envelope. It routes nothing.
 */
export function createHttpServer(dependencies: {
  logger: Logger
  trustedProxies: readonly string[]
}): FastifyInstance {
  const app = fastify({
    loggerInstance: dependencies.logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: interfaceBodyBytes,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    trustProxy: dependencies.trustedProxies.length > 0 ? [...dependencies.trustedProxies] : false,
    genReqId: () => newId(),
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false, caseSensitive: true },
    frameworkErrors: (error, request, reply) => {
      void app.errorHandler.call(app, error, request, reply as never)
    },
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 5_000, maxHeaderSize: 16_384 },
  })
  app.server.maxHeadersCount = 200
  app.decorate('routePatterns', new Map<string, Set<string>>())
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const patterns = app.routePatterns.get(method) ?? new Set<string>()
      app.routePatterns.set(method, patterns.add(route.url))
    }
  })
  app.setValidatorCompiler(createValidatorCompiler())
  // Replies are written as the handlers give them: a test over the whole interface holds them against their
  // schemas, where a serializer would hide a missing or superfluous field.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, body.length === 0 ? undefined : parseJsonBody(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  app.addHook('onSend', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
  })
  useFailureReplies(app)
  return app
}
