import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../platform/errors.ts'
import { readBearer } from '../../../platform/http/bearer-token.ts'
import { methodsAt, unroutedError } from '../../../platform/http/failures.ts'
import { takeJsonBodies } from '../../../platform/http/json-body.ts'
import { isId, normalizeId } from '../../../platform/ids.ts'
import type { ScimTokenService } from './config/scim-token-service.ts'
import type { ScimGroups } from './groups/scim-group-service.ts'
import { readGroup, readGroupPatch } from './protocol/group-attributes.ts'
import { listResponse, readListQuery, readProjection, type ScimQuery } from './protocol/listing.ts'
import { ScimRefusal } from './protocol/refusal.ts'
import type { ScimResource } from './protocol/resources.ts'
import { readUser, readUserPatch } from './protocol/users/user-attributes.ts'
import type { ScimDiscovery } from './scim-discovery-service.ts'
import { scimContentType, useScimFailures } from './scim-failures.ts'
import type { ScimCall, ScimRequests, UnknownTokenRequest } from './scim-request-service.ts'
import type { ScimUsers } from './users/scim-user-service.ts'

export interface ScimRoutesDependencies {
  readonly tokens: Pick<ScimTokenService, 'findHolder'>
  readonly requests: Pick<ScimRequests, 'recordRefusal' | 'recordUnknownToken'>
  readonly users: ScimUsers
  readonly groups: ScimGroups
  readonly discovery: ScimDiscovery
}

/** Below the origin of the service. */
export const scimPath = '/v2/scim/v2'

/** Room for 50,000 members with their names and addresses. */
const groupBodyBytes = 8 * 1024 * 1024
/** For every other body, also one without members. */
const plainBodyBytes = 1024 * 1024

/** Members have four attributes each; the rest of a body is small. */
const bounds = { levels: 32, keys: 1_000, values: 300_000 }

