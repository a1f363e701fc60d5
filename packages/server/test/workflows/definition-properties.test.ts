import {
  type ConditionRule,
  type DefinitionFault,
  definitionLimits,
  Edge,
  nodeCategories,
  nodeSchemas,
  type WorkflowDefinition,
} from '@millrace/contract/resources/workflow-definition.ts'
import { zoneOrder } from '@millrace/contract/resources/workflow-entrypoint.ts'
import type { Analyze, AnalyzeOverrides } from '@millrace/contract/resources/workflow-version.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { analyzeDefinition } from '../../src/features/personalisation/definition/analyze-definition.ts'
import { changesBetween } from '../../src/features/personalisation/definition/changes-between.ts'
import { complexityOf } from '../../src/features/personalisation/definition/complexity.ts'
import { countPaths, graphOf } from '../../src/features/personalisation/definition/definition-graph.ts'
import {
  readDefinition,
  type UnreadDefinition,
} from '../../src/features/personalisation/definition/read-definition.ts'
import { referencesOf } from '../../src/features/personalisation/definition/references-of.ts'
import { checkDefinition } from '../../src/features/personalisation/definition/validate-definition.ts'
import { faultOfShape, faultsOfShape } from '../../src/platform/http/validation.ts'
import {
  anyDefinitions,
  type Draft,
  known,
  knownResources,
  liesOnEveryWay,
  outputsOf,
  soundDefinitions,
} from '../support/generated-definitions.ts'
import { times } from '../support/long.ts'

const runs = { numRuns: times(1_000, 200) }
const noOverrides: AnalyzeOverrides = {
  vertexIndividualizedScore: {},
  customVertexNames: [],
  branchCategoryIds: {},
  branchLoopWindows: {},
  branchTags: [],
}
const faultsOf = (definition: WorkflowDefinition): DefinitionFault[] =>
  [...checkDefinition(definition, knownResources)].filter((fault) => fault !== undefined)

const analyze = (definition: WorkflowDefinition): Analyze =>
  analyzeDefinition(definition, noOverrides, knownResources)

/** A way through the graph as the ids of its edges, from its entrypoint. */
interface Way {
  readonly entrypoint: string
  readonly edges: readonly string[]
}

/** Every way from an entrypoint to an output, by walking. */
function waysOf({ nodes, entrypoints, edges }: WorkflowDefinition): Way[] {
  const walk = (vertex: string): string[][] => {
    const node = vertex in entrypoints ? undefined : nodes[vertex]
    if (node && nodeCategories[node.type] === 'output') return [[]]
    return Object.entries(edges)
      .filter(([, { from }]) => from === vertex)
      .flatMap(([id, { to }]) => walk(to).map((rest) => [id, ...rest]))
  }
  return Object.keys(entrypoints).flatMap((entrypoint) =>
    walk(entrypoint).map((way) => ({ entrypoint, edges: way })),
  )
}

const edgesOf = (definition: WorkflowDefinition, way: Way) =>
  way.edges.map((id) => definition.edges[id]).filter((edge) => edge !== undefined)

/** The steps of a way as one text. */
function stepsOf(definition: WorkflowDefinition, way: Way): string {
  const [first, ...others] = edgesOf(definition, way)
  const last = [first, ...others].at(-1)
  return [...others.map(({ from, output }) => `${from}/${output ?? ''}`), `${last?.to}/`].join(' ')
}

const stepsOfBranch = (analysis: Analyze, branch: string): string =>
  (analysis.branchesInfos[branch]?.steps ?? []).map(({ node, output }) => `${node}/${output ?? ''}`).join(' ')

const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort()

