import type { DefinitionFault, WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import type {
  Analyze,
  AnalyzeOverrides,
  WorkflowVersion,
} from '@millrace/contract/resources/workflow-version.ts'
import { analyzeDefinition } from '../definition/analyze-definition.ts'
import { complexityOf } from '../definition/complexity.ts'
import type { DefinitionResources } from '../definition/definition-resources.ts'
import { readDefinition } from '../definition/read-definition.ts'
import { type DefinitionReferences, distinct, referencesOf } from '../definition/references-of.ts'
import type { VersionReference } from './version-store.ts'

/** What users edit of a version and its analysis rests on. */
export interface Content {
  readonly definition: WorkflowVersion['definition']
  readonly analyzeOverrides: AnalyzeOverrides
}

/** What follows from the content of a version. */
export interface Analysed {
  readonly analyze: Analyze
  readonly complexityScore: number
  /** Of definition and analysis as they are stored. */
  readonly bytes: number
}

export const noOverrides: AnalyzeOverrides = {
  vertexIndividualizedScore: {},
  customVertexNames: [],
  branchCategoryIds: {},
  branchLoopWindows: {},
  branchTags: [],
}

export interface ReadContent {
  /** Without the parts that have faults. */
  readonly definition: WorkflowDefinition
  readonly faults: readonly DefinitionFault[]
  /** Of the definition and of what overrides it. */
  readonly references: DefinitionReferences
  readonly tagValueIds: readonly string[]
}

export function readContent({ definition: unread, analyzeOverrides }: Content): ReadContent {
  const { definition, faults } = readDefinition(unread)
  const references = referencesOf(definition)
  const tags = [
    ...Object.values(definition.edges).flatMap((edge) => edge.tags ?? []),
    ...analyzeOverrides.branchTags,
  ]
  return {
    definition,
    faults,
    references: {
      ...references,
      tagKeyIds: distinct(tags.map(({ tagKeyId }) => tagKeyId)),
      categoryIds: distinct([
        ...references.categoryIds,
        ...Object.values(analyzeOverrides.branchCategoryIds),
      ]),
    },
    tagValueIds: distinct(tags.map(({ tagValueId }) => tagValueId)),
  }
}

/** By kind and id, as a version keeps them. */
export function listReferences({ references, tagValueIds }: ReadContent): VersionReference[] {
  const { datasourceIds, trackingDatasourceIds, templateIds, cohortIds, experimentIds } = references
  const of = (kind: VersionReference['kind'], ids: readonly string[]) =>
    ids.map((resourceId) => ({ kind, resourceId }))
  return [
    ...of('datasource', distinct([...datasourceIds, ...trackingDatasourceIds])),
    ...of('template', templateIds),
    ...of('cohort', cohortIds),
    ...of('experiment', experimentIds),
    ...of('tag-key', references.tagKeyIds),
    ...of('tag-value', tagValueIds),
    ...of('category', references.categoryIds),
  ]
}

export function analyseContent(
  { definition: stored, analyzeOverrides }: Content,
  { definition }: ReadContent,
  resources: DefinitionResources,
): Analysed {
  const analyze = analyzeDefinition(definition, analyzeOverrides, resources)
  const bytes = Buffer.byteLength(JSON.stringify(stored)) + Buffer.byteLength(JSON.stringify(analyze))
  return { analyze, complexityScore: complexityOf(definition), bytes }
}
