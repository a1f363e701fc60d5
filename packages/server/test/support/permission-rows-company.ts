import { nothing, only, type PermissionRows } from './permission-row.ts'
import type { PermissionWorld } from './permission-world.ts'

const users = '/v2/entities/users'
const roles = '/v2/entities/roles'
const persons = '/v2/entities/persons'
const ada = { clientIds: ['ada'] }
const teams = '/v2/entities/teams'

/** Without the right name nothing is closed. */
const closing = { path: '/v2/entities/company/close', body: { confirm: 'another company', code: '123456' } }

/** A name that nobody has. */
const unusedName = () => `name ${crypto.randomUUID()}`

async function addTeam({ make }: PermissionWorld): Promise<string> {
  return (await make<{ id: string }>('POST', teams, { name: unusedName() })).id
}

/** Roles, teams and the company. */
export const companyRows: PermissionRows = {
  listRoles: { needs: 'role read', call: () => ({ path: roles }), stranger: 200 },

  readRole: {
    needs: 'role read',
    call: async ({ addRole }) => ({ path: `${roles}/${await addRole(nothing)}` }),
    stranger: 404,
  },

  createRole: {
    needs: 'role create',
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
    needs: 'role update',
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
    needs: 'role delete',
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

  listTeams: { needs: 'team read', call: () => ({ path: teams }), stranger: 200 },

  readTeam: {
    needs: 'team read',
    call: async (world) => ({ path: `${teams}/${await addTeam(world)}` }),
    stranger: 404,
  },

  createTeam: {
    needs: 'team create',
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
    needs: 'team update',
    call: async (world) => ({ path: `${teams}/${await addTeam(world)}`, body: { name: unusedName() } }),
    stranger: 404,
  },

  deleteTeam: {
    needs: 'team delete',
    call: async (world) => ({ path: `${teams}/${await addTeam(world)}` }),
    stranger: 404,
  },

  previewCompanyRetention: {
    needs: 'company read',
    call: () => ({ path: '/v2/entities/company/retention?days=30' }),
    stranger: 200,
  },
  findPerson: {
    needs: 'company update',
    call: () => ({ path: `${persons}/search`, body: ada }),
    stranger: 200,
  },
  exportPerson: {
    needs: 'company update',
    call: () => ({ path: `${persons}/export`, body: ada }),
    alone: 403,
    stranger: 200,
    further: [
      {
        says: 'takes Statistics: export besides',
        rights: only('company update', 'statistics export'),
        call: () => ({ path: `${persons}/export`, body: ada }),
      },
    ],
  },
  erasePerson: {
    needs: 'company update',
    call: () => ({ path: `${persons}/erase`, body: ada }),
    stranger: 200,
  },
  listPersonErasures: {
    needs: 'company update',
    call: () => ({ path: `${persons}/erasures` }),
    stranger: 200,
  },
  readPersonErasure: {
    needs: 'company update',
    async call({ make }) {
      const { id } = await make<{ id: string }>('POST', `${persons}/erase`, ada)
      return { path: `${persons}/erasures/${id}` }
    },
    stranger: 404,
  },
  closeCompany: {
    needs: 'company update',
    call: () => closing,
    entitled: 409,
    alone: 403,
    stranger: 409,
    further: [
      {
        says: 'takes User: delete and Datasource: delete besides',
        rights: only('company update', 'user delete', 'datasource delete'),
        call: () => closing,
        refusal: 'companyNotConfirmed',
      },
    ],
  },
  readCompany: { needs: 'company read', call: () => ({ path: '/v2/entities/company' }), stranger: 200 },

  updateCompany: {
    needs: 'company update',
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
      {
        says: 'refuses a default team that the caller does not use',
        rights: only('company update'),
        call: ({ teams: { other } }) => ({ path: '/v2/entities/company', body: { defaultTeamId: other } }),
        refusal: 'notInTeam',
      },
    ],
  },
}
