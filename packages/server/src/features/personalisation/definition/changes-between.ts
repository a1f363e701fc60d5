import {
  type DefinitionChange,
  definitionLimits,
  type WorkflowDefinition,
} from '@millrace/contract/resources/workflow-definition.ts'

const kinds = [
  ['entrypoint', 'entrypoints'],
  ['node', 'nodes'],
  ['edge', 'edges'],
] as const
type Kind = (typeof kinds)[number][0]
type Part = Readonly<Record<string, unknown>>

/** Equal whatever the order of keys, which a store may change. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))]
  return (
    left.size === right.size &&
    [...left].every(([key, value]) => right.has(key) && isSame(value, right.get(key)))
  )
}

const maxShown = 40

/** A value as a change shows it, or nothing where it is too long or has parts. */
function shown(value: unknown): string | undefined {
  if (value === undefined) return 'nothing'
  if (value !== null && typeof value === 'object') return undefined
  const text = JSON.stringify(value)
  return text.length > maxShown ? undefined : text
}

function explained(field: string, before: unknown, after: unknown): string {
  const [from, to] = [shown(before), shown(after)]
  return from === undefined || to === undefined ? field : `${field} from ${from} to ${to}`
}

/** `Node "hero" (image)`, `Edge "e1" from "web" to "hero"`. */
function named(kind: Kind, id: string, part: Part): string {
  if (kind === 'edge') {
    const output = part.output === undefined ? '' : ` by output "${part.output}"`
    return `Edge "${id}" from "${part.from}" to "${part.to}"${output}`
  }
  const name = part.name === undefined ? '' : ` "${part.name}"`
  return `${kind === 'node' ? 'Node' : 'Entrypoint'} "${id}"${name} (${part.type})`
}

function changeOf(kind: Kind, id: string, before?: Part, after?: Part): DefinitionChange | undefined {
  const part = after ?? before
  if (!part) return undefined
  if (!before || !after) {
    const change = after ? 'added' : 'removed'
    return { kind, id, change, fields: [], description: `${named(kind, id, part)} ${change}` }
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  const fields = names.filter((field) => !isSame(before[field], after[field]))
  if (fields.length === 0) return undefined
  const details = fields.map((field) => explained(field, before[field], after[field])).join('; ')
  return { kind, id, change: 'changed', fields, description: `${named(kind, id, after)} changed: ${details}` }
}

/**
 * What differs between two definitions: entrypoints, nodes and edges that were added, removed or changed, by id; the
 * first `definitionLimits.listed` of them.
 */
export function changesBetween(before: WorkflowDefinition, after: WorkflowDefinition): DefinitionChange[] {
  const changes: DefinitionChange[] = []
  for (const [kind, name] of kinds) {
    const [left, right] = [
      new Map<string, Part>(Object.entries(before[name])),
      new Map<string, Part>(Object.entries(after[name])),
    ]
    for (const id of [...new Set([...left.keys(), ...right.keys()])].sort()) {
      const change = changeOf(kind, id, left.get(id), right.get(id))
      if (change) changes.push(change)
    }
  }
  return changes.slice(0, definitionLimits.listed)
}
