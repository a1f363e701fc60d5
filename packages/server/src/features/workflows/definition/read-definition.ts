import { keyPattern, patternMeanings } from '@millrace/contract/resources/formats.ts'
import {
  Binding,
  channelFormats,
  channelTypes,
  type DefinitionFault,
  definitionLimits,
  Edge,
  Entrypoint,
  type NodeType,
  nodeSchemas,
  type WorkflowDefinition,
  type WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import { faultOfShape } from '../../../platform/http/validation.ts'
import { isObject } from '../../../platform/plain-object.ts'
import { nearestName } from '../../../platform/text/nearest.ts'
import { faultOf } from './fault.ts'

/** A definition as it comes: three maps whose inside may be anything. */
export interface UnreadDefinition {
  readonly nodes: Record<string, unknown>
  readonly entrypoints: Record<string, unknown>
  readonly edges: Record<string, unknown>
}

export type ReadDefinition =
  | { readonly definition: WorkflowDefinition; readonly faults: readonly [] }
  | { readonly definition?: undefined; readonly faults: readonly DefinitionFault[] }

const parts = ['nodes', 'entrypoints', 'edges'] as const
type Part = (typeof parts)[number]

const keyForm = new RegExp(keyPattern, 'u')
const types = Object.keys(nodeSchemas) as NodeType[]

/** More than any shape has, so that what reads a value recursively never runs out of stack. */
const maxNesting = 64

function nestsDeeper(value: unknown, levels: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((each) => (each !== null && typeof each === 'object' ? Object.values(each) : []))
  }
  return false
}

const limit = (path: string, message: string): DefinitionFault => ({ path, rule: 'limit', message })

/** What is too large or too deep to be looked at further. */
function faultOfSize(value: UnreadDefinition): DefinitionFault | undefined {
  for (const part of parts) {
    if (!isObject(value[part]))
      return { path: part, rule: 'shape', message: `${part} must be an object, from id to what it is` }
    const count = Object.keys(value[part]).length
    if (count > definitionLimits[part])
      return limit(part, `A definition has at most ${definitionLimits[part]} ${part}; there are ${count}`)
  }
  if (nestsDeeper(value, maxNesting))
    return limit('', `The definition nests deeper than ${maxNesting} levels`)
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > definitionLimits.bytes)
    return limit('', `A definition has at most ${definitionLimits.bytes} bytes as JSON; it has ${bytes}`)
  return undefined
}

type Fault = { readonly path: string; readonly message: string }

/** Arguments of functions are bindings or functions again, which a schema without recursion leaves open. */
function faultOfExpression(expression: Record<string, unknown>): Fault | undefined {
  let functions = 0
  const read = (value: Record<string, unknown>, path: string, depth: number): Fault | undefined => {
    if (depth > definitionLimits.expressionDepth)
      return {
        path,
        message: `nests more than ${definitionLimits.expressionDepth} functions in each other; use several transform nodes`,
      }
    if (++functions > definitionLimits.expressionFunctions)
      return {
        path,
        message: `has more than ${definitionLimits.expressionFunctions} functions; use several transform nodes`,
      }
    const fault = faultOfShape(nodeSchemas.transform.properties.expression, value)
    if (fault) return { path: joined(path, fault.path), message: fault.message }
    for (const [place, argument] of (value.arguments as unknown[]).entries()) {
      const at = `${path}.arguments.${place}`
      if (isObject(argument) && 'function' in argument) {
        const inner = read(argument, at, depth + 1)
        if (inner) return inner
        continue
      }
      if (!isObject(argument)) return { path: at, message: `${bindingForms(argument)}, or another function` }
      const shape = faultOfShape(Binding, argument)
      const wrong = shape && explainBinding(argument, shape)
      if (wrong) return { path: joined(at, wrong.path), message: wrong.message }
    }
    return undefined
  }
  return read(expression, 'expression', 1)
}

/** Where nodes have bindings. */
const bindingPlace = /(^|\.)(value|redirect|bindings\.[^.]+|to\.\d+)$/

const valueAt = (within: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      isObject(value) || Array.isArray(value) ? (value as Record<string, unknown>)[name] : undefined,
    within,
  )

/** The forms of a binding, with what stands there bare as the value of one. */
function bindingForms(bare: unknown): string {
  const text = JSON.stringify(bare) ?? 'null'
  const value = text.length > 60 ? '…' : text
  return `must be {"value": ${value}}, or {"node": "<id>"} for the value of a node`
}

/**
 * What a union says least about: a bare value, and an object that is neither a value nor names the node that gives it.
 */
