import type {
  Binding,
  Expression,
  WorkflowDefinition,
  WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import { type DefinitionGraph, graphOf } from './definition-graph.ts'
import type { DefinitionResources, KnownTemplate } from './definition-resources.ts'

export type Reference = Extract<Binding, { node: string }>

export const isReference = (binding: Binding): binding is Reference => 'node' in binding

/** A binding with where it stands in its node, as `cases.0.rules.1.value`. */
export interface PlacedBinding {
  readonly path: string
  readonly binding: Binding
}

function inExpression(expression: Expression, path: string): PlacedBinding[] {
  return expression.arguments.flatMap((argument, place) => {
    const at = `${path}.arguments.${place}`
    return 'function' in argument ? inExpression(argument, at) : [{ path: at, binding: argument }]
  })
}

/** Every binding of a node, in the order in which it is written. */
export function bindingsOf(node: WorkflowNode): PlacedBinding[] {
  const found: PlacedBinding[] = []
  if (node.type === 'datasource') {
    for (const [place, { value }] of (node.filters ?? []).entries())
      found.push({ path: `filters.${place}.value`, binding: value })
  }
  if (node.type === 'transform') found.push(...inExpression(node.expression, 'expression'))
  if (node.type === 'conditions') {
    for (const [place, { rules }] of node.cases.entries()) {
      for (const [rule, { value, to = [] }] of rules.entries()) {
        const path = `cases.${place}.rules.${rule}`
        found.push({ path: `${path}.value`, binding: value })
        for (const [other, binding] of to.entries()) found.push({ path: `${path}.to.${other}`, binding })
      }
    }
  }
  if ('bindings' in node && node.bindings) {
    for (const [name, binding] of Object.entries(node.bindings))
      found.push({ path: `bindings.${name}`, binding })
  }
  if ('redirect' in node && node.redirect) found.push({ path: 'redirect', binding: node.redirect })
  return found
}

/** Rows that a node gives at most. */
export const rowsOf = ({ limit = 20 }: { readonly limit?: number }): number => limit

type TemplateVariable = KnownTemplate['variables'][number]

/**
 * What a variable of a template takes where its node binds nothing to it: the field of the same name, case included,
 * of the nearest datasource node that lies on every way to the node, and gives the row that the variable names.
 */
export function automaticBinding(
  graph: DefinitionGraph,
  { datasources }: DefinitionResources,
  nodeId: string,
  { name, type, index = 0 }: TemplateVariable,
): Reference | undefined {
  const node = graph.dominatorsOf(nodeId).find((id) => {
    const above = graph.nodes.get(id)
    if (above?.type !== 'datasource' || (type === 'fixed' && index >= rowsOf(above))) return false
    return datasources.get(above.datasourceId)?.fields?.has(name)
  })
  if (node === undefined) return undefined
  if (type === 'array') return { node, field: name, all: true }
  return type === 'fixed' ? { node, field: name, row: index } : { node, field: name }
}

/**
 * The definition with the automatic bindings of its templates written out, as the published version has it: what runs
 * it then needs to know nothing of fields.
 */
export function withAutomaticBindings(
  definition: WorkflowDefinition,
  resources: DefinitionResources,
): WorkflowDefinition {
  const graph = graphOf(definition)
  const nodes = Object.entries(definition.nodes).map(([id, node]): [string, WorkflowNode] => {
    const template = node.type === 'json' ? resources.templates.get(node.templateId) : undefined
    if (node.type !== 'json' || !template) return [id, node]
    const bindings = new Map(Object.entries(node.bindings ?? {}))
    for (const variable of template.variables) {
      if (bindings.has(variable.name)) continue
      const binding = automaticBinding(graph, resources, id, variable)
      if (binding) bindings.set(variable.name, binding)
    }
    return [id, { ...node, bindings: Object.fromEntries(bindings) }]
  })
  return { ...definition, nodes: Object.fromEntries(nodes) }
}
