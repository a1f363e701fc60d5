import type { WorkflowNode } from '@millrace/contract/resources/workflow-definition.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { isReference, type Reference } from '../bindings.ts'
import type { DataNodeKind } from '../nodes/node-kind.ts'
import { bindingsOf, dataKindOf } from '../nodes/nodes.ts'
import { type Faults, faultsAt, type Scope } from '../scope.ts'

/** What is wrong with the field, row and `all` of a reference to the node; the end of a sentence. */
function faultOfSelection(
  from: WorkflowNode,
  kind: DataNodeKind,
  { node, field, row, all }: Reference,
  { resources, rowsOf }: Scope,
): string | undefined {
  const named = `node "${node}" (${from.type})`
  if (kind.gives === 'value') {
    if (field === undefined && row === undefined && all === undefined) return undefined
    return `${named} has one value; leave out field, row and all`
  }
  if (field === undefined) return `must name a field of ${named}`
  if (kind.typeOf(from, field, resources) === undefined)
    return `${named} has no field "${field}"${hintOf(field, kind.fieldsOf?.(from, resources) ?? [])}`
  if (kind.gives === 'record' && (row !== undefined || all !== undefined))
    return `${named} has one record; leave out row and all`
  if (row !== undefined && all) return 'takes either one row or all of them; leave out row or all'
  const limit = rowsOf(node)
  if (row !== undefined && limit !== undefined && row >= limit)
    return `node "${node}" gives ${limit} rows, of which the last is ${limit - 1}; row is ${row}`
  return undefined
}

function faultOfReference(scope: Scope, id: string, reference: Reference): string | undefined {
  const { graph } = scope
  const from = graph.nodes.get(reference.node)
  if (!from)
    return `names node "${reference.node}", which does not exist${hintOf(reference.node, graph.nodes.keys())}`
  const kind = dataKindOf(from)
  if (!kind) return `names node "${reference.node}" (${from.type}), which gives no value; bind a data node`
  const selection = faultOfSelection(from, kind, reference, scope)
  if (selection) return selection
  const isReached = graph.entrypoints.some((entrypoint) => graph.reachedFrom(entrypoint).has(id))
  // A cycle or a node that is not reached is a fault of its own, and says nothing of ways.
  if (graph.cycles.length > 0 || !isReached || graph.dominatorsOf(id).includes(reference.node))
    return undefined
  return `node "${reference.node}" does not lie on every way to this node; bind one that does, or lead every way through it`
}

/** References lead to values that are there whenever the node runs. */
export function* checkBindings(scope: Scope): Faults {
  for (const [id, node] of Object.entries(scope.definition.nodes)) {
    for (const { path, binding } of bindingsOf(node)) {
      const message = isReference(binding) ? faultOfReference(scope, id, binding) : undefined
      if (message) yield faultsAt('nodes', id, node.type)('binding', path, `${path}: ${message}`)
    }
    yield undefined
  }
}
