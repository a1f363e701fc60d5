import type {
  Binding,
  DefinitionFault,
  DefinitionRule,
  Edge,
  WorkflowDefinition,
  WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import type { DefinitionResources } from './definition-resources.ts'
import type { ValueType } from './nodes/value-type.ts'

export interface GraphEdge extends Edge {
  readonly id: string
}

/**
 * A definition with its edges by both ends. Keys of a stored definition come back in another order, so that every
 * order here is made of ids, zones and the outputs of nodes.
 */
export interface DefinitionGraph {
  readonly nodes: ReadonlyMap<string, WorkflowNode>
  /** In the order of zones. */
  readonly entrypoints: readonly string[]
  /** Edges from a vertex to a node that both exist, of each vertex in the order of its outputs. */
  readonly outgoing: (vertex: string) => readonly GraphEdge[]
  readonly incoming: (vertex: string) => readonly GraphEdge[]
  /** Cycles, each as the vertices in their order; a few of them. */
  readonly cycles: readonly (readonly string[])[]
  /** Every vertex after those that lead to it; empty where there is a cycle. */
  readonly order: readonly string[]
  /** Nodes that lie on some way from the vertex, itself included. */
  readonly reachedFrom: (vertex: string) => ReadonlySet<string>
  /** Nodes that every way to the vertex leads through, the nearest first; none where there is a cycle. */
  readonly dominatorsOf: (vertex: string) => readonly string[]
}

/** What every check reads. */
export interface Scope {
  readonly definition: WorkflowDefinition
  readonly graph: DefinitionGraph
  readonly resources: DefinitionResources
  /** The type of what a binding gives, `any` where that is not known. */
  readonly typeOf: (binding: Binding) => ValueType
  /** Rows that a node gives at most; undefined for one that gives none. */
  readonly rowsOf: (nodeId: string) => number | undefined
  /** Whether the caller of an address writes the value as an address of its own. */
  readonly isGivenAddress: (binding: Binding) => boolean
}

/** Undefined between parts that take long to validate: whoever collects them lets other work go on there. */
export type Faults = Generator<DefinitionFault | undefined, void, undefined>

/** A fault of one part of a definition, which it names. */
export type FaultAt = (rule: DefinitionRule, field: string, message: string) => DefinitionFault

type Part = 'nodes' | 'entrypoints' | 'edges'

const identities = { nodes: 'nodeId', entrypoints: 'entrypointId', edges: 'edgeId' } as const
const nouns = { nodes: 'Node', entrypoints: 'Entrypoint', edges: 'Edge' } as const

/** Faults of one part of a definition; the message follows its name: `Node "n1" (image): url must be ...`. */
export const faultsAt =
  (part: Part, id: string, type?: string): FaultAt =>
  (rule, field, message) => ({
    path: [part, id, field].filter((each) => each !== '').join('.'),
    [identities[part]]: id,
    rule,
    message: `${nouns[part]} "${id}"${type ? ` (${type})` : ''}: ${message}`,
  })
