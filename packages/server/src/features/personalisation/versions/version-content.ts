import type { DefinitionFault, WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import type {
  Analyze,
  AnalyzeOverrides,
  WorkflowVersion,
} from '@millrace/contract/resources/workflow-version.ts'
import { analyzeDefinition } from '../definition/analyze-definition.ts'
import { complexityOf } from '../definition/complexity.ts'
import type { DefinitionReferences, DefinitionResources } from '../definition/definition-resources.ts'
import { readDefinition } from '../definition/read-definition.ts'
import { referencesOf } from '../definition/references-of.ts'
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
  readonly references: DefinitionReferences
}

export function readContent({ definition: unread, analyzeOverrides }: Content): ReadContent {
  const { definition, faults } = readDefinition(unread)
  return { definition, faults, references: referencesOf(definition, analyzeOverrides) }
}

const kinds = {
  datasources: 'datasource',
  trackingDatasources: 'datasource',
  templates: 'template',
  cohorts: 'cohort',
  experiments: 'experiment',
  tagKeys: 'tag-key',
  tagValues: 'tag-value',
  categories: 'category',
} as const satisfies Record<keyof DefinitionReferences, VersionReference['kind']>

/** By kind and id, as a version keeps them: each once, though a draft may name one datasource as of both kinds. */
export function listReferences({ references }: ReadContent): VersionReference[] {
  const listed = Object.entries(kinds).flatMap(([name, kind]) =>
    references[name as keyof typeof kinds].map((resourceId) => ({ kind, resourceId })),
  )
  return [...new Map(listed.map((each) => [`${each.kind} ${each.resourceId}`, each])).values()]
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
