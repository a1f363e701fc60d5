import type {
  Binding,
  ConditionRule,
  Edge,
  WorkflowDefinition,
  WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import type { Entrypoint, OutputKind } from '@millrace/contract/resources/workflow-entrypoint.ts'
import fc from 'fast-check'
import type { DefinitionResources } from '../../src/features/personalisation/definition/definition-resources.ts'

/** Fixed ids, so that failures read the same. */
const idOf = (number: number): string => number.toString(16).padStart(24, '0')

export const known = {
  datasource: idOf(1),
  tracking: idOf(2),
  template: idOf(3),
  cohort: idOf(4),
  experiment: idOf(5),
  systemKey: idOf(6),
  variantTags: [idOf(7), idOf(8)],
  singleKey: idOf(10),
  multipleKey: idOf(11),
  values: [idOf(20), idOf(21), idOf(22)],
  categories: [idOf(30), idOf(31)],
  absent: idOf(99),
} as const

export const knownResources: DefinitionResources = {
  datasources: new Map([
    [
      known.datasource,
      {
        fields: new Map([
          ['title', { type: 'name', primitive: 'string' }],
          ['price', { type: 'price', primitive: 'number' }],
          ['day', { type: 'datetime', primitive: 'datetime' }],
          ['sizes', { type: 'array_string', primitive: 'string[]' }],
        ]),
      },
    ],
  ]),
  trackingDatasources: new Set([known.tracking]),
  templates: new Map([
    [
      known.template,
      {
        variables: [
          { name: 'title', type: 'scalar' },
          { name: 'price', type: 'array' },
          { name: 'day', type: 'fixed', index: 1 },
        ],
        definition: { headline: { type: 'dependency', variable: 'title' } },
      },
    ],
  ]),
  cohorts: new Set([known.cohort]),
  experiments: new Map([
    [
      known.experiment,
      {
        variants: [
          { id: 'control', tagValueId: known.variantTags[0] },
          { id: 'treatment', tagValueId: known.variantTags[1] },
        ],
        systemTagKeyId: known.systemKey,
        status: 'running',
      },
    ],
  ]),
  tagKeys: new Map([
    [
      known.systemKey,
      { cardinality: 'single', assignmentMode: 'system', valueIds: new Set(known.variantTags) },
    ],
    [known.singleKey, { cardinality: 'single', assignmentMode: 'custom', valueIds: new Set(known.values) }],
    [
      known.multipleKey,
      { cardinality: 'multiple', assignmentMode: 'custom', valueIds: new Set(known.values) },
    ],
  ]),
  categories: new Set(known.categories),
}

export interface Draft {
  nodes: Record<string, WorkflowNode>
  entrypoints: Record<string, Entrypoint>
  edges: Record<string, Edge>
}

const channels: readonly { entrypoint: Entrypoint; outputs: readonly OutputKind[] }[] = [
  { entrypoint: { type: 'email', format: 'embed-image' }, outputs: ['image', 'json', 'empty'] },
  { entrypoint: { type: 'mobile', format: 'popup-image' }, outputs: ['image', 'json', 'empty'] },
  { entrypoint: { type: 'web', format: 'embed-html' }, outputs: ['html', 'image', 'json', 'empty'] },
  { entrypoint: { type: 'landing', format: 'page' }, outputs: ['html', 'redirect', 'json', 'empty'] },
]

const internalTypes = [
  'datasource',
  'parameter',
  'events',
  'transform',
  'context',
  'conditions',
  'cohort',
  'split',
  'experiment',
] as const

type Pick = <T>(from: readonly T[]) => T

/** Whether every way from an entrypoint to `to` leads through `node`: without it `to` is not reached. */
export function liesOnEveryWay(definition: WorkflowDefinition, node: string, to: string): boolean {
  if (node === to) return false
  const reaches = (from: string): boolean =>
    from === to ||
    (from !== node && Object.values(definition.edges).some((edge) => edge.from === from && reaches(edge.to)))
  return !Object.keys(definition.entrypoints).some(reaches)
}

const numberFields = ['price', 'time.hour']

/** A binding to the value of a node that is there, or a constant; of texts only where that is what fits. */
function bindingTo(definition: Draft, to: string, pick: Pick, isText = false): Binding {
  const above = Object.entries(definition.nodes).filter(([id]) => liesOnEveryWay(definition, id, to))
  const bindings = above.flatMap(([node, { type }]): Binding[] => {
    if (type === 'datasource')
      return [
        { node, field: 'title', row: 2 },
        { node, field: 'price' },
      ]
    if (type === 'events')
      return [
        { node, field: 'name' },
        { node, field: 'labels.color' },
      ]
    if (type === 'context')
      return [
        { node, field: 'user.locale' },
        { node, field: 'time.hour' },
      ]
    return type === 'parameter' || type === 'transform' ? [{ node }] : []
  })
  const fitting = bindings.filter(
    (each) => !isText || !('node' in each) || !numberFields.includes(each.field ?? ''),
  )
  return pick([{ value: 'constant' }, ...fitting])
}

/** The node without the bindings that need edges: those follow once the graph is whole. */
function newNode(type: (typeof internalTypes)[number] | OutputKind): WorkflowNode {
  switch (type) {
    case 'datasource':
      return { type, datasourceId: known.datasource }
    case 'parameter':
      return { type, parameter: 'city', kind: 'text' }
    case 'events':
      return { type, lookBackHours: 24 }
    case 'transform':
      return { type, expression: { function: 'case', arguments: [{ value: 'x' }, { value: 'upper' }] } }
    case 'conditions': {
      const rules = [{ value: { value: 'x' }, type: 'text', operator: 'notEmpty' } as const]
      return {
        type,
        cases: [
          { id: 'first', name: 'First', match: 'and', rules },
          { id: 'second', match: 'or', rules },
        ],
      }
    }
    case 'cohort':
      return { type, cohortId: known.cohort }
    case 'split':
      return {
        type,
        groups: [
          { id: 'A', share: 33.3 },
          { id: 'B', name: 'Second half', share: 66.7 },
        ],
      }
    case 'experiment':
      return { type, experimentId: known.experiment }
    case 'json':
      return { type, templateId: known.template }
    case 'html':
      return { type, html: '<p>{{text}}</p>' }
    case 'image':
      return { type, url: 'https://images.example.com/{{text}}.png' }
    case 'redirect':
      return { type, url: 'https://example.com/{{text}}' }
    default:
      return { type }
  }
}

/** Outputs of a logic node; undefined for others, which have one edge. */
export const outputsOf: Partial<Record<WorkflowNode['type'], readonly string[]>> = {
  conditions: ['first', 'second', 'default'],
  cohort: ['member', 'default'],
  split: ['A', 'B'],
  experiment: ['control', 'treatment'],
}

function bindNode(definition: Draft, id: string, node: WorkflowNode, pick: Pick): WorkflowNode {
  const bound = () => bindingTo(definition, id, pick)
  switch (node.type) {
    case 'datasource':
      return {
        ...node,
        filters: [
          {
            field: 'title',
            operator: pick(['$eq', 'contains']),
            value: bindingTo(definition, id, pick, true),
          },
        ],
      }
    case 'transform':
      return { ...node, expression: { function: 'case', arguments: [bound(), { value: 'upper' }] } }
    case 'conditions': {
      const rule = (): ConditionRule => ({
        value: bound(),
        type: 'text',
        operator: 'equals',
        to: [{ value: 'x' }],
      })
      return {
        ...node,
        cases: node.cases.map((each) => ({
          ...each,
          rules: pick([1, 2]) === 1 ? [rule()] : [rule(), rule()],
        })),
      }
    }
    case 'json':
      return {
        ...node,
        bindings: { title: bound(), price: { value: [1, 2] }, day: { value: '2026-01-31' } },
      }
    case 'html':
    case 'image':
    case 'redirect':
      return { ...node, bindings: { text: bound() } }
    default:
      return node
  }
}

/** What qualifies the branches that take an edge. */
function qualifiersOf(pick: Pick): Omit<Edge, 'from' | 'to'> {
  return {
    ...(pick([false, false, true]) && { name: pick(['Red', 'Green']) }),
    ...(pick([false, false, true]) && { individualized: pick([true, false]) }),
    ...(pick([false, false, true]) && { categoryId: pick(known.categories) }),
    ...(pick([false, false, true]) && { loopWindow: pick([1, 24]) }),
    ...(pick([false, true]) && {
      tags: pick([
        [{ tagKeyId: known.singleKey, tagValueId: pick(known.values) }],
        [{ tagKeyId: known.multipleKey, tagValueId: pick(known.values) }],
        [
          { tagKeyId: known.multipleKey, tagValueId: pick(known.values) },
          { tagKeyId: known.singleKey, tagValueId: pick(known.values) },
        ],
      ]),
    }),
  }
}

/**
 * Definitions that can be published with `knownResources`: 1 to 3 entrypoints, up to 7 nodes between them and up to 4
 * outputs, with ways that part and meet again.
 */
export const soundDefinitions: fc.Arbitrary<WorkflowDefinition> = fc.gen().map((generate) => {
  const pick: Pick = (from) => from[generate(fc.nat, { max: from.length - 1 })] as (typeof from)[number]
  const definition: Draft = { nodes: {}, entrypoints: {}, edges: {} }
  const open: { from: string; output?: string }[] = []
  const sharedOutputs = channels.map(({ outputs }) => new Set(outputs))
  const count = 1 + generate(fc.nat, { max: 2 })
  const kinds: Set<OutputKind>[] = []
  for (let place = 0; place < count; place++) {
    const channel = generate(fc.nat, { max: channels.length - 1 })
    const id = `zone${place}`
    const chosen = channels[channel]
    if (!chosen) continue
    definition.entrypoints[id] = { ...chosen.entrypoint, ...(pick([true, false]) && { position: 2 - place }) }
    kinds.push(sharedOutputs[channel] ?? new Set())
    open.push({ from: id })
  }
  const allowed = [...(kinds[0] ?? [])].filter((kind) => kinds.every((each) => each.has(kind)))
  let edges = 0
  const attach = (to: string, atLeastOne: boolean): void => {
    const many = Math.max(atLeastOne ? 1 : 0, generate(fc.nat, { max: Math.min(3, open.length) }))
    for (let taken = 0; taken < many && open.length > 0; taken++) {
      const [from] = open.splice(generate(fc.nat, { max: open.length - 1 }), 1)
      if (from) definition.edges[`e${edges++}`] = { ...from, to, ...qualifiersOf(pick) }
    }
  }
  const inner = generate(fc.nat, { max: 7 })
  for (let place = 0; place < inner; place++) {
    const type = pick(internalTypes)
    const id = `n${place}`
    definition.nodes[id] = newNode(type)
    attach(id, true)
    const outputs = outputsOf[type]
    if (outputs) open.push(...outputs.map((output) => ({ from: id, output })))
    else open.push({ from: id })
  }
  const ends = 1 + generate(fc.nat, { max: Math.min(3, open.length - 1) })
  for (let place = 0; place < ends; place++) {
    const id = `o${place}`
    definition.nodes[id] = newNode(pick(allowed))
    // The last one takes what is left.
    if (place === ends - 1) while (open.length > 0) attach(id, true)
    else if (open.length > ends - place) attach(id, true)
    if (!Object.values(definition.edges).some(({ to }) => to === id)) delete definition.nodes[id]
  }
  for (const [id, node] of Object.entries(definition.nodes))
    definition.nodes[id] = bindNode(definition, id, node, pick)
  return definition
})

/** Graphs of any edges between a few vertices: cycles, dead ends, unknown outputs and vertices among them. */
export const anyDefinitions: fc.Arbitrary<WorkflowDefinition> = fc.gen().map((generate) => {
  const pick: Pick = (from) => from[generate(fc.nat, { max: from.length - 1 })] as (typeof from)[number]
  const definition: Draft = { nodes: {}, entrypoints: {}, edges: {} }
  const ids = ['a', 'b', 'c', 'd', 'e', 'constructor', 'toString']
  for (const id of ids.slice(0, generate(fc.nat, { max: ids.length })))
    definition.nodes[id] = newNode(
      pick([...internalTypes, 'json', 'html', 'image', 'redirect', 'empty'] as const),
    )
  for (const id of ['zone', 'a'].slice(0, generate(fc.nat, { max: 2 })))
    definition.entrypoints[id] = pick(channels).entrypoint
  const vertices = [...ids, 'zone', 'gone']
  const count = generate(fc.nat, { max: 14 })
  for (let place = 0; place < count; place++) {
    const output = pick([undefined, 'first', 'default', 'member', 'A', 'control', 'gone'])
    definition.edges[`e${place}`] = {
      from: pick(vertices),
      to: pick(vertices),
      ...(output && { output }),
      ...qualifiersOf(pick),
    }
  }
  return definition
})
