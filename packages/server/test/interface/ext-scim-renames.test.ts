import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { linkIdentity, offerSingleSignOn } from '../support/accounts.ts'
import { goodPassword } from '../support/auth.ts'
import { aUser, auditOf, openProvisioning, type ProvisioningApp, patch } from '../support/provisioning.ts'

/** People whom the identity provider gives another userName, which is the address of their account. */

const verified = 'corp.example'
const foreign = 'rival.example'

let app: ProvisioningApp
let counter = 0

beforeAll(async () => {
  app = await openProvisioning()
  await verify(app.companyId, verified)
  await verify(app.other.companyId, foreign)
})

afterAll(() => app.close())

/** The company has shown that the domain is its own. */
const verify = (companyId: string, domain: string) =>
  app.database.pool.query(
    'insert into sso_domains (id, company_id, domain, challenge, verified_at) values ($1, $2, $3, $1, now())',
    [newId(), companyId, domain],
  )

const anAddress = (domain = verified) => `renamed-${++counter}@${domain}`

/** A user with a password whom the identity provider keeps. */
async function aPerson(role = 'viewer', domain = verified) {
  const email = anAddress(domain)
  const { id } = await app.auth.addUser(email, undefined, role)
  expect((await app.scim('POST', '/Users', aUser(email, { externalId: `ext-${email}` }))).status).toBe(201)
  return { id, email, externalId: `ext-${email}` }
}

const userOf = async (id: string) => (await app.call('GET', `/v2/entities/users/${id}`)).json().data
const signInStatus = async (email: string) => (await app.auth.signIn(email)).statusCode
const updatesOf = async (id: string) =>
  (await auditOf(app, app.companyId, 'user-update')).filter((row) => row.target_id === id)

