import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditOf, openProvisioning, type ProvisioningApp } from '../support/provisioning.ts'

/** Tokens of the identity provider: GET, POST /v2/entities/scim/tokens and DELETE of one. */

let app: ProvisioningApp

const url = '/v2/entities/scim/tokens'

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

const list = async () =>
  (await app.call('GET', url)).json().data as { id: string; lastUsedAt: string | null }[]

test('the secret is shown once and stored as a hash', async () => {
  const reply = (await app.call('POST', url, { label: 'Entra ID' })).json()
  expect(reply).toMatchObject({
    code: 200,
    data: {
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      label: 'Entra ID',
      lastUsedAt: null,
      token: expect.stringMatching(/^scim_[A-Za-z0-9_-]{43}$/),
    },
  })
  const { token, ...described } = reply.data
  expect(await list()).toContainEqual(described)
  const { rows } = await app.database.pool.query('select t::text as row from scim_tokens t')
  const audit = JSON.stringify(await auditOf(app, app.companyId))
  for (const kept of [...rows.map(({ row }) => row), audit, JSON.stringify(await list())]) {
    expect(kept).not.toContain(token)
    expect(kept).not.toContain(token.slice('scim_'.length))
  }
})

test('two tokens may be active, also when more are asked for at once', async () => {
  expect((await list()).length).toBe(2)
  const third = (await app.call('POST', url, { label: 'Third' })).json()
  expect(third).toMatchObject({ code: 409, error_code: 2060 })
  for (const { id } of await list()) await app.call('DELETE', `${url}/${id}`)
  const replies = await Promise.all(
    Array.from({ length: 5 }, (_, i) => app.call('POST', url, { label: `Token ${i}` })),
  )
  expect(replies.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 409, 409, 409])
})

test('says when a token was used last', async () => {
  for (const { id } of await list()) await app.call('DELETE', `${url}/${id}`)
  const { id, token } = (await app.call('POST', url, { label: 'Used' })).json().data
  expect((await list())[0]).toMatchObject({ id, lastUsedAt: null })
  await app.scim('GET', '/Users', undefined, { authorization: `Bearer ${token}` })
  const lastUsedAt = (await list())[0]?.lastUsedAt ?? ''
  expect(Math.abs(Date.now() - Date.parse(lastUsedAt))).toBeLessThan(60_000)
})

test('a revoked token is refused from the next request on, once, and only by its own company', async () => {
  const [first] = await list()
  const { token, id } = (await app.call('POST', url, { label: 'Revoked' })).json().data
  const use = () => app.scim('GET', '/Users', undefined, { authorization: `Bearer ${token}` })
  expect((await use()).status).toBe(200)
  const foreign = (await app.other.call('DELETE', `${url}/${id}`)).json()
  expect(foreign).toMatchObject({ code: 404, error_code: 2061, data: { id } })
  expect((await use()).status).toBe(200)
  expect((await app.call('DELETE', `${url}/${id.toUpperCase()}`)).json()).toMatchObject({
    code: 200,
    data: {},
  })
  expect((await use()).status).toBe(401)
  expect((await app.call('DELETE', `${url}/${id}`)).json()).toMatchObject({ code: 404, error_code: 2061 })
  expect((await app.call('DELETE', `${url}/xyz`)).json()).toMatchObject({ code: 400, error_code: 1 })
  expect(await list()).toMatchObject([{ id: first?.id }])
  const entries = (await auditOf(app, app.companyId)).filter(({ target_id }) => target_id === id)
  expect(entries.map(({ action, error }) => [action, error])).toEqual([
    ['scim-token-create', null],
    ['scim-token-revoke', null],
    ['scim-token-revoke', 'scimTokenNotFound'],
  ])
})

test.each([
  [{}],
  [{ label: '' }],
  [{ label: 'x'.repeat(101) }],
  [{ label: 7 }],
  [{ label: 'x', scope: 'all' }],
])('refuses %j', async (body) => {
  expect((await app.call('POST', url, body as never)).json()).toMatchObject({ code: 400, error_code: 1 })
})

test('creating and revoking need Company: update, listing Company: read, and an access token', async () => {
  await app.auth.addUser('viewer@acme.example')
  const { access_token } = (await app.auth.signIn('viewer@acme.example')).json()
  const [token] = await list()
  const one = `${url}/${token?.id}`
  expect((await app.auth.call(access_token, 'GET', url)).statusCode).toBe(200)
  expect((await app.auth.call(access_token, 'POST', url, { label: 'x' })).statusCode).toBe(403)
  expect((await app.auth.call(access_token, 'DELETE', one)).statusCode).toBe(403)
  for (const [method, path] of [
    ['GET', url],
    ['POST', url],
    ['DELETE', one],
  ] as const)
    expect((await app.auth.call(app.scimToken, method, path)).statusCode).toBe(401)
  expect(await list()).toHaveLength(1)
})

test('a user who may do less than another of the company gets no token, and the try is recorded', async () => {
  for (const { id } of await list()) await app.call('DELETE', `${url}/${id}`)
  const office = await app.personWith('office', ['company:read', 'company:update'])
  expect((await office.call('POST', url, { label: 'x' })).json()).toMatchObject({
    code: 403,
    error_code: 2051,
    data: { roleIds: expect.arrayContaining([await app.roleId('admin')]) },
  })
  expect(await list()).toEqual([])
  expect((await auditOf(app, app.companyId, 'scim-token-create')).at(-1)).toMatchObject({
    outcome: 'failure',
    error: 'roleAboveOwn',
    target_kind: 'scim-token',
  })
})
