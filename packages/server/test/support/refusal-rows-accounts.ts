import { linkByRows, requireByRows } from './mandatory-domain.ts'
import { turnOn } from './permission-rows-own-account.ts'
import type { Call, PermissionWorld, Person } from './permission-world.ts'
import { exhausted, nobody, type RefusalRows, refused, unusedName } from './refusal-row.ts'

const entities = '/v2/entities'
const users = `${entities}/users`
const invitations = `${entities}/invitations`
const roles = `${entities}/roles`
const teams = `${entities}/teams`
const reset = `${users}/password-reset`

interface Made {
  readonly id: string
}

async function idOf({ relational }: PermissionWorld, query: string, ...values: unknown[]): Promise<string> {
  const { rows } = await relational.pool.query<Made>(query, values)
  if (!rows[0]) throw new Error(`nothing is found by ${query}`)
  return rows[0].id
}

const builtInRole = (world: PermissionWorld, { companyId }: Person, name = 'viewer'): Promise<string> =>
  idOf(world, 'select id from roles where company_id = $1 and built_in and name = $2', companyId, name)

const defaultTeam = (world: PermissionWorld, { companyId }: Person): Promise<string> =>
  idOf(world, 'select id from teams where company_id = $1 and is_default', companyId)

const ownRole = (world: PermissionWorld, { userId }: Person): Promise<string> =>
  idOf(world, 'select role_id as id from users where id = $1', userId)

const addRole = async (world: PermissionWorld, { token }: Person, name = unusedName()): Promise<string> =>
  (await world.make<Made>('POST', roles, { name, permissions: [] }, token)).id

const addTeam = async (world: PermissionWorld, { token }: Person, more: object = {}): Promise<string> =>
  (await world.make<Made>('POST', teams, { name: unusedName(), ...more }, token)).id

/** A team that the company's identity provider keeps. */
async function provisionedTeam(world: PermissionWorld, founder: Person): Promise<string> {
  const id = await addTeam(world, founder)
  await world.relational.pool.query('update teams set provisioned = true where id = $1', [id])
  return id
}

const closing = (confirm: string): Call => ({
  path: `${entities}/company/close`,
  body: { confirm, code: 'abcdef' },
})

async function closingOwn({ companyId }: Person, { relational }: PermissionWorld): Promise<Call> {
  const { rows } = await relational.pool.query('select name from companies where id = $1', [companyId])
  return closing(rows[0].name)
}

const address = (): string => `${crypto.randomUUID()}@elsewhere.example`

/** Body of an invitation. */
const invitation = async (world: PermissionWorld, founder: Person, more: object = {}) => ({
  email: address(),
  roleId: await builtInRole(world, founder),
  resourceGroupIds: [await defaultTeam(world, founder)],
  ...more,
})

/** A user who was invited, with the address and the identifier. */
async function invite(
  world: PermissionWorld,
  founder: Person,
  email = address(),
): Promise<{ id: string; email: string }> {
  const body = await invitation(world, founder, { email, sendMail: false })
  const { user } = await world.make<{ user: Made }>('POST', invitations, body, founder.token)
  return { id: user.id, email }
}

/** So many mails went to a user who was invited that no more do. */
async function mailToo(world: PermissionWorld, founder: Person): Promise<{ id: string; email: string }> {
  const invited = await invite(world, founder)
  for (let i = 0; i < 5; i++)
    await world.make('POST', `${invitations}/${invited.id}/renew`, { sendMail: true }, founder.token)
  return invited
}

/** A role that is the only one of the company to administer it. */
const soleRole = async (founder: Person, world: PermissionWorld): Promise<Call> => ({
  path: `${roles}/${await ownRole(world, founder)}`,
  body: { permissions: ['user:update', 'role:update'] },
})

const me = (suffix = '', body?: object) =>
  refused(({ userId }) => ({ path: `${users}/${userId}${suffix}`, body }))

