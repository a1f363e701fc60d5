import { afterAll, beforeAll, expect, test } from 'vitest'
import { secretIn } from '../support/accounts.ts'
import { goodPassword } from '../support/auth.ts'
import {
  mapping,
  type OpenedSingleSignOn,
  openSession,
  openSingleSignOn,
  personOf,
  tokenOf,
} from '../support/single-sign-on.ts'

/** Users whom the identity provider names for the first time, in whose account others may have been before. */

let opened: OpenedSingleSignOn

beforeAll(async () => {
  opened = await openSingleSignOn()
})

afterAll(() => opened.close())

const query = async (text: string, values: unknown[]) =>
  (await opened.relational.pool.query(text, values)).rows

/** A user with a password, a second factor and a session, who was invited by an administrator. */
async function anInvited(name: string) {
  const { app, relational } = opened
  const inviter = await app.auth.addUser(`inviter-of-${name}@elsewhere.example`, undefined, 'admin')
  const { id, email } = await app.auth.addUser(`${name}@acme.example`)
  await query(`update users set status = 'invited', password_hash = null where id = $1`, [id])
  const { passwordLinks } = app.auth.services.accounts
  const redeem = (text: string | undefined, password: string) =>
    passwordLinks.redeem(secretIn(text), password, { address: '192.0.2.1' })
  const { url } = await relational.transaction((tx) => passwordLinks.makeInvitationLink(tx, id, inviter.id))
  await redeem(url, goodPassword)
  return {
    id,
    redeem,
    mailReset: () => relational.transaction((tx) => passwordLinks.mailResetTo(tx, id)),
    async setUp() {
      await openSession(app, email, 'password')
      await query(`insert into user_authenticators (user_id, sealed_secret) values ($1, '\\x00')`, [id])
    },
    state: async () => {
      const [row] = await query(
        `select status, password_hash is not null as password,
           exists (select 1 from refresh_tokens where user_id = users.id) as session,
           exists (select 1 from user_authenticators where user_id = users.id) as authenticator
         from users where id = $1`,
        [id],
      )
      return row
    },
  }
}

test('ends a password that was chosen behind the link of an invitation, and what came of it', async () => {
  const user = await anInvited('invited')
  await user.setUp()
  expect(await opened.signIn(personOf('invited'))).toBe('accepted')
  expect((await opened.app.finished()).at(-1)).toBe(user.id)
  expect(await user.state()).toEqual({
    status: 'active',
    password: false,
    session: false,
    authenticator: false,
  })
  const details = { password: true, authenticator: true, sessions: 1, linkedAccounts: 0 }
  expect(
    await query(`select details from audit_entries where action = 'user-update' and target_id = $1`, [
      user.id,
    ]),
  ).toEqual([{ details }])
  // What is set after it stays, whichever name the user has later.
  await user.mailReset()
  await user.redeem((await opened.app.auth.takeMails()).at(-1)?.text, 'a river of 9 herons')
  await user.setUp()
  expect(await opened.signIn(personOf('invited'))).toBe('accepted')
  expect(await user.state()).toEqual({ status: 'active', password: true, session: true, authenticator: true })
})

test('keeps a password that was chosen behind a link in a mail', async () => {
  const user = await anInvited('proven')
  await user.mailReset()
  await user.redeem((await opened.app.auth.takeMails()).at(-1)?.text, 'a river of 9 herons')
  await user.setUp()
  expect(await opened.signIn(personOf('proven'))).toBe('accepted')
  expect(await user.state()).toEqual({ status: 'active', password: true, session: true, authenticator: true })
})

test('gives a new user nothing of a user whom the identity provider has deleted and an administrator has reactivated', async () => {
  const root = await tokenOf(opened.app.auth, 'root@elsewhere.example')
  const attributeMapping = { ...mapping, externalId: 'attributes.externalId' }
  expect(await opened.call('PATCH', '/v2/entities/sso/config', { attributeMapping }, root)).toMatchObject({
    code: 200,
  })
  const { id } = await opened.app.auth.addUser('former@acme.example')
  await query(
    `update users set status = 'invited', password_hash = null, former_external_id = 'ext-1', unprovisioned_at = now()
     where id = $1`,
    [id],
  )
  const signIn = (externalId: string) =>
    opened.signIn({ nameId: `name-${externalId}`, attributes: { email: 'former@acme.example', externalId } })
  expect(await signIn('ext-2')).toBe('other-identity')
  expect(await signIn('ext-1')).toBe('accepted')
  expect((await opened.app.finished()).at(-1)).toBe(id)
})
