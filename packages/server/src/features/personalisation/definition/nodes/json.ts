import type { Binding, WorkflowNodeOf } from '@millrace/contract/resources/workflow-definition.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { compileBinding, needsOf } from '../../compile/compile-binding.ts'
import {
  compileClick,
  maxBodyLength,
  type Named,
  NoContent,
  readNamed,
  tooLong,
} from '../../compile/compile-content.ts'
import { failed, isAbsent } from '../../compile/values.ts'
import { fillTemplate } from '../../json-templates/fill-template.ts'
import { bindingsOfOutput, isReference, type Reference, rowsOf } from '../bindings.ts'
import type { DefinitionResources, KnownTemplate } from '../definition-resources.ts'
import type { DefinitionGraph, FaultAt, Faults, Scope } from '../scope.ts'
import { checkClick } from './addresses.ts'
import { empty } from './empty.ts'
import type { OutputNodeKind } from './node-kind.ts'

type JsonNode = WorkflowNodeOf<'json'>
type TemplateVariable = KnownTemplate['variables'][number]

/**
 * What a variable of a template takes where its node binds nothing to it: the field of the same name, case included,
 * of the nearest datasource node that lies on every way to the node, and gives the row that the variable names.
 */
function automaticBinding(
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

/** What is wrong with what is bound to a variable; the ends of sentences. */
function* faultsOfBinding(binding: Binding, { type, index = 0 }: TemplateVariable, scope: Scope) {
  const given = scope.typeOf(binding)
  // A field of rows gives an array all of them.
  const hasRows = isReference(binding) && binding.field !== undefined
  if (type === 'array' && given !== 'list' && given !== 'any' && !hasRows)
    yield 'must be a list, or a field of rows: the variable is an array'
  const rows = isReference(binding) ? scope.rowsOf(binding.node) : undefined
  if (type === 'fixed' && rows !== undefined && index >= rows)
    yield `must give row ${index} of the variable, and its node gives ${rows} rows; raise its limit`
  if (type !== 'array' && given === 'list') yield `must be one value, and not a list: the variable is ${type}`
}

function* checkVariables(
  scope: Scope,
  id: string,
  bindings: ReadonlyMap<string, Binding>,
  { variables }: KnownTemplate,
  at: FaultAt,
): Faults {
  const names = new Map(variables.map((variable) => [variable.name, variable]))
  for (const variable of variables) {
    const { name } = variable
    if (bindings.has(name) || automaticBinding(scope.graph, scope.resources, id, variable)) continue
    yield at(
      'template',
      `bindings.${name}`,
      `variable "${name}" of the template has no binding, and no datasource node on every way has a field of this name`,
    )
  }
  for (const [name, binding] of bindings) {
    const path = `bindings.${name}`
    const variable = names.get(name)
    const faults = variable
      ? faultsOfBinding(binding, variable, scope)
      : [`is no variable of the template${hintOf(name, names.keys())}`]
    for (const fault of faults) yield at('template', path, `${path} ${fault}`)
  }
}

/** What a variable takes of a binding follows from its mode, whatever row the binding names. */
function byMode(binding: Binding, { type, index }: TemplateVariable): Binding {
  if ('value' in binding || binding.field === undefined) return binding
  const { node, field, row } = binding
  if (type === 'array') return { node, field, all: true }
  if (type === 'fixed') return { node, field, row: index ?? row ?? 0 }
  return binding
}

/** How often each variable stands in a template. */
function usesOf(definition: unknown, uses = new Map<string, number>()): Map<string, number> {
  if (typeof definition !== 'object' || definition === null) return uses
  const { type, variable } = definition as { readonly type?: unknown; readonly variable?: unknown }
  if (type === 'dependency' && typeof variable === 'string') uses.set(variable, (uses.get(variable) ?? 0) + 1)
  else for (const part of Object.values(definition)) usesOf(part, uses)
  return uses
}

/** About as many characters as the value has as JSON. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (!Array.isArray(value)) return 10
  let length = 0
  for (const each of value) length += lengthOf(each)
  return length
}

/** The bindings of a node, with the one that gives where a click leads: its own, else that of the template's variable for it. */
function readBindings(
  { bindings = {}, redirect }: JsonNode,
  template: KnownTemplate | undefined,
): {
  readonly bindings: ReadonlyMap<string, Binding>
  readonly click: readonly [string, Binding | undefined]
} {
  const named = new Map(Object.entries(bindings))
  const variable = template?.redirectVariable
  return {
    bindings: named,
    click:
      redirect || variable === undefined
        ? ['redirect', redirect]
        : [`bindings.${variable}`, named.get(variable)],
  }
}

/** The JSON of a template. All of a workflow have the same one, and every variable of it a value. */
export const json: OutputNodeKind<JsonNode> = {
  reference: { field: 'templateId', kind: 'templates', noun: 'JSON template', rule: 'template' },
  bindingsOf: bindingsOfOutput,

  check(scope) {
    const { nodes } = scope.definition
    const first = Object.keys(nodes)
      .sort()
      .find((id) => nodes[id]?.type === 'json') as string
    const { templateId: wanted } = nodes[first] as JsonNode
    return function* (node, at, id) {
      if (node.templateId !== wanted)
        yield at(
          'template',
          'templateId',
          `it has another template than node "${first}"; all JSON nodes of a workflow must have the same one`,
        )
      const template = scope.resources.templates.get(node.templateId)
      const { bindings, click } = readBindings(node, template)
      if (template) yield* checkVariables(scope, id, bindings, template, at)
      yield* checkClick(...click, scope, at)
    }
  },

  /** With its automatic bindings written out: what runs it then needs to know nothing of fields. */
  completed(node, id, graph, resources) {
    const template = resources.templates.get(node.templateId)
    if (!template) return node
    const bindings = new Map(Object.entries(node.bindings ?? {}))
    for (const variable of template.variables) {
      if (bindings.has(variable.name)) continue
      const binding = automaticBinding(graph, resources, id, variable)
      if (binding) bindings.set(variable.name, binding)
    }
    return { ...node, bindings: Object.fromEntries(bindings) }
  },

  compile(node, context) {
    const template = context.templates[node.templateId]
    if (!template) {
      return {
        ...empty.compile({ type: 'empty' }, context),
        render() {
          throw new NoContent(`the template ${node.templateId} is not there`)
        },
      }
    }
    const given = readBindings(node, template)
    const variables: Named = new Map(
      template.variables.flatMap((variable) => {
        const binding = given.bindings.get(variable.name)
        return binding
          ? [[variable.name, compileBinding(byMode(binding, variable), context.numbers)] as const]
          : []
      }),
    )
    const uses = usesOf(template.definition)
    const click = compileClick(given.click[1], context)
    return {
      needs: needsOf([...variables.values(), ...click.bindings]),
      hosts: click.hosts,
      inputOf: readNamed(variables),
      render(run) {
        const values = new Map<string, unknown>()
        let length = 0
        for (const [name, { read }] of variables) {
          const value = read(run)
          if (value === failed || isAbsent(value)) continue
          values.set(name, value)
          length += lengthOf(value) * (uses.get(name) ?? 0)
        }
        if (length > maxBodyLength) throw tooLong()
        // Where a template has variables and none of them a value, nothing of it applies.
        if (template.variables.length > 0 && values.size === 0) return { kind: 'empty' }
        return { kind: 'json', body: JSON.stringify(fillTemplate(template, values)) }
      },
      destination: click.read,
    }
  },
}
