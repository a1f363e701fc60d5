import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkIdentity, offerSingleSignOn } from '../support/accounts.ts'
import { turnOnAuthenticator } from '../support/authenticator.ts'
import {
  aGroup,
  aUser,
  auditOf,
  openProvisioning,
  type ProvisioningApp,
  patch,
} from '../support/provisioning.ts'

/** What DELETE by the identity provider ends, and who gets what when the same address is created again. */

let app: ProvisioningApp
let everyone = ''

beforeAll(async () => {
  app = await openProvisioning()
  await offerSingleSignOn(app.database, app.companyId, 'acme.example')
  const { rows } = await app.database.pool.query(
    'select id from teams where company_id = $1 and is_default',
    [app.companyId],
  )
  everyone = rows[0].id
})

afterAll(() => app.close())

interface Holder {
  readonly id: string
  readonly email: string
  readonly accessToken: string
  readonly refreshToken: string
}

/** A user with every way in, an editor, in a group of the identity provider and in a team that people made. */
async function holder(externalId?: string): Promise<Holder> {
  const email = app.anAddress()
  const { id } = await app.auth.addUser(email, undefined, 'editor')
  const known = externalId === undefined ? {} : { externalId }
  expect((await app.scim('POST', '/Users', aUser(email, known))).status).toBe(201)
  await app.group([id])
  const team = { name: `Hand-made ${email}`, memberIds: [id] }
  expect((await app.call('POST', '/v2/entities/teams', team)).statusCode).toBe(200)
  const { access_token: accessToken, refresh_token: refreshToken } = (await app.auth.signIn(email)).json()
  await turnOnAuthenticator(app.auth, accessToken)
  await linkIdentity(app.database, id)
  await app.database.pool.query(
    `insert into linked_accounts (id, company_id, user_id, provider, name, host, sealed_target)
     values ($1, $2, $1, 'slack', 'Slack', 'hooks.example', '\\x00')`,
    [id, app.companyId],
  )
  await app.database.pool.query('insert into client_consents (user_id, client_id) values ($1, $2)', [
    id,
    app.auth.clientId,
  ])
  await app.database.pool.query(
    `insert into user_links (id, kind, secret_hash, user_id, created_at, expires_at)
     select id, 'password-reset', sha256(id::bytea), id, now(), now() + interval '1 day' from users where id = $1`,
    [id],
  )
  return { id, email, accessToken, refreshToken }
}

/** Everything of an account that opens it or that it may use. */
async function belongings(id: string) {
  const { rows } = await app.database.pool.query(
    `select r.name as role, u.password_hash is not null as password,
       array(select team_id from team_members where user_id = u.id order by 1) as teams,
       (select count(*)::int from refresh_tokens where user_id = u.id) as sessions,
       (select count(*)::int from user_authenticators where user_id = u.id) as authenticators,
       (select count(*)::int from recovery_codes where user_id = u.id) as "recoveryCodes",
       (select count(*)::int from user_links where user_id = u.id and ended_at is null) as links,
       (select count(*)::int from client_consents where user_id = u.id) as consents,
       (select count(*)::int from linked_accounts where user_id = u.id) as "linkedAccounts",
       (select count(*)::int from sso_identities where user_id = u.id) as identities
     from users u join roles r on r.id = u.role_id where u.id = $1`,
    [id],
  )
  return rows[0]
}

const nothing = {
  role: 'viewer',
  password: false,
  teams: [] as string[],
  sessions: 0,
  authenticators: 0,
  recoveryCodes: 0,
  links: 0,
  consents: 0,
  linkedAccounts: 0,
  identities: 0,
}

async function expectNoWayIn({ email, accessToken, refreshToken }: Holder): Promise<void> {
  app.auth.time.advance(1_000)
  expect((await app.auth.get(accessToken)).statusCode).toBe(401)
  expect((await app.auth.refresh(refreshToken)).statusCode).toBe(400)
  expect((await app.auth.signIn(email)).statusCode).toBe(401)
}

