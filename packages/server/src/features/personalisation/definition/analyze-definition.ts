import {
  nodeCategories,
  type WorkflowDefinition,
  type WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import {
  channelTypes,
  entrypointFormats,
  type OutputKind,
} from '@millrace/contract/resources/workflow-entrypoint.ts'
import type { Analyze, AnalyzeOverrides } from '@millrace/contract/resources/workflow-version.ts'
import {
  isAssignable,
  mostDownstream,
  nameOfBranch,
  tagsOfBranch,
  vertexNames,
} from './analysis/branch-qualifiers.ts'
import { type Branch, listBranches, pathIdOf } from './analysis/branches.ts'
import { vertexScores } from './analysis/vertex-scores.ts'
import { isReference } from './bindings.ts'
import { graphOf, withAutomaticBindings } from './definition-graph.ts'
import type { DefinitionResources } from './definition-resources.ts'
import { bindingsOf, dataKindOf, kindOf, referenceOf } from './nodes/nodes.ts'
import type { DefinitionGraph } from './scope.ts'

/** Names of the fields that filters, sorting and bindings use, by datasource. */
function usedFields(definition: WorkflowDefinition): Record<string, string[]> {
  const used = new Map<string, Set<string>>()
  const datasourceOf = (node: WorkflowNode | undefined): string | undefined =>
    node && kindOf(node).reference?.kind === 'datasources' ? referenceOf(node) : undefined
  const use = (node: WorkflowNode | undefined, fields: readonly string[]): void => {
    const datasourceId = datasourceOf(node)
    if (datasourceId === undefined) return
    used.set(datasourceId, new Set([...(used.get(datasourceId) ?? []), ...fields]))
  }
  const nodes = new Map(Object.entries(definition.nodes))
  for (const node of nodes.values()) {
    use(node, dataKindOf(node)?.ownFieldsOf?.(node) ?? [])
    for (const { binding } of bindingsOf(node))
      if (isReference(binding))
        use(nodes.get(binding.node), binding.field === undefined ? [] : [binding.field])
  }
  return sortedMap([...used].map(([id, fields]) => [id, [...fields].sort()]))
}

const sortedMap = <T>(entries: readonly (readonly [string, T])[]): Record<string, T> =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** What each entrypoint reaches, which needs no path to be listed. */
function reached(graph: DefinitionGraph) {
  const datas: [string, string[]][] = []
  const outputs: [string, { nodeId: string; type: OutputKind }[]][] = []
  const entrypointsOf = new Map<string, string[]>()
  for (const entrypoint of graph.entrypoints) {
    const data: string[] = []
    const output: { nodeId: string; type: OutputKind }[] = []
    for (const nodeId of [...graph.reachedFrom(entrypoint)].sort()) {
      const node = graph.nodes.get(nodeId)
      if (!node) continue
      const category = nodeCategories[node.type]
      if (category === 'output') output.push({ nodeId, type: node.type as OutputKind })
      if (category !== 'data') continue
      data.push(nodeId)
      entrypointsOf.set(nodeId, [...(entrypointsOf.get(nodeId) ?? []), entrypoint])
    }
    datas.push([entrypoint, data])
    outputs.push([entrypoint, output])
  }
  return {
    datasForEntrypoint: Object.fromEntries(datas),
    outputsForEntrypoint: Object.fromEntries(outputs),
    entrypointsPerDataNodeId: sortedMap([...entrypointsOf]),
  }
}

/** Corrections of tags by branch and key, those that users may assign only. */
function correctedTags(overrides: AnalyzeOverrides, resources: DefinitionResources) {
  const byBranch = new Map<string, Map<string, Set<string>>>()
  for (const { branchId, tagKeyId, tagValueId } of overrides.branchTags) {
    const tag = { tagKeyId: tagKeyId.toLowerCase(), tagValueId: tagValueId.toLowerCase() }
    if (!isAssignable(resources, tag)) continue
    const keys = byBranch.get(branchId) ?? new Map<string, Set<string>>()
    byBranch.set(branchId, keys)
    const isSingle = resources.tagKeys.get(tag.tagKeyId)?.cardinality === 'single'
    keys.set(tag.tagKeyId, new Set([...(isSingle ? [] : (keys.get(tag.tagKeyId) ?? [])), tag.tagValueId]))
  }
  return byBranch
}

/** A sum of halves and corrections, without what binary fractions leave behind. */
const rounded = (score: number): number => Math.round(score * 1e6) / 1e6

/**
 * Derives from a definition what docs/workflows.md, Analysis, describes. Drafts that break rules are analysed as far
 * as they are sound: one with a cycle, or with too many paths, has no branches.
 */
export function analyzeDefinition(
  definition: WorkflowDefinition,
  overrides: AnalyzeOverrides,
  resources: DefinitionResources,
): Analyze {
  const graph = graphOf(definition)
  const branches = listBranches(graph)
  const scoreOf = vertexScores(graph, overrides)
  const nameOf = vertexNames(graph, overrides, resources)
  const corrections = {
    categories: new Map(Object.entries(overrides.branchCategoryIds)),
    loopWindows: new Map(Object.entries(overrides.branchLoopWindows)),
    tags: correctedTags(overrides, resources),
  }
  const categoryOf = (branch: Branch): string | undefined => {
    const corrected = corrections.categories.get(branch.id)?.toLowerCase()
    if (corrected !== undefined && resources.categories.has(corrected)) return corrected
    return mostDownstream(branch, ({ categoryId }) =>
      categoryId !== undefined && resources.categories.has(categoryId) ? categoryId : undefined,
    )
  }

  const entrypointsByBranches: Analyze['entrypointsByBranches'] = []
  const infos: [string, Analyze['branchesInfos'][string]][] = []
  const paths: [string, string][] = []
  const categories: [string, string][] = []
  const loopWindows: [string, number][] = []
  const branchTags: Analyze['branchTags'] = []
  for (const branch of branches) {
    const { id, steps, outputNodeId, outputType, isDefault } = branch
    const entrypointIds = branch.entries.map(({ from }) => from)
    entrypointsByBranches.push({ branch: id, entrypointIds })
    for (const entrypoint of entrypointIds) paths.push([pathIdOf(entrypoint, id), entrypoint])
    const score = rounded(steps.reduce((sum, { node, output }) => sum + scoreOf(node, output), 0))
    const given = mostDownstream(branch, (edge) => edge.individualized)
    infos.push([
      id,
      {
        steps,
        name: nameOfBranch(branch, nameOf),
        outputNodeId,
        outputType,
        score,
        individualized: given ?? (score > 0 && !branch.isFallback),
        isDefault,
      },
    ])
    const category = categoryOf(branch)
    if (category !== undefined) categories.push([id, category])
    const loopWindow = corrections.loopWindows.get(id) ?? mostDownstream(branch, (edge) => edge.loopWindow)
    if (loopWindow !== undefined) loopWindows.push([id, loopWindow])
    const tags = new Map<string, Iterable<string>>([
      ...tagsOfBranch(branch, graph, resources),
      ...(corrections.tags.get(id) ?? []),
    ])
    for (const tagKeyId of [...tags.keys()].sort())
      for (const tagValueId of tags.get(tagKeyId) ?? [])
        branchTags.push({ tagKeyId, tagValueId, branchId: id })
  }

  const entrypoints = Object.values(definition.entrypoints)
  return {
    entrypointsByBranches,
    branches: branches.map(({ id }) => id),
    individualizedBranches: infos.filter(([, info]) => info.individualized).map(([id]) => id),
    branchesScore: Object.fromEntries(infos.map(([id, { score }]) => [id, score])),
    defaultBranches: branches.filter(({ isDefault }) => isDefault).map(({ id }) => id),
    usedDatasourceFields: usedFields(withAutomaticBindings(definition, resources)),
    usedDatagraphEntityParameters: {},
    branchesInfos: Object.fromEntries(infos),
    entrypointsPerPathId: Object.fromEntries(paths),
    entrypointTypes: channelTypes.filter((type) => entrypoints.some((each) => each.type === type)),
    entrypointFormats: entrypointFormats.filter((format) =>
      entrypoints.some((each) => each.format === format),
    ),
    categoryIdByBranch: Object.fromEntries(categories),
    loopWindowByBranch: Object.fromEntries(loopWindows),
    branchTags,
    ...reached(graph),
  }
}
