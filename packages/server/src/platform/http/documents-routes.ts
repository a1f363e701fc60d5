import { createHash } from 'node:crypto'
import { openApiDocument } from '@millrace/contract/openapi.ts'
import type { Operation } from '@millrace/contract/operation.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Addresses } from './documents/curl.ts'
import { contentSecurityPolicy } from './documents/page.ts'
import { referencePage } from './documents/reference-page.ts'
import { welcomePage, welcomeText } from './documents/welcome-page.ts'

export interface DocumentsDependencies {
  /** Operations of the interface; the documents leave out those without a route. */
  readonly operations: readonly Operation[]
  readonly version: string
  /** Asked at the first request, because a port that the system chose is known only then. */
  readonly addresses: () => Addresses
}

interface SentDocument {
  readonly body: Buffer
  readonly etag: string
}

function sentDocument(text: string): SentDocument {
  const body = Buffer.from(text)
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}

/** Fastify's patterns name their parameters in any way: only the places of them matter. */
function shapeOf(url: string): string {
  return url.replaceAll(/:\w+(\([^)]*\))?/g, ':')
}

/** The operations that have a route, in their order. */
function routedOperations(
  operations: readonly Operation[],
  routePatterns: ReadonlyMap<string, ReadonlySet<string>>,
): Operation[] {
  const routed = new Set(
    [...routePatterns].flatMap(([method, patterns]) =>
      [...patterns].map((url) => `${method} ${shapeOf(url)}`),
    ),
  )
  return operations.filter(({ method, url }) => routed.has(`${method} ${shapeOf(url)}`))
}

function isKnown(request: FastifyRequest, etag: string): boolean {
  const known = request.headers['if-none-match'] ?? ''
  return known.split(',').some((each) => each.trim().replace(/^W\//, '') === etag)
}

function send(request: FastifyRequest, reply: FastifyReply, { body, etag }: SentDocument): FastifyReply {
  reply.header('cache-control', 'no-cache').header('etag', etag)
  return isKnown(request, etag) ? reply.code(304).send() : reply.send(body)
}

function asPage(reply: FastifyReply): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', contentSecurityPolicy)
    .header('referrer-policy', 'no-referrer')
}

/**
 * The documents of the service (docs/interface.md, Run contract): the OpenAPI document, a readable page of it,
 * and a first page that links to both. Each is written once, at its first request.
 */
export function documentsRoutes({ operations, version, addresses }: DocumentsDependencies) {
  return async function routes(app: FastifyInstance): Promise<void> {
    const written = new Map<string, SentDocument>()
    const once = (name: string, write: () => string): SentDocument => {
      const known = written.get(name)
      if (known !== undefined) return known
      const document = sentDocument(write())
      written.set(name, document)
      return document
    }
    const routed = () => routedOperations(operations, app.routePatterns)
    const context = () => ({ addresses: addresses(), version })

    app.get('/v2/openapi.json', async (request, reply) => {
      const document = once('openapi', () =>
        JSON.stringify(openApiDocument(routed(), { version, ...addresses() })),
      )
      reply.header('content-type', 'application/json; charset=utf-8')
      // Editors and generators on other hosts read it; it holds no data of any company.
      reply.header('access-control-allow-origin', '*')
      return send(request, reply, document)
    })

    app.get('/docs', async (request, reply) =>
      send(
        request,
        asPage(reply),
        once('reference', () => referencePage(routed(), context())),
      ),
    )

    app.get('/', async (request, reply) => {
      reply.header('vary', 'Accept')
      if (request.headers.accept?.includes('text/html')) {
        return send(
          request,
          asPage(reply),
          once('welcome', () => welcomePage(context())),
        )
      }
      reply.header('content-type', 'text/plain; charset=utf-8')
      return send(
        request,
        reply,
        once('text', () => welcomeText(context())),
      )
    })
  }
}
