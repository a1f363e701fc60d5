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
export type AnalyzeOverrides = Static<typeof AnalyzeOverrides>

/** Beyond docs/interface.md. */
const extension = { 'x-millrace-extension': true } as const

/** One draft, at most one live version, and those that were live before. */
export const versionStates = ['draft', 'live', 'inactive'] as const
export type VersionState = (typeof versionStates)[number]

/** Of a version without its content. */
export const versionHead = {
  id: Type.String(),
  createdAt: dateTime('When it was made'),
  updatedAt: dateTime('When it was saved last'),
  state: oneOf(versionStates, {
    description:
      '`draft` is edited; `live` is what the workflow shows while it is published; `inactive` was live before',
  }),
  number: Type.Integer({ minimum: 1, description: 'Counts from 1 within the workflow', ...extension }),
  revision: Type.Integer({
    minimum: 1,
    description: 'Grows with each save; in quotes it is the `ETag` of the version',
    ...extension,
  }),
  publishedAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'When it was published', ...extension }),
  ),
  lastSavedBy: Type.Optional(Type.String({ description: 'User who saved it last' })),
  changeDescription: Type.Optional(Type.String()),
  complexityScore: Type.Optional(Type.Number()),
}

export const WorkflowVersion = Type.Object(
  {
    ...versionHead,
    definition: Type.Object(
      {
        nodes: freeObject('By node'),
        entrypoints: freeObject('By entrypoint'),
        edges: freeObject('By edge'),
      },
      { ...strict, description: 'See docs/workflows.md, Definition; a draft need not be complete' },
    ),
    analyze: Analyze,
    metadata: freeObject('Notes of the editor'),
    analyzeOverrides: AnalyzeOverrides,
  },
  { ...strict, title: 'WorkflowVersion' },
)
export type WorkflowVersion = Static<typeof WorkflowVersion>
