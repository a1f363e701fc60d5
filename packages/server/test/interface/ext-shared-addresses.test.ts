import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { newId } from '../../src/platform/ids.ts'
import { secretIn } from '../support/accounts.ts'
import { goodPassword } from '../support/auth.ts'
import {
  aGroup,
  aUser,
  auditOf,
  openProvisioning,
  type ProvisioningApp,
  patch,
  type ScimTenant,
} from '../support/provisioning.ts'

/** One address in several companies, and accounts that come to an identity provider after others have been in them. */

let app: ProvisioningApp
let counter = 0

beforeAll(async () => {
  app = await openProvisioning()
  await verify(app.companyId, 'corp.example')
})

afterAll(() => app.close())

const verify = (companyId: string, domain: string) =>
  app.database.pool.query(
    'insert into sso_domains (id, company_id, domain, challenge, verified_at) values ($1, $2, $3, $1, now())',
    [newId(), companyId, domain],
  )

const anAddress = (domain = 'mail.example') => `shared-${++counter}@${domain}`
const rename = (userName: string) => patch({ op: 'replace', path: 'userName', value: userName })
const signInStatus = async (email: string) => (await app.auth.signIn(email)).statusCode

const redeem = (url: string | undefined, password = goodPassword) =>
  app.auth.services.accounts.passwordLinks.redeem(secretIn(url), password, { address: '192.0.2.1' })

/** @returns the id of who is invited, and the link as it is answered */
async function invite(tenant: ScimTenant, email: string): Promise<{ id: string; url: string }> {
  const query = (table: string, condition: string) =>
    app.database.pool.query(`select id from ${table} where company_id = $1 and ${condition}`, [
      tenant.companyId,
    ])
  const [roles, teams] = [await query('roles', `name = 'viewer'`), await query('teams', 'is_default')]
  const wanted = { email, roleId: roles.rows[0].id, resourceGroupIds: [teams.rows[0].id], sendMail: false }
  const { user, url } = (await tenant.call('POST', '/v2/entities/invitations', wanted)).json().data
  return { id: user.id, url }
}

/** The link in a mail that the administrator has sent. */
async function mailedLink(email: string): Promise<string | undefined> {
  await app.auth.takeMails()
  const reply = await app.call('POST', '/v2/entities/users/password-reset', { email })
  expect(reply.statusCode).toBe(200)
  const [mail] = await app.auth.takeMails()
  expect(mail?.to).toBe(email)
  return mail?.text
}

describe('an address that signs in to another company’s account', () => {
  test('is none for the last administrator, whose password opens nothing there', async () => {
    const { companyId, admin, scim } = app.other
    const next = anAddress('rival.example')
    const theirs = { email: next, companyId: app.companyId, roleName: 'viewer', teamNames: [] }
    await app.auth.accounts.createUser({ ...theirs, password: 'a river of 9 herons' })
    await verify(companyId, 'rival.example')
    expect(await scim('PATCH', `/Users/${admin.id}`, rename(next))).toMatchObject({
      status: 400,
      body: { scimType: 'mutability', detail: expect.stringContaining('administrator') },
    })
    expect(await signInStatus(admin.email)).toBe(200)
  })

  test('comes to the user who has it too when that account is deleted, no matter who was invited before', async () => {
    const email = anAddress('corp.example')
    await invite(app.other, email)
    const { companyId } = await app.database.transaction((tx) => insertCompany(tx, 'Third'))
    const holder = { email, companyId, roleName: 'viewer', teamNames: [], password: 'a river of 9 herons' }
    const { id } = await app.auth.accounts.createUser(holder)
    const former = anAddress('corp.example')
    const ours = await app.auth.addUser(former)
    await app.scim('POST', '/Users', aUser(former))
    expect((await app.scim('PATCH', `/Users/${ours.id}`, rename(email))).status).toBe(200)
    expect(await signInStatus(email)).toBe(401)
    await app.database.pool.query(
      `update users set status = 'deleted', email = id || '@deleted.invalid' where id = $1`,
      [id],
    )
    expect(await signInStatus(email)).toBe(200)
  })
})

