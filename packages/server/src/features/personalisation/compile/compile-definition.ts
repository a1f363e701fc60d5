import type { Binding, Edge, WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import type { Entrypoint } from '@millrace/contract/resources/workflow-entrypoint.ts'
import { type OutputKind, zoneOrder } from '@millrace/contract/resources/workflow-entrypoint.ts'
import type { Analyze } from '@millrace/contract/resources/workflow-version.ts'
import type { KnownTemplate } from '../definition/definition-resources.ts'
import {
  bindingsOf,
  dataKindOf,
  kindOf,
  logicKindOf,
  outputKindOf,
  referenceOf,
} from '../definition/nodes/nodes.ts'
import { leadsWithin } from './addresses.ts'
import type { CompileContext, CompiledBinding, DataNumbers } from './compile-binding.ts'
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
  readonly templates: Readonly<Record<string, KnownTemplate>>
  /** Host of the integrations, to which values of an address may lead as well. */
  readonly domain?: string | undefined
}

/**
 * Makes a definition ready to run, in time linear in its size. It need not be valid: what leads nowhere ends a run
 * without an output, and what reads a node that is not there has no value.
 */
export function compileDefinition(version: Compilable): Executable {
  const { definition, analyze, templates, workflowId, versionId } = version
  const nodes = Object.entries(definition.nodes)
  const numbers: DataNumbers = new Map(
    nodes.filter(([, node]) => dataKindOf(node)).map(([id], number) => [id, number]),
  )
  const data: DataNode[] = []
  const hosts = new Set<string>()
  const edges = Map.groupBy(Object.values(definition.edges), ({ from }) => from)
  const common: Omit<CompileContext, 'id' | 'outputs'> = {
    workflowId,
    numbers,
    templates,
    isForeign: foreignData(definition),
    mayLeadTo: (address) => leadsWithin(address, hosts, version.domain),
  }
  const steps = new Map<string, Step>()
  for (const [place, [id, node]] of nodes.entries()) {
    const own = { node: id, type: node.type, name: node.name, needs: [] }
    const [ofData, logic] = [dataKindOf(node), logicKindOf(node)]
    const outputs =
      logic && !logic.foreignOutputsOf
        ? logic.outputsOf(node).map((output) => output.id)
        : (edges.get(id) ?? []).flatMap(({ output }) => output ?? [])
    const context = { ...common, id, outputs }
    if (ofData) {
      const compiled: DataNode = { ...own, number: data.length, ...ofData.compile(node, context) }
      data.push(compiled)
      steps.set(id, { kind: 'data', place, data: compiled, next: undefined })
    } else if (logic) {
      const fallback = logic.hasDefault ? outputs.length - 1 : 0
      const compiled = logic.compile(node, context)
      steps.set(id, { kind: 'logic', place, ...own, outputs, fallback, ...compiled, next: [] })
    } else {
      const { hosts: written = [], ...compiled } = outputKindOf(node).compile(node, context)
      for (const host of written) hosts.add(host)
      steps.set(id, { kind: 'output', place, ...own, output: node.type as OutputKind, ...compiled })
    }
  }
  for (const [id, step] of steps) connect(id, step)

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
    places: nodes.length,
    experimentIds: [
      ...new Set(
        nodes.flatMap(([, node]) =>
          kindOf(node).reference?.kind === 'experiments' ? (referenceOf(node) ?? []) : [],
        ),
      ),
    ],
    hosts,
  }
}

/** Says of a binding whether its value is given by who calls the address: a parameter, or what is computed of one. */
function foreignData({ nodes }: WorkflowDefinition): (binding: CompiledBinding) => boolean {
  const computed = new Map<string, boolean>()
  function isComputed(id: string): boolean {
    const known = computed.get(id)
    if (known !== undefined) return known
    // Of a circle in a draft.
    computed.set(id, true)
    const node = nodes[id]
    const is = node !== undefined && bindingsOf(node).some(({ binding }) => isForeign(binding))
    computed.set(id, is)
    return is
  }
  function isForeign(binding: Binding): boolean {
    if ('value' in binding) return false
    const node = nodes[binding.node]
    return (
      node !== undefined &&
      (dataKindOf(node)?.isForeign?.(node, binding.field, () => isComputed(binding.node)) ?? false)
    )
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
