import type { Workflow } from '@millrace/contract/resources/workflow.ts'
import { type MakeCall, only, type PermissionRows } from './permission-row.ts'
import type { PermissionWorld } from './permission-world.ts'
import { bannerDefinition } from './workflows.ts'

export const workflowsPath = '/v2/workflows'

export const workflowBody = (teamId: string) => ({ name: 'Welcome banner', resourceGroupIds: [teamId] })

/** Of the first company, with a draft that can be published, after these deeds. */
export async function addWorkflow(
  { make, relational, teams }: Pick<PermissionWorld, 'make' | 'relational' | 'teams'>,
  deeds: readonly string[] = [],
  token?: string,
  teamId = teams.default,
): Promise<{ readonly path: string; readonly version: string }> {
  const { id, versions } = await make<Workflow>('POST', workflowsPath, workflowBody(teamId), token)
  await relational.pool.query('update workflow_versions set definition = $2 where workflow_id = $1', [
    id,
    bannerDefinition(),
  ])
  const path = `${workflowsPath}/${id}`
  for (const deed of deeds) await make('POST', `${path}/${deed}`, undefined, token)
  return { path, version: `${path}/versions/${versions[0]?.id}` }
}

const ofWorkflow =
  (suffix: string, body?: unknown, deeds: readonly string[] = []): MakeCall =>
  async (world) => ({
    path: `${(await addWorkflow(world, deeds)).path}${suffix}`,
    ...(body === undefined ? {} : { body }),
  })

const ofVersion =
  (suffix: string): MakeCall =>
  async (world) => ({ path: `${(await addWorkflow(world)).version}${suffix}` })

const read = { needs: 'workflow read', stranger: 404, otherTeam: 404 } as const
const update = { needs: 'workflow update', stranger: 404, otherTeam: 404 } as const

/** Workflows and their versions. */
export const workflowRows: PermissionRows = {
  createWorkflow: {
    needs: 'workflow create',
    call: ({ teams }) => ({ path: workflowsPath, body: workflowBody(teams.default) }),
    // The team of the first company is unknown to a stranger, and not that of the other team.
    stranger: 400,
    otherTeam: 403,
    further: [
      {
        says: 'makes none for a team that the user is not a member of',
        rights: only('workflow create'),
        call: ({ teams }) => ({ path: workflowsPath, body: workflowBody(teams.other) }),
        refusal: 'notInTeam',
      },
    ],
  },
  listWorkflows: {
    needs: 'workflow read',
    call: () => ({ path: workflowsPath }),
    stranger: 200,
    otherTeam: 200,
  },
  listWorkflowFolders: {
    needs: 'workflow read',
    call: () => ({ path: `${workflowsPath}/hierarchy/values` }),
    stranger: 200,
    otherTeam: 200,
  },
  readWorkflow: { ...read, call: ofWorkflow('') },
  updateWorkflow: {
    ...update,
    call: ofWorkflow('', { name: 'Other' }),
    further: [
      {
        says: 'gives it to no team that the user is not a member of',
        rights: only('workflow update'),
        call: async (world) => ({
          path: (await addWorkflow(world)).path,
          body: { resourceGroupIds: [world.teams.default, world.teams.other] },
        }),
        refusal: 'notInTeam',
      },
    ],
  },
  archiveWorkflow: { ...update, call: ofWorkflow('/archive') },
  restoreWorkflow: { ...update, call: ofWorkflow('/restore', undefined, ['archive']) },
  duplicateWorkflow: {
    needs: 'workflow create',
    call: ofWorkflow('/duplicate'),
    stranger: 404,
    otherTeam: 404,
  },
  deleteWorkflow: { needs: 'workflow delete', call: ofWorkflow(''), stranger: 404, otherTeam: 404 },
  listWorkflowVersions: { ...read, call: ofWorkflow('/versions') },
  readWorkflowVersion: { ...read, call: ofVersion('') },
  // Without `If-Match` nothing is saved: the answer shows that the caller came as far as the version.
  saveWorkflowVersion: {
    ...update,
    call: async (world) => ({ path: (await addWorkflow(world)).version, body: { metadata: {} } }),
    entitled: 428,
  },
  validateWorkflowVersion: { ...read, call: ofVersion('/validate') },
  publishWorkflowVersion: { ...update, call: ofVersion('/publish') },
  restoreWorkflowVersion: { ...update, call: ofVersion('/restore') },
  readWorkflowChanges: {
    ...read,
    call: async (world) => {
      const { version } = await addWorkflow(world)
      return { path: `${version}/changes?from=${version.split('/').at(-1)}` }
    },
  },
}