test('every way of a sound definition is one path and one branch', () => {
  fc.assert(
    fc.property(soundDefinitions, (definition) => {
      const ways = waysOf(definition)
      const analysis = analyze(definition)
      // Every edge of a way leads to one step.
      const steps = ways.reduce((sum, way) => sum + way.edges.length, 0)
      expect(countPaths(graphOf(definition))).toEqual({ paths: ways.length, steps })
      expect(sorted(analysis.branches.map((branch) => stepsOfBranch(analysis, branch)))).toEqual(
        sorted(ways.map((way) => stepsOf(definition, way))),
      )
      expect(new Set(analysis.branches).size).toBe(analysis.branches.length)
      expect(Object.keys(analysis.entrypointsPerPathId)).toHaveLength(ways.length)
      for (const branch of analysis.branches) {
        const own = ways.filter((way) => stepsOf(definition, way) === stepsOfBranch(analysis, branch))
        const listed = analysis.entrypointsByBranches.find((each) => each.branch === branch)
        expect(listed?.entrypointIds).toEqual(
          zoneOrder(definition.entrypoints).filter((id) => own.some(({ entrypoint }) => entrypoint === id)),
        )
      }
      for (const entrypoint of Object.keys(definition.entrypoints)) {
        const paths = Object.values(analysis.entrypointsPerPathId).filter((id) => id === entrypoint)
        expect(paths).toHaveLength(ways.filter((way) => way.entrypoint === entrypoint).length)
      }
    }),
    runs,
  )
})

test('outputs, data nodes, types and formats of entrypoints are those of their ways', () => {
  fc.assert(
    fc.property(soundDefinitions, (definition) => {
      const ways = waysOf(definition)
      const analysis = analyze(definition)
      const dataNodes = new Map<string, string[]>()
      for (const entrypoint of Object.keys(definition.entrypoints)) {
        const vertices = ways
          .filter((way) => way.entrypoint === entrypoint)
          .flatMap((way) => edgesOf(definition, way).map(({ to }) => to))
        const of = (category: string) =>
          sorted(vertices).filter((id) => {
            const node = definition.nodes[id]
            return node && nodeCategories[node.type] === category
          })
        expect(analysis.outputsForEntrypoint[entrypoint]).toEqual(
          of('output').map((nodeId) => ({ nodeId, type: definition.nodes[nodeId]?.type })),
        )
        expect(analysis.datasForEntrypoint[entrypoint]).toEqual(of('data'))
        for (const id of of('data')) dataNodes.set(id, [...(dataNodes.get(id) ?? []), entrypoint])
      }
      const inZoneOrder = [...dataNodes].map(([id, entrypoints]) => [
        id,
        zoneOrder(definition.entrypoints).filter((each) => entrypoints.includes(each)),
      ])
      expect(analysis.entrypointsPerDataNodeId).toEqual(Object.fromEntries(inZoneOrder))
      const entrypoints = Object.values(definition.entrypoints)
      expect(sorted(analysis.entrypointTypes)).toEqual(sorted(entrypoints.map(({ type }) => type)))
      expect(sorted(analysis.entrypointFormats)).toEqual(sorted(entrypoints.map(({ format }) => format)))
    }),
    runs,
  )
})

