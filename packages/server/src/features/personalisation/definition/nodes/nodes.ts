import {
  type NodeType,
  nodeCategories,
  type WorkflowNode,
  type WorkflowNodeOf,
} from '@millrace/contract/resources/workflow-definition.ts'
import { type PlacedBinding, type Reference, rowsOf } from '../bindings.ts'
import type { DefinitionResources } from '../definition-resources.ts'
import { allNodes } from './all.ts'
import type { DataNodeKind, LogicNodeKind, NodeKind, NodeOutput, OutputNodeKind } from './node-kind.ts'
import type { ValueType } from './value-type.ts'

interface KindOfCategory<N extends WorkflowNode> {
  readonly data: DataNodeKind<N>
  readonly logic: LogicNodeKind<N>
  readonly output: OutputNodeKind<N>
}

const kinds: {
  readonly [T in NodeType]: KindOfCategory<WorkflowNodeOf<T>>[(typeof nodeCategories)[T]]
} = allNodes

type Maybe = WorkflowNode | undefined

export const kindOf = ({ type }: Pick<WorkflowNode, 'type'>) => kinds[type] as NodeKind
export const dataKindOf = (node: Maybe) =>
  node && nodeCategories[node.type] === 'data' ? (kinds[node.type] as DataNodeKind) : undefined
export const logicKindOf = (node: Maybe) =>
  node && nodeCategories[node.type] === 'logic' ? (kinds[node.type] as LogicNodeKind) : undefined
/** Of a node that is neither of data nor of logic. */
export const outputKindOf = (node: WorkflowNode) => kinds[node.type] as OutputNodeKind

/** Every binding of a node, in the order in which it is written. */
export const bindingsOf = (node: WorkflowNode): PlacedBinding[] => kindOf(node).bindingsOf?.(node) ?? []

/** The id of the object that a node names. */
export function referenceOf(node: WorkflowNode): string | undefined {
  const { reference } = kindOf(node)
  return reference && (node as unknown as Readonly<Record<string, string | undefined>>)[reference.field]
}

/** The outputs of a logic node; undefined where what decides them does not exist. */
export function outputsOf(
  node: WorkflowNode,
  resources: DefinitionResources,
): readonly NodeOutput[] | undefined {
  const kind = logicKindOf(node)
  return kind?.foreignOutputsOf ? kind.foreignOutputsOf(node, resources) : kind?.outputsOf(node)
}

/** The type of what a reference to the node gives: of all rows together it is a list. */
export const typeOfReference = (
  node: WorkflowNode,
  { field, all }: Reference,
  resources: DefinitionResources,
): ValueType => (all ? 'list' : (dataKindOf(node)?.typeOf(node, field, resources) ?? 'any'))

/** Rows that a node gives at most; undefined for one that gives none. */
export const rowsOfNode = (node: Maybe): number | undefined =>
  node && dataKindOf(node)?.gives === 'rows' ? rowsOf(node as { readonly limit?: number }) : undefined