describe('a new userName', () => {
  test.each([
    ['PUT', (_email: string, next: string, externalId: string) => aUser(next, { externalId })],
    ['PATCH', (_email: string, next: string) => patch({ op: 'Replace', path: 'userName', value: next })],
    ['PATCH', (_email: string, next: string) => patch({ op: 'replace', value: { userName: next } })],
  ] as const)(
    'by %s is the address that signs in, under the same id, and the former one is free',
    async (method, bodyOf) => {
      const { id, email, externalId } = await aPerson('admin')
      const { access_token } = (await app.auth.signIn(email)).json()
      const next = anAddress()
      const reply = await app.scim(method, `/Users/${id}`, bodyOf(email, next.toUpperCase(), externalId))
      expect(reply).toMatchObject({ status: 200, body: { id, userName: next, active: true } })
      expect(await userOf(id)).toMatchObject({ email: next, status: 'active' })
      expect(await signInStatus(email)).toBe(401)
      expect(await signInStatus(next)).toBe(200)
      expect((await app.auth.get(access_token)).statusCode).toBe(200)
      const filter = encodeURIComponent(`userName eq "${next}"`)
      expect((await app.scim('GET', `/Users?filter=${filter}`)).body.Resources[0]?.id).toBe(id)

      const [entry] = (await updatesOf(id)).filter(({ details }) => details.email === next)
      expect(entry).toMatchObject({
        actor_kind: 'identity-provider',
        details: { email: next, previousEmail: email },
      })
      const successor = await app.user(email)
      expect(successor).not.toBe(id)
    },
  )

  test('repeated changes nothing more', async () => {
    const { id, externalId } = await aPerson()
    const body = aUser(anAddress(), { externalId })
    for (let i = 0; i < 3; i++) expect((await app.scim('PUT', `/Users/${id}`, body)).status).toBe(200)
    const renames = (await updatesOf(id)).filter(({ details }) => details.previousEmail !== undefined)
    expect(renames).toHaveLength(1)
  })

  test('ends links that were mailed to the former address; the next mail goes to the new one', async () => {
    const { id, email } = await aPerson()
    const reset = (address: string) =>
      app.call('POST', '/v2/entities/users/password-reset', { email: address })
    expect((await reset(email)).statusCode).toBe(200)
    const next = anAddress()
    await app.scim('PATCH', `/Users/${id}`, patch({ op: 'replace', path: 'userName', value: next }))
    const links = () =>
      app.database.pool.query(
        'select ended_at is not null as ended from user_links where user_id = $1 order by created_at',
        [id],
      )
    expect((await links()).rows).toEqual([{ ended: true }])
    await app.auth.takeMails()
    expect((await reset(email)).json()).toMatchObject({ code: 404 })
    expect((await reset(next)).statusCode).toBe(200)
    expect(await app.auth.takeMails()).toMatchObject([{ to: next }])
    expect((await links()).rows).toEqual([{ ended: true }, { ended: false }])
  })

  test('admits a user who was invited under the former address, whose invitation ends', async () => {
    const email = anAddress()
    const { id } = await app.auth.addUser(email)
    await app.database.pool.query(`update users set status = 'invited', password_hash = null where id = $1`, [
      id,
    ])
    await app.database.pool.query(
      `insert into user_links (id, kind, secret_hash, user_id, created_at, expires_at)
       values ($1, 'invitation', $2, $1, now(), now() + interval '1 day')`,
      [id, randomBytes(32)],
    )
    const next = anAddress()
    expect((await app.scim('PUT', `/Users/${id}`, aUser(next))).status).toBe(200)
    expect(await userOf(id)).toMatchObject({ email: next, status: 'active', provisioned: true })
    const { rows } = await app.database.pool.query('select ended_at from user_links where user_id = $1', [id])
    expect(rows).toEqual([{ ended_at: expect.any(Date) }])
  })

  test('keeps failed sign-ins: a held account is held under the new address, and a new user is not', async () => {
    const { id, email } = await aPerson()
    const from = { from: '203.0.113.77' }
    for (let i = 0; i < 10; i++) expect((await app.auth.signIn(email, 'wrong', from)).statusCode).toBe(401)
    expect((await app.auth.signIn(email, goodPassword, from)).statusCode).toBe(429)
    const next = anAddress()
    await app.scim('PATCH', `/Users/${id}`, patch({ op: 'replace', path: 'userName', value: next }))
    expect((await app.auth.signIn(next, goodPassword, from)).statusCode).toBe(429)
    await app.auth.addUser(email)
    expect((await app.auth.signIn(email, goodPassword, from)).statusCode).toBe(200)
  })

  test('takes the name at the identity provider along where that is the address, and no other name', async () => {
    const named = await aPerson()
    const other = await aPerson()
    const insert = (userId: string, nameId: string) =>
      app.database.pool.query(
        `insert into sso_identities (company_id, idp_entity_id, name_id, user_id) values ($1, 'https://idp.example', $2, $3)`,
        [app.companyId, nameId, userId],
      )
    await insert(named.id, named.email.toUpperCase())
    await insert(other.id, 'opaque')
    const next = anAddress()
    await app.scim('PATCH', `/Users/${named.id}`, patch({ op: 'replace', path: 'userName', value: next }))
    await app.scim(
      'PATCH',
      `/Users/${other.id}`,
      patch({ op: 'replace', path: 'userName', value: anAddress() }),
    )
    const { rows } = await app.database.pool.query(
      'select user_id, name_id from sso_identities where user_id = any($1)',
      [[named.id, other.id]],
    )
    expect(new Map(rows.map((row) => [row.user_id, row.name_id]))).toEqual(
      new Map([
        [named.id, next],
        [other.id, 'opaque'],
      ]),
    )
  })
})

test('an address that signs in to another company’s account is taken without a word of it, and stays theirs', async () => {
  const { id, externalId } = await aPerson()
  const next = anAddress()
  const theirs = { email: next, companyId: app.other.companyId, roleName: 'viewer', teamNames: [] }
  await app.auth.accounts.createUser({ ...theirs, password: 'a river of 9 herons' })
  expect(await app.scim('PUT', `/Users/${id}`, aUser(next, { externalId }))).toMatchObject({
    status: 200,
    body: { id, userName: next },
  })
  expect(await signInStatus(next)).toBe(401)
  expect((await app.auth.signIn(next, 'a river of 9 herons')).statusCode).toBe(200)
})

