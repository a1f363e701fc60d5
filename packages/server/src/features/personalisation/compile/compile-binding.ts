import type { Binding } from '@millrace/contract/resources/workflow-definition.ts'
import type { KnownTemplate } from '../definition/definition-resources.ts'
import type { Read } from './executable.ts'
import { failed } from './values.ts'

/** Numbers of data nodes by their id in the definition. */
export type DataNumbers = ReadonlyMap<string, number>

/** What a node is compiled with. */
export interface CompileContext {
  /** Of the node. */
  readonly id: string
  readonly workflowId: string
  readonly numbers: DataNumbers
  /** Outputs of a logic node by number. */
  readonly outputs: readonly string[]
  readonly templates: Readonly<Record<string, KnownTemplate>>
  /** Whether a value comes from who calls the address. */
  readonly isForeign: (binding: CompiledBinding) => boolean
  /** Whether such a value may be the destination. */
  readonly mayLeadTo: (address: string) => boolean
}

export interface CompiledBinding {
  readonly read: Read
  /** The data node that it reads; undefined where the value is fixed or the node is not there. */
  readonly need: number | undefined
  /** Whether its value is written in the definition. */
  readonly fixed: boolean
  readonly source: Binding
}

/** Reads a field of a row or record, and nothing that it inherits. */
function fieldOf(record: unknown, field: string): unknown {
  if (typeof record !== 'object' || record === null || !Object.hasOwn(record, field)) return undefined
  return (record as Record<string, unknown>)[field]
}

function fromNode(value: unknown, { field, row, all }: Extract<Binding, { node: string }>): unknown {
  if (value === failed || value === undefined) return value
  if (!Array.isArray(value) || field === undefined) {
    if (field !== undefined) return fieldOf(value, field)
    if (Array.isArray(value) && row !== undefined && all !== true) return value[row]
    return value
  }
  if (all === true) return value.map((each) => fieldOf(each, field) ?? null)
  return fieldOf(value[row ?? 0], field)
}

export function compileBinding(binding: Binding, numbers: DataNumbers): CompiledBinding {
  if ('value' in binding) {
    const value = binding.value ?? undefined
    return { read: () => value, need: undefined, fixed: true, source: binding }
  }
  const number = numbers.get(binding.node)
  if (number === undefined) return { read: () => failed, need: undefined, fixed: false, source: binding }
  return {
    read: (run) => fromNode(run.valueOf(number), binding),
    need: number,
    fixed: false,
    source: binding,
  }
}

/** Without repetitions. */
export function needsOf(bindings: readonly CompiledBinding[]): number[] {
  return [...new Set(bindings.flatMap(({ need }) => (need === undefined ? [] : [need])))]
}
