import { type MakeCall, only, type PermissionRows } from './permission-row.ts'
import { addWorkflow, workflowsPath } from './permission-rows-workflows.ts'
import type { PermissionWorld } from './permission-world.ts'

export const profilesPath = `${workflowsPath}/variable-profiles`
export const categoriesPath = `${workflowsPath}/branch-categories`
export const templatesPath = `${workflowsPath}/json-templates`

export const profileBody = { name: 'Newsletter tool', parameters: [{ name: 'trk-u', default: '{{id}}' }] }
export const categoryBody = { name: 'Loyalty' }
export const templateBody = (teamId: string) => ({
  name: 'Product card',
  resourceGroupIds: [teamId],
  definition: { title: { type: 'dependency', variable: 'title' } },
  variables: [{ name: 'title', type: 'scalar' }],
})

type World = Pick<PermissionWorld, 'make' | 'relational' | 'teams'>

/** Of a workflow of the first company. @returns address of the integration */
export async function addIntegration(world: World, token?: string, teamId?: string): Promise<string> {
  const { path } = await addWorkflow(world, [], token, teamId)
  const integrations = `${path}/integrations`
  const { id } = await world.make<{ id: string }>('POST', integrations, { entrypointId: 'zone' }, token)
  return `${integrations}/${id}`
}

const ofIntegration =
  (suffix: string, body?: unknown): MakeCall =>
  async (world) => ({
    path: `${await addIntegration(world)}${suffix}`,
    ...(body === undefined ? {} : { body }),
  })

const ofWorkflow =
  (suffix: string, body?: unknown): MakeCall =>
  async (world) => ({
    path: `${(await addWorkflow(world)).path}${suffix}`,
    ...(body === undefined ? {} : { body }),
  })

const ofSetting =
  (path: string, made: unknown, body?: unknown): MakeCall =>
  async ({ make }) => ({
    path: `${path}/${(await make<{ id: string }>('POST', path, made)).id}`,
    ...(body === undefined ? {} : { body }),
  })

const ofTemplate =
  (body?: (world: PermissionWorld) => unknown): MakeCall =>
  async (world) => {
    const made = templateBody(world.teams.default)
    const { id } = await world.make<{ id: string }>('POST', templatesPath, made)
    return { path: `${templatesPath}/${id}`, ...(body ? { body: body(world) } : {}) }
  }

const ofTeams = { stranger: 404, otherTeam: 404 } as const
const listed = { stranger: 200, otherTeam: 200 } as const
const needs = (action: string) => `workflowSettings ${action}`

/** Integrations of workflows, and what workflows share. */
export const workflowSettingRows: PermissionRows = {
  listIntegrations: { needs: 'workflow read', call: ofWorkflow('/integrations'), ...ofTeams },
  readIntegration: { needs: 'workflow read', call: ofIntegration(''), ...ofTeams },
  readIntegrationSnippet: { needs: 'workflow read', call: ofIntegration('/snippet'), ...ofTeams },
  createIntegration: {
    needs: 'workflow update',
    call: ofWorkflow('/integrations', { entrypointId: 'zone' }),
    ...ofTeams,
  },
  updateIntegration: { needs: 'workflow update', call: ofIntegration('', { enabled: false }), ...ofTeams },
  deleteIntegration: { needs: 'workflow update', call: ofIntegration(''), ...ofTeams },

  listVariableProfiles: { needs: needs('read'), call: () => ({ path: profilesPath }), stranger: 200 },
  readVariableProfile: { needs: needs('read'), call: ofSetting(profilesPath, profileBody), stranger: 404 },
  createVariableProfile: {
    needs: needs('create'),
    call: () => ({ path: profilesPath, body: profileBody }),
    stranger: 200,
  },
  replaceVariableProfile: {
    needs: needs('update'),
    call: ofSetting(profilesPath, profileBody, profileBody),
    stranger: 404,
  },
  deleteVariableProfile: {
    needs: needs('delete'),
    call: ofSetting(profilesPath, profileBody),
    stranger: 404,
  },

  listBranchCategories: { needs: needs('read'), call: () => ({ path: categoriesPath }), stranger: 200 },
  readBranchCategory: { needs: needs('read'), call: ofSetting(categoriesPath, categoryBody), stranger: 404 },
  createBranchCategory: {
    needs: needs('create'),
    call: () => ({ path: categoriesPath, body: categoryBody }),
    stranger: 200,
  },
  updateBranchCategory: {
    needs: needs('update'),
    call: ofSetting(categoriesPath, categoryBody, { name: 'Other' }),
    stranger: 404,
  },
  deleteBranchCategory: {
    needs: needs('delete'),
    call: ofSetting(categoriesPath, categoryBody),
    stranger: 404,
  },

  listJsonTemplates: { needs: needs('read'), call: () => ({ path: templatesPath }), ...listed },
  readJsonTemplate: { needs: needs('read'), call: ofTemplate(), ...ofTeams },
  createJsonTemplate: {
    needs: needs('create'),
    call: ({ teams }) => ({ path: templatesPath, body: templateBody(teams.default) }),
    // The team of the first company is unknown to a stranger, and not that of the other team.
    stranger: 400,
    otherTeam: 403,
    further: [
      {
        says: 'makes none for a team that the user is not a member of',
        rights: only('workflowSettings create'),
        call: ({ teams }) => ({ path: templatesPath, body: templateBody(teams.other) }),
        refusal: 'notInTeam',
      },
    ],
  },
  replaceJsonTemplate: {
    needs: needs('update'),
    call: ofTemplate(({ teams }) => templateBody(teams.default)),
    ...ofTeams,
    further: [
      {
        says: 'gives it to no team that the user is not a member of',
        rights: only('workflowSettings update'),
        call: ofTemplate(({ teams }) => templateBody(teams.other)),
        refusal: 'notInTeam',
      },
    ],
  },
  deleteJsonTemplate: { needs: needs('delete'), call: ofTemplate(), ...ofTeams },

  listParameterValues: {
    needs: 'workflow read',
    call: () => ({ path: `${workflowsPath}/usage/parameter-values?name=utm_campaign` }),
    ...listed,
  },
  listParameters: {
    needs: 'workflow read',
    call: () => ({ path: `${workflowsPath}/parameters` }),
    ...listed,
  },
}