test('names, categories, loop windows and tags of branches are those of their most downstream edge', () => {
  fc.assert(
    fc.property(soundDefinitions, (definition) => {
      const ways = waysOf(definition)
      const analysis = analyze(definition)
      const zones = zoneOrder(definition.entrypoints)
      for (const branch of analysis.branches) {
        const own = ways
          .filter((way) => stepsOf(definition, way) === stepsOfBranch(analysis, branch))
          .sort((a, b) => zones.indexOf(a.entrypoint) - zones.indexOf(b.entrypoint))
        const inner = edgesOf(definition, { entrypoint: '', edges: own[0]?.edges.slice(1) ?? [] }).reverse()
        const entries = own.flatMap((way) => edgesOf(definition, way).slice(0, 1))
        const order = [...inner, ...entries]
        const last = <T>(read: (edge: (typeof order)[number]) => T | undefined): T | undefined =>
          order.map(read).find((value) => value !== undefined)
        expect(analysis.categoryIdByBranch[branch]).toBe(last(({ categoryId }) => categoryId))
        expect(analysis.loopWindowByBranch[branch]).toBe(last(({ loopWindow }) => loopWindow))
        const info = analysis.branchesInfos[branch]
        const name = last((edge) => edge.name)
        if (name !== undefined) expect(info?.name).toBe(name)
        const isDefault = inner.every(
          ({ from, output }) =>
            !outputsOf[definition.nodes[from]?.type ?? 'empty']?.includes('default') || output === 'default',
        )
        expect(info?.isDefault).toBe(isDefault)
        const score = analysis.branchesScore[branch] ?? 0
        const isFallback = isDefault && inner.some(({ output }) => output === 'default')
        expect(info?.individualized).toBe(last((edge) => edge.individualized) ?? (score > 0 && !isFallback))

        const tags = order.flatMap((edge) => {
          const isVariant = definition.nodes[edge.from]?.type === 'experiment'
          const variant = known.variantTags[edge.output === 'control' ? 0 : 1]
          return [
            ...(edge.tags ?? []),
            ...(isVariant && variant ? [{ tagKeyId: known.systemKey, tagValueId: variant }] : []),
          ]
        })
        const values = (key: string) =>
          tags.filter((tag) => tag.tagKeyId === key).map((tag) => tag.tagValueId)
        const wanted = [
          ...values(known.systemKey)
            .slice(0, 1)
            .map((value) => `${known.systemKey} ${value}`),
          ...values(known.singleKey)
            .slice(0, 1)
            .map((value) => `${known.singleKey} ${value}`),
          ...sorted(values(known.multipleKey)).map((value) => `${known.multipleKey} ${value}`),
        ]
        const found = analysis.branchTags.filter(({ branchId }) => branchId === branch)
        // Which of them come first has a test of its own (analyze-definition.test.ts).
        expect(sorted(found.map(({ tagKeyId, tagValueId }) => `${tagKeyId} ${tagValueId}`))).toEqual(
          sorted(wanted),
        )
      }
      expect(sorted(analysis.individualizedBranches)).toEqual(
        sorted(analysis.branches.filter((branch) => analysis.branchesInfos[branch]?.individualized)),
      )
      expect(sorted(analysis.defaultBranches)).toEqual(
        sorted(analysis.branches.filter((branch) => analysis.branchesInfos[branch]?.isDefault)),
      )
    }),
    runs,
  )
})

/** The same definition as a store gives it back: keys in another order. */
function reordered(definition: WorkflowDefinition): WorkflowDefinition {
  const turned = <T>(map: Readonly<Record<string, T>>) => Object.fromEntries(Object.entries(map).reverse())
  return {
    nodes: turned(definition.nodes),
    entrypoints: turned(definition.entrypoints),
    edges: turned(definition.edges),
  }
}

test('the order of keys changes nothing, and a definition that is read is the same', () => {
  fc.assert(
    fc.property(soundDefinitions, (definition) => {
      const other = reordered(definition)
      expect(JSON.stringify(analyze(other))).toBe(JSON.stringify(analyze(definition)))
      expect(changesBetween(definition, other)).toEqual([])
      expect(readDefinition(JSON.parse(JSON.stringify(definition)))).toEqual({ definition, faults: [] })
    }),
    runs,
  )
})

test('a sound definition has no faults', () => {
  fc.assert(
    fc.property(soundDefinitions, (definition) => {
      expect(faultsOf(definition)).toEqual([])
    }),
    runs,
  )
})

/** Plants one fault; answers where it is and by which rule it must be found, or nothing where there is no place. */
type Planter = (draft: Draft, pick: (ids: string[]) => string | undefined) => string | undefined

const typed = (draft: Draft, ...types: string[]): string[] =>
  Object.keys(draft.nodes).filter((id) => types.includes(draft.nodes[id]?.type ?? ''))

const data = ['datasource', 'parameter', 'events', 'transform', 'context']
const logic = ['conditions', 'cohort', 'split', 'experiment']
const outputs = ['json', 'html', 'image', 'redirect', 'empty']

