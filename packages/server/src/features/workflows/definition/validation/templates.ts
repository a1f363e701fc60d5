import type { WorkflowNodeOf } from '@millrace/contract/resources/workflow-definition.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { automaticBinding, isReference, rowsOf } from '../bindings.ts'
import type { KnownTemplate } from '../definition-resources.ts'
import { type Faults, faultOfNode, type Scope } from './scope.ts'
import { typeOfBinding } from './type-fit.ts'

type JsonNode = WorkflowNodeOf<'json'>

function* checkVariables(scope: Scope, id: string, node: JsonNode, { variables }: KnownTemplate): Faults {
  const bindings = new Map(Object.entries(node.bindings ?? {}))
  const names = new Map(variables.map((variable) => [variable.name, variable]))
  for (const variable of variables) {
    if (bindings.has(variable.name) || automaticBinding(scope.graph, scope.resources, id, variable)) continue
    yield faultOfNode(
      'template',
      id,
      node,
      `bindings.${variable.name}`,
      `variable "${variable.name}" of the template has no binding, and no datasource node on every way has a field of this name`,
    )
  }
  for (const [name, binding] of bindings) {
    const path = `bindings.${name}`
    const variable = names.get(name)
    if (!variable) {
      yield faultOfNode(
        'template',
        id,
        node,
        path,
        `${path} is no variable of the template${hintOf(name, names.keys())}`,
      )
      continue
    }
    const type = typeOfBinding(binding, scope)
    // A field of rows gives an array all of them.
    const hasRows = isReference(binding) && binding.field !== undefined
    if (variable.type === 'array' && type !== 'list' && type !== 'any' && !hasRows)
      yield faultOfNode(
        'template',
        id,
        node,
        path,
        `${path} must be a list, or a field of rows: the variable is an array`,
      )
    const from = isReference(binding) ? scope.graph.nodes.get(binding.node) : undefined
    const rows = from?.type === 'datasource' || from?.type === 'events' ? rowsOf(from) : undefined
    if (variable.type === 'fixed' && rows !== undefined && (variable.index ?? 0) >= rows)
      yield faultOfNode(
        'template',
        id,
        node,
        path,
        `${path} must give row ${variable.index} of the variable, and its node gives ${rows} rows; raise its limit`,
      )
    if (variable.type !== 'array' && type === 'list')
      yield faultOfNode(
        'template',
        id,
        node,
        path,
        `${path} must be one value, and not a list: the variable is ${variable.type}`,
      )
  }
}

/** All JSON of a workflow has one shape, and every variable of it a value. */
export function* checkTemplates(scope: Scope): Faults {
  let first: { readonly id: string; readonly templateId: string } | undefined
  for (const id of Object.keys(scope.definition.nodes).sort()) {
    const node = scope.graph.nodes.get(id)
    if (node?.type !== 'json') continue
    first ??= { id, templateId: node.templateId }
    if (node.templateId !== first.templateId)
      yield faultOfNode(
        'template',
        id,
        node,
        'templateId',
        `it has another template than node "${first.id}"; all JSON nodes of a workflow must have the same one`,
      )
    const template = scope.resources.templates.get(node.templateId)
    if (template) yield* checkVariables(scope, id, node, template)
  }
}
