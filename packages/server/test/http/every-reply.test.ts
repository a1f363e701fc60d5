import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createToken } from '@millrace/contract/operations/auth.ts'
import { collectEvents } from '@millrace/contract/operations/collector.ts'
import { readCompany } from '@millrace/contract/operations/company.ts'
import { startSingleSignOn } from '@millrace/contract/operations/single-sign-on.ts'
import type { FastifyReply } from 'fastify'
import { expect, test } from 'vitest'
import { DomainError } from '../../src/platform/errors.ts'
import { failure, success } from '../../src/platform/http/envelope.ts'
import { createHttpServer } from '../../src/platform/http/server.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { takeViolations } from '../support/reply-watch.ts'

type Answer = (reply: FastifyReply) => unknown

/** The violations of one reply at the address of an operation. */
async function violationsOf({ method, url }: { method: string; url: string }, answer: Answer) {
  const app = createHttpServer({ logger: silentLogger, trustedProxies: [] })
  app.route({ method, url, handler: async (_request, reply) => answer(reply) })
  await app.inject({ method: method as 'GET', url: url.replaceAll(/:\w+/g, 'x') })
  await app.close()
  return takeViolations()
}

const company = {
  id: '65f0c0ffee5ca1ab1e0ddba1',
  name: 'Acme',
  timezone: 'Europe/Paris',
  currency: null,
  language: 'fr',
  attributionModel: 'linear',
  clickWindowHours: 24,
  displayWindowHours: 24,
  exactCounts: false,
  auditRetentionDays: 90,
  eventRetentionDays: null,
  defaultRoleId: null,
  defaultTeamId: '65f0c0ffee5ca1ab1e0ddba2',
  createdAt: '2026-01-31T12:00:00.000Z',
  updatedAt: '2026-01-31T12:00:00.000Z',
}
const { name: _name, ...nameless } = company

const failing =
  (error: DomainError, more: object = {}) =>
  (reply: FastifyReply) =>
    reply.code(error.status).send({ ...failure(error), ...more })

test.each<[string, { method: string; url: string }, Answer]>([
  ['a reply as described', readCompany, () => success(company)],
  ['a listed failure', readCompany, failing(new DomainError('unauthenticated'))],
  [
    'a failure of the token service',
    createToken,
    failing(new DomainError('invalidGrant'), {
      error: 'invalid_grant',
      error_description: 'The code has ended',
    }),
  ],
  ['an empty success', collectEvents, (reply) => reply.code(202).send()],
  ['a page', startSingleSignOn, (reply) => reply.type('text/html; charset=utf-8').send('<p>')],
  [
    'an error of the SCIM service',
    { method: 'GET', url: '/v2/scim/v2/Users/:id' },
    (reply) =>
      reply
        .code(404)
        .header('content-type', 'application/scim+json; charset=utf-8')
        .send(
          JSON.stringify({
            schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
            status: '404',
            detail: 'There is no such user',
          }),
        ),
  ],
])('%s is no violation', async (_what, operation, answer) => {
  expect(await violationsOf(operation, answer)).toEqual([])
})

test.each<[string, { method: string; url: string }, Answer, RegExp]>([
  [
    'a superfluous field',
    readCompany,
    () => success({ ...company, secret: 'x' }),
    /additional properties.*secret/,
  ],
  ['a missing field', readCompany, () => success(nameless), /\/data must have required property 'name'/],
  [
    'a field of another type',
    readCompany,
    () => success({ ...company, exactCounts: 1 }),
    /exactCounts must be boolean/,
  ],
  ['no envelope', readCompany, () => company, /required property 'status'/],
  [
    'another status',
    readCompany,
    (reply) => reply.code(201).send(success(company)),
    /does not describe this status/,
  ],
  [
    'another content type',
    readCompany,
    (reply) => reply.type('text/plain').send('Acme'),
    /content type is text\/plain/,
  ],
  [
    'a failure that the operation does not list',
    readCompany,
    failing(new DomainError('roleNotFound', { id: company.id })),
    /does not list the failure roleNotFound/,
  ],
  [
    'a failure whose data is not that of its row',
    readCompany,
    failing(new DomainError('forbidden', {} as never), { data: { id: 1 } }),
    /additional properties/,
  ],
  [
    'a failure of the token service without the fields of RFC 6749',
    createToken,
    failing(new DomainError('invalidGrant')),
    /required property 'error'/,
  ],
  ['a body where none is described', collectEvents, () => 'ok', /the body is not empty/],
  ['a page that is none', startSingleSignOn, () => ({}), /content type is application\/json/],
  [
    'a SCIM resource without an identifier',
    { method: 'GET', url: '/v2/scim/v2/Users/:id' },
    (reply) =>
      reply
        .header('content-type', 'application/scim+json; charset=utf-8')
        .send(JSON.stringify({ schemas: [] })),
    /required property 'id'/,
  ],
])('%s is a violation', async (_what, operation, answer, expected) => {
  const violations = await violationsOf(operation, answer)
  expect(violations.join('\n')).toMatch(expected)
})

test('a reply that is fetched is validated too, under the operation with the nearest path', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end('{"status":"success"}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  for (const path of ['/v2/entities/users/me?x=1', '/v2/elsewhere'])
    await (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  await new Promise((closed) => server.close(closed))
  const violations = await takeViolations()
  expect(violations).toContainEqual(expect.stringContaining("required property 'data'"))
  for (const each of violations) expect(each).toMatch(/^GET \/v2\/entities\/users\/me answered 200: /)
})
