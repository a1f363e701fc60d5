import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fingerprintOf } from '../../src/features/identity/single-sign-on/certificates/certificate-service.ts'
import { type IdentityProvider, makeKey, startIdentityProvider } from '../support/identity-provider.ts'
import type { TestDatabase } from '../support/postgres.ts'
import {
  mapping,
  type OpenedSingleSignOn,
  openSession,
  openSingleSignOn,
  personOf,
  type SingleSignOnApp,
  signInThrough,
  tokenOf,
} from '../support/single-sign-on.ts'

/** What a change of single sign-on must not do: lock a company out, or let sessions of a former provider go on. */

const config = '/v2/entities/sso/config'

let opened: OpenedSingleSignOn
let relational: TestDatabase
let app: SingleSignOnApp
let idp: IdentityProvider
/** Of an administrator whose address is of no domain of single sign-on. */
let outside: string

beforeAll(async () => {
  opened = await openSingleSignOn()
  ;({ relational, app, idp } = opened)
  outside = await tokenOf(app.auth, 'root@elsewhere.example')
  await relational.pool.query(
    `with made as (insert into roles (id, company_id, name) values ('cccccccccccccccccccccccc', $1, 'Office') returning id)
     insert into role_permissions select id, 'company', unnest(array['read', 'update']) from made`,
    [app.auth.companyId],
  )
})

afterAll(() => opened.close())

beforeEach(async () => {
  opened.forget()
  await app.auth.takeMails()
})

const patch = (body: Record<string, unknown>, as = outside) => opened.call('PATCH', config, body, as)
const read = async () => (await opened.call('GET', config, undefined, outside)).data
const mails = async () => (await app.auth.takeMails()).toSorted((a, b) => a.to.localeCompare(b.to))

async function sessionsOf(email: string): Promise<string[]> {
  const { rows } = await relational.pool.query(
    'select method from refresh_tokens r join users u on u.id = r.user_id where u.email = $1 order by 1',
    [email],
  )
  return rows.map(({ method }) => method)
}

/** The administrator from outside gets an address of the domain, or another one again. */
const moveOutside = (email: string) =>
  relational.pool.query(
    `update users set email = $1 where email in ('root@elsewhere.example', 'root2@acme.example')`,
    [email],
  )

describe('requiring it leaves an administrator who can sign in', () => {
  test('it is refused while every administrator is of its domains and none has signed in through it', async () => {
    await app.auth.addUser('pam@acme.example')
    expect(await opened.signIn(personOf('pam'))).toBe('accepted')
    await moveOutside('root2@acme.example')
    const refused = await patch({ mandatory: true })
    expect(refused).toMatchObject({ code: 409, message: expect.stringMatching(/administrator/) })
    expect(await read()).toMatchObject({ mandatory: false, provenAt: expect.any(String) })
    const { rows } = await relational.pool.query(
      `select error, actor_kind from audit_entries where action = 'sso-config-update' and outcome = 'failure'`,
    )
    expect(rows.at(-1)).toEqual({ error: 'lastAdministrator', actor_kind: 'user' })
    await moveOutside('root@elsewhere.example')
  })

  test('an administrator outside the domains, or one who has signed in through it, is enough', async () => {
    expect(await patch({ mandatory: true })).toMatchObject({ code: 200, data: { mandatory: true } })
    await expect(moveOutside('root2@acme.example')).rejects.toThrow('would have no administrator')
    expect(await opened.signIn(personOf('root'))).toBe('accepted')
    await moveOutside('root2@acme.example')
    expect(await patch({ provisioning: 'invitation' })).toMatchObject({ code: 200 })
    await moveOutside('root@elsewhere.example')
  })

  test('a user who may do less than the company’s users cannot require it', async () => {
    await patch({ mandatory: false })
    const office = await tokenOf(app.auth, 'office@elsewhere.example', 'Office')
    expect(await patch({ mandatory: true }, office)).toMatchObject({ code: 403, error_code: 2051 })
    expect(await read()).toMatchObject({ mandatory: false })
  })
})

