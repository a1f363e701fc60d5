import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify'
import { packageFile } from '../../platform/files/package-files.ts'
import { codingFor } from '../../platform/http/compression.ts'

export interface ConsoleDependencies {
  /** The OAuth client by which its users sign in. */
  readonly clientId: string
  /** What packages/console/build.ts writes. */
  readonly directory?: URL
  /** Makes these files, for a checkout that has none. */
  readonly build?: () => Promise<unknown>
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
}

const suffixes = { br: '.br', gzip: '.gz' } as const

function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/**
 * The console's files as its build wrote them, and its page at every other address below `/console/`: which screen that
 * is, the page reads from its own address.
 */
export function consoleRoutes({
  clientId,
  directory = packageFile('../console/dist/'),
  build,
}: ConsoleDependencies) {
  const pageFile = new URL('index.html', directory)
  let isBuilding = false

  /** Once, at the start. */
  async function makeMissing(log: FastifyBaseLogger): Promise<void> {
    if (build === undefined || read(pageFile) !== undefined) return
    isBuilding = true
    log.info('the console is not built: building it')
    try {
      await build()
      log.info('the console is built')
    } catch (error) {
      log.error({ err: error }, 'the console could not be built: "npm run prepare" says why')
    } finally {
      isBuilding = false
    }
  }

  /** A browser asks again by itself while it is built. */
  const sendAbsence = (reply: FastifyReply): FastifyReply =>
    reply
      .code(503)
      .headers(isBuilding ? { 'retry-after': '3', refresh: '3' } : {})
      .type('text/plain; charset=utf-8')
      .send(
        isBuilding
          ? 'The console is being built, which takes some seconds. This page loads itself again.\n'
          : 'The console is not built: run "npm run prepare" and load this page again.\n',
      )

  function sendPage(reply: FastifyReply): FastifyReply {
    const nonce = randomBytes(18).toString('base64url')
    const page = read(pageFile)?.toString()
    if (page === undefined) return sendAbsence(reply)
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': policyOf(nonce),
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
      })
      .send(page.replaceAll('%NONCE%', nonce).replaceAll('%CLIENT%', clientId))
  }

  return async function routes(app: FastifyInstance): Promise<void> {
    void makeMissing(app.log)
    app.get('/console', async (_, reply) => reply.redirect('/console/'))
    app.get('/console/*', async (_, reply) => sendPage(reply))
    app.get('/console/assets/:name', async (request, reply) => {
      const { name } = request.params as { name: string }
      const type = types[name.slice(name.lastIndexOf('.') + 1)]
      const assets = new URL('assets/', directory)
      const coding = codingFor(request.headers['accept-encoding'])
      const isName = type !== undefined && /^[\w-]+(?:\.[\w-]+)*\.\w+$/.test(name)
      const compressed = isName && coding ? read(new URL(name + suffixes[coding], assets)) : undefined
      const content = compressed ?? (isName ? read(new URL(name, assets)) : undefined)
      // A page of an earlier build may ask for a chunk that is gone: it loads itself again.
      if (content === undefined) return reply.code(404).type('text/plain').send('Not found\n')
      return reply
        .headers({
          'content-type': type,
          'cache-control': 'public, max-age=31536000, immutable',
          vary: 'Accept-Encoding',
          ...(compressed && { 'content-encoding': coding }),
        })
        .send(content)
    })
  }
}

/** @returns undefined where there is no such file */
function read(file: URL): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
