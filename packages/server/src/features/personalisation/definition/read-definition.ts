import { keyPattern, patternMeanings } from '@millrace/contract/resources/formats.ts'
import {
  type DefinitionFault,
  definitionLimits,
  Edge,
  type NodeType,
  nodeSchemas,
  type WorkflowDefinition,
  type WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import { channelFormats, channelTypes, Entrypoint } from '@millrace/contract/resources/workflow-entrypoint.ts'
import { faultsOfShape } from '../../../platform/http/validation.ts'
import { isObject } from '../../../platform/plain-object.ts'
import { nearestName } from '../../../platform/text/nearest.ts'
import { explainBinding } from './binding-shape.ts'
import type { ShapeFault } from './nodes/node-kind.ts'
import { kindOf, referenceOf } from './nodes/nodes.ts'
import { faultsAt } from './scope.ts'

/** A definition as it comes: three maps whose inside may be anything. */
export interface UnreadDefinition {
  readonly nodes: Record<string, unknown>
  readonly entrypoints: Record<string, unknown>
  readonly edges: Record<string, unknown>
}

export interface ReadDefinition {
  /** The parts that have no fault, with ids of objects in lower case; none where it is too large as a whole. */
  readonly definition: WorkflowDefinition
  readonly faults: readonly DefinitionFault[]
}

export const emptyDefinition: WorkflowDefinition = { nodes: {}, entrypoints: {}, edges: {} }

const parts = ['nodes', 'entrypoints', 'edges'] as const
type Part = (typeof parts)[number]

const keyForm = new RegExp(keyPattern, 'u')
const types = Object.keys(nodeSchemas) as NodeType[]

/** Faults that are listed of one part, so that it does not hide those of others. */
const maxOfPart = 20

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

/** What is wrong with the shape of a part, at most `max` faults. */
type FaultsOfPart = (value: unknown, max: number) => ShapeFault[]

const faultsOfNode: FaultsOfPart = (node, max) => {
  if (!isObject(node)) return [{ path: '', message: 'must be an object with a type' }]
  const type = types.find((each) => each === node.type)
  if (!type) {
    const nearest = typeof node.type === 'string' ? nearestName(node.type, types) : undefined
    const hint = nearest ? `did you mean "${nearest}"?` : `types are ${types.join(', ')}`
    return [
      {
        path: 'type',
        message: node.type === undefined ? `is required; ${hint}` : `is not known; ${hint}`,
      },
    ]
  }
  const faults = faultsOfShape(nodeSchemas[type], node, max).map((fault) => explainBinding(node, fault))
  return kindOf({ type }).faultsOfShape?.(node, faults, max) ?? faults
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

const faultsOfEdge: FaultsOfPart = (edge, max) => {
  const renamed = isObject(edge)
    ? [...edgeNames].filter(([other, name]) => other in edge && !(name in edge))
    : []
  const named = new Set<string>(renamed.flat())
  return [
    ...renamed.map(([path, name]) => ({ path, message: `is not known; an edge has "${name}" instead` })),
    ...faultsOfShape(Edge, edge, max).filter(({ path }) => !named.has(path)),
  ]
}

/** Which formats there are depends on the channel. */
const faultsOfEntrypoint: FaultsOfPart = (entrypoint, max) => {
  const channel = channelTypes.find((each) => isObject(entrypoint) && each === entrypoint.type)
  const faults = faultsOfShape(Entrypoint, entrypoint, max)
  if (!channel) return faults
  const formats = channelFormats[channel].map((format) => `"${format}"`).join(', ')
  const message = `must be one of ${formats} for the channel ${channel}`
  return faults.map((fault) => (fault.path === 'format' ? { path: 'format', message } : fault))
}

const faultsOfParts: Record<Part, FaultsOfPart> = {
  nodes: faultsOfNode,
  entrypoints: faultsOfEntrypoint,
  edges: faultsOfEdge,
}

/** Ids of objects of the service: their hexadecimal digits are of one case from here on. */
function nodeInLowerCase(node: WorkflowNode): WorkflowNode {
  const id = referenceOf(node)
  return id === undefined ? node : { ...node, [kindOf(node).reference?.field ?? '']: id.toLowerCase() }
}

const edgeInLowerCase = (edge: Edge): Edge => ({
  ...edge,
  ...(edge.categoryId !== undefined && { categoryId: edge.categoryId.toLowerCase() }),
  ...(edge.tags && {
    tags: edge.tags.map(({ tagKeyId, tagValueId }) => ({
      tagKeyId: tagKeyId.toLowerCase(),
      tagValueId: tagValueId.toLowerCase(),
    })),
  }),
})

const mapped = <T>(map: Record<string, T>, change: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(map).map(([id, value]) => [id, change(value)]))

function faultsOfPart(part: Part, id: string, value: unknown, max: number): DefinitionFault[] {
  if (!keyForm.test(id)) {
    const shown = id.length > 70 ? `${id.slice(0, 67)}...` : id
    return [faultsAt(part, shown)('shape', '', `its id ${patternMeanings.get(keyPattern)}`)]
  }
  const type = part === 'nodes' && isObject(value) ? types.find((known) => known === value.type) : undefined
  const at = faultsAt(part, id, type)
  return faultsOfParts[part](value, max).map(({ path, message }) =>
    at('shape', path, [path, message].filter((text) => text !== '').join(' ')),
  )
}

/** Holds every part of a definition against its shape. Never throws, whatever JSON it gets. */
export function readDefinition(value: UnreadDefinition): ReadDefinition {
  const size = faultOfSize(value)
  if (size) return { definition: emptyDefinition, faults: [size] }
  const faults: DefinitionFault[] = []
  const sound: Record<Part, Record<string, unknown>> = { nodes: {}, entrypoints: {}, edges: {} }
  for (const part of parts) {
    for (const [id, each] of Object.entries(value[part])) {
      const room = definitionLimits.listed - faults.length
      const found = faultsOfPart(part, id, each, Math.max(1, Math.min(room, maxOfPart)))
      faults.push(...found.slice(0, room))
      if (found.length === 0) sound[part][id] = each
    }
  }
  const { nodes, entrypoints, edges } = sound as unknown as WorkflowDefinition
  return {
    definition: {
      nodes: mapped(nodes, nodeInLowerCase),
      entrypoints,
      edges: mapped(edges, edgeInLowerCase),
    },
    faults,
  }
}
