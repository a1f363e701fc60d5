import { type Static, Type } from 'typebox'
import { dateTime, freeObject, oneOf, strict } from './formats.ts'

const BranchTags = Type.Array(
  Type.Object({ tagKeyId: Type.String(), tagValueId: Type.String(), branchId: Type.String() }, strict),
)

/** What the service derives from a definition; the maps are keyed by branch, path or entrypoint. */
export const Analyze = Type.Object(
  {
    entrypointsByBranches: Type.Array(
      Type.Object({ branch: Type.String(), entrypointIds: Type.Array(Type.String()) }, strict),
    ),
    branches: Type.Array(Type.String()),
    individualizedBranches: Type.Array(Type.String()),
    branchesScore: freeObject('By branch'),
    defaultBranches: Type.Array(Type.String()),
    usedDatasourceFields: freeObject('By datasource'),
    usedDatagraphEntityParameters: freeObject('By entity'),
    branchesInfos: freeObject('By branch'),
    entrypointsPerDataNodeId: freeObject('By data node'),
    entrypointsPerPathId: freeObject('By path'),
    entrypointTypes: Type.Array(Type.String()),
    entrypointFormats: Type.Array(Type.String()),
    categoryIdByBranch: freeObject('By branch'),
    loopWindowByBranch: freeObject('By branch'),
    branchTags: BranchTags,
    outputsForEntrypoint: freeObject('By entrypoint'),
    datasForEntrypoint: freeObject('By entrypoint'),
  },
  { ...strict, title: 'WorkflowAnalyze' },
)
export type Analyze = Static<typeof Analyze>

/** Corrections by users of the derived values. */
export const AnalyzeOverrides = Type.Object(
  {
    vertexIndividualizedScore: freeObject('By vertex'),
    customVertexNames: Type.Array(Type.Object({ vertexId: Type.String(), name: Type.String() }, strict)),
    branchCategoryIds: freeObject('By branch'),
    branchLoopWindows: freeObject('By branch'),
    branchTags: BranchTags,
  },
  { ...strict, title: 'WorkflowAnalyzeOverrides' },
)

export const WorkflowVersion = Type.Object(
  {
    id: Type.String(),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was saved last'),
    state: oneOf(['draft', 'live', 'inactive']),
    definition: Type.Object(
      {
        nodes: freeObject('By node'),
        entrypoints: freeObject('By entrypoint'),
        edges: freeObject('By edge'),
      },
      strict,
    ),
    analyze: Analyze,
    metadata: freeObject('Notes of the editor'),
    analyzeOverrides: AnalyzeOverrides,
    lastSavedBy: Type.Optional(Type.String()),
    changeDescription: Type.Optional(Type.String()),
    complexityScore: Type.Optional(Type.Number()),
  },
  { ...strict, title: 'WorkflowVersion' },
)
export type WorkflowVersion = Static<typeof WorkflowVersion>