const planters: Record<string, Planter> = {
  'a data node without an edge'(draft, pick) {
    const id = pick(typed(draft, ...data))
    const edge = Object.keys(draft.edges).find((each) => draft.edges[each]?.from === id)
    if (!id || !edge) return undefined
    delete draft.edges[edge]
    return `edges nodes.${id}`
  },
  'a data node with two edges'(draft, pick) {
    const id = pick(typed(draft, ...data))
    const to = pick(typed(draft, ...outputs))
    if (!id || !to) return undefined
    draft.edges.extra = { from: id, to }
    return `edges nodes.${id}`
  },
  'an output without an edge'(draft, pick) {
    const id = pick(typed(draft, ...logic))
    const edge = Object.keys(draft.edges).find((each) => draft.edges[each]?.from === id)
    if (!id || !edge) return undefined
    delete draft.edges[edge]
    return `edges nodes.${id}`
  },
  'an output with two edges'(draft, pick) {
    const id = pick(typed(draft, ...logic))
    const edge = Object.values(draft.edges).find(({ from }) => from === id)
    if (!id || !edge) return undefined
    draft.edges.extra = { ...edge }
    return `edges nodes.${id}`
  },
  'an unknown output'(draft, pick) {
    const id = pick(typed(draft, ...logic))
    const to = pick(typed(draft, ...outputs))
    if (!id || !to) return undefined
    draft.edges.extra = { from: id, to, output: 'gone' }
    return 'edges edges.extra.output'
  },
  'an output of a data node'(draft, pick) {
    const id = pick(typed(draft, ...data))
    const edge = Object.entries(draft.edges).find(([, { from }]) => from === id)
    if (!edge) return undefined
    draft.edges[edge[0]] = { ...edge[1], output: 'default' }
    return `edges edges.${edge[0]}.output`
  },
  'an edge from an output node'(draft, pick) {
    const id = pick(typed(draft, ...outputs))
    if (!id) return undefined
    draft.nodes.extra = { type: 'empty' }
    draft.edges.extra = { from: id, to: 'extra' }
    return `edges nodes.${id}`
  },
  'an edge to an entrypoint'(draft, pick) {
    const edge = pick(Object.keys(draft.edges))
    const to = pick(Object.keys(draft.entrypoints))
    if (!edge || !to || !draft.edges[edge]) return undefined
    draft.edges[edge] = { ...draft.edges[edge], to }
    return `edges edges.${edge}.to`
  },
  'an edge to an unknown node'(draft, pick) {
    const edge = pick(Object.keys(draft.edges))
    if (!edge || !draft.edges[edge]) return undefined
    draft.edges[edge] = { ...draft.edges[edge], to: 'toString' }
    return `edges edges.${edge}.to`
  },
  'an edge from an unknown node'(draft, pick) {
    const to = pick(Object.keys(draft.nodes))
    if (!to) return undefined
    draft.edges.extra = { from: 'constructor', to }
    return 'edges edges.extra.from'
  },
  'a cycle'(draft, pick) {
    const id = pick(typed(draft, ...data))
    const edge = Object.entries(draft.edges).find(([, { from }]) => from === id)
    if (!id || !edge) return undefined
    draft.edges[edge[0]] = { ...edge[1], to: id }
    return `cycle nodes.${id}`
  },
  'a node that is not reached'(draft) {
    draft.nodes.extra = { type: 'empty' }
    return 'unreachable nodes.extra'
  },
  'no entrypoint'(draft) {
    draft.entrypoints = {}
    return 'entrypoint entrypoints'
  },
  'an entrypoint without an edge'(draft) {
    draft.entrypoints.extra = { type: 'web', format: 'json' }
    return 'edges entrypoints.extra'
  },
  'a format of another channel'(draft, pick) {
    const id = pick(Object.keys(draft.entrypoints))
    if (!id) return undefined
    draft.entrypoints[id] = { type: 'rcs', format: 'page' }
    return `entrypoint entrypoints.${id}.format`
  },
  'an output that its entrypoint cannot deliver'(draft, pick) {
    const id = pick(typed(draft, 'html', 'image', 'redirect'))
    if (!id) return undefined
    for (const zone of Object.keys(draft.entrypoints))
      draft.entrypoints[zone] = { type: 'web', format: 'json' }
    return `format nodes.${id}.type`
  },
  'shares that do not sum to 100'(draft, pick) {
    const id = pick(typed(draft, 'split'))
    if (!id) return undefined
    draft.nodes[id] = {
      type: 'split',
      groups: [
        { id: 'A', share: 50 },
        { id: 'B', share: 49.9 },
      ],
    }
    return `shares nodes.${id}.groups`
  },
  'an operator of another type'(draft, pick) {
    const id = pick(typed(draft, 'conditions'))
    const node = draft.nodes[id ?? '']
    if (!id || node?.type !== 'conditions') return undefined
    const rule: ConditionRule = {
      value: { value: 3 },
      type: 'number',
      operator: 'contains',
      to: [{ value: 1 }],
    }
    draft.nodes[id] = { ...node, cases: node.cases.map((each) => ({ ...each, rules: [rule] })) }
    return `operator nodes.${id}.cases.0.rules.0.operator`
  },
  'a binding to a node that is not on every way'(draft, pick) {
    const id = pick(typed(draft, 'html', 'image', 'redirect'))
    const node = draft.nodes[id ?? '']
    const from = pick(
      typed(draft, 'parameter', 'transform').filter((each) => id && !liesOnEveryWay(draft, each, id)),
    )
    if (!id || !from || !node || !('bindings' in node)) return undefined
    draft.nodes[id] = { ...node, bindings: { text: { node: from } } }
    return `binding nodes.${id}.bindings.text`
  },
  'a binding to a field that is not there'(draft, pick) {
    const id = pick(typed(draft, 'transform'))
    const from = pick(typed(draft, 'datasource').filter((each) => id && liesOnEveryWay(draft, each, id)))
    if (!id || !from) return undefined
    draft.nodes[id] = {
      type: 'transform',
      expression: { function: 'length', arguments: [{ node: from, field: 'prise' }] },
    }
    return `binding nodes.${id}.expression.arguments.0`
  },
  'an unknown datasource'(draft, pick) {
    const id = pick(typed(draft, 'datasource'))
    if (!id) return undefined
    draft.nodes[id] = { type: 'datasource', datasourceId: known.absent }
    return `reference nodes.${id}.datasourceId`
  },
  'another template'(draft, pick) {
    const id = pick(typed(draft, 'json'))
    if (!id) return undefined
    draft.nodes[id] = { type: 'json', templateId: known.absent }
    return `template nodes.${id}.templateId`
  },
  'a placeholder without a binding'(draft, pick) {
    const id = pick(typed(draft, 'html'))
    if (!id) return undefined
    draft.nodes[id] = { type: 'html', html: '{{ name }}' }
    return `template nodes.${id}.bindings.name`
  },
  'an address that runs script'(draft, pick) {
    const id = pick(typed(draft, 'redirect', 'image'))
    const node = draft.nodes[id ?? '']
    if (!id || (node?.type !== 'redirect' && node?.type !== 'image')) return undefined
    draft.nodes[id] = { ...node, url: 'JavaScript://example.com/%0aalert(1)' }
    return `address nodes.${id}.url`
  },
  'an unknown tag'(draft, pick) {
    const edge = pick(Object.keys(draft.edges))
    if (!edge || !draft.edges[edge]) return undefined
    draft.edges[edge] = {
      ...draft.edges[edge],
      tags: [{ tagKeyId: known.singleKey, tagValueId: known.absent }],
    }
    return `tag edges.${edge}.tags.0.tagValueId`
  },
  'a system tag by hand'(draft, pick) {
    const edge = pick(Object.keys(draft.edges))
    const [value] = known.variantTags
    if (!edge || !draft.edges[edge]) return undefined
    draft.edges[edge] = { ...draft.edges[edge], tags: [{ tagKeyId: known.systemKey, tagValueId: value }] }
    return `tag edges.${edge}.tags.0.tagKeyId`
  },
  'an unknown category'(draft, pick) {
    const edge = pick(Object.keys(draft.edges))
    if (!edge || !draft.edges[edge]) return undefined
    draft.edges[edge] = { ...draft.edges[edge], categoryId: known.absent }
    return `category edges.${edge}.categoryId`
  },
}

