import type { ExperimentStatus } from '@millrace/contract/resources/experiment.ts'
import type { NodeType } from '@millrace/contract/resources/workflow-definition.ts'
import type { ChannelType, Entrypoint, OutputKind } from '@millrace/contract/resources/workflow-entrypoint.ts'
import type { PersonService } from '../../analytics/persons/person-service.ts'
import type { NodeQuestion, RowReader } from '../../datasources/rows/row-reader.ts'
import type { ComputingLimits } from '../run/computing-limits.ts'
import type { RunRequest } from '../run/run-request.ts'

export type DataRow = Readonly<Record<string, unknown>>
export type RowQuery = Omit<NodeQuestion, 'signal'>
/** Rows of the live version of a datasource. */
export type RowSource = Pick<RowReader, 'queryRows' | 'revisionOf'>
/** What persons have done. */
export type PersonSource = Pick<PersonService, 'readPerson' | 'isMember'>

/** What assigns an experiment's variants. */
export interface RunnableExperiment {
  readonly id: string
  readonly status: ExperimentStatus
  readonly unit: 'user' | 'device'
  readonly salt: string
  readonly variants: readonly { readonly id: string; readonly allocation: number }[]
  readonly baselineVariantId: string
  /** Of a decided one: what all are shown. */
  readonly routingVariantId: string | undefined
}

/** Those of the company; unknown ids are left out. */
export type ListExperiments = (
  companyId: string,
  ids: readonly string[],
) => Promise<readonly RunnableExperiment[]>

/** What nodes ask while they run. */
export interface RunEnvironment {
  readonly companyId: string
  /** At once where the rows are cached. */
  readonly readRows: (query: RowQuery) => readonly DataRow[] | Promise<readonly DataRow[]>
  readonly persons: PersonSource
  /** Of which datasources events are read; at once where it is known. Cohorts are of the whole company. */
  readonly findReadable: () => ReadonlySet<string> | Promise<ReadonlySet<string>>
  readonly findExperiment: (id: string) => RunnableExperiment | undefined
  readonly computing: ComputingLimits
}

/** What the nodes of one run see of it. */
export interface RunView {
  readonly request: RunRequest
  readonly environment: RunEnvironment
  /** Value of a data node by its number: undefined where it is absent, `failed` where it has none. */
  valueOf(data: number): unknown
  /**
   * Counts these data nodes, and what their values are made of, as used: their faults are those of the run.
   * @returns what resolves once they have their values or the time is used up; undefined where nothing is to be waited
   *   for
   */
  use(needs: readonly number[]): Promise<void> | undefined
  isUsed(data: number): boolean
  /** Waits until it has ended, or the time is used up: then undefined. */
  within<T>(wait: Promise<T>): Promise<T | undefined>
  /** Whether the time is used up. */
  readonly isLate: boolean
  /** Counts the time that work takes which does not wait. */
  computing<T>(work: () => T): T
  /**
   * Throws where the run has computed for as long as it may, or would by so many steps of 40 ns; what it waits for does
   * not count.
   */
  readonly assertTime: (steps?: number) => void
  /** Aborted when the time is used up, or the run has ended without what is waited for. */
  readonly signal: AbortSignal
}

/** Reads a binding: undefined where it is absent, `failed` where its node has no value. */
export type Read = (run: RunView) => unknown

interface Vertex {
  readonly node: string
  readonly type: NodeType
  readonly name: string | undefined
  /** Data nodes by number whose values it reads. */
  readonly needs: readonly number[]
}

/** A node whose value is computed when the first other one asks for it, and once in a run. */
export interface DataNode extends Vertex {
  readonly number: number
  /** What it is given, for previews. */
  readonly inputOf: (run: RunView) => unknown
  /** @throws where it has no value */
  readonly compute: (run: RunView) => unknown
}

/** A place on the way, with what follows. */
export type Step = DataStep | LogicStep | OutputStep

export interface DataStep {
  readonly kind: 'data'
  readonly place: number
  readonly data: DataNode
  next: Step | undefined
}

export interface LogicStep extends Vertex {
  readonly kind: 'logic'
  readonly place: number
  /** Names of the outputs by number. */
  readonly outputs: readonly string[]
  readonly inputOf: (run: RunView) => unknown
  /**
   * Number of the output to take; below 0 where the node does not have the one that it would take. All that it may need
   * has been asked for; it uses what it does need, and waits for no more.
   * @throws (or rejects) where it cannot decide
   */
  readonly choose: (run: RunView) => number | Promise<number>
  /** What is taken when it fails. */
  readonly fallback: number
  /** By number of the output. */
  readonly next: (Step | undefined)[]
}

/** What is answered. Addresses are whole and can stand in a header. */
export type Content =
  | { readonly kind: 'json'; readonly body: string }
  | { readonly kind: 'html'; readonly body: string }
  | { readonly kind: 'image' | 'redirect'; readonly location: string }
  | { readonly kind: 'empty' }

export interface OutputStep extends Vertex {
  readonly kind: 'output'
  readonly place: number
  readonly output: OutputKind
  readonly inputOf: (run: RunView) => unknown
  /** @param clickAddress of the same content @throws where it cannot be made */
  readonly render: (run: RunView, clickAddress: () => string) => Content
  /** Destination of a click on it. */
  readonly destination: (run: RunView) => string | undefined
}

/** A branch as events name it. */
export interface CompiledBranch {
  readonly id: string
  readonly individualized: boolean
  readonly categoryId: string | undefined
  readonly tagValueIds: readonly string[]
}

/** Steps of all branches as a tree: a key for each step, the branch where one ends. */
export interface BranchTree {
  readonly next: Map<number, BranchTree>
  branch: CompiledBranch | undefined
}

/** The key of a step in the tree: outputs of a node are fewer than 64. */
export const stepKey = (place: number, output: number): number => place * 64 + output + 1

/** Where a branch ends. */
export interface BranchEnd {
  readonly branch: CompiledBranch
  readonly output: OutputStep
}

export interface CompiledEntrypoint {
  readonly id: string
  readonly type: ChannelType
  readonly format: Entrypoint['format']
  /** From 0. */
  readonly zone: number
  readonly first: Step | undefined
}

/** A definition made ready to run: closures and numbers, so that a run looks nothing up by name. */
export interface Executable {
  readonly workflowId: string
  readonly versionId: string
  readonly entrypoints: ReadonlyMap<string, CompiledEntrypoint>
  readonly data: readonly DataNode[]
  readonly branches: BranchTree
  /** By identifier of the branch. */
  readonly branchEnds: ReadonlyMap<string, BranchEnd>
  readonly places: number
  readonly experimentIds: readonly string[]
  /** Hosts that its redirects name, to which a click may be led. */
  readonly hosts: ReadonlySet<string>
}
