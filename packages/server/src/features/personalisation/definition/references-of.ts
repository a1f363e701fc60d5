import type { WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import type { AnalyzeOverrides } from '@millrace/contract/resources/workflow-version.ts'
import { type DefinitionReferences, type ResourceKind, resourceKinds } from './definition-resources.ts'
import { kindOf, referenceOf } from './nodes/nodes.ts'

/** Each once, in an order that does not depend on where they stand. */
const distinct = (ids: readonly (string | undefined)[]): string[] =>
  [...new Set(ids.filter((id) => id !== undefined))].sort()

/** What a definition and the overrides of its analysis name. */
export function referencesOf(
  definition: WorkflowDefinition,
  { branchTags, branchCategoryIds }: Pick<AnalyzeOverrides, 'branchTags' | 'branchCategoryIds'>,
): DefinitionReferences {
  const byKind = Map.groupBy(Object.values(definition.nodes), (node) => kindOf(node).reference?.kind)
  const edges = Object.values(definition.edges)
  const tags = [...edges.flatMap((edge) => edge.tags ?? []), ...branchTags]
  return {
    ...(Object.fromEntries(
      resourceKinds.map((kind) => [kind, distinct((byKind.get(kind) ?? []).map(referenceOf))]),
    ) as Record<ResourceKind, string[]>),
    tagKeys: distinct(tags.map(({ tagKeyId }) => tagKeyId)),
    tagValues: distinct(tags.map(({ tagValueId }) => tagValueId)),
    categories: distinct([...edges.map(({ categoryId }) => categoryId), ...Object.values(branchCategoryIds)]),
  }
}
