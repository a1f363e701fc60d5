import { newId } from '../../src/platform/ids.ts'
import { goodPassword } from './auth.ts'
import { codeAt, fromBase32 } from './authenticator.ts'
import { nothing, only, type PermissionRows } from './permission-row.ts'
import type { PermissionWorld, Person } from './permission-world.ts'

const me = '/v2/entities/users/me'
const authenticator = `${me}/authenticator`

/** Every user may, about their own account: without any permission, and of any company. */
const everybody = { ofCaller: true, stranger: 200, access: [[nothing, 200]] } as const

async function codeOfOffer({ make }: PermissionWorld, { token }: Person): Promise<string> {
  const { secret } = await make<{ secret: string }>('POST', authenticator, { password: goodPassword }, token)
  return codeAt(fromBase32(secret), Date.now())
}

/** One-time codes are on afterwards. */
export async function turnOn(world: PermissionWorld, person: Person): Promise<void> {
  const code = await codeOfOffer(world, person)
  await world.make('POST', `${authenticator}/confirm`, { code }, person.token)
}

/** Gives a new application the consent of a user. @returns its client_id */
async function insertConsent({ relational }: PermissionWorld, { userId }: Person): Promise<string> {
  const id = newId()
  await relational.pool.query(
    `insert into oauth_clients (id, name, grants, first_party) values ($1, 'Reports', '{authorization_code}', false)`,
    [id],
  )
  await relational.pool.query('insert into client_consents (user_id, client_id) values ($1, $2)', [
    userId,
    id,
  ])
  return id
}

async function insertSession({ relational }: PermissionWorld, userId: string): Promise<string> {
  const id = newId()
  await relational.pool.query(
    `insert into refresh_tokens (id, token_hash, user_id, client_id, address, created_at, used_at, expires_at)
     select $1, sha256(convert_to($1, 'utf8')), $2, client.id, '192.0.2.1', now(), now(), now() + interval '1 day'
     from oauth_clients as client limit 1`,
    [id, userId],
  )
  return id
}

/** What people do about their own account, and with another user's lost device or password. */
export const ownAccountRows: PermissionRows = {
  readProfile: { ...everybody, call: () => ({ path: me }) },

  listPeople: { stranger: 200, access: [[nothing, 200]], call: () => ({ path: '/v2/entities/people' }) },

  updateProfile: { ...everybody, call: () => ({ path: me, body: { firstName: 'Ada' } }) },

  changePassword: {
    ...everybody,
    call: () => ({
      path: `${me}/password`,
      body: { currentPassword: goodPassword, newPassword: 'another field of 8 poppies' },
    }),
  },

  listApplications: { ...everybody, call: () => ({ path: `${me}/applications` }) },

  deleteApplication: {
    // A user of another company asks for an application of the administrator's.
    call: async (world, caller) => {
      const owner = caller.companyId === world.admin.companyId ? caller : world.admin
      return { path: `${me}/applications/${await insertConsent(world, owner)}` }
    },
    stranger: 404,
    access: [[nothing, 200]],
  },

  listOwnSessions: { ...everybody, call: () => ({ path: `${me}/sessions` }) },

  endOwnSession: {
    // A user of another company asks for a session of the administrator's.
    call: async (world, caller) => {
      const { userId } = caller.companyId === world.admin.companyId ? caller : world.admin
      return { path: `${me}/sessions/${await insertSession(world, userId)}` }
    },
    stranger: 404,
    access: [[nothing, 200]],
  },

  endOwnSessions: { ...everybody, call: () => ({ path: `${me}/sessions` }) },

  readAuthenticator: { ...everybody, call: () => ({ path: authenticator }) },

  offerAuthenticator: {
    ...everybody,
    call: () => ({ path: authenticator, body: { password: goodPassword } }),
  },

  confirmAuthenticator: {
    ...everybody,
    call: async (world, caller) => ({
      path: `${authenticator}/confirm`,
      body: { code: await codeOfOffer(world, caller) },
    }),
  },

  renewRecoveryCodes: {
    ...everybody,
    call: async (world, caller) => {
      await turnOn(world, caller)
      return { path: `${authenticator}/recovery-codes`, body: { password: goodPassword } }
    },
  },

  disableAuthenticator: {
    ...everybody,
    call: async (world, caller) => {
      await turnOn(world, caller)
      return { path: `${authenticator}/disable`, body: { password: goodPassword } }
    },
  },

  deleteAuthenticator: {
    needs: 'user update',
    call: async (world) => {
      const person = await world.twin(await world.person(nothing))
      await turnOn(world, person)
      return { path: `/v2/entities/users/${person.userId}/authenticator` }
    },
    stranger: 404,
    further: [
      {
        says: 'refuses the codes of a user who may do more',
        rights: only('user update'),
        call: async (world) => {
          const person = await world.twin(world.admin)
          await turnOn(world, person)
          return { path: `/v2/entities/users/${person.userId}/authenticator` }
        },
        refusal: 'userAboveOwn',
      },
    ],
  },

  resetPassword: {
    call: async ({ addUser }) => {
      const { email } = await addUser(nothing)
      return { path: '/v2/entities/users/password-reset', body: { email } }
    },
    stranger: 404,
    access: [
      [nothing, 403],
      [{ without: { resource: 'user', action: 'update' } }, 403],
      [only('user update'), 200],
    ],
    further: [
      {
        says: 'mails everybody a link for their own password',
        rights: nothing,
        call: (_world, { email }) => ({ path: '/v2/entities/users/password-reset', body: { email } }),
      },
      {
        says: 'does not disclose to a user without the permission which addresses there are',
        rights: nothing,
        call: () => ({ path: '/v2/entities/users/password-reset', body: { email: 'no@example.com' } }),
        refusal: 'forbidden',
      },
    ],
  },
}
