import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import type { Claims } from '../../src/features/identity/single-sign-on/assertion/assertion-claims.ts'
import { createIdentityStore } from '../../src/features/identity/single-sign-on/sign-in/identity-store.ts'
import { linkUser, matchUser } from '../../src/features/identity/single-sign-on/sign-in/user-matching.ts'
import { minute } from '../support/fake-time.ts'
import type { IdentityProvider, IdpPerson } from '../support/identity-provider.ts'
import type { TestDatabase } from '../support/postgres.ts'
import { genuineResponse } from '../support/saml-forgery.ts'
import {
  createBrowser,
  createSingleSignOnApp,
  type OpenedSingleSignOn,
  openSingleSignOn,
  personOf,
  type SingleSignOnApp,
} from '../support/single-sign-on.ts'

/** docs/faults.md, A09 to A13 and A16: who waits for a response, and whom it lets in. */

let opened: OpenedSingleSignOn
let relational: TestDatabase
let app: SingleSignOnApp
let idp: IdentityProvider
let token: string
let entityId: string
let begin: OpenedSingleSignOn['begin']
const config = '/v2/entities/sso/config'

beforeAll(async () => {
  opened = await openSingleSignOn()
  ;({ relational, app, idp, token, entityId, begin } = opened)
})

afterAll(() => opened.close())

beforeEach(() => opened.forget())

/** @returns what became of it */
const signIn = (who: IdpPerson) => opened.signIn(who)

async function userOf(email: string) {
  const { rows } = await relational.pool.query(
    `select u.*, r.name as role, array(select team_id from team_members where user_id = u.id) as teams
     from users u join roles r on r.id = u.role_id where email = $1`,
    [email],
  )
  return rows[0]
}