test('an address whose user the identity provider has deleted is free', async () => {
  const [former, { id, externalId }] = [await aPerson(), await aPerson()]
  expect((await app.scim('DELETE', `/Users/${former.id}`)).status).toBe(204)
  expect(await app.scim('PUT', `/Users/${id}`, aUser(former.email, { externalId }))).toMatchObject({
    status: 200,
    body: { id, userName: former.email },
  })
  expect(await signInStatus(former.email)).toBe(200)
})

/** New names that cannot be taken: which, and how the request is refused. */
const untakeable: [string, () => Promise<string>, number, string][] = [
  ['an address of a colleague', async () => (await aPerson()).email, 409, 'uniqueness'],
  [
    'an address of a domain that nobody has verified',
    async () => anAddress('free.example'),
    400,
    'mutability',
  ],
  ['an address of another company’s domain', async () => anAddress(foreign), 400, 'mutability'],
  ['an address below a domain of ours', async () => anAddress(`mail.${verified}`), 400, 'mutability'],
  ['no address', async () => 'ada lovelace', 400, 'invalidValue'],
  [
    'an address with a letter that only looks like ours',
    async () => `\u212aarl@${verified}`,
    400,
    'invalidValue',
  ],
]

describe.each(untakeable)('%s as a new userName', (_what, nextOf, status, scimType) => {
  test('is refused whole by itself', async () => {
    const { id, email, externalId } = await aPerson()
    const next = await nextOf()
    const put = await app.scim('PUT', `/Users/${id}`, aUser(next, { externalId, title: 'Other' }))
    expect(put).toMatchObject({ status, body: { status: String(status), scimType } })
    const both = patch(
      { op: 'replace', path: 'title', value: 'Other' },
      { op: 'replace', path: 'userName', value: next },
      { op: 'replace', path: 'active', value: 'True' },
    )
    expect(await app.scim('PATCH', `/Users/${id}`, both)).toMatchObject({ status, body: { scimType } })
    expect(await userOf(id)).toMatchObject({ email, status: 'active', jobTitle: '' })
    expect(await signInStatus(email)).toBe(200)
  })

  test.each(['PUT', 'PATCH'] as const)(
    'does not keep %s from deactivating the person, and is told of',
    async (method) => {
      const { id, email, externalId } = await aPerson()
      const { access_token, refresh_token } = (await app.auth.signIn(email)).json()
      const next = await nextOf()
      const body =
        method === 'PUT'
          ? aUser(next, { externalId, active: false })
          : patch(
              { op: 'Replace', path: 'userName', value: next },
              { op: 'Replace', path: 'active', value: 'False' },
            )
      for (let i = 0; i < 2; i++) {
        const reply = await app.scim(method, `/Users/${id}`, body)
        expect(reply).toMatchObject({ status: 200, body: { id, userName: email, active: false } })
        expect((await auditOf(app, app.companyId, 'scim-request')).at(-1)).toMatchObject({
          outcome: 'success',
          target_id: id,
          details: { method, notRenamed: scimType },
        })
      }
      expect(await userOf(id)).toMatchObject({ email, status: 'disabled' })
      app.auth.time.advance(1_000)
      expect((await app.auth.get(access_token)).statusCode).toBe(401)
      expect((await app.auth.refresh(refresh_token)).statusCode).toBe(400)
      expect(await signInStatus(email)).toBe(401)
      expect(await app.scim('GET', `/Users/${id}`)).toMatchObject({
        body: { userName: email, active: false },
      })
    },
  )
})

describe('a new userName beside active: false', () => {
  test('is taken where it can be', async () => {
    const { id, email, externalId } = await aPerson()
    const next = anAddress()
    const reply = await app.scim('PUT', `/Users/${id}`, aUser(next, { externalId, active: false }))
    expect(reply).toMatchObject({ status: 200, body: { userName: next, active: false } })
    expect(await userOf(id)).toMatchObject({ email: next, status: 'disabled' })
    expect(await signInStatus(email)).toBe(401)
    const on = aUser(next, { externalId, active: true })
    expect((await app.scim('PUT', `/Users/${id}`, on)).body).toMatchObject({ userName: next, active: true })
    expect(await signInStatus(next)).toBe(200)
  })

  test('leaves the last administrator of the company as they are', async () => {
    const { id, email } = app.other.admin
    const body = aUser('gone@other.example', { active: false })
    expect(await app.other.scim('PUT', `/Users/${id}`, body)).toMatchObject({
      status: 400,
      body: { scimType: 'mutability', detail: expect.stringContaining('administrator') },
    })
    expect((await app.other.scim('GET', `/Users/${id}`)).body).toMatchObject({
      userName: email,
      active: true,
    })
  })
})

