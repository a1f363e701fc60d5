import { type FurtherCase, nothing, only, type PermissionRows } from './permission-row.ts'
import type { PermissionWorld, Rights } from './permission-world.ts'

const users = '/v2/entities/users'
const invitations = '/v2/entities/invitations'
const roles = '/v2/entities/roles'
const teams = '/v2/entities/teams'

/** A name that nobody has. */
const unusedName = () => `name ${crypto.randomUUID()}`

const unusedEmail = () => `${crypto.randomUUID()}@example.com`

async function addInvitation(world: PermissionWorld, rights: Rights): Promise<string> {
  const { user } = await world.make<{ user: { id: string } }>('POST', invitations, {
    email: unusedEmail(),
    roleId: await world.addRole(rights),
    resourceGroupIds: [world.teams.default],
    sendMail: false,
  })
  return user.id
}

async function addTeam({ make }: PermissionWorld): Promise<string> {
  return (await make<{ id: string }>('POST', teams, { name: unusedName() })).id
}

const invitationOf = (roleId: string, ...resourceGroupIds: string[]) => ({
  path: invitations,
  body: { email: unusedEmail(), roleId, resourceGroupIds, sendMail: false },
})

/** Somebody who may do more than the caller: each operation on one user refuses that. */
function aboveCaller(
  action: 'update' | 'delete',
  suffix: string,
  body?: object,
  status?: 'active' | 'disabled',
): FurtherCase {
  return {
    says: 'refuses somebody who may do more',
    rights: only(`user ${action}`),
    call: async ({ addUser }) => ({
      path: `${users}/${(await addUser(only(`user ${action}`, 'role read'), status)).id}${suffix}`,
      body,
    }),
    refusal: 'userAboveOwn',
  }
}

