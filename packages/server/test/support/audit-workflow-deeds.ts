import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import type { Workflow } from '@millrace/contract/resources/workflow.ts'
import { type AuditWorld, type Deed, fresh, type Made } from './audit-world.ts'
import { bannerDefinition } from './workflows.ts'

const workflows = '/workflows'

async function bodyOf({ people }: AuditWorld) {
  const { rows } = await people.relational.pool.query<Made>(
    'select id from teams where company_id = $1 and is_default',
    [people.companyId],
  )
  return { name: fresh('Banner '), resourceGroupIds: [rows[0]?.id] }
}

/** The deed of an administrator to a workflow to which these deeds were done before. */
const ofWorkflow =
  (
    before: readonly string[],
    act: (world: AuditWorld, path: string, workflow: Workflow) => Promise<unknown>,
  ): Deed =>
  async (world) => {
    const { people, ask, begin } = world
    const workflow = await ask<Workflow>(people, 'POST', workflows, await bodyOf(world))
    const path = `${workflows}/${workflow.id}`
    for (const deed of before) await ask(people, 'POST', `${path}/${deed}`)
    await begin(people)
    await act(world, path, workflow)
    return { actor: ['user', people.admin.id], target: ['workflow', workflow.id] }
  }

const post = (deed: string) => (world: AuditWorld, path: string) =>
  world.ask(world.people, 'POST', `${path}/${deed}`)

async function save({ people }: AuditWorld, path: string, { versions }: Workflow): Promise<void> {
  const reply = await people.app.inject({
    method: 'PUT',
    url: `/v2${path}/versions/${versions[0]?.id}`,
    headers: { authorization: `Bearer ${people.admin.token}`, 'if-match': '*' },
    payload: { definition: bannerDefinition() },
  })
  if (reply.statusCode !== 200) throw new Error(reply.body)
}

/** What is done to workflows and their versions. */
export const workflowDeeds = {
  'workflow-create': async (world) => {
    const { people, ask, begin } = world
    const body = await bodyOf(world)
    await begin(people)
    const { id } = await ask<Workflow>(people, 'POST', workflows, body)
    return { actor: ['user', people.admin.id], target: ['workflow', id] }
  },
  'workflow-update': ofWorkflow([], ({ people, ask }, path) =>
    ask(people, 'PATCH', path, { name: fresh('Banner ') }),
  ),
  'workflow-archive': ofWorkflow([], post('archive')),
  'workflow-restore': ofWorkflow(['archive'], post('restore')),
  'workflow-duplicate': async (world) => {
    const { people, ask, begin } = world
    const { id: from } = await ask<Workflow>(people, 'POST', workflows, await bodyOf(world))
    await begin(people)
    const { id } = await ask<Workflow>(people, 'POST', `${workflows}/${from}/duplicate`)
    return { actor: ['user', people.admin.id], target: ['workflow', id] }
  },
  'workflow-delete': ofWorkflow([], ({ people, ask }, path) => ask(people, 'DELETE', path)),
  'workflow-version-save': ofWorkflow([], save),
  'workflow-version-publish': ofWorkflow([], async (world, path, workflow) => {
    await save(world, path, workflow)
    await world.begin(world.people)
    await post(`versions/${workflow.versions[0]?.id}/publish`)(world, path)
  }),
  'workflow-version-restore': ofWorkflow([], ({ people, ask }, path, { versions: [version] }) =>
    ask(people, 'POST', `${path}/versions/${version?.id}/restore`),
  ),
} satisfies Partial<Record<AuditAction, Deed>>