test.each(Object.entries(planters))('validation finds %s where it is', (_name, plant) => {
  let planted = 0
  fc.assert(
    fc.property(soundDefinitions, fc.nat(), (definition, place) => {
      const draft: Draft = structuredClone(definition)
      const where = plant(draft, (ids) => ids[place % Math.max(1, ids.length)])
      if (where === undefined) return
      planted++
      const faults = faultsOf(draft)
      expect(faults.map(({ rule, path }) => `${rule} ${path}`)).toContain(where)
      for (const { message, path, nodeId, edgeId } of faults) {
        expect(message.length).toBeGreaterThan(10)
        if (path.startsWith('nodes.')) expect(path.split('.')[1]).toBe(nodeId)
        if (path.startsWith('edges.')) expect(path.split('.')[1]).toBe(edgeId)
      }
    }),
    { numRuns: times(240, 80), seed: 7 },
  )
  expect(planted).toBeGreaterThan(0)
})

test('W13: any graph is analysed and validated, and one without faults is sound', () => {
  fc.assert(
    fc.property(anyDefinitions, (definition) => {
      const faults = faultsOf(definition)
      const analysis = analyze(definition)
      referencesOf(definition, noOverrides)
      expect(Number.isFinite(complexityOf(definition))).toBe(true)
      for (const { branch, entrypointIds } of analysis.entrypointsByBranches) {
        expect(analysis.branchesInfos[branch]?.steps.length).toBeGreaterThan(0)
        expect(entrypointIds.length).toBeGreaterThan(0)
      }
      if (faults.length === 0) {
        const ways = waysOf(definition)
        expect(Object.keys(analysis.entrypointsPerPathId)).toHaveLength(ways.length)
        expect(ways.length).toBeGreaterThan(0)
      }
    }),
    { numRuns: times(3_000, 300) },
  )
})

