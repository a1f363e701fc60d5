import type { VariableProfile } from '@millrace/contract/resources/variable-profile.ts'
import {
  channelTypes,
  type Entrypoint,
  entrypointFormats,
} from '@millrace/contract/resources/workflow-entrypoint.ts'
import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'
import { isObject } from '../../../platform/plain-object.ts'
import { withIsoDates, withoutNulls } from '../../../platform/resources/resource.ts'
import type { Queries, Relational } from '../../../platform/stores/relational.ts'
import { readDefinition } from '../definition/read-definition.ts'
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
  /** What is wrong with entrypoints of the draft, each a sentence that names it. */
  readonly faults: readonly string[]
}

export interface IntegrationReaderDependencies {
  readonly relational: Pick<Relational, 'db'>
  readonly publicUrl: () => string
}

/** Of a company, before those without a live entrypoint are left out; a page attaches fewer. */
const maxSelecting = 1_000

export type IntegrationReader = ReturnType<typeof createIntegrationReader>

type Versions = Partial<Record<VersionEntrypoints['state'], VersionEntrypoints>>

const channels: ReadonlySet<unknown> = new Set(channelTypes)
const formats: ReadonlySet<unknown> = new Set(entrypointFormats)

const entriesOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : [])

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

/** Reads integrations with what the versions of their workflows say of them. */
export function createIntegrationReader({ relational, publicUrl }: IntegrationReaderDependencies) {
  async function readVersions(
    queries: Queries,
    companyId: string,
    workflowIds: readonly string[],
    states?: readonly VersionEntrypoints['state'][],
  ): Promise<Map<string, Versions>> {
    const versions = new Map<string, Versions>()
    const store = createIntegrationStore(queries)
    for (const version of await store.listEntrypoints(companyId, workflowIds, states)) {
      versions.set(version.workflowId, { ...versions.get(version.workflowId), [version.state]: version })
    }
    return versions
  }

  const complete = (
    each: StoredIntegration,
    { live, draft }: Versions = {},
    profile: VariableProfile['parameters'] = [],
  ): Integration => {
    const inLive = entrypointsOf(live).get(each.entrypointId)
    const inDraft = entrypointsOf(draft).get(each.entrypointId)
    const { type, format } = inLive ?? inDraft ?? { type: each.channel, format: each.format }
    return {
      ...toIntegration(each),
      entrypointState: inLive ? 'live' : inDraft ? 'draft' : 'absent',
      type,
      format,
      outputTypes: outputTypesOf(inLive ? live : inDraft && draft, each.entrypointId),
      ...addressesOf({ ...each, publicUrl: publicUrl(), profile }),
    }
  }

  async function completeAll(
    queries: Queries,
    companyId: string,
    stored: readonly StoredIntegration[],
    states?: readonly VersionEntrypoints['state'][],
  ): Promise<Integration[]> {
    const ids = [...new Set(stored.map(({ workflowId }) => workflowId))]
    const versions = await readVersions(queries, companyId, ids, states)
    const profiles = await createIntegrationStore(queries).listProfiles(companyId, ids)
    return stored.map((each) => complete(each, versions.get(each.workflowId), profiles.get(each.workflowId)))
  }

  return {
    /** By workflow, the oldest first; a workflow without any is absent. */
    async list(
      queries: Queries,
      companyId: string,
      workflowIds: readonly string[],
    ): Promise<Map<string, Integration[]>> {
      const stored = await createIntegrationStore(queries).list(companyId, workflowIds)
      const found = new Map<string, Integration[]>()
      for (const each of await completeAll(queries, companyId, stored)) {
        found.set(each.workflowId, [...(found.get(each.workflowId) ?? []), each])
      }
      return found
    },

    /** Those that pages attach: enabled, with a selector, for an entrypoint of a live version. The oldest first. */
    async listAttachable(companyId: string): Promise<Integration[]> {
      const stored = await createIntegrationStore(relational.db).listSelecting(companyId, maxSelecting)
      const all = await completeAll(relational.db, companyId, stored, ['live'])
      return all.filter(
        ({ entrypointState, type, format }) =>
          entrypointState === 'live' && type === 'web' && format !== 'page',
      )
    },

    findCompanyOfWorkflow: (workflowId: string) =>
      createIntegrationStore(relational.db).findCompanyOfWorkflow(workflowId),

    async readEntrypoints(
      queries: Queries,
      companyId: string,
      workflowId: string,
    ): Promise<WorkflowEntrypoints> {
      const versions = (await readVersions(queries, companyId, [workflowId])).get(workflowId)
      const entrypoints = Object.fromEntries(entriesOf(versions?.draft?.entrypoints))
      const { faults } = readDefinition({ nodes: {}, edges: {}, entrypoints })
      return {
        live: entrypointsOf(versions?.live),
        draft: entrypointsOf(versions?.draft),
        faults: faults.map(({ message }) => message),
      }
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
    ...withoutNulls({ name, domain, code, selector, includeContext, includeDatalayerPath, waitForEvents }),
    ...withoutNulls({ filters, emplacement }),
    ...withIsoDates({ createdAt, updatedAt }),
  }
}