/** People, invitations, roles, teams and the company. */
export const accountRows: PermissionRows = {
  listUsers: { call: () => ({ path: users }), stranger: 200 },

  readUser: {
    call: async ({ addUser }) => ({ path: `${users}/${(await addUser(nothing)).id}` }),
    stranger: 404,
  },

  updateUser: {
    call: async ({ addUser }) => ({
      path: `${users}/${(await addUser(nothing)).id}`,
      body: { firstName: 'Ada' },
    }),
    stranger: 404,
    further: [
      aboveCaller('update', '', { firstName: 'Ada' }),
      {
        says: 'refuses a role that allows more than the caller’s',
        rights: only('user update'),
        call: async ({ addUser, addRole }) => ({
          path: `${users}/${(await addUser(nothing)).id}`,
          body: { roleId: await addRole(only('role read')) },
        }),
        refusal: 'roleAboveOwn',
      },
      {
        says: 'refuses to raise the caller',
        rights: only('user update'),
        call: async ({ addRole }, { userId }) => ({
          path: `${users}/${userId}`,
          body: { roleId: await addRole('all') },
        }),
        refusal: 'roleAboveOwn',
      },
      {
        says: 'refuses a team that the caller is not in',
        rights: only('user update'),
        call: async ({ addUser, teams }) => ({
          path: `${users}/${(await addUser(nothing)).id}`,
          body: { resourceGroupIds: [teams.other] },
        }),
        refusal: 'notInTeam',
      },
      {
        says: 'gives a role within the caller’s, and any team with Team: update',
        rights: only('user update', 'team update'),
        call: async ({ addUser, addRole, teams }) => ({
          path: `${users}/${(await addUser(nothing)).id}`,
          body: { roleId: await addRole(only('user update')), resourceGroupIds: [teams.other] },
        }),
      },
    ],
  },

  deactivateUser: {
    call: async ({ addUser }) => ({ path: `${users}/${(await addUser(nothing)).id}/deactivate` }),
    stranger: 404,
    further: [aboveCaller('update', '/deactivate')],
  },

  reactivateUser: {
    call: async ({ addUser }) => ({
      path: `${users}/${(await addUser(nothing, 'disabled')).id}/reactivate`,
    }),
    stranger: 404,
    further: [aboveCaller('update', '/reactivate', undefined, 'disabled')],
  },

  deleteUser: {
    call: async ({ addUser }) => ({ path: `${users}/${(await addUser(nothing)).id}` }),
    stranger: 404,
    further: [aboveCaller('delete', '')],
  },

  inviteUser: {
    call: async ({ addRole, teams }) => invitationOf(await addRole(nothing), teams.default),
    // The role and the team that the body names are unknown in another company.
    stranger: 400,
    further: [
      {
        says: 'refuses a role that allows more than the caller’s',
        rights: only('invitation create'),
        call: async ({ addRole, teams }) => invitationOf(await addRole(only('user read')), teams.default),
        refusal: 'roleAboveOwn',
      },
      {
        says: 'refuses a team that the caller is not in',
        rights: only('invitation create'),
        call: async ({ addRole, teams }) => invitationOf(await addRole(nothing), teams.default, teams.other),
        refusal: 'notInTeam',
      },
      {
        says: 'invites into any team with Team: update',
        rights: only('invitation create', 'team update'),
        call: async ({ addRole, teams }) => invitationOf(await addRole(nothing), teams.other),
      },
    ],
  },

  listInvitations: { call: () => ({ path: invitations }), stranger: 200 },

  renewInvitation: {
    call: async (world) => ({
      path: `${invitations}/${await addInvitation(world, nothing)}/renew`,
      body: { sendMail: false },
    }),
    stranger: 404,
    further: [
      {
        says: 'shows no link of somebody who will be allowed more',
        rights: only('invitation create'),
        call: async (world) => ({
          path: `${invitations}/${await addInvitation(world, only('user read'))}/renew`,
          body: { sendMail: false },
        }),
        refusal: 'userAboveOwn',
      },
    ],
  },

  deleteInvitation: {
    call: async (world) => ({ path: `${invitations}/${await addInvitation(world, nothing)}` }),
    stranger: 404,
    further: [
      {
        says: 'refuses the invitation of somebody who will be allowed more',
        rights: only('invitation delete'),
        call: async (world) => ({ path: `${invitations}/${await addInvitation(world, only('user read'))}` }),
        refusal: 'userAboveOwn',
      },
    ],
  },

  listRoles: { call: () => ({ path: roles }), stranger: 200 },

  readRole: {
    call: async ({ addRole }) => ({ path: `${roles}/${await addRole(nothing)}` }),
    stranger: 404,
  },

  createRole: {
    call: () => ({ path: roles, body: { name: unusedName(), permissions: [] } }),
    stranger: 200,
    further: [
      {
        says: 'refuses a permission that the caller has not',
        rights: only('role create'),
        call: () => ({
          path: roles,
          body: { name: unusedName(), permissions: ['role:create', 'role:update'] },
        }),
        refusal: 'permissionAboveOwn',
      },
    ],
  },

  updateRole: {
    call: async ({ addRole }) => ({
      path: `${roles}/${await addRole(nothing)}`,
      body: { name: unusedName() },
    }),
    stranger: 404,
    further: [
      {
        says: 'refuses to give a permission that the caller has not',
        rights: only('role update'),
        call: async ({ addRole }) => ({
          path: `${roles}/${await addRole(nothing)}`,
          body: { permissions: ['user:read'] },
        }),
        refusal: 'permissionAboveOwn',
      },
      {
        says: 'refuses to take a permission that the caller has not',
        rights: only('role update'),
        call: async ({ addRole }) => ({
          path: `${roles}/${await addRole(only('user read'))}`,
          body: { permissions: [] },
        }),
        refusal: 'permissionAboveOwn',
      },
      {
        says: 'refuses to raise the role of the caller',
        rights: only('role update'),
        call: async ({ make }, { userId }) => ({
          path: `${roles}/${(await make<{ roleId: string }>('GET', `${users}/${userId}`)).roleId}`,
          body: { permissions: ['role:update', 'user:update'] },
        }),
        refusal: 'permissionAboveOwn',
      },
    ],
  },

  deleteRole: {
    call: async ({ addRole }) => ({ path: `${roles}/${await addRole(nothing)}` }),
    stranger: 404,
    further: [
      {
        says: 'refuses a role that allows more than the caller’s',
        rights: only('role delete'),
        call: async ({ addRole }) => ({ path: `${roles}/${await addRole(only('user read'))}` }),
        refusal: 'permissionAboveOwn',
      },
    ],
  },

  listTeams: { call: () => ({ path: teams }), stranger: 200 },

  readTeam: { call: async (world) => ({ path: `${teams}/${await addTeam(world)}` }), stranger: 404 },

  createTeam: {
    call: () => ({ path: teams, body: { name: unusedName() } }),
    stranger: 200,
    further: [
      {
        says: 'refuses a place below another team without Team: update',
        rights: only('team create'),
        call: ({ teams: { other } }) => ({ path: teams, body: { name: unusedName(), parentIds: [other] } }),
        refusal: 'forbidden',
      },
      {
        says: 'refuses members without Team: update',
        rights: only('team create'),
        call: (_world, { userId }) => ({ path: teams, body: { name: unusedName(), memberIds: [userId] } }),
        refusal: 'forbidden',
      },
      {
        says: 'takes both with Team: update',
        rights: only('team create', 'team update'),
        call: ({ teams: { other } }, { userId }) => ({
          path: teams,
          body: { name: unusedName(), parentIds: [other], memberIds: [userId] },
        }),
      },
    ],
  },

  updateTeam: {
    call: async (world) => ({ path: `${teams}/${await addTeam(world)}`, body: { name: unusedName() } }),
    stranger: 404,
  },

  deleteTeam: { call: async (world) => ({ path: `${teams}/${await addTeam(world)}` }), stranger: 404 },

  readCompany: { call: () => ({ path: '/v2/entities/company' }), stranger: 200 },

  updateCompany: {
    call: async ({ addRole }) => ({
      path: '/v2/entities/company',
      body: { defaultRoleId: await addRole(nothing) },
    }),
    // The role that the body names is unknown in another company.
    stranger: 400,
    further: [
      {
        says: 'refuses a default role that allows more than the caller’s',
        rights: only('company update'),
        call: async ({ addRole }) => ({
          path: '/v2/entities/company',
          body: { defaultRoleId: await addRole(only('user read')) },
        }),
        refusal: 'roleAboveOwn',
      },
    ],
  },
}
