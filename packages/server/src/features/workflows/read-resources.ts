import type { Queries } from '../../platform/stores/relational.ts'
import type {
  DefinitionResources,
  KnownDatasource,
  KnownExperiment,
  KnownTagKey,
  KnownTemplate,
} from './definition/definition-resources.ts'
import type { DefinitionReferences } from './definition/references-of.ts'

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

/** Gives those of the objects that exist. */
type Source<T> = (queries: Queries, asked: SourceQuery) => Promise<T>

/** Where other features say what a definition can refer to. */
export interface DefinitionSources {
  readonly listDatasources: Source<ReadonlyMap<string, KnownDatasource>>
  readonly listTrackingDatasources: Source<ReadonlySet<string>>
  readonly listTemplates: Source<ReadonlyMap<string, KnownTemplate>>
  readonly listCohorts: Source<ReadonlySet<string>>
  readonly listExperiments: Source<ReadonlyMap<string, KnownExperiment>>
  readonly listTagKeys: Source<ReadonlyMap<string, KnownTagKey>>
  readonly listCategories: Source<ReadonlySet<string>>
}

export type ReadResources = (
  queries: Queries,
  asked: Omit<SourceQuery, 'ids'> & { readonly references: DefinitionReferences },
) => Promise<DefinitionResources>

/** Reads what a definition names, one kind after the other, so that locks are taken in one order. */
export function createResourceReader(sources: DefinitionSources): ReadResources {
  return async (queries, { references, ...asked }) => {
    const read = async <T>(source: Source<T>, ids: readonly string[], none: T): Promise<T> =>
      ids.length === 0 ? none : source(queries, { ...asked, ids })
    return {
      datasources: await read(sources.listDatasources, references.datasourceIds, new Map()),
      trackingDatasources: await read(
        sources.listTrackingDatasources,
        references.trackingDatasourceIds,
        new Set(),
      ),
      templates: await read(sources.listTemplates, references.templateIds, new Map()),
      cohorts: await read(sources.listCohorts, references.cohortIds, new Set()),
      experiments: await read(sources.listExperiments, references.experimentIds, new Map()),
      tagKeys: await read(sources.listTagKeys, references.tagKeyIds, new Map()),
      categories: await read(sources.listCategories, references.categoryIds, new Set()),
    }
  }
}