const remove = async (id: string) => expect((await app.scim('DELETE', `/Users/${id}`)).status).toBe(204)

const create = (email: string, more: object = {}) => app.scim('POST', '/Users', aUser(email, more))

describe('DELETE by the identity provider', () => {
  test('ends every membership and every way in, and leaves no role of the holder', async () => {
    const ada = await holder('ended')
    expect(await belongings(ada.id)).toMatchObject({
      ...{ role: 'editor', password: true, sessions: 1, authenticators: 1, recoveryCodes: 10, links: 1 },
      ...{ consents: 1, linkedAccounts: 1, identities: 1 },
    })
    await remove(ada.id)
    expect(await belongings(ada.id)).toEqual(nothing)
    await expectNoWayIn(ada)
    const entries = await auditOf(app, app.companyId, 'user-deactivate')
    expect(entries.filter(({ target_id }) => target_id === ada.id)).toMatchObject([
      {
        actor_kind: 'identity-provider',
        details: {
          ...{ sessions: 1, linkedAccounts: 1, teams: 3, password: true, authenticator: true },
          ...{
            singleSignOn: true,
            roleId: await app.roleId('viewer'),
            previousRoleId: await app.roleId('editor'),
          },
        },
      },
    ])
  })

  test('does so for a user who was deactivated before', async () => {
    const ada = await holder('deactivated-before')
    await app.scim('PATCH', `/Users/${ada.id}`, patch({ op: 'replace', path: 'active', value: false }))
    expect(await belongings(ada.id)).toMatchObject({ role: 'editor', password: true })
    await remove(ada.id)
    expect(await belongings(ada.id)).toEqual(nothing)
  })

  test('leaves an administrator who reactivates the account one without anything', async () => {
    const ada = await holder('reactivated')
    await remove(ada.id)
    const reply = await app.call('POST', `/v2/entities/users/${ada.id}/reactivate`)
    expect(reply.json().data).toMatchObject({ status: 'invited', resourceGroupIds: [everyone] })
    expect(await belongings(ada.id)).toEqual({ ...nothing, teams: [everyone] })
    await expectNoWayIn(ada)
  })
})

