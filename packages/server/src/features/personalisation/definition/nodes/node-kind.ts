import type { DefinitionRule, WorkflowNode } from '@millrace/contract/resources/workflow-definition.ts'
import type { CompileContext } from '../../compile/compile-binding.ts'
import type { DataNode, LogicStep, OutputStep } from '../../compile/executable.ts'
import type { PlacedBinding } from '../bindings.ts'
import type { DefinitionResources, ResourceKind } from '../definition-resources.ts'
import type { DefinitionGraph, FaultAt, Faults, Scope } from '../scope.ts'
import type { ValueType } from './value-type.ts'

/** The field by which a node names an object of the service. */
export interface NodeReference {
  readonly field: string
  readonly kind: ResourceKind
  readonly noun: string
  /** The rule that a node breaks whose object does not exist; `reference` when absent. */
  readonly rule?: DefinitionRule
  /** What keeps an object that exists from being used. */
  readonly faultOf?: (id: string, resources: DefinitionResources) => string | undefined
}

/** What is wrong with the form of a part, and where in it. */
export interface ShapeFault {
  readonly path: string
  readonly message: string
}

/** Everything that the service knows of the nodes of one type beside their schema. */
export interface NodeKind<N extends WorkflowNode = WorkflowNode> {
  readonly reference?: NodeReference
  /** In the order in which they are written. */
  bindingsOf?(node: N): PlacedBinding[]
  /** Details that are to be understood beside the node itself; none when absent. */
  detailsOf?(node: N): number
  /** With what the schema leaves open; at most `max`. */
  faultsOfShape?(node: Record<string, unknown>, faults: readonly ShapeFault[], max: number): ShapeFault[]
  /** What keeps a node from being published: called once for a definition, then for each of its nodes. */
  check?(scope: Scope): (node: N, at: FaultAt, id: string) => Faults
  /** As the published version has it. */
  completed?(node: N, id: string, graph: DefinitionGraph, resources: DefinitionResources): N
  /**
   * How much the node, or an output of it, makes a branch individual; 0 when absent.
   * @param byBindings whether a value that it binds depends on the person
   */
  scoreOf?(node: N, output: string | undefined, byBindings: boolean): number
}

/** A node that gives values to those further down. */
export interface DataNodeKind<N extends WorkflowNode = WorkflowNode> extends NodeKind<N> {
  readonly gives: 'rows' | 'record' | 'value'
  /** The type of a field, or of the one value; undefined where there is no such field. */
  typeOf(node: N, field: string | undefined, resources: DefinitionResources): ValueType | undefined
  /** Names of the fields, as far as they are known. */
  fieldsOf?(node: N, resources: DefinitionResources): Iterable<string> | undefined
  /** Fields of its datasource that it reads itself. */
  ownFieldsOf?(node: N): string[]
  /** Whether a value depends on the person; false when absent. */
  isPersonal?(node: N, field: string | undefined, byBindings: boolean): boolean
  /** Whether a value comes from who calls the address, so that it must not choose a host; false when absent. */
  isForeign?(node: N, field: string | undefined, byBindings: () => boolean): boolean
  /** Whether who calls may write any address as the value; false when absent. */
  isGivenAddress?(field: string | undefined): boolean
  compile(node: N, context: CompileContext): Pick<DataNode, 'inputOf' | 'compute'> & Needs
}

export interface NodeOutput {
  readonly id: string
  readonly name?: string
}

/** A node that chooses one of its outputs. */
export interface LogicNodeKind<N extends WorkflowNode = WorkflowNode> extends NodeKind<N> {
  /** Those that the definition itself names, in their order. */
  outputsOf(node: N): readonly NodeOutput[]
  /** In place of those, what another object decides; undefined where it does not exist. */
  foreignOutputsOf?(node: N, resources: DefinitionResources): readonly NodeOutput[] | undefined
  /** Whether the last output, `default`, is taken where nothing matches or the node fails; else it is the first. */
  readonly hasDefault?: boolean
  /** The tag that an output brings to its branches. */
  tagOf?(
    node: N,
    output: string | undefined,
    resources: DefinitionResources,
  ): { readonly tagKeyId: string; readonly tagValueId: string } | undefined
  compile(node: N, context: CompileContext): Pick<LogicStep, 'inputOf' | 'choose'> & Needs
}

/** A node that ends a way. */
export interface OutputNodeKind<N extends WorkflowNode = WorkflowNode> extends NodeKind<N> {
  compile(
    node: N,
    context: CompileContext,
  ): Pick<OutputStep, 'inputOf' | 'render' | 'destination'> & Needs & { readonly hosts?: readonly string[] }
}

/** Data nodes by number whose values a node reads; none when absent. */
interface Needs {
  readonly needs?: readonly number[]
}
