import type { Binding } from '@millrace/contract/resources/workflow-definition.ts'

export type Reference = Extract<Binding, { node: string }>

export const isReference = (binding: Binding): binding is Reference => 'node' in binding

/** A binding with where it stands in its node, as `cases.0.rules.1.value`. */
export interface PlacedBinding {
  readonly path: string
  readonly binding: Binding
}

/** Rows that a node gives at most. */
export const rowsOf = ({ limit = 20 }: { readonly limit?: number }): number => limit

/** Those of an output: by name, then where a click leads. */
export function bindingsOfOutput(node: {
  readonly bindings?: Readonly<Record<string, Binding>>
  readonly redirect?: Binding
}): PlacedBinding[] {
  const named = Object.entries(node.bindings ?? {}).map(([name, binding]) => ({
    path: `bindings.${name}`,
    binding,
  }))
  return node.redirect ? [...named, { path: 'redirect', binding: node.redirect }] : named
}
