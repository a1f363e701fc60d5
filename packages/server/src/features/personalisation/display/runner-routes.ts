import type { ServerResponse } from 'node:http'
import { runWorkflow } from '@millrace/contract/operations/runner.ts'
import type { FastifyInstance } from 'fastify'
import { type Exchange, exchangeRoute } from '../../../platform/http/exchange.ts'
import { htmlType, type RunnerReply } from './reply/reply.ts'
import type { RunnerService } from './runner-service.ts'

/** Any page may show a content and none may send credentials; nothing keeps an answer. */
const commonHeaders = [
  ['cache-control', 'no-cache, no-store, max-age=0'],
  ['pragma', 'no-cache'],
  ['expires', '0'],
  ['access-control-allow-origin', '*'],
  ['access-control-expose-headers', 'x-millrace-run-id'],
  ['cross-origin-resource-policy', 'cross-origin'],
  ['x-content-type-options', 'nosniff'],
  ['x-robots-tag', 'noindex'],
].flat()

/**
 * A document shares its origin with the interface, so it runs no script and is kept apart from it; forms and links of
 * it lead elsewhere.
 */
const documentPolicy = [
  "default-src 'none'",
  'img-src https: http: data:',
  'media-src https: http:',
  'font-src https: http: data:',
  "style-src 'unsafe-inline' https: http:",
  'frame-ancestors *',
  'form-action https:',
  "base-uri 'none'",
  'sandbox allow-forms allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation',
].join('; ')

/** Seconds for which a browser need not ask again. */
const preflightSeconds = 86_400

/** The public addresses of integrations. */
export function runnerRoutes({ runner }: { readonly runner: Pick<RunnerService, 'answer'> }) {
  async function run({ request, response, part, query, address, isLast }: Exchange): Promise<void> {
    const { headers, method } = request
    const { reply, runId } = await runner.answer({
      shortId: part,
      query: query(),
      userAgent: headers['user-agent'],
      referer: headers.referer,
      accept: headers.accept,
      address,
      counts: method === 'GET',
    })
    send(response, reply, { runId, isHead: method === 'HEAD', isLast: isLast() })
  }

  return async function routes(app: FastifyInstance): Promise<void> {
    exchangeRoute(app, runWorkflow, { answer: run })
    app.options(runWorkflow.url, (request, reply) => {
      const asked = request.headers['access-control-request-headers']
      return reply
        .code(204)
        .headers({
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'GET, HEAD',
          'access-control-allow-headers': asked ?? '*',
          'access-control-max-age': String(preflightSeconds),
        })
        .send()
    })
  }
}

interface Framing {
  readonly runId: string | undefined
  readonly isHead: boolean
  readonly isLast: boolean
}

function send(raw: ServerResponse, reply: RunnerReply, { runId, isHead, isLast }: Framing): void {
  const headers = [...commonHeaders]
  if (runId !== undefined) headers.push('x-millrace-run-id', runId)
  if (isLast) headers.push('connection', 'close')
  if (reply.status === 302) headers.push('location', reply.location)
  if (reply.status === 302 || reply.status === 404) headers.push('content-length', '0')
  if (reply.status !== 200) {
    raw.writeHead(reply.status, headers)
    raw.end()
    return
  }
  const { body, contentType } = reply
  headers.push('content-type', contentType, 'content-length', String(Buffer.byteLength(body)))
  if (contentType === htmlType) headers.push('content-security-policy', documentPolicy)
  raw.writeHead(200, headers)
  raw.end(isHead ? undefined : body)
}
