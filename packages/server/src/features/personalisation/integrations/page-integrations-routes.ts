import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../platform/errors.ts'
import { codingFor, varyBy } from '../../../platform/http/compression.ts'
import { matchesEntityTag } from '../../../platform/http/entity-tag.ts'
import { isId, normalizeId } from '../../../platform/ids.ts'
import { invalid } from '../../../platform/invalid.ts'
import type { PageBundle, PageIntegrationsService } from './page-integrations-service.ts'

export interface PageIntegrationsRoutesDependencies {
  readonly pageIntegrations: Pick<PageIntegrationsService, 'find'>
  /** The company of an active tracking datasource; undefined where there is none. Rejects when the store fails. */
  findCompany(datasourceId: string, address: string): Promise<string | undefined>
}

/** Pages of any site read the answers, those that isolate themselves too. */
const openHeaders = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'timing-allow-origin': '*',
} as const

const oneMinute = 'public, max-age=60'
const oneYear = 'public, max-age=31536000, immutable'

function readId(query: Record<string, unknown>, name: 'company' | 'datasource'): string {
  const text = query[name]
  if (typeof text === 'string' && isId(text)) return normalizeId(text)
  throw invalid(name, `must be the 24 hexadecimal characters of a ${name} id`)
}

/** What the tracker's second file asks for, without a token: settings of integrations, and their scripts. */
export function pageIntegrationsRoutes({
  pageIntegrations,
  findCompany,
}: PageIntegrationsRoutesDependencies) {
  /** @throws {DomainError} `datasourceNotFound`, for one of another company too */
  async function findBundle({ query: sent, ip }: FastifyRequest, companyId: string): Promise<PageBundle> {
    const query = sent as Record<string, unknown>
    const id = readId(query, 'datasource')
    if ((await findCompany(id, ip)) !== companyId) throw new DomainError('datasourceNotFound', { id })
    return pageIntegrations.find(companyId)
  }

  async function sendSettings(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers(openHeaders)
    const query = request.query as Record<string, unknown>
    return send(request, reply, await findBundle(request, readId(query, 'company')))
  }

  /**
   * The company is a part of the path, so that a content security policy can allow the scripts of one company: it
   * compares paths and no parameters.
   */
  async function sendCode(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { companyId, file } = request.params as { companyId: string; file: string }
    reply.headers({ ...openHeaders, 'cache-control': 'no-store' })
    const bundle = await findBundle(request, companyId)
    const text = bundle.codes.get(`t-code/${companyId}/${file}`)
    if (text === undefined) throw new DomainError('integrationNotFound', { id: file })
    reply.header('content-type', 'text/javascript; charset=utf-8').header('cache-control', oneYear)
    return reply.send(text)
  }

  return async function routes(app: FastifyInstance): Promise<void> {
    app.get('/t-workflows.json', sendSettings)
    app.get('/t-code/:companyId/:file', sendCode)
  }
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, zipped, etag }: PageBundle,
): FastifyReply {
  reply.headers({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': oneMinute,
    etag,
  })
  if (matchesEntityTag(request.headers['if-none-match'], etag)) return reply.code(304).send()
  varyBy(reply, 'Accept-Encoding')
  if (codingFor(request.headers['accept-encoding'], ['gzip']) === undefined) return reply.send(body)
  return reply.header('content-encoding', 'gzip').send(zipped)
}