/** Any JSON, and JSON that looks like the parts of definitions. */
const anyPart = fc.oneof(
  fc.jsonValue({ maxDepth: 6 }),
  fc.record(
    {
      type: fc.oneof(
        fc.constantFrom('datasource', 'transform', 'json', 'split', 'web', 'conditions'),
        fc.jsonValue(),
      ),
      expression: fc.oneof(
        fc.jsonValue(),
        fc.record({ function: fc.string(), arguments: fc.array(fc.jsonValue({ maxDepth: 3 })) }),
      ),
      cases: fc.jsonValue(),
      bindings: fc.jsonValue(),
      groups: fc.jsonValue(),
      tags: fc.jsonValue(),
      from: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
)
const anyMap = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('a', '__proto__')), anyPart),
)

test('W12: reading never throws, whatever JSON it gets', () => {
  fc.assert(
    fc.property(anyMap, anyMap, anyMap, (nodes, entrypoints, edges) => {
      const read = readDefinition({ nodes, entrypoints, edges } as UnreadDefinition)
      for (const { path, message } of read.faults) {
        expect(typeof path).toBe('string')
        expect(message.length).toBeLessThan(2_000)
      }
      expect(read.faults.length).toBeLessThanOrEqual(definitionLimits.listed)
      faultsOf(read.definition)
    }),
    { numRuns: times(4_000, 600) },
  )
  expect({}).not.toHaveProperty('polluted')
})

test('all faults of a shape begin with its first one, are of different places and are bounded', () => {
  const schemas = fc.constantFrom(Edge, ...Object.values(nodeSchemas))
  fc.assert(
    fc.property(schemas, anyPart, fc.integer({ min: 1, max: 6 }), (schema, value, max) => {
      const [first, faults] = [faultOfShape(schema, value), faultsOfShape(schema, value, max)]
      expect(faults[0]).toEqual(first)
      expect(new Set(faults.map(({ path }) => path)).size).toBe(faults.length)
      expect(faults.length).toBeLessThanOrEqual(max)
    }),
    { numRuns: times(4_000, 600) },
  )
})
