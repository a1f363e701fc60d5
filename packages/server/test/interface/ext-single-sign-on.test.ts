import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Relational } from '../../src/platform/stores/relational.ts'
import { certificateOf, type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  createSingleSignOnApp,
  mapping,
  type SingleSignOnApp,
  signInThrough,
  tokenOf,
} from '../support/single-sign-on.ts'

let relational: Relational
let app: SingleSignOnApp
let idp: IdentityProvider
let token: string

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createSingleSignOnApp(relational)
  idp = await startIdentityProvider()
  token = await tokenOf(app.auth, 'root@acme.example')
})

afterAll(async () => {
  await app.auth.app.close()
  await idp.close()
  await relational.close()
})

test('goes the whole way', async () => {
  const { auth, seen } = app
  const put = await auth.call(token, 'PUT', '/v2/entities/sso/config', {
    idpMetadataXml: await idp.metadata(),
    attributeMapping: mapping,
  })
  expect(put.json()).toMatchObject({ code: 200 })
  const domain = (
    await auth.call(token, 'POST', '/v2/entities/sso/domains', { domain: 'acme.example' })
  ).json()
  expect(domain.code).toBe(200)
  seen.records.set(domain.data.recordName, [domain.data.recordValue])
  const verified = await auth.call(token, 'POST', `/v2/entities/sso/domains/${domain.data.id}/verify`)
  expect(verified.json()).toMatchObject({ code: 200, data: { status: 'verified' } })
  idp.state.acsUrl = put.json().data.acsUrl
  const metadata = await auth.app.inject(`/v2/sso/saml/${auth.companyId}/metadata`)
  idp.state.signingCert = certificateOf(metadata.body)
  idp.state.person = { nameId: 'root', attributes: { email: 'root@acme.example' } }
  const reply = await signInThrough(app, idp, 'acme.example')
  expect(seen.outcomes).toEqual(['accepted'])
  expect(reply.statusCode).toBe(303)
  expect(reply.headers.location).toMatch(/^https:\/\/app.example\/signed-in\?code=C1&state=s t&te$/)
})
