/** What stands in the definition of a template (docs/workflows.md, JSON templates). */
export type TemplateNode =
  | { readonly kind: 'static'; readonly value: unknown }
  | { readonly kind: 'dependency'; readonly variable: unknown }
  | { readonly kind: 'list'; readonly items: readonly unknown[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [name: string, value: unknown])[] }
  | { readonly kind: 'none' }

interface Leaf {
  readonly type?: unknown
  readonly value?: unknown
  readonly variable?: unknown
}

/** An object whose `type` is a text is a leaf; any other object, and a list, holds further nodes. */
export function readNode(node: unknown): TemplateNode {
  if (Array.isArray(node)) return { kind: 'list', items: node }
  if (node === null || typeof node !== 'object') return { kind: 'none' }
  const { type, value, variable } = node as Leaf
  if (typeof type !== 'string') return { kind: 'object', entries: Object.entries(node) }
  const isPair = Object.keys(node).length === 2
  if (type === 'static' && isPair && Object.hasOwn(node, 'value')) return { kind: 'static', value }
  if (type === 'dependency' && isPair && Object.hasOwn(node, 'variable')) {
    return { kind: 'dependency', variable }
  }
  return { kind: 'none' }
}
