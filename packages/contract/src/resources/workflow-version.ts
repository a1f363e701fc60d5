import { type Static, Type } from 'typebox'
import { revisionFields } from '../revision.ts'
import {
  dateTime,
  extension,
  freeObject,
  id,
  listOf,
  mapOf,
  named,
  nameText,
  object,
  oneOf,
  text,
} from './formats.ts'
import { channelTypes, entrypointFormats, outputKinds } from './workflow-entrypoint.ts'

const ids = Type.Array(Type.String())

const BranchTags = Type.Array(
  object({ tagKeyId: Type.String(), tagValueId: Type.String(), branchId: Type.String() }),
)

/** One step of a branch: a node and, of a logic node, the output that is taken. */
const BranchStep = object({ node: Type.String(), output: Type.Optional(Type.String()) })

const BranchInfo = named('WorkflowBranch', {
  steps: listOf(BranchStep, 'From the first node after the entrypoint to the output'),
  name: text('That of its most downstream named edge, else made of the steps'),
  outputNodeId: Type.String(),
  outputType: oneOf(outputKinds),
  score: Type.Number(),
  individualized: Type.Boolean(),
  isDefault: Type.Boolean(),
})
export type BranchInfo = Static<typeof BranchInfo>

/**
 * What the service derives from a definition (docs/workflows.md, Analysis). A path is an entrypoint with the steps to
 * an output; a branch is the steps alone, so that entrypoints that share them share the branch.
 */
export const Analyze = named('WorkflowAnalyze', {
  entrypointsByBranches: Type.Array(
    object({ branch: Type.String(), entrypointIds: Type.Array(Type.String()) }),
  ),
  branches: listOf(Type.String(), 'In the order in which they are met'),
  individualizedBranches: ids,
  branchesScore: mapOf(Type.Number(), 'By branch: the sum of the scores of its vertices'),
  defaultBranches: listOf(Type.String(), 'Those that take every `default` output'),
  usedDatasourceFields: mapOf(ids, 'By datasource: names of its fields'),
  usedDatagraphEntityParameters: freeObject('By entity'),
  branchesInfos: mapOf(BranchInfo, 'By branch'),
  entrypointsPerDataNodeId: mapOf(ids, 'By data node: entrypoints that reach it'),
  entrypointsPerPathId: mapOf(Type.String(), 'By path: its entrypoint'),
  entrypointTypes: Type.Array(oneOf(channelTypes)),
  entrypointFormats: Type.Array(oneOf(entrypointFormats)),
  categoryIdByBranch: mapOf(Type.String(), 'By branch: the category nearest to its output'),
  loopWindowByBranch: mapOf(Type.Integer(), 'By branch: hours'),
  branchTags: BranchTags,
  outputsForEntrypoint: mapOf(
    Type.Array(object({ nodeId: Type.String(), type: oneOf(outputKinds) })),
    'By entrypoint: output nodes that it can end in',
  ),
  datasForEntrypoint: mapOf(ids, 'By entrypoint: data nodes that it reaches'),
})
export type Analyze = Static<typeof Analyze>

/** Of each list and map of the corrections: as many as a definition has paths. */
const maxOverrides = 2_000

/** Corrections by users of the derived values; what names a vertex or branch that is gone has no effect. */
export const AnalyzeOverrides = named('WorkflowAnalyzeOverrides', {
  vertexIndividualizedScore: mapOf(Type.Number({ minimum: 0, maximum: 100 }), {
    maxProperties: maxOverrides,
    description: 'By vertex: a node, or `<node>:<output>` for one output of a logic node',
  }),
  customVertexNames: Type.Array(
    object({ vertexId: Type.String({ maxLength: 129 }), name: nameText('Name of the vertex', 200) }),
    { maxItems: maxOverrides },
  ),
  branchCategoryIds: mapOf(id('Branch category'), {
    maxProperties: maxOverrides,
    description: 'By branch',
  }),
  branchLoopWindows: mapOf(Type.Integer({ minimum: 1, maximum: 8_760 }), {
    maxProperties: maxOverrides,
    description: 'By branch: hours',
  }),
  branchTags: Type.Array(
    object({
      tagKeyId: id('Tag key'),
      tagValueId: id('Its value'),
      branchId: Type.String({ maxLength: 24 }),
    }),
    { maxItems: maxOverrides, description: 'For a branch and key: instead of all derived values' },
  ),
})
export type AnalyzeOverrides = Static<typeof AnalyzeOverrides>

/** One draft, at most one live version, and those that were live before. */
export const versionStates = ['draft', 'live', 'inactive'] as const

/** Of a version without its content. */
export const versionHead = {
  id: Type.String(),
  createdAt: dateTime('When it was made'),
  updatedAt: dateTime('When it was saved last'),
  state: oneOf(
    versionStates,
    '`draft` is edited; `live` is what the workflow shows while it is published; `inactive` was live before',
  ),
  number: extension(Type.Integer({ minimum: 1, description: 'Counts from 1 within the workflow' })),
  revision: revisionFields.revision,
  publishedAt: Type.Optional(
    extension(Type.String({ format: 'date-time', description: 'When it was published' })),
  ),
  lastSavedBy: Type.Optional(text('User who saved it last')),
  changeDescription: Type.Optional(Type.String()),
  complexityScore: Type.Optional(Type.Number()),
}

export const WorkflowVersion = named('WorkflowVersion', {
  ...versionHead,
  definition: object(
    {
      nodes: freeObject('By node'),
      entrypoints: freeObject('By entrypoint'),
      edges: freeObject('By edge'),
    },
    'What each part holds: docs/workflows.md, Fields; a draft need not be complete',
  ),
  analyze: Analyze,
  metadata: freeObject('Notes of the editor'),
  analyzeOverrides: AnalyzeOverrides,
})
export type WorkflowVersion = Static<typeof WorkflowVersion>