function requireMembersInLarge(text: string): void {
  if (text.length <= plainBodyBytes || /"members/i.test(text)) return
  const message = `Only a list of members may be larger than ${plainBodyBytes} bytes`
  throw new DomainError('payloadTooLarge', { limit: plainBodyBytes, unit: 'bytes' }, { message })
}

interface ById {
  Params: { id: string }
  Querystring: ScimQuery
}
interface ByQuery {
  Querystring: ScimQuery
}

const calls = new WeakMap<FastifyRequest, ScimCall | UnknownTokenRequest>()

function callOf(request: FastifyRequest): ScimCall {
  const call = calls.get(request)
  if (!call || !('holder' in call)) throw new Error('a request came past the guard of the SCIM service')
  return call
}

function targetOf(request: FastifyRequest): ScimCall['target'] {
  const { id } = request.params as { id?: string }
  if (id === undefined || !isId(id)) return undefined
  const kind = request.routeOptions.url?.startsWith(`${scimPath}/Groups/`) ? 'team' : 'user'
  return { kind, id: normalizeId(id) }
}

/** Refuses requests without an active token of a company whose provisioning is enabled. */
function guard(scope: FastifyInstance, tokens: ScimRoutesDependencies['tokens']): void {
  scope.addHook('onRequest', async (request) => {
    const token = readBearer(request)
    const holder = token === undefined ? undefined : await tokens.findHolder(token)
    if (token !== undefined) {
      const { method, ip: address, routeOptions } = request
      const call = { address, method, path: routeOptions.url ?? scimPath }
      calls.set(request, holder ? { ...call, holder, target: targetOf(request) } : call)
    }
    if (!holder?.enabled)
      throw new ScimRefusal(
        'unauthenticated',
        'Send a token of the company (scim_...) as "Authorization: Bearer <token>"; provisioning must be turned on',
      )
  })
}

function send(reply: FastifyReply, status: number, resource: ScimResource): FastifyReply {
  return reply
    .code(status)
    .headers({ 'content-type': scimContentType, 'cache-control': 'no-store' })
    .send(JSON.stringify(resource))
}

/** RFC 7644 3.1: the reply to a creation has the new address in `location`. */
function sendCreated(reply: FastifyReply, created: ScimResource, shown: ScimResource): FastifyReply {
  const { location } = created.meta as { location: string }
  return send(reply.header('location', location), 201, shown)
}

function registerUsers(scope: FastifyInstance, users: ScimUsers): void {
  scope.get<ByQuery>('/Users', async (request, reply) => {
    const query = readListQuery(request.query)
    const listed = await users.list(callOf(request), query, readProjection(request.query))
    return send(reply, 200, listResponse(listed, query))
  })
  scope.post<ByQuery>('/Users', async (request, reply) => {
    const created = await users.create(callOf(request), readUser(request.body))
    return sendCreated(reply, created, readProjection(request.query).apply(created))
  })
  scope.get<ById>('/Users/:id', async (request, reply) => {
    const user = await users.read(callOf(request), request.params.id)
    return send(reply, 200, readProjection(request.query).apply(user))
  })
  scope.put<ById>('/Users/:id', async (request, reply) => {
    const user = await users.change(callOf(request), request.params.id, readUser(request.body))
    return send(reply, 200, readProjection(request.query).apply(user))
  })
  scope.patch<ById>('/Users/:id', async (request, reply) => {
    const user = await users.change(callOf(request), request.params.id, readUserPatch(request.body))
    return send(reply, 200, readProjection(request.query).apply(user))
  })
  scope.delete<ById>('/Users/:id', async (request, reply) => {
    await users.delete(callOf(request), request.params.id)
    return reply.code(204).header('cache-control', 'no-store').send()
  })
}

function registerGroups(scope: FastifyInstance, groups: ScimGroups): void {
  const bodyLimit = groupBodyBytes
  scope.get<ByQuery>('/Groups', async (request, reply) => {
    const query = readListQuery(request.query)
    const listed = await groups.list(callOf(request), query, readProjection(request.query))
    return send(reply, 200, listResponse(listed, query))
  })
  scope.post<ByQuery>('/Groups', { bodyLimit }, async (request, reply) => {
    const projection = readProjection(request.query)
    const created = await groups.create(callOf(request), readGroup(request.body), projection)
    return sendCreated(reply, created, projection.apply(created))
  })
  scope.get<ById>('/Groups/:id', async (request, reply) => {
    const projection = readProjection(request.query)
    const group = await groups.read(callOf(request), request.params.id, projection)
    return send(reply, 200, projection.apply(group))
  })
  scope.put<ById>('/Groups/:id', { bodyLimit }, async (request, reply) => {
    const projection = readProjection(request.query)
    const group = await groups.replace(
      callOf(request),
      request.params.id,
      readGroup(request.body),
      projection,
    )
    return send(reply, 200, projection.apply(group))
  })
  // 204 without the group, which may have very many members (RFC 7644 3.5.2).
  scope.patch<ById>('/Groups/:id', { bodyLimit }, async (request, reply) => {
    await groups.change(callOf(request), request.params.id, readGroupPatch(request.body))
    return reply.code(204).header('cache-control', 'no-store').send()
  })
  scope.delete<ById>('/Groups/:id', async (request, reply) => {
    await groups.delete(callOf(request), request.params.id)
    return reply.code(204).header('cache-control', 'no-store').send()
  })
}

function registerDiscovery(scope: FastifyInstance, discovery: ScimDiscovery): void {
  scope.get('/ServiceProviderConfig', async (request, reply) =>
    send(reply, 200, await discovery.config(callOf(request))),
  )
  scope.get('/ResourceTypes', async (request, reply) =>
    send(reply, 200, await discovery.listResourceTypes(callOf(request))),
  )
  scope.get<ById>('/ResourceTypes/:id', async (request, reply) =>
    send(reply, 200, await discovery.resourceType(callOf(request), request.params.id)),
  )
  scope.get('/Schemas', async (request, reply) =>
    send(reply, 200, await discovery.listSchemas(callOf(request))),
  )
  scope.get<ById>('/Schemas/:id', async (request, reply) =>
    send(reply, 200, await discovery.schema(callOf(request), request.params.id)),
  )
}

/**
 * The SCIM 2.0 service (RFC 7643, RFC 7644) for identity providers, in a scope with a guard, bodies and failures
 * of its own.
 */
export function registerScimRoutes(app: FastifyInstance, dependencies: ScimRoutesDependencies): void {
  const { tokens, requests, users, groups, discovery } = dependencies
  app.register(
    async (scope) => {
      // None of its answers shows a secret.
      scope.addHook('onRoute', (route) => {
        route.config = { ...(route.config as object | undefined), compressed: true }
      })
      scope.removeContentTypeParser('application/json')
      for (const type of ['application/scim+json', 'application/json'])
        takeJsonBodies(scope, type, { bounds, check: requireMembersInLarge })
      useScimFailures(scope, requests, (request) => calls.get(request))
      guard(scope, tokens)
      registerUsers(scope, users)
      registerGroups(scope, groups)
      registerDiscovery(scope, discovery)
      const method = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
      for (const url of ['', '/*']) {
        scope.route({
          method,
          url,
          handler: (request, reply) => {
            throw unroutedError(methodsAt(scope, request.url), request, reply)
          },
        })
      }
    },
    { prefix: scimPath },
  )
}
