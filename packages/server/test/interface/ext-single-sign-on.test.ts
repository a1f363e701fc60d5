import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { fingerprintOf } from '../../src/features/identity/single-sign-on/certificates/certificate-service.ts'
import type { Relational } from '../../src/platform/stores/relational.ts'
import { day } from '../support/fake-time.ts'
import { type IdentityProvider, makeKey, oddCertificate } from '../support/identity-provider.ts'
import {
  mapping,
  type OpenedSingleSignOn,
  openSingleSignOn,
  personOf,
  type SingleSignOnApp,
  tokenOf,
} from '../support/single-sign-on.ts'

const config = '/v2/entities/sso/config'
const domains = '/v2/entities/sso/domains'
const certificates = '/v2/entities/sso/certificates'

let opened: OpenedSingleSignOn
let relational: Relational
let app: SingleSignOnApp
let idp: IdentityProvider
let token: string
let metadata: string

beforeAll(async () => {
  opened = await openSingleSignOn()
  ;({ relational, app, idp, token } = opened)
  metadata = await idp.metadata()
})

afterAll(() => opened.close())

const call = (
  method: Parameters<OpenedSingleSignOn['call']>[0],
  url: string,
  body?: Record<string, unknown>,
  as = token,
) => opened.call(method, url, body, as)

const signIn = (name: string) => opened.signIn(personOf(name))

/** A certificate as metadata holds it. */
const packed = ({ certificate }: { certificate: string }) =>
  certificate.replaceAll(/-----[A-Z ]+-----|\s/g, '')

async function roleId(name: string): Promise<string> {
  const { rows } = await relational.pool.query('select id from roles where company_id = $1 and name = $2', [
    app.auth.companyId,
    name,
  ])
  return rows[0].id
}

describe('who may', () => {
  const calls = [
    ['GET', config, undefined],
    ['PUT', config, { idpMetadataXml: 'x', attributeMapping: mapping }],
    ['PATCH', config, {}],
    ['DELETE', config, undefined],
    ['GET', domains, undefined],
    ['POST', domains, { domain: 'x.example' }],
    ['POST', `${domains}/${'f'.repeat(24)}/verify`, undefined],
    ['DELETE', `${domains}/${'f'.repeat(24)}`, undefined],
    ['GET', certificates, undefined],
    ['POST', certificates, undefined],
    ['DELETE', `${certificates}/${'f'.repeat(24)}`, undefined],
  ] as const

  test('O02 every operation needs a token, reading needs Company: read, changing Company: update', async () => {
    const viewer = await tokenOf(app.auth, 'viewer@acme.example', 'viewer')
    for (const [method, url, body] of calls) {
      expect(await call(method, url, body, 'A'.repeat(43))).toMatchObject({ code: 401 })
      expect(await call(method, url, body, `scim_${'A'.repeat(43)}`)).toMatchObject({ code: 401 })
      const code = method === 'GET' ? 200 : 403
      expect(await call(method, url, body, viewer)).toMatchObject({ code })
    }
    const { rows } = await relational.pool.query('select count(*)::int as n from sso_configs')
    expect(rows[0].n).toBe(1)
  })

  test('another company sees and changes nothing of it: it has no configuration, domain or certificate', async () => {
    const { companyId } = await relational.transaction((tx) => insertCompany(tx, 'Other'))
    const admin = { companyId, email: 'root@other.example', roleName: 'admin', teamNames: [] }
    await app.auth.accounts.createUser({ ...admin, password: 'a field of 7 poppies' })
    const other = (await app.auth.signIn('root@other.example')).json().access_token
    expect(await call('GET', config, undefined, other)).toMatchObject({ code: 404, error_code: 2040 })
    expect(await call('PATCH', config, { mandatory: true }, other)).toMatchObject({ code: 404 })
    expect(await call('GET', domains, undefined, other)).toMatchObject({ code: 200, data: [] })
    const [own] = (await call('GET', domains)).data as unknown as { id: string }[]
    const [certificate] = (await call('GET', certificates)).data as unknown as { id: string }[]
    for (const [method, url] of [
      ['POST', `${domains}/${own?.id}/verify`],
      ['DELETE', `${domains}/${own?.id}`],
      ['DELETE', `${certificates}/${certificate?.id}`],
    ] as const) {
      const absent = await call(method, url.replace(/[0-9a-f]{24}/, 'f'.repeat(24)), undefined, other)
      const foreign = await call(method, url, undefined, other)
      expect(foreign).toMatchObject({
        code: 404,
        message: absent.message,
        error_code: absent.error_code as number,
      })
    }
    expect(await call('POST', domains, { domain: 'Acme.Example' }, other)).toMatchObject({
      code: 409,
      error_code: 2044,
      data: { domain: 'acme.example' },
    })
    const team = await relational.pool.query('select id from teams where company_id = $1', [companyId])
    const role = await relational.pool.query(
      `select id from roles where company_id = $1 and name = 'viewer'`,
      [companyId],
    )
    const [teamId, foreignRole] = [team.rows[0].id, role.rows[0].id]
    expect(await call('PATCH', config, { defaultTeamIds: [teamId] })).toMatchObject({
      code: 400,
      data: { teamIds: [teamId] },
    })
    expect(await call('PATCH', config, { defaultRoleId: foreignRole })).toMatchObject({
      code: 400,
      data: { roleIds: [foreignRole] },
    })
  })

  test('nobody makes a default role of one that allows more than their own', async () => {
    await relational.pool.query(
      `with made as (insert into roles (id, company_id, name) values ('cccccccccccccccccccccccc', $1, 'Office') returning id)
       insert into role_permissions select id, 'company', unnest(array['read', 'update']) from made`,
      [app.auth.companyId],
    )
    const office = await tokenOf(app.auth, 'office@acme.example', 'Office')
    const admin = await roleId('admin')
    const refused = await call('PATCH', config, { provisioning: 'create', defaultRoleId: admin }, office)
    expect(refused).toMatchObject({ code: 403, error_code: 2051, data: { roleIds: [admin] } })
    expect(await call('PATCH', config, { defaultRoleId: 'c'.repeat(24) }, office)).toMatchObject({
      code: 200,
    })
    expect(await call('PATCH', config, { defaultRoleId: admin })).toMatchObject({ code: 200 })
    // What another user has set is not for them to put to use.
    expect(await call('PATCH', config, { provisioning: 'create' }, office)).toMatchObject({ code: 403 })
    expect(await call('PATCH', config, { defaultRoleId: null })).toMatchObject({ code: 200 })
    expect(await call('PATCH', config, { provisioning: 'create' })).toMatchObject({
      code: 400,
      error_code: 1,
    })
  })

  test('no user says which provider is believed while another may do more', async () => {
    const admin = await roleId('admin')
    const office = await tokenOf(app.auth, 'office2@acme.example', 'Office')
    const refused = { code: 403, error_code: 2051, data: { roleIds: expect.arrayContaining([admin]) } }
    const whole = { idpMetadataXml: metadata, attributeMapping: mapping }
    expect(await call('PUT', config, whole, office)).toMatchObject(refused)
    expect(await call('PATCH', config, { idpMetadataXml: metadata }, office)).toMatchObject(refused)
    expect(await call('PATCH', config, { attributeMapping: mapping }, office)).toMatchObject(refused)
    expect(await call('PATCH', config, { provisioning: 'invitation' }, office)).toMatchObject({ code: 200 })
  })
})

