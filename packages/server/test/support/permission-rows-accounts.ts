import { linkByRows } from './mandatory-domain.ts'
import { type FurtherCase, nothing, only, type PermissionRows } from './permission-row.ts'
import type { PermissionWorld, Rights } from './permission-world.ts'

const users = '/v2/entities/users'
const invitations = '/v2/entities/invitations'

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

const invitationOf = (roleId: string, ...resourceGroupIds: string[]) => ({
  path: invitations,
  body: { email: unusedEmail(), roleId, resourceGroupIds, sendMail: false },
})

/** A user who may do more than the caller: each operation on one user refuses that. */
function aboveCaller(
  action: 'update' | 'delete',
  suffix: string,
  body?: object,
  status?: 'active' | 'disabled',
): FurtherCase {
  return {
    says: 'refuses a user who may do more',
    rights: only(`user ${action}`),
    call: async ({ addUser }) => ({
      path: `${users}/${(await addUser(only(`user ${action}`, 'role read'), status)).id}${suffix}`,
      body,
    }),
    refusal: 'userAboveOwn',
  }
}

/** People and invitations. */
export const accountRows: PermissionRows = {
  listUsers: { needs: 'user read', call: () => ({ path: users }), stranger: 200 },

  readUser: {
    needs: 'user read',
    call: async ({ addUser }) => ({ path: `${users}/${(await addUser(nothing)).id}` }),
    stranger: 404,
  },

  updateUser: {
    needs: 'user update',
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
    needs: 'user update',
    call: async ({ addUser }) => ({ path: `${users}/${(await addUser(nothing)).id}/deactivate` }),
    stranger: 404,
    further: [aboveCaller('update', '/deactivate')],
  },

  reactivateUser: {
    needs: 'user update',
    call: async ({ addUser }) => ({
      path: `${users}/${(await addUser(nothing, 'disabled')).id}/reactivate`,
    }),
    stranger: 404,
    further: [aboveCaller('update', '/reactivate', undefined, 'disabled')],
  },

  deleteUser: {
    needs: 'user delete',
    call: async ({ addUser }) => ({ path: `${users}/${(await addUser(nothing)).id}` }),
    stranger: 404,
    further: [aboveCaller('delete', '')],
  },

  unlinkUser: {
    needs: 'user update',
    call: async (world) => {
      const { id } = await world.addUser(nothing)
      await linkByRows(world.relational, id)
      return { path: `${users}/${id}/sso-link` }
    },
    stranger: 404,
    further: [aboveCaller('update', '/sso-link')],
  },

  inviteUser: {
    needs: 'invitation create',
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

  listInvitations: { needs: 'invitation read', call: () => ({ path: invitations }), stranger: 200 },

  renewInvitation: {
    needs: 'invitation create',
    call: async (world) => ({
      path: `${invitations}/${await addInvitation(world, nothing)}/renew`,
      body: { sendMail: false },
    }),
    stranger: 404,
    further: [
      {
        says: 'shows no link of a user who will be allowed more',
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
    needs: 'invitation delete',
    call: async (world) => ({ path: `${invitations}/${await addInvitation(world, nothing)}` }),
    stranger: 404,
    further: [
      {
        says: 'refuses the invitation of a user who will be allowed more',
        rights: only('invitation delete'),
        call: async (world) => ({ path: `${invitations}/${await addInvitation(world, only('user read'))}` }),
        refusal: 'userAboveOwn',
      },
    ],
  },
}
