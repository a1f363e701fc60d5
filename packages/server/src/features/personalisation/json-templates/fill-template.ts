import type { KnownTemplate } from '../definition/definition-resources.ts'
import { readNode } from './template-node.ts'

type Variable = KnownTemplate['variables'][number]

/** What a variable becomes: one value or null, and for an `array` a list. */
function filledWith({ type, index = 0 }: Variable, given: unknown): unknown {
  if (type === 'array') {
    if (given === undefined || given === null) return []
    return Array.isArray(given) ? given : [given]
  }
  const value = Array.isArray(given) ? given[type === 'fixed' ? index : 0] : given
  return value === undefined ? null : value
}

/**
 * The JSON that a template gives with the values of its variables; a variable without a value is null, or an empty list.
 * Every name of the definition becomes a field of its own, also one that objects inherit.
 */
export function fillTemplate(
  { definition, variables }: KnownTemplate,
  values: ReadonlyMap<string, unknown>,
): unknown {
  const filled = new Map(
    variables.map((variable) => [variable.name, filledWith(variable, values.get(variable.name))]),
  )
  function fill(part: unknown): unknown {
    const node = readNode(part)
    switch (node.kind) {
      case 'static':
        return node.value
      case 'dependency':
        return (typeof node.variable === 'string' ? filled.get(node.variable) : undefined) ?? null
      case 'list':
        return node.items.map(fill)
      case 'object':
        return Object.fromEntries(node.entries.map(([name, value]) => [name, fill(value)]))
      case 'none':
        return null
    }
  }
  return fill(definition)
}
