import { newId } from '../../src/platform/ids.ts'
import { goodPassword } from './auth.ts'
import { turnOn } from './permission-rows-own-account.ts'
import type { Call, PermissionWorld, Person } from './permission-world.ts'
import { exhausted, type MakeRefused, type RefusalRows, refused } from './refusal-row.ts'

const users = '/v2/entities/users'
const password = `${users}/me/password`
const authenticator = `${users}/me/authenticator`
const links = '/v2/linked-accounts'

/** No password of anybody. */
export const wrongPassword = 'a wall of 9 thistles'

const change: Call = {
  path: password,
  body: { currentPassword: wrongPassword, newPassword: 'another field of 8 poppies' },
}

const guess = (suffix: string): Call => ({
  path: `${authenticator}${suffix}`,
  body: { password: wrongPassword },
})
const right = (suffix: string): Call => ({
  path: `${authenticator}${suffix}`,
  body: { password: goodPassword },
})
const code = (text: string): Call => ({ path: `${authenticator}/confirm`, body: { code: text } })

const withCodesOn = (call: Call): MakeRefused =>
  refused(async (founder, world) => {
    await turnOn(world, founder)
    return call
  })

async function fillLinks({ relational }: PermissionWorld, { companyId, userId }: Person): Promise<void> {
  for (let i = 0; i < 20; i++)
    await relational.pool.query(
      `insert into linked_accounts (id, company_id, user_id, provider, name, host, sealed_target)
       values ($1, $2, $3, 'webhook', 'n', 'h', '')`,
      [newId(), companyId, userId],
    )
}

const link: Call = {
  path: links,
  body: { provider: 'webhook', name: 'Inside', url: 'https://10.0.0.1/secret' },
}

/** What people do about their own account. */
export const ownAccountRefusals: RefusalRows = {
  changePassword: {
    wrongPassword: refused(() => change),
    passwordNotUsed: refused(async ({ userId }, { relational }) => {
      await relational.pool.query('update users set password_hash = null where id = $1', [userId])
      return change
    }),
    tooManyAttempts: exhausted(10, () => change),
  },
  offerAuthenticator: {
    wrongPassword: refused(() => guess('')),
    tooManyAttempts: exhausted(10, () => guess('')),
    authenticatorInUse: withCodesOn(right('')),
  },
  confirmAuthenticator: {
    wrongCode: refused(async ({ token }, { make }) => {
      await make('POST', authenticator, { password: goodPassword }, token)
      return code('abcdef')
    }),
    authenticatorNotOffered: refused(() => code('123456')),
    authenticatorInUse: withCodesOn(code('123456')),
  },
  renewRecoveryCodes: {
    wrongPassword: refused(() => guess('/recovery-codes')),
    tooManyAttempts: exhausted(10, () => guess('/recovery-codes')),
    authenticatorNotOffered: refused(() => right('/recovery-codes')),
  },
  disableAuthenticator: {
    wrongPassword: refused(() => guess('/disable')),
    tooManyAttempts: exhausted(10, () => guess('/disable')),
    authenticatorNotOffered: refused(() => right('/disable')),
  },
  deleteAuthenticator: {
    authenticatorNotOffered: refused(({ userId }) => ({ path: `${users}/${userId}/authenticator` })),
  },

  createLinkedAccount: {
    linkedAccountAddress: refused(() => link),
    tooManyLinkedAccounts: refused(async (founder, world) => {
      await fillLinks(world, founder)
      return link
    }),
    tooManyRequests: exhausted(30, () => link),
  },
}
