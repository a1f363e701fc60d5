import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import type { ExperimentStatus } from '@millrace/contract/resources/experiment.ts'
import type { JsonTemplate } from '@millrace/contract/resources/json-template.ts'
import type { Cardinality } from '@millrace/contract/resources/tag-key.ts'

/** What of a field decides how it can be compared, filtered and sorted. */
export interface KnownField {
  readonly type: DatasourceField['type']
  readonly primitive: DatasourceField['primitive']
  /** Absent where its primitive says it. */
  readonly sortable?: boolean
}

export interface KnownTemplate {
  readonly variables: readonly JsonTemplate['variables'][number][]
  readonly definition: unknown
  readonly redirectVariable?: string
}

export interface KnownExperiment {
  readonly variants: readonly { readonly id: string; readonly name?: string; readonly tagValueId?: string }[]
  readonly systemTagKeyId?: string
  readonly status: ExperimentStatus
}

export interface KnownDatasource {
  /** The selected fields of the live version; absent where there is none yet. */
  readonly fields?: ReadonlyMap<string, KnownField>
}

export interface KnownTagKey {
  readonly cardinality: Cardinality
  readonly assignmentMode: 'custom' | 'system'
  readonly valueIds: ReadonlySet<string>
}

/**
 * What a definition can refer to, by id in lower case. What is not here does not exist for the company, or is not
 * visible to the teams of the workflow.
 */
export interface DefinitionResources {
  readonly datasources: ReadonlyMap<string, KnownDatasource>
  readonly trackingDatasources: ReadonlySet<string>
  readonly templates: ReadonlyMap<string, KnownTemplate>
  readonly cohorts: ReadonlySet<string>
  readonly experiments: ReadonlyMap<string, KnownExperiment>
  readonly tagKeys: ReadonlyMap<string, KnownTagKey>
  readonly categories: ReadonlySet<string>
}

/** Kinds of objects that definitions name, in the order in which they are read and locked. */
export const resourceKinds = [
  'datasources',
  'trackingDatasources',
  'templates',
  'cohorts',
  'experiments',
  'tagKeys',
  'categories',
] as const satisfies (keyof DefinitionResources)[]
export type ResourceKind = (typeof resourceKinds)[number]

/** Objects of the service that a definition names, by kind; each id once, sorted. */
export type DefinitionReferences = Readonly<Record<ResourceKind | 'tagValues', readonly string[]>>
