import type { WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'

/** Objects of the service that a definition names, by kind; each id once, sorted. */
export interface DefinitionReferences {
  readonly datasourceIds: readonly string[]
  readonly trackingDatasourceIds: readonly string[]
  readonly templateIds: readonly string[]
  readonly cohortIds: readonly string[]
  readonly experimentIds: readonly string[]
  readonly tagKeyIds: readonly string[]
  readonly categoryIds: readonly string[]
}

/** Each once, in an order that does not depend on where they stand. */
export const distinct = (ids: readonly (string | undefined)[]): string[] =>
  [...new Set(ids.filter((id) => id !== undefined))].sort()

export function referencesOf(definition: WorkflowDefinition): DefinitionReferences {
  const nodes = Object.values(definition.nodes)
  const edges = Object.values(definition.edges)
  return {
    datasourceIds: distinct(
      nodes.map((node) => (node.type === 'datasource' ? node.datasourceId : undefined)),
    ),
    trackingDatasourceIds: distinct(
      nodes.map((node) => (node.type === 'events' ? node.datasourceId : undefined)),
    ),
    templateIds: distinct(nodes.map((node) => (node.type === 'json' ? node.templateId : undefined))),
    cohortIds: distinct(nodes.map((node) => (node.type === 'cohort' ? node.cohortId : undefined))),
    experimentIds: distinct(
      nodes.map((node) => (node.type === 'experiment' ? node.experimentId : undefined)),
    ),
    tagKeyIds: distinct(edges.flatMap(({ tags = [] }) => tags.map(({ tagKeyId }) => tagKeyId))),
    categoryIds: distinct(edges.map(({ categoryId }) => categoryId)),
  }
}
