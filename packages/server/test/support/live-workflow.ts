import type { Edge } from '@millrace/contract/resources/workflow-definition.ts'
import type { Service } from './running-service.ts'

/** A definition as a request has it. */
interface SentDefinition {
  readonly nodes: object
  readonly entrypoints: object
  readonly edges: Readonly<Record<string, Edge>>
}

export interface LiveWorkflow {
  readonly id: string
  /** Path of the address of each entrypoint. */
  readonly addresses: ReadonlyMap<string, string>
}

/** Puts a body under the condition of an `ETag`, which has to succeed. */
async function putMatching(service: Service, path: string, tag: string, body: object): Promise<void> {
  const reply = await fetch(`${service.baseUrl}${path}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${service.token}`,
      'content-type': 'application/json',
      'if-match': tag,
    },
    body: JSON.stringify(body),
  })
  if (!reply.ok) throw new Error(await reply.text())
}

export async function defaultTeam(service: Service): Promise<string> {
  const teams = await service.dataOf<{ id: string; isDefault: boolean }[]>('GET', '/entities/teams')
  const team = teams.find(({ isDefault }) => isDefault)
  if (!team) throw new Error('a company has a default team')
  return team.id
}

export async function createWorkflow(service: Service, name: string): Promise<string> {
  const resourceGroupIds = [await defaultTeam(service)]
  return (await service.dataOf<{ id: string }>('POST', '/workflows', { name, resourceGroupIds })).id
}

/** Saves a definition as the draft of a workflow and publishes it. */
export async function publishDefinition(
  service: Service,
  workflowId: string,
  definition: SentDefinition,
): Promise<void> {
  const path = `/workflows/${workflowId}`
  const { versions } = await service.dataOf<{
    versions: { id: string; state: string; revision: number }[]
  }>('GET', path)
  const draft = versions.find(({ state }) => state === 'draft')
  if (!draft) throw new Error('a workflow has a draft')
  await putMatching(service, `${path}/versions/${draft.id}`, `"${draft.revision}"`, { definition })
  await service.dataOf('POST', `${path}/versions/${draft.id}/publish`)
}

/** Publishes a definition on a running service, with an integration for each of its entrypoints. */
export async function publishWorkflow(service: Service, definition: SentDefinition): Promise<LiveWorkflow> {
  const id = await createWorkflow(service, 'Live workflow')
  await publishDefinition(service, id, definition)
  const addresses = new Map<string, string>()
  for (const entrypointId of Object.keys(definition.entrypoints)) {
    const { shortId } = await service.dataOf<{ shortId: string }>('POST', `/workflows/${id}/integrations`, {
      entrypointId,
    })
    addresses.set(entrypointId, `/r/${shortId}`)
  }
  return { id, addresses }
}
