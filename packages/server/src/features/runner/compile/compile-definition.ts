import type {
  Binding,
  Edge,
  Entrypoint,
  WorkflowDefinition,
  WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import { nodeCategories, zoneOrder } from '@millrace/contract/resources/workflow-definition.ts'
import type { Analyze } from '@millrace/contract/resources/workflow-version.ts'
import type { RunnableTemplate } from '../ports.ts'
import { leadsWithin } from './addresses.ts'
import type { CompiledBinding, DataNumbers } from './compile-binding.ts'
import { bindingsOf, compileData, type DataWorkflowNode } from './compile-data.ts'
import { compileLogic, type LogicNode } from './compile-logic.ts'
import { compileOutput, type OutputContext, type OutputNode } from './compile-outputs.ts'
import {
  type BranchEnd,
  type BranchTree,
  type CompiledBranch,
  type CompiledEntrypoint,
  type DataNode,
  type Executable,
  type Step,
  stepKey,
} from './executable.ts'

/** What a version is compiled from. */
export interface Compilable {
  readonly workflowId: string
  readonly versionId: string
  readonly definition: WorkflowDefinition
  readonly analyze: Analyze
  readonly templates: Readonly<Record<string, RunnableTemplate>>
  /** Host of the integrations, to which values of an address may lead as well. */
  readonly domain?: string | undefined
}

const isData = (node: WorkflowNode): node is DataWorkflowNode => nodeCategories[node.type] === 'data'
const isLogic = (node: WorkflowNode): node is LogicNode => nodeCategories[node.type] === 'logic'

/** Fields of a context node that follow from the address or the headers of a request. */
const foreignFields: ReadonlySet<string> = new Set(['user.id', 'user.locale', 'page.url', 'page.host'])

/**
 * Makes a definition ready to run, in time linear in its size. It need not be valid: what leads nowhere ends a run
 * without an output, and what reads a node that is not there has no value.
 */
export function compileDefinition(version: Compilable): Executable {
  const { definition, analyze, templates, workflowId, versionId } = version
  const ids = Object.keys(definition.nodes)
  const places = new Map(ids.map((id, place) => [id, place]))
  const numbers: DataNumbers = new Map(
    ids.filter((id) => isData(nodeOf(definition, id))).map((id, number) => [id, number]),
  )
  const data: DataNode[] = []
  const hosts = new Set<string>()
  const edges = edgesByVertex(definition)
  const foreign = foreignData(definition, numbers)
  const outputContext: OutputContext = {
    numbers,
    templates,
    isForeign: foreign,
    mayLeadTo: (address) => leadsWithin(address, hosts, version.domain),
  }
  const steps = new Map<string, Step>()
  for (const id of ids) {
    const step = compileStep(id)
    steps.set(id, step)
  }
  for (const [id, step] of steps) connect(id, step)

  function compileStep(id: string): Step {
    const node = nodeOf(definition, id)
    const place = places.get(id) ?? 0
    const own = { place, node: id, type: node.type, name: node.name }
    if (isData(node)) {
      const compiled = compileData(node, id, numbers.get(id) ?? 0, numbers)
      data[compiled.number] = compiled
      return { kind: 'data', place, data: compiled, next: undefined }
    }
    if (isLogic(node)) {
      const outputsOf = (vertex: string) =>
        (edges.get(vertex) ?? []).flatMap(({ output }) => (output === undefined ? [] : [output]))
      const compiled = compileLogic(node, id, { workflowId, numbers, outputsOf })
      return { kind: 'logic', ...own, ...compiled, next: [] }
    }
    const { hosts: written, ...compiled } = compileOutput(node, outputContext)
    for (const host of written) hosts.add(host)
    return { kind: 'output', ...own, output: (node as OutputNode).type, ...compiled }
  }

  function connect(id: string, step: Step): void {
    const leaving = edges.get(id) ?? []
    if (step.kind === 'data') step.next = stepBehind(leaving[0])
    if (step.kind !== 'logic') return
    for (const [number, output] of step.outputs.entries()) {
      step.next[number] = stepBehind(leaving.find((edge) => edge.output === output))
    }
  }

  function stepBehind(edge: Edge | undefined): Step | undefined {
    return edge && steps.get(edge.to)
  }

  const entrypoints = new Map<string, CompiledEntrypoint>()
  for (const [zone, id] of zoneOrder(definition.entrypoints).entries()) {
    const { type, format } = definition.entrypoints[id] as Entrypoint
    entrypoints.set(id, { id, type, format, zone, first: stepBehind(edges.get(id)?.[0]) })
  }
  return {
    workflowId,
    versionId,
    entrypoints,
    data,
    ...compileBranches(analyze, steps),
    places: ids.length,
    experimentIds: [
      ...new Set(
        Object.values(definition.nodes).flatMap((node) =>
          node.type === 'experiment' ? [node.experimentId] : [],
        ),
      ),
    ],
    hosts,
  }
}

function nodeOf({ nodes }: WorkflowDefinition, id: string): WorkflowNode {
  const node = nodes[id]
  if (!node) throw new Error(`the definition has no node ${id}`)
  return node
}

function edgesByVertex({ edges }: WorkflowDefinition): Map<string, Edge[]> {
  return Map.groupBy(Object.values(edges), ({ from }) => from)
}

/** Says of a binding whether its value is given by who calls the address: a parameter, or what is computed of one. */
function foreignData(
  { nodes }: WorkflowDefinition,
  numbers: DataNumbers,
): (binding: CompiledBinding) => boolean {
  const known = new Map<number, boolean>()
  const byNumber = new Map([...numbers].map(([id, number]) => [number, id]))
  const reads = (number: number): boolean => {
    const seen = known.get(number)
    if (seen !== undefined) return seen
    // Of a circle in a draft.
    known.set(number, true)
    const node = nodes[byNumber.get(number) ?? '']
    const is =
      node?.type === 'parameter' ||
      node?.type === 'context' ||
      node?.type === 'events' ||
      (node?.type === 'transform' && bindingsOf(node.expression).some(isForeign))
    known.set(number, is)
    return is
  }
  const isForeign = (binding: Binding): boolean => {
    if ('value' in binding) return false
    const number = numbers.get(binding.node)
    if (number === undefined) return false
    const node = nodes[binding.node]
    if (node?.type === 'context') return foreignFields.has(binding.field ?? '')
    return reads(number)
  }
  return ({ need, source }) => need !== undefined && isForeign(source)
}

function compileBranches(
  analyze: Analyze,
  steps: ReadonlyMap<string, Step>,
): Pick<Executable, 'branches' | 'branchEnds'> {
  const ends = new Map<string, BranchEnd>()
  const root: BranchTree = { next: new Map(), branch: undefined }
  const tags = Map.groupBy(analyze.branchTags, ({ branchId }) => branchId)
  for (const [id, info] of Object.entries(analyze.branchesInfos)) {
    let tree = root
    for (const { node, output } of info.steps) {
      const step = steps.get(node)
      if (!step) break
      const number = step.kind === 'logic' && output !== undefined ? step.outputs.indexOf(output) : -1
      const key = stepKey(step.place, number)
      const next: BranchTree = tree.next.get(key) ?? { next: new Map(), branch: undefined }
      tree.next.set(key, next)
      tree = next
    }
    const branch: CompiledBranch = {
      id,
      individualized: info.individualized,
      categoryId: analyze.categoryIdByBranch[id],
      tagValueIds: (tags.get(id) ?? []).map(({ tagValueId }) => tagValueId),
    }
    tree.branch = branch
    const output = steps.get(info.outputNodeId)
    if (output?.kind === 'output') ends.set(id, { branch, output })
  }
  return { branches: root, branchEnds: ends }
}
