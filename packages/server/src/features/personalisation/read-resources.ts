import type { Queries } from '../../platform/stores/relational.ts'
import {
  type DefinitionReferences,
  type DefinitionResources,
  type ResourceKind,
  resourceKinds,
} from './definition/definition-resources.ts'

/** Which objects are asked for. */
export interface SourceQuery {
  readonly companyId: string
  /** Of the workflow: what none of them sees does not exist, where objects are seen by team. */
  readonly teamIds: readonly string[]
  /** Never empty. */
  readonly ids: readonly string[]
  /** Whether the objects cannot be deleted until the transaction ends. */
  readonly lock: boolean
}

/** Where other features say what a definition can refer to: each gives those of the objects that exist. */
export type DefinitionSources = {
  readonly [K in ResourceKind]: (queries: Queries, asked: SourceQuery) => Promise<DefinitionResources[K]>
}

/** @param lock whether the objects cannot be deleted until the transaction ends; default false */
export type ReadResources = (
  queries: Queries,
  workflow: { readonly companyId: string; readonly resourceGroupIds: readonly string[] },
  content: { readonly references: DefinitionReferences },
  lock?: boolean,
) => Promise<DefinitionResources>

const nothing: DefinitionResources = {
  datasources: new Map(),
  trackingDatasources: new Set(),
  templates: new Map(),
  cohorts: new Set(),
  experiments: new Map(),
  tagKeys: new Map(),
  categories: new Set(),
}

/** Reads what a definition names, one kind after the other, so that locks are taken in one order. */
export function createResourceReader(sources: DefinitionSources): ReadResources {
  return async (queries, { companyId, resourceGroupIds: teamIds }, { references }, lock = false) => {
    let found: DefinitionResources = nothing
    for (const kind of resourceKinds) {
      const ids = references[kind]
      if (ids.length > 0)
        found = { ...found, [kind]: await sources[kind](queries, { companyId, teamIds, ids, lock }) }
    }
    return found
  }
}