describe('A09, A10, A11: in answer to what', () => {
  test('A09 a response is taken once; a second one to the same request is refused', async () => {
    await app.auth.addUser('once@acme.example')
    const first = await begin(personOf('once'))
    expect((await first.browser.follow(await first.post())).statusCode).toBe(303)
    const again = await genuineResponse(idp, personOf('once'), {
      audience: entityId,
      inResponseTo: first.requestId,
    })
    const SAMLResponse = Buffer.from(again).toString('base64')
    expect((await first.browser.post(app.auth.companyId, { SAMLResponse })).statusCode).toBe(403)
    expect(app.seen.outcomes).toEqual(['accepted', 'request-used'])
  })

  test('A09 a response to a request that nobody made, or that has ended, is refused', async () => {
    const { browser, requestId, response } = await begin(personOf('once'))
    const post = async (inResponseTo: string) => {
      const xml = await genuineResponse(idp, personOf('once'), { audience: entityId, inResponseTo })
      await browser.post(app.auth.companyId, { SAMLResponse: Buffer.from(xml).toString('base64') })
    }
    await post(`_${'0'.repeat(40)}`)
    await post("_' or '1'='1")
    // Only the assertion is signed: what the response around it says must agree.
    const torn = response.replace(`InResponseTo="${requestId}" `, 'InResponseTo="_other" ')
    await browser.post(app.auth.companyId, { SAMLResponse: Buffer.from(torn).toString('base64') })
    app.auth.time.advance(10 * minute)
    const late = await genuineResponse(idp, personOf('once'), {
      audience: entityId,
      inResponseTo: requestId,
      lifetimeInSeconds: 3600,
    })
    await browser.post(app.auth.companyId, { SAMLResponse: Buffer.from(late).toString('base64') })
    expect(app.seen.outcomes).toEqual([
      'unknown-request',
      'unknown-request',
      'unknown-request',
      'request-expired',
    ])
    app.auth.time.advance(-10 * minute)
  })

  test('A09 the result of a response opens nothing in another browser, and nothing twice', async () => {
    const { browser, post } = await begin(personOf('once'))
    const posted = await post()
    const stranger = createBrowser(app)
    expect((await stranger.follow(posted)).statusCode).toBe(403)
    expect((await browser.follow(posted)).statusCode).toBe(403)
    expect(app.seen.outcomes).toEqual(['other-browser', 'unknown-result'])
    expect(await app.finished()).toEqual([])
    for (const result of ['', 'x', 'A'.repeat(43), "' or 1=1"]) {
      const url = `/v2/sso/saml/${app.auth.companyId}/finish?${new URLSearchParams({ result })}`
      expect((await stranger.get(url)).statusCode).toBe(403)
    }
    const late = await begin(personOf('once'))
    const reply = await late.post()
    app.auth.time.advance(2 * minute)
    expect((await late.browser.follow(reply)).statusCode).toBe(403)
    expect(app.seen.outcomes.at(-1)).toBe('unknown-result')
  })

  test('A10 an assertion is taken once, also by another process at the same moment', async () => {
    const other = relational.reopen()
    const second = await createSingleSignOnApp(other)
    const { post, response, SAMLResponse } = await begin(personOf('once'))
    const elsewhere = createBrowser(second)
    const replies = await Promise.all([
      post(),
      post(),
      elsewhere.post(app.auth.companyId, { SAMLResponse }),
      elsewhere.post(app.auth.companyId, { SAMLResponse }),
    ])
    expect(replies.map(({ statusCode }) => statusCode).sort()).toEqual([303, 403, 403, 403])
    expect([...app.seen.outcomes, ...second.seen.outcomes]).toEqual(['replayed', 'replayed', 'replayed'])
    expect(response).toContain('Assertion')
    await second.auth.app.close()
    await other.close()
  })

  test('A10 an assertion that was taken is not taken again after a restart', async () => {
    const { post, browser, SAMLResponse } = await begin(personOf('once'))
    const taken = await post()
    const other = relational.reopen()
    const restarted = await createSingleSignOnApp(other)
    const again = createBrowser(restarted)
    expect((await again.post(app.auth.companyId, { SAMLResponse })).statusCode).toBe(403)
    expect(restarted.seen.outcomes).toEqual(['replayed'])
    // What was taken before goes on where it stood.
    expect((await browser.follow(taken)).statusCode).toBe(303)
    await restarted.auth.app.close()
    await other.close()
  })

  test('A11 a sign-in that began at the identity provider is refused', async () => {
    const browser = createBrowser(app)
    const xml = await genuineResponse(idp, personOf('once'), { audience: entityId })
    const reply = await browser.post(app.auth.companyId, {
      SAMLResponse: Buffer.from(xml).toString('base64'),
      RelayState: 'https://app.example/',
    })
    expect([reply.statusCode, app.seen.outcomes.at(-1)]).toEqual([403, 'unsolicited'])
  })

  test.each(['https://evil.example', '//evil.example', 'javascript:alert(1)'])(
    'A13 RelayState %s leads nowhere',
    async (RelayState) => {
      const { browser, SAMLResponse } = await begin(personOf('once'))
      const reply = await browser.post(app.auth.companyId, { SAMLResponse, RelayState })
      expect(reply.headers.location).toMatch(
        /^https:\/\/millrace\.example\/v2\/sso\/saml\/[0-9a-f]{24}\/finish\?result=/,
      )
      const { headers } = await browser.follow(reply)
      expect(headers.location).toMatch(/^https:\/\/app\.example\/signed-in\?/)
    },
  )
})