describe('A15: metadata', () => {
  const put = (body: Record<string, unknown>) => call('PUT', config, { attributeMapping: mapping, ...body })
  const refusalOf = async (xml: string) => {
    const reply = await put({ idpMetadataXml: xml })
    expect(reply).toMatchObject({ code: 400, error_code: 2041 })
    return reply.data.reason
  }

  test('A15 metadata that cannot be used is refused at save with the reason', async () => {
    const old = await makeKey(-2)
    const weak = await makeKey(3650, 1024)
    const certificate = /<X509Certificate>[^<]*<\/X509Certificate>/
    const cases: [string, RegExp][] = [
      [metadata.replace(/<KeyDescriptor.*<\/KeyDescriptor>/s, ''), /no certificate/],
      [metadata.replace('use="signing"', 'use="encryption"'), /no certificate/],
      [
        metadata.replace(certificate, `<X509Certificate>${packed(old)}</X509Certificate>`),
        /expired, on 20\d\d-/,
      ],
      [metadata.replace(certificate, '<X509Certificate>AAAA</X509Certificate>'), /cannot be read/],
      [`<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>${metadata}`, /document type/],
      [metadata.replace('<IDPSSO', '&a;<IDPSSO'), /not well-formed/],
      [
        `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${metadata}${metadata}</EntitiesDescriptor>`,
        /2 identity providers/,
      ],
      [metadata.replaceAll(/Location="https:/g, 'Location="http:'), /must begin with https/],
      [metadata.replaceAll(/Location="[^"]*"/g, 'Location="javascript:alert(1)"'), /must begin with https/],
      [metadata.replaceAll(/Location="https:\/\//g, 'Location="https://u:p@'), /user name/],
      [
        metadata
          .replace('HTTP-Redirect" Location="https://127.0.0.1', 'SOAP" Location="https://127.0.0.1')
          .replaceAll('bindings:HTTP-Redirect', 'bindings:SOAP'),
        /HTTP-Redirect/,
      ],
      [metadata.replace(/entityID="[^"]*"/, 'entityID=""'), /entityID/],
      [metadata.replaceAll('IDPSSODescriptor', 'SPSSODescriptor'), /no identity provider/],
      [metadata.replace('SAML:2.0:protocol', 'SAML:1.1:protocol'), /SAML 2.0/],
      [metadata.replace(certificate, `<X509Certificate>${packed(weak)}</X509Certificate>`), /too weak/],
      [metadata.replace(certificate, `<X509Certificate>${oddCertificate}</X509Certificate>`), /exponent/],
      ['<a/>', /EntityDescriptor/],
      ['{}', /not well-formed/],
      ['<a>'.repeat(50), /deeper/],
    ]
    for (const [xml, reason] of cases) expect(await refusalOf(xml)).toMatch(reason)
  })

  test('A15 an address that is not https, or not public, is refused with the reason', async () => {
    expect((await put({ idpMetadataUrl: 'http://idp.example/metadata' })).data.reason).toMatch(/https/)
    expect(app.seen.fetched).toEqual([])
    const refused = await put({ idpMetadataUrl: 'https://169.254.169.254/metadata' })
    expect(refused).toMatchObject({
      code: 400,
      data: { reason: 'it cannot be fetched: the address is not public' },
    })
    expect(await put({})).toMatchObject({ code: 400, error_code: 1 })
    expect(await put({ idpMetadataXml: metadata, idpMetadataUrl: 'https://x.example' })).toMatchObject({
      code: 400,
    })
    app.seen.documents.set(
      'https://idp.example/metadata',
      `<?xml version="1.0" encoding="UTF-8"?><!-- ours -->${metadata}`,
    )
    expect(await put({ idpMetadataUrl: 'https://idp.example/metadata' })).toMatchObject({
      code: 200,
      data: {
        idpMetadataUrl: 'https://idp.example/metadata',
        idpMetadataXml: null,
        idpEntityId: idp.entityId,
      },
    })
  })

  test.each([
    { attributeMapping: {} },
    { attributeMapping: { email: 'email' } },
    { attributeMapping: { email: 'attributes.' } },
    { attributeMapping: { email: 'nameId', role: 'attributes.role' } },
    { attributeMapping: mapping, provisioning: 'all' },
    { attributeMapping: mapping, defaultRoleId: 'x' },
    { attributeMapping: mapping, mandatory: 'true' },
    { attributeMapping: mapping, certificate: 'x' },
  ])('a body like %j is refused and changes nothing', async (body) => {
    const before = await call('GET', config)
    expect(await call('PUT', config, { idpMetadataXml: metadata, ...body })).toMatchObject({
      code: 400,
      error_code: 1,
    })
    expect((await call('GET', config)).data).toEqual(before.data)
  })

  test('what was read can be sent back, and no key is ever in a reply', async () => {
    await put({ idpMetadataXml: metadata, provisioning: 'invitation' })
    const read = await call('GET', config)
    const { updatedAt, ...same } = read.data
    expect((await call('PUT', config, read.data)).data).toMatchObject(same)
    expect((await call('PATCH', config, read.data)).data).toMatchObject(same)
    expect(updatedAt).toMatch(/Z$/)
    for (const url of [config, certificates])
      expect(JSON.stringify(await call('GET', url))).not.toContain('PRIVATE')
    const { rows } = await relational.pool.query('select sealed_key from sso_certificates')
    expect(rows[0].sealed_key.toString('latin1')).not.toContain('PRIVATE')
  })
})

describe('requiring single sign-on', () => {
  test('it takes a sign-in with the present metadata and domains, and ends password sessions of the domains', async () => {
    const { auth } = app
    expect(await call('PATCH', config, { mandatory: true })).toMatchObject({ code: 409, error_code: 2042 })
    expect(await signIn('root')).toBe('accepted')
    const proven = await call('GET', config)
    expect(proven.data.provenAt).toMatch(/Z$/)

    await auth.addUser('pam@acme.example')
    await auth.addUser('out@elsewhere.example')
    const robot = await auth.addUser('job@acme.example')
    await relational.pool.query('update users set service_account = true where id = $1', [robot.id])
    const sessions = Object.fromEntries(
      await Promise.all(
        ['pam@acme.example', 'out@elsewhere.example', 'job@acme.example'].map(async (email) => [
          email,
          (await auth.signIn(email)).json().access_token,
        ]),
      ),
    )
    const requires = async (email: string) => {
      const { rows } = await relational.pool.query('select requires_single_sign_on($1, $2) as yes', [
        auth.companyId,
        email,
      ])
      return rows[0].yes
    }
    expect(await requires('pam@acme.example')).toBe(false)
    const admin = await tokenOf(auth, 'root@elsewhere.example')
    expect(await call('PATCH', config, { mandatory: true })).toMatchObject({
      code: 200,
      data: { mandatory: true },
    })
    expect(await requires('PAM@ACME.EXAMPLE')).toBe(true)
    expect(await requires('pam@sub.acme.example')).toBe(false)
    expect(await requires('out@elsewhere.example')).toBe(false)
    auth.cache.forget()
    const codes = await Promise.all(
      Object.values(sessions).map(async (each) => (await auth.get(String(each))).statusCode),
    )
    expect(codes).toEqual([401, 200, 200])
    // The user who turned it on by password has to sign in the new way, too.
    expect(await call('GET', config)).toMatchObject({ code: 401 })
    token = admin
    expect(await app.singleSignOn.domains.findSingleSignOn('acme.example')).toEqual({
      companyId: auth.companyId,
      required: true,
    })
  })

  test('another sign-in address or another domain turns it off until it is proven again; certificates and other fields do not', async () => {
    const isMandatory = async () => (await call('GET', config)).data.mandatory
    await call('PATCH', config, {
      attributeMapping: mapping,
      idpMetadataXml: metadata,
      provisioning: 'invitation',
    })
    expect(await isMandatory()).toBe(true)
    const [ours] = (await call('GET', certificates)).data as unknown as { id: string }[]
    expect(ours?.id).toBeDefined()
    const other = await makeKey()
    const changed = metadata.replace(/<X509Certificate>[^<]*/, `<X509Certificate>${packed(other)}`)
    expect(await call('PATCH', config, { idpMetadataXml: changed })).toMatchObject({
      code: 200,
      data: {
        mandatory: true,
        provenAt: expect.any(String),
        idpCertificates: [{ fingerprint: fingerprintOf(other.certificate) }],
      },
    })
    expect(await signIn('root')).toBe('signature-invalid')
    await call('PATCH', config, { idpMetadataXml: metadata })
    expect(await isMandatory()).toBe(true)
    expect(await signIn('root')).toBe('accepted')
    const elsewhere = metadata.replace('/sign-in', '/another')
    expect(await call('PATCH', config, { idpMetadataXml: elsewhere, mandatory: true })).toMatchObject({
      code: 409,
    })
    expect(await isMandatory()).toBe(true)
    expect(await call('PATCH', config, { idpMetadataXml: elsewhere })).toMatchObject({
      code: 200,
      data: { mandatory: false, provenAt: null },
    })
    await call('PATCH', config, { idpMetadataXml: metadata })
    expect(await signIn('root')).toBe('accepted')
    expect(await call('PATCH', config, { mandatory: true })).toMatchObject({ code: 200 })
    await app.singleSignOn.domains.verifyByOperator(app.auth.companyId, 'second.example')
    expect((await call('GET', config)).data).toMatchObject({ mandatory: false, provenAt: null })
  })
})

describe('certificates', () => {
  test('a new one stands beside the old one, which signs until it is retired', async () => {
    const list = async () =>
      (await call('GET', certificates)).data as unknown as {
        id: string
        signs: boolean
        certificate: string
      }[]
    const [first] = await list()
    expect(await call('DELETE', `${certificates}/${first?.id}`)).toMatchObject({
      code: 409,
      error_code: 2048,
    })
    const second = await call('POST', certificates)
    expect(second).toMatchObject({ code: 200, data: { signs: false } })
    expect(await call('POST', certificates)).toMatchObject({ code: 409, error_code: 2049 })
    expect((await list()).map(({ signs }) => signs)).toEqual([true, false])
    const published = await app.auth.app.inject(`/v2/sso/saml/${app.auth.companyId}/metadata`)
    expect(published.headers['content-type']).toMatch(/^application\/samlmetadata\+xml/)
    expect(published.body.match(/<ds:X509Certificate>/g)).toHaveLength(2)
    expect(published.body).toContain('AuthnRequestsSigned="true"')
    expect(published.body).toContain('WantAssertionsSigned="true"')
    // The identity provider knows the old one alone.
    expect(await signIn('root')).toBe('accepted')
    expect(await call('DELETE', `${certificates}/${first?.id}`)).toMatchObject({ code: 200, data: {} })
    expect(await call('DELETE', `${certificates}/${first?.id}`)).toMatchObject({
      code: 404,
      error_code: 2047,
    })
    await expect(signIn('root')).rejects.toThrow('Signature check errors')
    idp.state.signingCert = String(second.data.certificate)
    expect(await signIn('root')).toBe('accepted')
    const { validToDate, validFromDate } = new X509Certificate(String(second.data.certificate))
    expect(Math.round((validToDate.getTime() - validFromDate.getTime()) / day)).toBe(3 * 365 + 1)
  })

  test('there is no metadata of ours where there is no certificate', async () => {
    for (const id of ['f'.repeat(24), 'x'])
      expect((await app.auth.app.inject(`/v2/sso/saml/${id}/metadata`)).statusCode).toBe(404)
  })
})
