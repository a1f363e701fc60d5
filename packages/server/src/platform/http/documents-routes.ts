import type { Operation } from '@millrace/contract/operation.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../errors.ts'
import { type KeptBody, keptBody, sendKept, weakTagOf } from './compression.ts'
import { type Addresses, publicUrlOf } from './documents/curl.ts'
import { contentSecurityPolicy } from './documents/page.ts'
import type { LibraryGroup } from './documents/page-library.ts'
import { matchesEntityTag } from './entity-tag.ts'

/** What writes the documents is loaded at the first request for one. */
async function loadPages() {
  const [
    { openApiDocument },
    { readPages, readPicture },
    { guidePage, unknownGuidePage },
    { llmsFullText, llmsText },
    { referencePage },
    { welcomeText },
  ] = await Promise.all([
    import('@millrace/contract/openapi.ts'),
    import('./documents/page-library.ts'),
    import('./documents/guide-page.ts'),
    import('./documents/llms-text.ts'),
    import('./documents/reference-page.ts'),
    import('./documents/welcome-text.ts'),
  ])
  return {
    openApiDocument,
    readPages,
    readPicture,
    guidePage,
    unknownGuidePage,
    llmsFullText,
    llmsText,
    referencePage,
    welcomeText,
  }
}
type Pages = Awaited<ReturnType<typeof loadPages>>

export interface DocumentsDependencies {
  /** Operations of the interface; the documents leave out those without a route. */
  readonly operations: readonly Operation[]
  readonly version: string
  /** Asked at the first request, because a port that the system chose is known only then. */
  readonly addresses: () => Addresses
  /** Where a browser goes from the root; absent where there is no console. */
  readonly home?: string
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

function send(request: FastifyRequest, reply: FastifyReply, document: KeptBody): Promise<FastifyReply> {
  return sendKept(request, reply.header('cache-control', 'no-cache'), document)
}

function wantsHtml({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false
}

function asText(reply: FastifyReply, type: 'plain' | 'markdown'): FastifyReply {
  return reply.header('content-type', `text/${type}; charset=utf-8`)
}

/** Pages show pictures of docs/ beside what every page may. */
const pagePolicy = contentSecurityPolicy.replace('img-src', "img-src 'self'")

function asPage(reply: FastifyReply): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', pagePolicy)
    .header('referrer-policy', 'no-referrer')
}

/**
 * The documents of the service (docs/interface.md, Run contract): the OpenAPI document, a readable page of it, the
 * pages of docs/, and a first page that links to all of them. Each is written once, at its first request.
 */
export function documentsRoutes({ operations, version, addresses, home }: DocumentsDependencies) {
  return async function routes(app: FastifyInstance): Promise<void> {
    const written = new Map<string, KeptBody>()
    const once = async (name: string, write: (pages: Pages) => string): Promise<KeptBody> => {
      const known = written.get(name)
      if (known !== undefined) return known
      const document = keptBody(write(await loadPages()))
      written.set(name, document)
      return document
    }
    const routed = () => routedOperations(operations, app.routePatterns)
    const context = () => ({ addresses: addresses(), version })
    let read: LibraryGroup[] | undefined
    const shelf = (pages: Pages) => {
      read ??= pages.readPages(addresses())
      return { groups: read, version, publicUrl: publicUrlOf(addresses()) }
    }
    const pageNamed = (name: string, pages: Pages) =>
      shelf(pages)
        .groups.flatMap(({ pages }) => pages)
        .find((each) => each.name === name)

    app.get('/v2/openapi.json', async (request, reply) => {
      const document = await once('openapi', ({ openApiDocument }) =>
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
        await once('reference', (pages) =>
          pages.referencePage(routed(), { ...context(), groups: shelf(pages).groups }),
        ),
      ),
    )

    app.get<{ Params: { page: string } }>('/docs/:page', async (request, reply) => {
      const { page: name } = request.params
      const pages = await loadPages()
      const source = name.endsWith('.md') ? pageNamed(name.slice(0, -'.md'.length), pages)?.source : undefined
      if (source !== undefined) {
        return send(request, asText(reply, 'markdown'), await once(name, () => source))
      }
      const found = pageNamed(name, pages)
      if (found !== undefined) {
        return send(
          request,
          asPage(reply),
          await once(`guide ${name}`, () => pages.guidePage(found, shelf(pages))),
        )
      }
      reply.header('vary', 'Accept')
      if (!wantsHtml(request))
        throw new DomainError('unknownPath', { method: request.method, path: request.url.slice(0, 200) })
      // Without a tag: a request that names one is not to learn that a page which is absent has not changed.
      const { identity } = await once('unknown guide', () => pages.unknownGuidePage(shelf(pages)))
      return asPage(reply).code(404).header('cache-control', 'no-store').send(identity)
    })

    app.get<{ Params: { name: string } }>('/docs/pictures/:name', async (request, reply) => {
      const { readPicture } = await loadPages()
      const picture = readPicture(request.params.name)
      if (picture === undefined)
        throw new DomainError('unknownPath', { method: request.method, path: request.url.slice(0, 200) })
      const tag = weakTagOf(picture)
      // The next version of the service may show another one at the same address.
      reply.headers({ 'content-type': 'image/webp', 'cache-control': 'public, max-age=3600', etag: tag })
      if (matchesEntityTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
      return reply.send(picture)
    })

    app.get('/llms.txt', async (request, reply) =>
      send(request, asText(reply, 'plain'), await once('llms', (pages) => pages.llmsText(shelf(pages)))),
    )

    app.get('/llms-full.txt', async (request, reply) =>
      send(
        request,
        asText(reply, 'plain'),
        await once('llms-full', (pages) => pages.llmsFullText(shelf(pages))),
      ),
    )

    app.get('/', async (request, reply) => {
      reply.header('vary', 'Accept')
      if (home !== undefined && wantsHtml(request)) return reply.redirect(home)
      return send(
        request,
        asText(reply, 'plain'),
        await once('text', (pages) => pages.welcomeText(context())),
      )
    })
  }
}