describe('A12, A16: whom it lets in', () => {
  test('an existing user is linked the first time and known by name afterwards, whatever the address', async () => {
    const user = await app.auth.addUser('linked@acme.example')
    expect(await signIn(personOf('name-1', { email: 'Linked@Acme.Example' }))).toBe('accepted')
    expect(await signIn(personOf('name-1', { email: 'renamed@acme.example' }))).toBe('accepted')
    expect(await app.finished()).toEqual([user.id, user.id])
    // The address was given to another user at the identity provider: that one is not this user.
    expect(await signIn(personOf('name-2', { email: 'linked@acme.example' }))).toBe('other-identity')
  })

  test('A12 an address of a domain that is not verified for the company is refused', async () => {
    for (const email of [
      'a@other.example',
      'a@sub.acme.example',
      'a@acme.example.evil.example',
      'a@xacme.example',
    ])
      expect(await signIn(personOf('stranger', { email }))).toBe('domain-not-verified')
    for (const email of [
      '',
      'nobody',
      'a@b@acme.example',
      '"a"@acme.example',
      'a@acme.example, b@acme.example',
    ])
      expect(await signIn(personOf('stranger', { email }))).toBe('no-email')
    const two = { nameId: 'stranger', attributes: { email: ['once@acme.example', 'root@acme.example'] } }
    expect(await signIn(two)).toBe('no-email')
  })

  test('A12 the identity provider of one company never lets anybody into another', async () => {
    const { companyId } = await relational.transaction((tx) => insertCompany(tx, 'Other'))
    const foreign = { companyId, email: 'foreign@acme.example', roleName: 'admin', teamNames: [] }
    await app.auth.accounts.createUser({ ...foreign, password: undefined })
    expect(await signIn(personOf('foreign'))).toBe('other-company')
    const { browser, SAMLResponse } = await begin(personOf('once'))
    const reply = await browser.post(companyId, { SAMLResponse })
    expect([reply.statusCode, app.seen.outcomes.at(-1)]).toEqual([403, 'no-configuration'])
    for (const id of ['f'.repeat(24), 'x', "'%20or%201=1"])
      expect((await browser.post(id, { SAMLResponse })).statusCode).toBe(403)
  })

  test('A12 a person whose own domain is no longer verified does not come in by name', async () => {
    await app.auth.addUser('mover@sub.example')
    await app.singleSignOn.domains.verifyByOperator(app.auth.companyId, 'sub.example')
    expect(await signIn(personOf('mover', { email: 'mover@sub.example' }))).toBe('accepted')
    const domains = (await app.auth.call(token, 'GET', '/v2/entities/sso/domains')).json().data
    const { id } = domains.find(({ domain }: { domain: string }) => domain === 'sub.example')
    expect((await app.auth.call(token, 'DELETE', `/v2/entities/sso/domains/${id}`)).statusCode).toBe(200)
    expect(await signIn(personOf('mover', { email: 'mover@acme.example' }))).toBe('domain-not-verified')
  })

  test('A16 by invitation only: an unknown user is refused, an invited one keeps role and teams', async () => {
    expect(await signIn(personOf('unknown'))).toBe('not-invited')
    const { rows: entries } = await relational.pool.query(
      `select actor_kind, actor_name, target_name from audit_entries where details->>'reason' = 'not-invited'`,
    )
    expect(entries).toEqual([
      { actor_kind: 'identity-provider', actor_name: idp.entityId, target_name: 'unknown' },
    ])
    expect(await userOf('unknown@acme.example')).toBeUndefined()
    const { lifecycle } = app.auth.parts
    const { rows } = await relational.pool.query(
      `select r.id as role, t.id as team from roles r join teams t on t.company_id = r.company_id
       where r.company_id = $1 and r.name = 'editor'`,
      [app.auth.companyId],
    )
    const { companyId } = app.auth
    const invited = {
      companyId,
      email: 'invited@acme.example',
      status: 'invited',
      roleId: rows[0].role,
      passwordHash: null,
      teamIds: [rows[0].team],
    } as const
    const user = await lifecycle.transact((tx) =>
      lifecycle.create(tx, invited, { actor: { kind: 'operator' } }, 'user-invite'),
    )
    await relational.pool.query(
      `insert into user_links (id, kind, secret_hash, user_id, created_at, expires_at)
       values ($1, 'invitation', sha256('x'), $2, now(), now() + interval '1 day')`,
      ['a'.repeat(24), user?.id],
    )
    expect(await signIn(personOf('invited'))).toBe('accepted')
    expect(await userOf('invited@acme.example')).toMatchObject({
      status: 'active',
      role: 'editor',
      teams: [rows[0].team],
    })
    const links = await relational.pool.query('select ended_at from user_links where user_id = $1', [
      user?.id,
    ])
    expect(links.rows[0].ended_at).not.toBeNull()
  })

  test('A16 who is created gets the default role and teams alone, whatever the assertion says', async () => {
    const { rows } = await relational.pool.query(
      `select id from roles where company_id = $1 and name = 'viewer'`,
      [app.auth.companyId],
    )
    const team = await relational.pool.query(
      `insert into teams (id, company_id, name) values ('bbbbbbbbbbbbbbbbbbbbbbbb', $1, 'New people') returning id`,
      [app.auth.companyId],
    )
    const patched = await app.auth.call(token, 'PATCH', config, {
      provisioning: 'create',
      defaultRoleId: rows[0].id,
      defaultTeamIds: [team.rows[0].id.toUpperCase()],
    })
    expect(patched.json()).toMatchObject({ code: 200, data: { provisioning: 'create' } })
    const created = personOf('created', {
      firstName: 'Cleo',
      lastName: 'x'.repeat(300),
      language: 'fr-CH',
      role: 'admin',
      roles: ['admin'],
      groups: ['admin'],
    })
    expect(await signIn(created)).toBe('accepted')
    expect(await userOf('created@acme.example')).toMatchObject({
      status: 'active',
      role: 'viewer',
      teams: [team.rows[0].id],
      first_name: 'Cleo',
      last_name: '',
      language: 'fr',
      password_hash: null,
    })
    const { rows: entries } = await relational.pool.query(
      `select actor_kind, actor_id, target_name from audit_entries where action = 'sso-user-create'`,
    )
    expect(entries).toEqual([
      { actor_kind: 'sso-jit', actor_id: 'sso-jit', target_name: 'created@acme.example' },
    ])
    // Two responses for the same new person at once make one.
    const both = await Promise.all([begin(personOf('twin')), begin(personOf('twin'))])
    const replies = await Promise.all(both.map(async ({ browser, post }) => browser.follow(await post())))
    expect(replies.map(({ statusCode }) => statusCode)).toEqual([303, 303])
    const twins = await relational.pool.query(`select id from users where email = 'twin@acme.example'`)
    expect(twins.rows).toHaveLength(1)
    // The second may look for the name before the first has committed, and for the address after it.
    const identities = createIdentityStore(relational.db, {
      companyId: app.auth.companyId,
      idpEntityId: idp.entityId,
    })
    const claims: Claims = {
      nameId: 'twin',
      nameFormat: 'other',
      externalId: undefined,
      email: 'twin@acme.example',
      firstName: '',
      lastName: '',
      jobTitle: '',
      phone: '',
      language: null,
    }
    const found = await matchUser({ ...identities, listByName: async () => [] }, claims)
    if (!found?.link) throw new Error('the twin has no link')
    await linkUser(identities, found, claims)
    expect(await identities.findByUser(found.user.id)).toEqual(found.link)
    await app.auth.call(token, 'PATCH', config, { provisioning: 'invitation' })
  })

  test('a disabled user, and a service account, are refused; an erased one is unknown', async () => {
    await app.auth.addUser('gone@acme.example')
    expect(await signIn(personOf('gone'))).toBe('accepted')
    await app.auth.accounts.disableUser('gone@acme.example')
    expect(await signIn(personOf('gone'))).toBe('disabled')
    const robot = await app.auth.addUser('robot@acme.example')
    await relational.pool.query('update users set service_account = true where id = $1', [robot.id])
    expect(await signIn(personOf('robot'))).toBe('service-account')
    const erased = await app.auth.addUser('erased@acme.example')
    expect(await signIn(personOf('erased'))).toBe('accepted')
    const { lifecycle } = app.auth.parts
    await lifecycle.transact((tx) => lifecycle.erase(tx, erased, { actor: { kind: 'operator' } }))
    expect(await signIn(personOf('erased'))).toBe('not-invited')
  })
})