describe('the same userName created again', () => {
  test('with the same externalId keeps the id; role and teams are those of a new user', async () => {
    const ada = await holder('same')
    const group = await app.group()
    await remove(ada.id)
    expect(await create(ada.email, { externalId: 'same' })).toMatchObject({
      status: 201,
      body: { id: ada.id, active: true, externalId: 'same' },
    })
    expect(await belongings(ada.id)).toEqual({ ...nothing, teams: [everyone] })
    await expectNoWayIn(ada)
    await app.scim(
      'PATCH',
      `/Groups/${group}`,
      patch({ op: 'add', path: 'members', value: [{ value: ada.id }] }),
    )
    expect((await belongings(ada.id)).teams).toEqual([everyone, group].sort())
  })

  test('without an externalId, where there was none before, keeps the id and nothing else', async () => {
    const ada = await holder()
    await remove(ada.id)
    expect((await create(ada.email)).body.id).toBe(ada.id)
    expect(await belongings(ada.id)).toEqual({ ...nothing, teams: [everyone] })
  })

  test.each([
    ['another externalId', 'former', { externalId: 'newcomer' }],
    ['no externalId', 'former-known', {}],
    ['an externalId where there was none', undefined, { externalId: 'newly-known' }],
  ])(
    'with %s is a user with another id, and the former one keeps id and history alone',
    async (_what, before, now) => {
      const ada = await holder(before)
      await remove(ada.id)
      const reply = await create(ada.email, { ...now, name: { givenName: 'Bob', familyName: 'New' } })
      expect(reply).toMatchObject({ status: 201, body: { userName: ada.email, active: true } })
      const bob = reply.body.id
      expect(bob).not.toBe(ada.id)
      expect(await belongings(bob)).toEqual({ ...nothing, teams: [everyone] })
      expect(await belongings(ada.id)).toEqual(nothing)
      await expectNoWayIn(ada)
      const { rows } = await app.database.pool.query(
        'select status, email, first_name, external_id, former_external_id from users where id = $1',
        [ada.id],
      )
      expect(rows).toEqual([
        {
          ...{ status: 'deleted', email: `${ada.id}@deleted.invalid`, first_name: '' },
          ...{ external_id: null, former_external_id: null },
        },
      ])
      expect((await app.scim('GET', `/Users/${ada.id}`)).status).toBe(404)
      expect((await app.call('GET', `/v2/entities/users/${ada.id}`)).statusCode).toBe(404)
      const history = (await auditOf(app, app.companyId)).filter(({ target_id }) => target_id === ada.id)
      const ends = history.filter(({ action }) => action === 'user-deactivate' || action === 'user-delete')
      expect(ends).toMatchObject([
        { action: 'user-deactivate', actor_kind: 'identity-provider' },
        { action: 'user-delete', actor_kind: 'identity-provider' },
      ])
    },
  )

  test('evaluates the role anew, also when people gave another one meanwhile', async () => {
    const ada = await holder('meanwhile')
    await remove(ada.id)
    const url = `/v2/entities/users/${ada.id}`
    expect((await app.call('POST', `${url}/reactivate`)).statusCode).toBe(200)
    expect((await app.call('PATCH', url, { roleId: await app.roleId('editor') })).statusCode).toBe(200)
    expect((await app.call('POST', `${url}/deactivate`)).statusCode).toBe(200)
    expect((await create(ada.email, { externalId: 'meanwhile' })).body.id).toBe(ada.id)
    expect(await belongings(ada.id)).toEqual({ ...nothing, teams: [everyone] })
  })

  test('is refused for another user while an administrator has reactivated the former one', async () => {
    const ada = await holder('kept-by-hand')
    await remove(ada.id)
    await app.call('POST', `/v2/entities/users/${ada.id}/reactivate`)
    const taken = { status: 409, body: { scimType: 'uniqueness' } }
    expect(await create(ada.email, { externalId: 'another' })).toMatchObject(taken)
    expect(await create(ada.email)).toMatchObject(taken)
    const linked = patch({ op: 'add', path: 'externalId', value: 'another' })
    expect(await app.scim('PATCH', `/Users/${ada.id}`, linked)).toMatchObject(taken)
    expect((await create(ada.email, { externalId: 'kept-by-hand' })).body.id).toBe(ada.id)
  })

  test('a role that a group gave is no longer there, until the identity provider names the user again', async () => {
    const roleMapping = [{ group: 'Returning bosses', roleId: await app.roleId('admin') }]
    const settings = { roleSource: 'groups', roleMapping }
    expect((await app.call('PATCH', '/v2/entities/scim/config', settings)).statusCode).toBe(200)
    const boss = await app.user('boss@acme.example', { externalId: 'boss' })
    const group = (await app.scim('POST', '/Groups', aGroup('Returning bosses', [boss]))).body.id
    expect(await app.roleOf(boss)).toBe('admin')
    await remove(boss)
    expect(await app.roleOf(boss)).toBe('viewer')
    const successor = (await create('boss@acme.example', { externalId: 'successor' })).body.id
    expect(successor).not.toBe(boss)
    expect(await app.roleOf(successor)).toBe('viewer')
    await app.scim(
      'PATCH',
      `/Groups/${group}`,
      patch({ op: 'add', path: 'members', value: [{ value: successor }] }),
    )
    expect(await app.roleOf(successor)).toBe('admin')
  })

  test('an identifier that is given to another address makes a new user', async () => {
    const ada = await holder('moved')
    await remove(ada.id)
    const elsewhere = await create(app.anAddress(), { externalId: 'moved' })
    expect(elsewhere.status).toBe(201)
    expect(elsewhere.body.id).not.toBe(ada.id)
    expect(await belongings(elsewhere.body.id)).toEqual({ ...nothing, teams: [everyone] })
  })
})
