import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import type { Workflow } from '@millrace/contract/resources/workflow.ts'
import { type AuditWorld, type Deed, fresh, type Made } from './audit-world.ts'
import type { Body } from './auth.ts'
import { bannerDefinition } from './workflows.ts'

async function teamsOf({ people }: AuditWorld): Promise<string[]> {
  const { rows } = await people.relational.pool.query<Made>(
    'select id from teams where company_id = $1 and is_default',
    [people.companyId],
  )
  return rows.map(({ id }) => id)
}

/** A setting that is made, changed and deleted below one address. */
interface Setting {
  readonly kind: string
  readonly path: string
  readonly change: 'PUT' | 'PATCH'
  readonly body: (world: AuditWorld) => Promise<Body>
}

function deedsOf<K extends string>(setting: Setting & { readonly kind: K }) {
  const { kind, path, change, body } = setting
  const to =
    (method: 'PUT' | 'PATCH' | 'DELETE'): Deed =>
    async (world) => {
      const { people, ask, begin } = world
      const { id } = await ask<Made>(people, 'POST', path, await body(world))
      const changed = method === 'DELETE' ? undefined : await body(world)
      await begin(people)
      await ask(people, method, `${path}/${id}`, changed)
      return { actor: ['user', people.admin.id], target: [kind, id] }
    }
  const create: Deed = async (world) => {
    const { people, ask, begin } = world
    const wanted = await body(world)
    await begin(people)
    const { id } = await ask<Made>(people, 'POST', path, wanted)
    return { actor: ['user', people.admin.id], target: [kind, id] }
  }
  return {
    [`${kind}-create`]: create,
    [`${kind}-update`]: to(change),
    [`${kind}-delete`]: to('DELETE'),
  } as Record<`${K}-${'create' | 'update' | 'delete'}`, Deed>
}

const ofIntegration =
  (method: 'POST' | 'PATCH' | 'DELETE'): Deed =>
  async (world) => {
    const { people, ask, begin } = world
    const body = { name: fresh('Banner '), resourceGroupIds: await teamsOf(world) }
    const workflow = await ask<Workflow>(people, 'POST', '/workflows', body)
    const [version] = workflow.versions
    const draft = `/workflows/${workflow.id}/versions/${version?.id}`
    const saved = await people.auth.app.inject({
      method: 'PUT',
      url: `/v2${draft}`,
      headers: { authorization: `Bearer ${people.admin.token}`, 'if-match': `"${version?.revision}"` },
      payload: { definition: bannerDefinition() },
    })
    if (saved.statusCode !== 200) throw new Error(saved.body)
    const path = `/workflows/${workflow.id}/integrations`
    const wanted = { entrypointId: 'zone', name: fresh('Mail ') }
    if (method === 'POST') await begin(people)
    const { id } = await ask<Made>(people, 'POST', path, wanted)
    if (method !== 'POST') {
      await begin(people)
      await ask(people, method, `${path}/${id}`, method === 'PATCH' ? { enabled: false } : undefined)
    }
    return { actor: ['user', people.admin.id], target: ['integration', id] }
  }

/** What is done to integrations of workflows, and to what workflows share. */
export const settingDeeds = {
  'integration-create': ofIntegration('POST'),
  'integration-update': ofIntegration('PATCH'),
  'integration-delete': ofIntegration('DELETE'),
  ...deedsOf({
    kind: 'variable-profile',
    path: '/workflows/variable-profiles',
    change: 'PUT',
    body: async () => ({ name: fresh('Tool '), parameters: [{ name: 'trk-u' }] }),
  }),
  ...deedsOf({
    kind: 'branch-category',
    path: '/workflows/branch-categories',
    change: 'PATCH',
    body: async () => ({ name: fresh('Category ') }),
  }),
  ...deedsOf({
    kind: 'json-template',
    path: '/workflows/json-templates',
    change: 'PUT',
    body: async (world) => ({
      name: fresh('Card '),
      resourceGroupIds: await teamsOf(world),
      definition: { kind: { type: 'static', value: 'card' } },
    }),
  }),
} satisfies Partial<Record<AuditAction, Deed>>
