import { updateCompany } from '@millrace/contract/operations/company.ts'
import { renewInvitation } from '@millrace/contract/operations/invitations.ts'
import { deleteRole, listRoles, readRole } from '@millrace/contract/operations/roles.ts'
import { runQuery } from '@millrace/contract/operations/statistics.ts'
import type { Role } from '@millrace/contract/resources/role.ts'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../logger.ts'
import { rawRoute, route } from './route.ts'
import { createHttpServer } from './server.ts'

const at = '2026-01-31T12:00:00.000Z'
const role = (id: string): Role => ({
  id,
  companyId: '65f0c0ffee5ca1ab1e0ddba9',
  name: 'editor',
  builtIn: false,
  permissions: [],
  userCount: 0,
  createdAt: at,
  updatedAt: at,
})
const id = '65f0c0ffee5ca1ab1e0ddba1'

let app: FastifyInstance
const deleted: string[] = []

beforeAll(async () => {
  app = createHttpServer({ logger: silentLogger, trustedProxies: [] })
  route(app, readRole, async ({ params }) => role(params.id))
  route(app, listRoles, async ({ query: { page, perPage } }) => ({ rows: [role(id)], count: page * perPage }))
  route(app, deleteRole, async ({ params }) => {
    deleted.push(params.id)
  })
  rawRoute(app, runQuery, {
    bodyLimit: 200,
    handler: async ({ query }, reply) => reply.type('text/csv').send(query.format ?? 'none'),
  })
  await app.ready()
})

afterAll(() => app.close())

/** Never called: the compiler must find an error in each of these. */
export function misuse(scope: FastifyInstance): void {
  // @ts-expect-error a role has more fields
  route(scope, readRole, async () => ({ id }))
  // @ts-expect-error a list has rows and a count
  route(scope, listRoles, async () => [role(id)])
  // @ts-expect-error nothing is answered with it
  route(scope, deleteRole, async () => role(id))
  // @ts-expect-error it has no parameter of this name
  route(scope, readRole, async ({ params }) => role(params.roleId))
  // @ts-expect-error it has no body
  route(scope, readRole, async ({ body }) => role(body.id))
  // @ts-expect-error a field that may be absent is no text
  route(scope, updateCompany, async ({ body }) => ({ ...role(body.name) }))
  // @ts-expect-error a field that may be absent is no boolean
  route(scope, renewInvitation, async ({ body }) => body.sendMail.valueOf())
  // @ts-expect-error its data is a text
  rawRoute(scope, runQuery, { handler: async () => ({ data: [] }) })
}

test('answers data in the success envelope, with parameters as the schema reads them', async () => {
  const reply = await app.inject({ url: `/v2/entities/roles/${id}` })
  expect(reply.statusCode).toBe(200)
  expect(reply.json()).toMatchObject({ status: 'success', message: 'ok', code: 200, data: role(id) })
})

test('answers rows as one page of a list, also where the request names none', async () => {
  const usual = await app.inject({ url: '/v2/entities/roles' })
  expect(usual.json()).toMatchObject({
    data: [role(id)],
    paginationCount: 10,
    paginationPage: 1,
    paginationLimit: 10,
  })
  const third = await app.inject({ url: '/v2/entities/roles?page=3&perPage=7' })
  expect(third.json()).toMatchObject({ paginationCount: 21, paginationPage: 3, paginationLimit: 7 })
})

test('answers an empty object where the handler returns nothing', async () => {
  const reply = await app.inject({ method: 'DELETE', url: `/v2/entities/roles/${id}` })
  expect(reply.json()).toMatchObject({ status: 'success', data: {} })
  expect(deleted).toEqual([id])
})

test('validates a request before the handler', async () => {
  const reply = await app.inject({ url: '/v2/entities/roles/short' })
  expect(reply.statusCode).toBe(400)
  expect(reply.json()).toMatchObject({ message: 'id must be 24 hexadecimal characters; it is "short"' })
})

test('a raw route sends its own reply, within its own bound of the body', async () => {
  const call = (measures: string[]) =>
    app.inject({
      method: 'POST',
      url: '/v2/statistics/query',
      payload: { measures, dimensions: [], filters: [], timeDimensions: [] },
    })
  const reply = await call(['events.count'])
  expect(reply.headers['content-type']).toBe('text/csv')
  expect(reply.body).toBe('none')
  expect((await call(['x'.repeat(200)])).statusCode).toBe(413)
})