describe('a change of who is believed', () => {
  test('another mapping is proven again before it is required; the same one changes nothing', async () => {
    expect(await patch({ mandatory: true })).toMatchObject({ code: 200 })
    expect(await patch({ attributeMapping: mapping })).toMatchObject({ data: { mandatory: true } })
    const other = { ...mapping, phone: 'attributes.phone' }
    expect(await patch({ attributeMapping: other, mandatory: true })).toMatchObject({
      code: 409,
      error_code: 2042,
    })
    expect(await patch({ attributeMapping: other })).toMatchObject({
      code: 200,
      data: { mandatory: false, provenAt: null },
    })
    expect(await patch({ attributeMapping: mapping })).toMatchObject({ code: 200 })
    expect(await opened.signIn(personOf('root'))).toBe('accepted')
  })

  test('another provider ends the sessions that the former one gave, and its names open nothing', async () => {
    await openSession(app, 'pam@acme.example', 'sso')
    await openSession(app, 'pam@acme.example', 'password')
    await openSession(app, 'root@acme.example', 'sso')
    const other = await startIdentityProvider()
    const changed = await patch({ idpMetadataXml: await other.metadata() })
    expect(changed).toMatchObject({ code: 200, data: { idpEntityId: other.entityId, provenAt: null } })
    expect(await sessionsOf('pam@acme.example')).toEqual(['password'])
    expect(await sessionsOf('root@acme.example')).not.toContain('sso')
    const { rows } = await relational.pool.query(
      `select details->'endedSessions' as ended from audit_entries where action = 'sso-config-update' order by at desc, id desc limit 1`,
    )
    expect(rows[0].ended).toBe(2)
    Object.assign(other.state, { acsUrl: idp.state.acsUrl, signingCert: idp.state.signingCert })
    // The former provider's name for the administrator is nobody's here.
    other.state.person = { nameId: 'root', attributes: { email: 'nobody@acme.example' } }
    await signInThrough(app, other, 'acme.example')
    expect(app.seen.outcomes.at(-1)).toBe('not-invited')
    await other.close()
    expect(await patch({ idpMetadataXml: await idp.metadata() })).toMatchObject({ code: 200 })
    expect(await opened.signIn(personOf('root'))).toBe('accepted')
  })

  test('further certificates of the same provider end nothing and leave it required', async () => {
    expect(await patch({ mandatory: true })).toMatchObject({ code: 200 })
    await openSession(app, 'pam@acme.example', 'sso')
    await mails()
    const metadata = await idp.metadata()
    const [descriptor = ''] = /<KeyDescriptor use="signing">[\s\S]*?<\/KeyDescriptor>/.exec(metadata) ?? []
    const { certificate } = await makeKey()
    const next = descriptor.replace(
      /<X509Certificate>[^<]*/,
      `<X509Certificate>${certificate.replaceAll(/-----[A-Z ]+-----|\s/g, '')}`,
    )
    const both = metadata.replace(descriptor, `${descriptor}${next}`)
    const added = await patch({ idpMetadataXml: both })
    expect(added).toMatchObject({ code: 200, data: { mandatory: true, provenAt: expect.any(String) } })
    expect(added.data.idpCertificates).toHaveLength(2)
    expect(await sessionsOf('pam@acme.example')).toContain('sso')
    expect((await mails())[0]?.text).toMatch(/Other certificates/)
    const { rows } = await relational.pool.query(
      `select details from audit_entries where action = 'sso-config-update' order by at desc, id desc limit 1`,
    )
    expect(rows[0].details).toMatchObject({
      certificatesAdded: [fingerprintOf(certificate)],
      certificatesRemoved: [],
      identityProviderChanged: false,
    })
    expect(await opened.signIn(personOf('root'))).toBe('accepted')

    // To take one away that is still valid ends what it may have given, and leaves it required.
    await relational.pool.query(
      `update refresh_tokens set method = 'sso' where user_id = (select id from users where email = 'root@elsewhere.example')`,
    )
    expect(await patch({ idpMetadataXml: metadata })).toMatchObject({ code: 200, data: { mandatory: true } })
    expect(await sessionsOf('pam@acme.example')).not.toContain('sso')
    // But not the session that asked: who takes the wrong one away can put it back.
    expect(await read()).toMatchObject({ mandatory: true })

    // Where nothing is required yet, all keys at once are another thing to prove.
    expect(await patch({ mandatory: false })).toMatchObject({ code: 200 })
    const other = metadata.replace(descriptor, next)
    expect(await patch({ idpMetadataXml: other, mandatory: true })).toMatchObject({
      code: 409,
      error_code: 2042,
    })
    expect(await read()).toMatchObject({ mandatory: false, provenAt: expect.any(String) })
    await relational.pool.query(`update refresh_tokens set method = 'password' where method = 'sso'`)
  })

  test('the same provider under the same certificates ends nothing', async () => {
    await openSession(app, 'pam@acme.example', 'sso')
    expect(await patch({ idpMetadataXml: await idp.metadata() })).toMatchObject({ code: 200 })
    expect(await sessionsOf('pam@acme.example')).toContain('sso')
  })

  test('every administrator gets a mail in their language about provider, mapping and requirement', async () => {
    await relational.pool.query(`update users set language = 'fr' where email = 'root@acme.example'`)
    const told = async (body: Record<string, unknown>) => {
      expect(await patch(body)).toMatchObject({ code: 200 })
      return mails()
    }
    const [french, english, ...more] = await told({ mandatory: true })
    expect(more).toEqual([])
    expect([french?.to, english?.to]).toEqual(['root@acme.example', 'root@elsewhere.example'])
    expect(french?.subject).toBe('La connexion unique de votre entreprise a été modifiée')
    expect(french?.text).toContain('root@elsewhere.example a modifié')
    expect(english?.text).toContain('their passwords no longer work')
    const mappingToo = await told({ attributeMapping: { ...mapping, phone: 'attributes.phone' } })
    expect(mappingToo[1]?.text).toMatch(/other attributes[\s\S]*may sign in with their passwords/)
    const provider = (await idp.metadata()).replace('/sign-in', '/another')
    expect((await told({ idpMetadataXml: provider }))[1]?.text).toContain('Another identity provider')
    expect(await told({ provisioning: 'invitation' })).toEqual([])
    await told({ idpMetadataXml: await idp.metadata(), attributeMapping: mapping })
    expect(await opened.signIn(personOf('root'))).toBe('accepted')
    await told({ mandatory: true })
    await app.singleSignOn.domains.verifyByOperator(app.auth.companyId, 'third.example')
    expect((await mails()).map(({ to }) => to)).toEqual(['root@acme.example', 'root@elsewhere.example'])
  })
})

describe('teams of new users', () => {
  const team = async (id: string, more = '') => {
    await relational.pool.query(
      `insert into teams (id, company_id, name${more && ', provisioned'}) values ($1, $2, $1${more})`,
      [id, app.auth.companyId],
    )
    return id
  }

  test('a user gives those that they use or may change, and keeps those that are there', async () => {
    const foreign = await team('d'.repeat(24))
    const office = await tokenOf(app.auth, 'office2@elsewhere.example', 'Office')
    expect(await patch({ defaultTeamIds: [foreign] }, office)).toMatchObject({
      code: 403,
      data: { teamIds: [foreign] },
    })
    expect(await patch({ defaultTeamIds: [foreign] })).toMatchObject({ code: 200 })
    expect(await patch({ defaultTeamIds: [foreign] }, office)).toMatchObject({ code: 200 })
    expect(await patch({ defaultTeamIds: [] }, office)).toMatchObject({ code: 200 })
  })

  test('a team that the identity provider keeps is not for anybody to give', async () => {
    const kept = await team('e'.repeat(24), ', true')
    expect(await patch({ defaultTeamIds: [kept] })).toMatchObject({
      code: 409,
      error_code: 2078,
      data: { teamIds: [kept] },
    })
  })
})
