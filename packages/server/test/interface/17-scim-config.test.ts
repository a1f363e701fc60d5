import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { goodPassword } from '../support/auth.ts'
import { openProvisioning, type ProvisioningApp, scimBase } from '../support/provisioning.ts'

/** Operation 17, GET /v2/entities/scim/config. */

let app: ProvisioningApp

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

const url = '/v2/entities/scim/config'

test('C01 a company that set nothing has the defaults, and no secret', async () => {
  const { companyId } = await app.database.transaction((tx) => insertCompany(tx, 'New'))
  const email = 'admin@new.example'
  const person = { companyId, email, password: goodPassword, roleName: 'admin', teamNames: [] }
  await app.auth.accounts.createUser(person)
  const { access_token } = (await app.auth.signIn(email)).json()
  const reply = await app.auth.call(access_token, 'GET', url)
  expect(reply.json()).toMatchObject({ status: 'success', code: 200 })
  expect(reply.json().data).toEqual({
    enabled: false,
    groupSync: true,
    roleMapping: [],
    deprovisionMode: 'soft',
    baseUrl: scimBase,
  })
})

test('says when the identity provider called with success last', async () => {
  expect((await app.call('GET', url)).json().data).not.toHaveProperty('lastSyncAt')
  await app.scim('GET', '/Users/x')
  expect((await app.call('GET', url)).json().data).not.toHaveProperty('lastSyncAt')
  await app.scim('GET', '/Users')
  const { lastSyncAt } = (await app.call('GET', url)).json().data
  expect(Math.abs(Date.now() - Date.parse(lastSyncAt))).toBeLessThan(60_000)
})

test('each company has its own', async () => {
  await app.call('PATCH', url, { groupSync: false })
  expect((await app.other.call('GET', url)).json().data.groupSync).toBe(true)
  await app.call('PATCH', url, { groupSync: true })
})

test('a viewer may read it; without a token, with a revoked one or one of the identity provider nobody may', async () => {
  await app.auth.addUser('viewer@acme.example')
  const { access_token } = (await app.auth.signIn('viewer@acme.example')).json()
  expect((await app.auth.call(access_token, 'GET', url)).statusCode).toBe(200)
  expect((await app.auth.call(app.scimToken, 'GET', url)).statusCode).toBe(401)
  expect((await app.auth.app.inject({ url })).statusCode).toBe(401)
  await app.auth.accounts.disableUser('viewer@acme.example')
  app.auth.cache.forget()
  expect((await app.auth.call(access_token, 'GET', url)).statusCode).toBe(401)
})

test('needs Company: read', async () => {
  await app.auth.addUser('nobody@acme.example')
  await app.database.pool.query(
    `with made as (insert into roles (id, company_id, name) values ('a00000000000000000000001', $1, 'nothing') returning id)
     update users set role_id = 'a00000000000000000000001' where email = 'nobody@acme.example' and exists (select 1 from made)`,
    [app.companyId],
  )
  const { access_token } = (await app.auth.signIn('nobody@acme.example')).json()
  const reply = await app.auth.call(access_token, 'GET', url)
  expect(reply.json()).toMatchObject({ code: 403, data: { resource: 'company', action: 'read' } })
})