/** Users, invitations, roles, teams and the company. */
export const accountRefusals: RefusalRows = {
  resetPassword: {
    passwordNotUsed: refused(async (founder, world) => {
      const domain = `bound-${founder.companyId}.example`
      const { id, email } = await invite(world, founder, `somebody@${domain}`)
      await world.relational.pool.query(`update users set status = 'active' where id = $1`, [id])
      await requireByRows(world.relational, founder.companyId, domain)
      return { path: reset, body: { email } }
    }),
    userNotActive: refused(async (founder, world) => {
      const { email } = await invite(world, founder)
      return { path: reset, body: { email } }
    }),
    tooManyPasswordResets: exhausted(5, ({ email }) => ({ path: reset, body: { email } })),
  },
  updateUser: {
    provisionedTeam: refused(async (founder, world) => ({
      path: `${users}/${founder.userId}`,
      body: { resourceGroupIds: [await provisionedTeam(world, founder)] },
    })),
    unknownRole: me('', { roleId: nobody }),
    unknownTeam: me('', { resourceGroupIds: [nobody] }),
    lastAdministrator: refused(async (founder, world) => ({
      path: `${users}/${founder.userId}`,
      body: { roleId: await builtInRole(world, founder) },
    })),
  },
  deactivateUser: { lastAdministrator: me('/deactivate') },
  reactivateUser: {
    userNotActive: refused(async (founder, world) => ({
      path: `${users}/${(await invite(world, founder)).id}/reactivate`,
    })),
  },
  deleteUser: { lastAdministrator: me() },
  unlinkUser: {
    singleSignOnLinkNotFound: me('/sso-link'),
    lastAdministrator: refused(async ({ companyId, userId, email }, { relational }) => {
      await requireByRows(relational, companyId, email.split('@')[1] ?? '')
      await linkByRows(relational, userId)
      await relational.pool.query('update sso_configs set mandatory = false where company_id = $1', [
        companyId,
      ])
      await relational.pool.query('update users set password_hash = null where id = $1', [userId])
      return { path: `${users}/${userId}/sso-link` }
    }),
  },
  inviteUser: {
    provisionedTeam: refused(async (founder, world) => ({
      path: invitations,
      body: await invitation(world, founder, { resourceGroupIds: [await provisionedTeam(world, founder)] }),
    })),
    unknownRole: refused(async (founder, world) => ({
      path: invitations,
      body: await invitation(world, founder, { roleId: nobody }),
    })),
    unknownTeam: refused(async (founder, world) => ({
      path: invitations,
      body: await invitation(world, founder, { resourceGroupIds: [nobody] }),
    })),
    emailTaken: refused(async (founder, world) => ({
      path: invitations,
      body: await invitation(world, founder, { email: founder.email }),
    })),
    tooManyInvitations: refused(async (founder, world) => {
      const { id, email } = await mailToo(world, founder)
      await world.make('DELETE', `${invitations}/${id}`, undefined, founder.token)
      return { path: invitations, body: await invitation(world, founder, { email }) }
    }),
  },
  renewInvitation: {
    tooManyInvitations: refused(async (founder, world) => ({
      path: `${invitations}/${(await mailToo(world, founder)).id}/renew`,
      body: { sendMail: true },
    })),
  },
  closeCompany: {
    companyNotConfirmed: refused(() => closing('another company')),
    authenticatorNotOffered: refused(closingOwn),
    wrongCode: refused(async (founder, world) => {
      await turnOn(world, founder)
      return closingOwn(founder, world)
    }),
    tooManyAttempts: exhausted(10, async (founder, world) => {
      await turnOn(world, founder)
      return closingOwn(founder, world)
    }),
  },
  updateCompany: {
    unknownRole: refused(() => ({ path: `${entities}/company`, body: { defaultRoleId: nobody } })),
    unknownTeam: refused(() => ({ path: `${entities}/company`, body: { defaultTeamId: nobody } })),
    provisionedTeam: refused(async (founder, world) => ({
      path: `${entities}/company`,
      body: { defaultTeamId: await provisionedTeam(world, founder) },
    })),
  },

  createRole: {
    roleNameTaken: refused(() => ({ path: roles, body: { name: 'viewer', permissions: [] } })),
  },
  updateRole: {
    builtInRole: refused(async (founder, world) => ({
      path: `${roles}/${await builtInRole(world, founder)}`,
      body: { permissions: [] },
    })),
    roleNameTaken: refused(async (founder, world) => ({
      path: `${roles}/${await addRole(world, founder)}`,
      body: { name: 'Viewer' },
    })),
    lastAdministrator: refused(soleRole),
  },
  deleteRole: {
    builtInRole: refused(async (founder, world) => ({
      path: `${roles}/${await builtInRole(world, founder)}`,
    })),
    roleInUse: refused(async (founder, world) => ({ path: `${roles}/${await ownRole(world, founder)}` })),
  },

  createTeam: {
    unknownTeam: refused(() => ({ path: teams, body: { name: unusedName(), parentIds: [nobody] } })),
    unknownUser: refused((_founder, { stranger }) => ({
      path: teams,
      body: { name: unusedName(), memberIds: [stranger.userId] },
    })),
    teamNameTaken: refused(() => ({ path: teams, body: { name: 'everyone' } })),
  },
  updateTeam: {
    provisionedTeam: refused(async (founder, world) => ({
      path: `${teams}/${await provisionedTeam(world, founder)}`,
      body: { members: { add: [founder.userId] } },
    })),
    unknownTeam: refused(async (founder, world) => ({
      path: `${teams}/${await addTeam(world, founder)}`,
      body: { parentIds: [world.teams.other] },
    })),
    unknownUser: refused(async (founder, world) => ({
      path: `${teams}/${await addTeam(world, founder)}`,
      body: { members: { add: [nobody] } },
    })),
    teamNameTaken: refused(async (founder, world) => ({
      path: `${teams}/${await addTeam(world, founder)}`,
      body: { name: 'Everyone' },
    })),
    teamCycle: refused(async (founder, world) => {
      const above = await addTeam(world, founder)
      const below = await addTeam(world, founder, { parentIds: [above] })
      return { path: `${teams}/${above}`, body: { parentIds: [below] } }
    }),
    memberWithoutTeam: refused(async (founder, world) => ({
      path: `${teams}/${await defaultTeam(world, founder)}`,
      body: { members: { remove: [founder.userId] } },
    })),
  },
  deleteTeam: {
    provisionedTeam: refused(async (founder, world) => ({
      path: `${teams}/${await provisionedTeam(world, founder)}`,
    })),
    defaultTeam: refused(async (founder, world) => ({
      path: `${teams}/${await defaultTeam(world, founder)}`,
    })),
    teamInUse: refused(async (founder, world) => {
      const above = await addTeam(world, founder)
      await addTeam(world, founder, { parentIds: [above] })
      return { path: `${teams}/${above}` }
    }),
    memberWithoutTeam: refused(async (founder, world) => {
      const only = await addTeam(world, founder, { memberIds: [founder.userId] })
      const everyone = await defaultTeam(world, founder)
      await world.make(
        'PATCH',
        `${teams}/${everyone}`,
        { members: { remove: [founder.userId] } },
        founder.token,
      )
      return { path: `${teams}/${only}` }
    }),
  },
}
