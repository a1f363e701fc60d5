import { permissionNames } from '@millrace/contract/permissions.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import { createScimTokenService } from '../../src/features/identity/provisioning/config/scim-token-service.ts'
import { createPrincipal } from '../../src/features/identity/sessions/principal.ts'
import { authorizationFor } from '../support/authorization.ts'
import { second } from '../support/fake-time.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import {
  configureSingleSignOn,
  createSingleSignOnApp,
  mapping,
  openSession,
  type SingleSignOnApp,
  signInThrough,
  tokenOf,
} from '../support/single-sign-on.ts'

const config = '/v2/entities/sso/config'

let relational: TestDatabase
let app: SingleSignOnApp
let idp: IdentityProvider
/** Of an administrator whose address is of no domain of single sign-on. */
let token: string

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createSingleSignOnApp(relational)
  idp = await startIdentityProvider()
  await configureSingleSignOn(app, idp)
  token = await tokenOf(app.auth, 'root@elsewhere.example')
})

beforeEach(() => app.auth.time.advance(second))

afterAll(async () => {
  await app.auth.app.close()
  await idp.close()
  await relational.close()
})

const remove = async () => (await app.auth.call(token, 'DELETE', config)).json()

async function countOf(table: string): Promise<number> {
  const { rows } = await relational.pool.query(`select count(*)::int as n from ${table}`)
  return rows[0].n
}

const tables = [
  'sso_configs',
  'sso_domains',
  'sso_certificates',
  'sso_identities',
  'saml_requests',
  'saml_results',
]

test('O03, O05 deletes everything at once, while it is required too: passwords work again, others get a reset mail', async () => {
  const { auth } = app
  idp.state.person = { nameId: 'root', attributes: { email: 'root@acme.example' } }
  expect((await signInThrough(app, idp, 'acme.example')).statusCode).toBe(303)
  expect((await auth.call(token, 'PATCH', config, { mandatory: true })).json()).toMatchObject({ code: 200 })

  const without = await Promise.all(
    ['nina@acme.example', 'otto@acme.example'].map((email) =>
      auth.accounts.createUser({
        companyId: auth.companyId,
        email,
        password: undefined,
        roleName: 'viewer',
        teamNames: [],
      }),
    ),
  )
  const disabled = await auth.accounts.createUser({
    companyId: auth.companyId,
    email: 'gone@acme.example',
    password: undefined,
    roleName: 'viewer',
    teamNames: [],
  })
  await auth.accounts.disableUser(disabled.email)
  await openSession(app, 'nina@acme.example', 'sso')
  await openSession(app, 'root@elsewhere.example', 'password')
  for (const table of tables.slice(0, 4)) expect(await countOf(table), table).toBeGreaterThan(0)

  // A deletion that fails on its way leaves all of it.
  relational.beforeStatement = (text) =>
    text.includes('outgoing_mails') ? Promise.reject(new Error('the queue is broken')) : undefined
  expect((await remove()).code).toBe(500)
  relational.beforeStatement = undefined
  for (const table of tables.slice(0, 4)) expect(await countOf(table), table).toBeGreaterThan(0)

  const reply = await remove()
  expect(reply).toMatchObject({ status: 'success', code: 200, data: {} })
  for (const table of tables) expect(await countOf(table), table).toBe(0)
  const mails = await auth.takeMails()
  const resets = mails.filter(({ text }) => text.includes('/set-password?'))
  expect(resets.map(({ to }) => to).toSorted()).toEqual(without.map(({ email }) => email).toSorted())
  expect((await auth.signIn('root@acme.example')).statusCode).toBe(200)
  const { rows } = await relational.pool.query(
    `select method from refresh_tokens r join users u on u.id = r.user_id
     where u.email in ('nina@acme.example', 'root@elsewhere.example')`,
  )
  expect(new Set(rows.map(({ method }) => method))).toEqual(new Set(['password']))
  const required = await relational.pool.query('select requires_single_sign_on($1, $2) as yes', [
    auth.companyId,
    'root@acme.example',
  ])
  expect(required.rows[0].yes).toBe(false)
  const entry = await relational.pool.query(
    `select details from audit_entries where action = 'sso-config-delete'`,
  )
  expect(entry.rows).toMatchObject([{ details: { wasMandatory: true, endedSessions: 1, resetMails: 2 } }])
})

test('O01 answers 404 where there is none, and the second time', async () => {
  expect(await remove()).toMatchObject({ status: 'fail', code: 404, error_code: 2040, data: {} })
  const body = { idpMetadataXml: await idp.metadata(), attributeMapping: mapping }
  expect((await app.auth.call(token, 'PUT', config, body)).statusCode).toBe(200)
  const both = await Promise.all([remove(), remove()])
  expect(both.map(({ code }) => code).sort()).toEqual([200, 404])
})

test('O05 a deleted domain is free for another company at once, and a sign-in page knows of none', async () => {
  expect(await app.singleSignOn.domains.findSingleSignOn('acme.example')).toBeUndefined()
  const reply = await app.auth.app.inject(
    `/v2/sso/saml/login?${new URLSearchParams(authorizationFor(app.auth, { domain: 'acme.example' }))}`,
  )
  expect(reply.json()).toMatchObject({ code: 404, error_code: 2090 })
})

test('O02 needs Company: update', async () => {
  const viewer = await tokenOf(app.auth, 'viewer@elsewhere.example', 'viewer')
  expect((await app.auth.call(viewer, 'DELETE', config)).json()).toMatchObject({
    code: 403,
    data: { resource: 'company', action: 'update' },
  })
  expect((await app.auth.call('x', 'DELETE', config)).statusCode).toBe(401)
  expect((await app.auth.app.inject({ method: 'DELETE', url: config })).statusCode).toBe(401)
})

test('O02 a SCIM token that works for provisioning is none here', async () => {
  const { companyId } = app.auth
  await relational.pool.query('insert into scim_configs (company_id, enabled) values ($1, true)', [companyId])
  const scimTokens = createScimTokenService({ relational, recordAudit })
  const { token: scimToken } = await scimTokens.create(
    createPrincipal({
      userId: 'a'.repeat(24),
      email: 'root@elsewhere.example',
      roleId: 'a'.repeat(24),
      companyId,
      clientId: app.auth.clientId,
      tokenId: 'a'.repeat(24),
      teamIds: [],
      permissions: permissionNames,
    }),
    'Directory',
    '192.0.2.1',
  )
  expect(await scimTokens.findHolder(scimToken)).toMatchObject({ companyId })
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'] as const)
    expect((await app.auth.call(scimToken, method, config)).statusCode).toBe(401)
})