describe('an address that a user was invited under', () => {
  test('is theirs once the identity provider has named them, and no later invitation of another company takes it', async () => {
    const email = anAddress()
    await invite(app, email)
    expect((await app.scim('POST', '/Users', aUser(email))).status).toBe(201)
    const theirs = await invite(app.other, email)
    await expect(redeem(theirs.url)).rejects.toMatchObject({ errorName: 'invalidLink' })
    await redeem(await mailedLink(email))
    expect(await signInStatus(email)).toBe(200)
  })

  test('is theirs also when they were deactivated in between', async () => {
    const email = anAddress()
    const { id } = await invite(app, email)
    await app.call('POST', `/v2/entities/users/${id}/deactivate`, {})
    expect((await app.scim('POST', '/Users', aUser(email))).status).toBe(201)
    await expect(redeem((await invite(app.other, email)).url)).rejects.toMatchObject({
      errorName: 'invalidLink',
    })
  })

  test('is free for others while an account that was deleted at the identity provider is only invited again', async () => {
    const email = anAddress()
    const id = await app.user(email)
    expect((await app.scim('DELETE', `/Users/${id}`)).status).toBe(204)
    const reply = await app.call('POST', `/v2/entities/users/${id}/reactivate`, {})
    expect(reply.json().data).toMatchObject({ status: 'invited' })
    await redeem((await invite(app.other, email)).url)
    expect(await signInStatus(email)).toBe(200)
  })
})

describe('an account in which the inviter has chosen the password', () => {
  /** Who invites has redeemed the link that was answered, signed in and set up what there is. */
  async function aSquattedAccount() {
    const email = anAddress()
    const { id, url } = await invite(app, email)
    await redeem(url)
    const { access_token, refresh_token } = (await app.auth.signIn(email)).json()
    expect((await app.auth.get(access_token)).statusCode).toBe(200)
    await app.database.pool.query(
      `insert into user_authenticators (user_id, sealed_secret) values ($1, '\\x00')`,
      [id],
    )
    return { id, email, access_token, refresh_token }
  }

  async function expectEnded({
    id,
    email,
    access_token,
    refresh_token,
  }: Awaited<ReturnType<typeof aSquattedAccount>>) {
    expect(await signInStatus(email)).toBe(401)
    app.auth.time.advance(1_000)
    expect((await app.auth.get(access_token)).statusCode).toBe(401)
    expect((await app.auth.refresh(refresh_token)).statusCode).toBe(400)
    const { rows } = await app.database.pool.query('select 1 from user_authenticators where user_id = $1', [
      id,
    ])
    expect(rows).toEqual([])
    const entries = (await auditOf(app, app.companyId, 'user-update')).filter((row) => row.target_id === id)
    expect(entries).toContainEqual(
      expect.objectContaining({
        actor_kind: 'identity-provider',
        details: { password: true, authenticator: true, sessions: 1, linkedAccounts: 0 },
      }),
    )
    await redeem(await mailedLink(email))
    expect(await signInStatus(email)).toBe(200)
  }

  test('is only the user’s when the identity provider adopts it', async () => {
    const account = await aSquattedAccount()
    expect(await app.scim('POST', '/Users', aUser(account.email))).toMatchObject({
      status: 201,
      body: { id: account.id },
    })
    await expectEnded(account)
  })

  test.each([
    [
      'changes it',
      (id: string) =>
        app.scim('PATCH', `/Users/${id}`, patch({ op: 'replace', path: 'title', value: 'Head' })),
    ],
    ['puts it into a new group', (id: string) => app.scim('POST', '/Groups', aGroup(`Group of ${id}`, [id]))],
  ])('the same when it only %s', async (_what, change) => {
    const account = await aSquattedAccount()
    expect((await change(account.id)).status).toBeLessThan(300)
    await expectEnded(account)
  })

  test('the same when a mapping gives it a role later, because a group had the user before the password', async () => {
    const email = anAddress()
    const { id, url } = await invite(app, email)
    const group = aGroup(`Group of ${id}`, [id])
    expect((await app.scim('POST', '/Groups', group)).status).toBe(201)
    await redeem(url)
    expect(await signInStatus(email)).toBe(200)
    const roleMapping = [{ group: group.displayName, roleId: await app.roleId('admin') }]
    const reply = await app.call('PATCH', '/v2/entities/scim/config', { roleSource: 'groups', roleMapping })
    expect(reply.statusCode).toBe(200)
    expect(await app.roleOf(id)).toBe('admin')
    expect(await signInStatus(email)).toBe(401)
  })

  test('keeps what was chosen behind a link in a mail', async () => {
    const account = await aSquattedAccount()
    await redeem(await mailedLink(account.email), 'a river of 9 herons')
    await app.database.pool.query('delete from user_authenticators where user_id = $1', [account.id])
    const { access_token } = (await app.auth.signIn(account.email, 'a river of 9 herons')).json()
    expect((await app.scim('POST', '/Users', aUser(account.email))).status).toBe(201)
    expect((await app.auth.get(access_token)).statusCode).toBe(200)
    expect((await app.auth.signIn(account.email, 'a river of 9 herons')).statusCode).toBe(200)
  })
})