describe('an address opens an account', () => {
  test('so that a person keeps the domain where the company has verified none', async () => {
    const { id } = await aPerson('viewer', 'plain.example')
    const rename = (userName: string) =>
      app.scim('PATCH', `/Users/${id}`, patch({ op: 'replace', path: 'userName', value: userName }))
    expect((await rename(anAddress('plain.example'))).status).toBe(200)
    expect(await rename(anAddress('else.example'))).toMatchObject({
      status: 400,
      body: { scimType: 'mutability' },
    })
    expect((await rename(anAddress())).status).toBe(200)
  })

  test.each(['editor', 'admin'])(
    'and there nobody with the rights of an %s gets another, who could then have a password mailed to it',
    async (role) => {
      const { id, email } = await aPerson(role, 'plain.example')
      const rename = patch({ op: 'replace', path: 'userName', value: anAddress('plain.example') })
      expect(await app.scim('PATCH', `/Users/${id}`, rename)).toMatchObject({
        status: 400,
        body: { scimType: 'mutability', detail: expect.stringContaining('verif') },
      })
      expect(await userOf(id)).toMatchObject({ email })
      await verify(app.companyId, `${role}s.example`)
      const moved = patch({ op: 'replace', path: 'userName', value: anAddress(`${role}s.example`) })
      expect((await app.scim('PATCH', `/Users/${id}`, moved)).status).toBe(200)
    },
  )

  test('so that the last administrator keeps one that lets them in', async () => {
    const { companyId, admin, scim } = app.other
    await offerSingleSignOn(app.database, companyId, 'strict.example', true)
    const rename = patch({ op: 'replace', path: 'userName', value: 'boss@strict.example' })
    expect(await scim('PATCH', `/Users/${admin.id}`, rename)).toMatchObject({
      status: 400,
      body: { scimType: 'mutability', detail: expect.stringContaining('administrator') },
    })
    expect((await app.auth.signIn(admin.email)).statusCode).toBe(200)
    await linkIdentity(app.database, admin.id)
    expect((await scim('PATCH', `/Users/${admin.id}`, rename)).status).toBe(200)
  })
})

describe('one address for two people of two companies at once', () => {
  const holdersOf = async (email: string): Promise<boolean[]> => {
    const { rows } = await app.database.pool.query(
      'select holds_email as holds from users where email = $1 order by 1',
      [email],
    )
    return rows.map(({ holds }) => holds)
  }

  test('is given to both by a new userName, tells neither of the other, and signs in to one', async () => {
    for (let round = 0; round < 10; round++) {
      const wanted = anAddress('shared.example')
      const ours = await app.user(anAddress('shared.example'))
      const theirs = (await app.other.scim('POST', '/Users', aUser(anAddress('shared.example')))).body.id
      const off = { op: 'replace', path: 'active', value: false }
      const rename = patch({ op: 'replace', path: 'userName', value: wanted }, off)
      const replies = await Promise.all([
        app.scim('PATCH', `/Users/${ours}`, rename),
        app.other.scim('PATCH', `/Users/${theirs}`, rename),
      ])
      const reply = { status: 200, body: { userName: wanted, active: false } }
      expect(replies).toMatchObject([reply, reply])
      expect(await holdersOf(wanted)).toEqual([false, true])
    }
  })

  test('the same for two new users', async () => {
    for (let round = 0; round < 10; round++) {
      const wanted = anAddress('shared.example')
      const replies = await Promise.all(
        [app, app.other].map(({ scim }) => scim('POST', '/Users', aUser(wanted))),
      )
      expect(replies.map(({ status }) => status)).toEqual([201, 201])
      expect(await holdersOf(wanted)).toEqual([false, true])
    }
  })
})
