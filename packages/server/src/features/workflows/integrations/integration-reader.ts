import {
  channelTypes,
  type Entrypoint,
  entrypointFormats,
} from '@millrace/contract/resources/workflow-definition.ts'
import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'
import type { Queries, Relational } from '../../../platform/stores/relational.ts'
import type { RunnableIntegration } from '../runnable-zone.ts'
import { addressesOf } from './addresses.ts'
import {
  createIntegrationStore,
  type StoredIntegration,
  type VersionEntrypoints,
} from './integration-store.ts'
import { isShortId } from './short-id.ts'

/** Channel and format of an entrypoint. */
export type KnownEntrypoint = Pick<Entrypoint, 'type' | 'format'>

/** Entrypoints of a workflow: those of the live version, and those of the draft. */
export interface WorkflowEntrypoints {
  readonly live: ReadonlyMap<string, KnownEntrypoint>
  readonly draft: ReadonlyMap<string, KnownEntrypoint>
}

export interface IntegrationReaderDependencies {
  readonly relational: Pick<Relational, 'db'>
  readonly publicUrl: () => string
}

export type IntegrationReader = ReturnType<typeof createIntegrationReader>

type Versions = Partial<Record<VersionEntrypoints['state'], VersionEntrypoints>>

const channels: ReadonlySet<unknown> = new Set(channelTypes)
const formats: ReadonlySet<unknown> = new Set(entrypointFormats)

const entriesOf = (value: unknown): [string, unknown][] =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : []

/** Without those of a draft that have no shape yet. */
function entrypointsOf(version: VersionEntrypoints | undefined): Map<string, KnownEntrypoint> {
  return new Map(
    entriesOf(version?.entrypoints).flatMap(([id, value]) => {
      const { type, format } = Object.fromEntries(entriesOf(value))
      return channels.has(type) && formats.has(format) ? [[id, { type, format } as KnownEntrypoint]] : []
    }),
  )
}

function outputTypesOf(version: VersionEntrypoints | undefined, entrypointId: string): string[] {
  const outputs = new Map(entriesOf(version?.outputs)).get(entrypointId)
  if (!Array.isArray(outputs)) return []
  const types = outputs.map((output: { readonly type?: unknown }) => String(output.type))
  return [...new Set(types)].sort()
}

const optional = <T extends object>(fields: T): { [F in keyof T]?: NonNullable<T[F]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as never

/** Reads integrations with what the versions of their workflows say of them. */
export function createIntegrationReader({ relational, publicUrl }: IntegrationReaderDependencies) {
  async function readVersions(
    queries: Queries,
    companyId: string,
    workflowIds: readonly string[],
  ): Promise<Map<string, Versions>> {
    const versions = new Map<string, Versions>()
    for (const version of await createIntegrationStore(queries).listEntrypoints(companyId, workflowIds)) {
      versions.set(version.workflowId, { ...versions.get(version.workflowId), [version.state]: version })
    }
    return versions
  }

  return {
    /** By workflow, the oldest first; a workflow without any is absent. */
    async list(
      queries: Queries,
      companyId: string,
      workflowIds: readonly string[],
    ): Promise<Map<string, Integration[]>> {
      const store = createIntegrationStore(queries)
      const stored = await store.list(companyId, workflowIds)
      const ids = [...new Set(stored.map(({ workflowId }) => workflowId))]
      const versions = await readVersions(queries, companyId, ids)
      const profiles = await store.listProfiles(companyId, ids)
      const found = new Map<string, Integration[]>(ids.map((id) => [id, []]))
      for (const each of stored) {
        const { live, draft } = versions.get(each.workflowId) ?? {}
        const inLive = entrypointsOf(live).get(each.entrypointId)
        const inDraft = entrypointsOf(draft).get(each.entrypointId)
        const { type, format } = inLive ?? inDraft ?? { type: each.channel, format: each.format }
        const profile = profiles.get(each.workflowId) ?? []
        found.get(each.workflowId)?.push({
          ...toIntegration(each),
          entrypointState: inLive ? 'live' : inDraft ? 'draft' : 'absent',
          type,
          format,
          outputTypes: outputTypesOf(inLive ? live : inDraft && draft, each.entrypointId),
          ...addressesOf({ ...each, publicUrl: publicUrl(), profile }),
        })
      }
      return found
    },

    async readEntrypoints(
      queries: Queries,
      companyId: string,
      workflowId: string,
    ): Promise<WorkflowEntrypoints> {
      const versions = (await readVersions(queries, companyId, [workflowId])).get(workflowId)
      return { live: entrypointsOf(versions?.live), draft: entrypointsOf(versions?.draft) }
    },

    /** For the runner, by the part of its address. */
    async findRunnable(shortId: string): Promise<RunnableIntegration | undefined> {
      if (!isShortId(shortId)) return undefined
      const stored = await createIntegrationStore(relational.db).findByShortId(shortId)
      if (!stored) return undefined
      const { id, companyId, workflowId, entrypointId, enabled, parameters, channel, domain } = stored
      const versions = (await readVersions(relational.db, companyId, [workflowId])).get(workflowId)
      const { type, format } = entrypointsOf(versions?.live).get(entrypointId) ?? {
        type: channel,
        format: stored.format,
      }
      return {
        companyId,
        workflowId,
        entrypointId,
        integration: {
          id,
          shortId,
          enabled,
          parameters,
          type,
          format,
          ...(domain !== null && { domain }),
        },
      }
    },
  }
}

function toIntegration(stored: StoredIntegration) {
  const { id, workflowId, shortId, entrypointId, parameters, enabled, createdAt, updatedAt } = stored
  const { name, domain, code, selector, includeContext, includeDatalayerPath, waitForEvents } = stored
  const { filters, emplacement } = stored
  return {
    id,
    workflowId,
    shortId,
    entrypointId,
    parameters,
    enabled,
    ...optional({ name, domain, code, selector, includeContext, includeDatalayerPath, waitForEvents }),
    ...optional({ filters, emplacement }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}