function explainBinding(within: unknown, fault: Fault): Fault {
  const path = fault.path.split('.')
  if (bindingPlace.test(fault.path) && !isObject(valueAt(within, path)) && fault.message !== 'is required')
    return { path: fault.path, message: bindingForms(valueAt(within, path)) }
  if (path.pop() !== 'value' || fault.message !== 'is required') return fault
  const binding = valueAt(within, path)
  if (!isObject(binding)) return fault
  if (!('node' in binding))
    return {
      path: path.join('.'),
      message: 'must have either a value, as {"value": "x"}, or the node that gives it, as {"node": "<id>"}',
    }
  const wrong = faultOfShape(Binding.anyOf[1], binding)
  return wrong ? { path: joined(...path, wrong.path), message: wrong.message } : fault
}

const joined = (...path: string[]): string => path.filter((each) => each !== '').join('.')

function faultOfNode(node: unknown): Fault | undefined {
  if (!isObject(node)) return { path: '', message: 'must be an object with a type' }
  const type = types.find((each) => each === node.type)
  if (!type) {
    const nearest = typeof node.type === 'string' ? nearestName(node.type, types) : undefined
    const hint = nearest ? `did you mean "${nearest}"?` : `types are ${types.join(', ')}`
    return {
      path: 'type',
      message: node.type === undefined ? `is required; ${hint}` : `is not known; ${hint}`,
    }
  }
  const fault = faultOfShape(nodeSchemas[type], node)
  if (fault) return explainBinding(node, fault)
  return type === 'transform' ? faultOfExpression(node.expression as Record<string, unknown>) : undefined
}

/** Names that other editors of graphs give to the fields of an edge. */
const edgeNames = new Map<string, keyof Edge>([
  ['source', 'from'],
  ['sourceId', 'from'],
  ['target', 'to'],
  ['targetId', 'to'],
  ['sourceHandle', 'output'],
  ['label', 'name'],
])

function faultOfEdge(edge: unknown): Fault | undefined {
  for (const [other, name] of isObject(edge) ? edgeNames : []) {
    if (isObject(edge) && other in edge && !(name in edge))
      return { path: other, message: `is not known; an edge has "${name}" instead` }
  }
  return faultOfShape(Edge, edge)
}

/** Which formats there are depends on the channel. */
function faultOfEntrypoint(entrypoint: unknown): Fault | undefined {
  const fault = faultOfShape(Entrypoint, entrypoint)
  if (fault?.path !== 'format' || !isObject(entrypoint)) return fault
  const channel = channelTypes.find((each) => each === entrypoint.type)
  if (!channel) return fault
  const formats = channelFormats[channel].map((format) => `"${format}"`).join(', ')
  return { path: 'format', message: `must be one of ${formats} for the channel ${channel}` }
}

const faultsOfShape: Record<Part, (value: unknown) => Fault | undefined> = {
  nodes: faultOfNode,
  entrypoints: faultOfEntrypoint,
  edges: faultOfEdge,
}

/** Fields that name an object of the service: their hexadecimal digits are of one case from here on. */
const references = ['datasourceId', 'cohortId', 'experimentId', 'templateId', 'categoryId'] as const

function withLowerCaseIds<T extends WorkflowNode | Edge>(part: T): T {
  const lowered: Record<string, unknown> = { ...part }
  for (const field of references) {
    const value = lowered[field]
    if (typeof value === 'string') lowered[field] = value.toLowerCase()
  }
  if ('tags' in part && part.tags) {
    lowered.tags = part.tags.map(({ tagKeyId, tagValueId }) => ({
      tagKeyId: tagKeyId.toLowerCase(),
      tagValueId: tagValueId.toLowerCase(),
    }))
  }
  return lowered as T
}

const mapped = <T>(map: Record<string, T>, change: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(map).map(([id, value]) => [id, change(value)]))

/**
 * Holds every part of a definition against its shape. Never throws, whatever JSON it gets.
 * @returns the definition with ids in lower case, or the first fault of each part that has one
 */
export function readDefinition(value: UnreadDefinition): ReadDefinition {
  const size = faultOfSize(value)
  if (size) return { faults: [size] }
  const faults: DefinitionFault[] = []
  for (const part of parts) {
    for (const [id, each] of Object.entries(value[part])) {
      if (faults.length >= definitionLimits.listed) return { faults }
      if (!keyForm.test(id)) {
        const shown = id.length > 70 ? `${id.slice(0, 67)}...` : id
        faults.push(faultOf('shape', part, shown, '', `its id ${patternMeanings.get(keyPattern)}`))
        continue
      }
      const fault = faultsOfShape[part](each)
      if (!fault) continue
      const type = part === 'nodes' && isObject(each) && types.find((known) => known === each.type)
      const message = [fault.path, fault.message].filter((text) => text !== '').join(' ')
      faults.push(faultOf('shape', part, id, fault.path, message, type || undefined))
    }
  }
  if (faults.length > 0) return { faults }
  const { nodes, entrypoints, edges } = value as unknown as WorkflowDefinition
  return {
    definition: {
      nodes: mapped(nodes, withLowerCaseIds),
      entrypoints: { ...entrypoints },
      edges: mapped(edges, withLowerCaseIds),
    },
    faults: [],
  }
}
