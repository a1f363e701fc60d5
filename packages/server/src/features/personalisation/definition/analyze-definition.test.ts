import type { WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import type { AnalyzeOverrides } from '@millrace/contract/resources/workflow-version.ts'
import { expect, test } from 'vitest'
import { analyzeDefinition } from './analyze-definition.ts'
import { complexityOf } from './complexity.ts'
import type { DefinitionResources } from './definition-resources.ts'

const [datasourceId, keyId, valueId, otherValueId, categoryId, cohortId, experimentId] = [
  'd',
  'a1',
  'b1',
  'b2',
  'c1',
  'c2',
  'e1',
].map((text) => text.padEnd(24, '0')) as [string, string, string, string, string, string, string]

const resources: DefinitionResources = {
  datasources: new Map([
    [
      datasourceId,
      {
        fields: new Map([
          ['owner', { type: 'string', primitive: 'string' }],
          ['title', { type: 'name', primitive: 'string' }],
        ]),
      },
    ],
  ]),
  trackingDatasources: new Set(),
  templates: new Map(),
  cohorts: new Set([cohortId]),
  experiments: new Map(),
  tagKeys: new Map([
    [keyId, { cardinality: 'single', assignmentMode: 'custom', valueIds: new Set([valueId, otherValueId]) }],
  ]),
  categories: new Set([categoryId]),
}

const none: AnalyzeOverrides = {
  vertexIndividualizedScore: {},
  customVertexNames: [],
  branchCategoryIds: {},
  branchLoopWindows: {},
  branchTags: [],
}

const analyze = (definition: WorkflowDefinition, overrides: Partial<AnalyzeOverrides> = {}) =>
  analyzeDefinition(definition, { ...none, ...overrides }, resources)

/** A way through the nodes in their order, from one entrypoint. */
function lineOf(nodes: WorkflowDefinition['nodes']): WorkflowDefinition {
  const vertices = ['zone', ...Object.keys(nodes)]
  const edges = vertices.slice(1).map((to, place) => [`e${place}`, { from: vertices[place] ?? '', to }])
  return {
    nodes,
    entrypoints: { zone: { type: 'web', format: 'embed-html' } },
    edges: Object.fromEntries(edges),
  }
}

const end = { type: 'empty' } as const
const scoreOf = (nodes: WorkflowDefinition['nodes']): number | undefined =>
  Object.values(analyze(lineOf({ ...nodes, end })).branchesScore)[0]

test.each([
  ['events of the person', { events: { type: 'events', lookBackHours: 1 } }, 1],
  ['a URL parameter', { city: { type: 'parameter', parameter: 'city', kind: 'text' } }, 0.5],
  ['the identifier of the person alone', { id: { type: 'parameter', parameter: 'trk-u', kind: 'text' } }, 0],
  ['a parameter of the campaign', { id: { type: 'parameter', parameter: 'utm_source', kind: 'text' } }, 0],
  ['a datasource that is the same for all', { rows: { type: 'datasource', datasourceId } }, 0],
  ['an order of the person’s own', { rows: { type: 'datasource', datasourceId, ordering: 'person' } }, 1],
  [
    'rows of the person',
    {
      id: { type: 'parameter', parameter: 'trk-u', kind: 'text' },
      rows: {
        type: 'datasource',
        datasourceId,
        filters: [{ field: 'owner', operator: '$eq', value: { node: 'id' } }],
      },
    },
    1,
  ],
  [
    'rows by what a transform makes of the locale of the person',
    {
      context: { type: 'context' },
      language: {
        type: 'transform',
        expression: {
          function: 'truncate',
          arguments: [{ node: 'context', field: 'user.locale' }, { value: 2 }, { value: '' }],
        },
      },
      rows: {
        type: 'datasource',
        datasourceId,
        filters: [{ field: 'owner', operator: '$eq', value: { node: 'language' } }],
      },
    },
    1,
  ],
  [
    'rows by the hour',
    {
      context: { type: 'context' },
      rows: {
        type: 'datasource',
        datasourceId,
        filters: [{ field: 'owner', operator: '$eq', value: { node: 'context', field: 'time.hour' } }],
      },
    },
    0,
  ],
] satisfies [string, WorkflowDefinition['nodes'], number][])('%s score', (_name, nodes, score) => {
  expect(scoreOf(nodes)).toBe(score)
})

const forked: WorkflowDefinition = {
  nodes: {
    city: { type: 'parameter', parameter: 'city', kind: 'text' },
    which: {
      type: 'conditions',
      name: 'Which city',
      cases: [
        {
          id: 'paris',
          name: 'Paris',
          match: 'and',
          rules: [
            { value: { node: 'city' }, type: 'text', operator: 'equals', to: [{ value: 'Paris' }] },
            { value: { node: 'city' }, type: 'text', operator: 'notEmpty' },
          ],
        },
      ],
    },
    members: { type: 'cohort', cohortId },
    half: {
      type: 'split',
      groups: [
        { id: 'A', share: 50 },
        { id: 'default', share: 50 },
      ],
    },
    page: { type: 'html', html: '' },
    end,
  },
  entrypoints: { zone: { type: 'web', format: 'embed-html' } },
  edges: {
    start: { from: 'zone', to: 'city', tags: [{ tagKeyId: keyId, tagValueId: valueId }] },
    next: { from: 'city', to: 'which', categoryId, loopWindow: 24 },
    paris: { from: 'which', to: 'page', output: 'paris', name: 'To Paris' },
    other: { from: 'which', to: 'members', output: 'default' },
    member: { from: 'members', to: 'page', output: 'member' },
    stranger: { from: 'members', to: 'half', output: 'default', loopWindow: 48 },
    a: { from: 'half', to: 'page', output: 'A', individualized: true },
    b: { from: 'half', to: 'end', output: 'default' },
  },
}

const summaryOf = (overrides: Partial<AnalyzeOverrides> = {}) =>
  Object.values(analyze(forked, overrides).branchesInfos).map(
    ({ name, score, individualized, isDefault }) => [name, score, individualized, isDefault],
  )

test('branches have the sum of the scores of their vertices, and default outputs add nothing', () => {
  expect(summaryOf()).toEqual([
    ['To Paris', 1.5, true, false],
    ['Which city: default / members: member', 1.5, true, false],
    // An edge says that it is individualized.
    ['Which city: default / members: default / half: A', 0.5, true, true],
    ['Which city: default / members: default / half: default', 0.5, false, true],
  ])
  const { defaultBranches, branches, loopWindowByBranch, categoryIdByBranch, branchTags } = analyze(forked)
  expect(defaultBranches).toEqual(branches.slice(2))
  expect(Object.values(loopWindowByBranch)).toEqual([24, 24, 48, 48])
  expect(Object.values(categoryIdByBranch)).toEqual([categoryId, categoryId, categoryId, categoryId])
  expect(branchTags).toEqual(branches.map((branchId) => ({ tagKeyId: keyId, tagValueId: valueId, branchId })))
})

test('a way without logic nodes that shows what is personal is individualized, and the default too', () => {
  const { branchesInfos } = analyze(lineOf({ events: { type: 'events', lookBackHours: 1 }, end }))
  expect(Object.values(branchesInfos)).toMatchObject([{ individualized: true, isDefault: true, score: 1 }])
})

test('corrections of scores and names replace those of a node or of one output', () => {
  expect(
    summaryOf({
      vertexIndividualizedScore: { city: 0, which: 3, 'members:member': 7, 'half:default': 0.25, gone: 9 },
      customVertexNames: [
        { vertexId: 'which:default', name: 'Elsewhere' },
        { vertexId: 'gone', name: 'Gone' },
      ],
    }),
  ).toEqual([
    ['To Paris', 3, true, false],
    ['Elsewhere / members: member', 7, true, false],
    ['Elsewhere / members: default / half: A', 0, true, true],
    ['Elsewhere / members: default / half: default', 0.25, false, true],
  ])
})

test('corrections of branches replace what edges say, where what they name exists', () => {
  const [first = '', second = ''] = analyze(forked).branches
  const other = 'c9'.padEnd(24, '0')
  const { branchTags, categoryIdByBranch, loopWindowByBranch } = analyze(
    { ...forked, edges: { ...forked.edges, next: { from: 'city', to: 'which' } } },
    {
      branchCategoryIds: { [first]: categoryId.toUpperCase(), [second]: other, gone: categoryId },
      branchLoopWindows: { [first]: 1, gone: 2 },
      branchTags: [
        { branchId: first, tagKeyId: keyId, tagValueId: otherValueId },
        { branchId: second, tagKeyId: keyId, tagValueId: other },
        { branchId: 'gone', tagKeyId: keyId, tagValueId: otherValueId },
      ],
    },
  )
  expect(categoryIdByBranch).toEqual({ [first]: categoryId })
  expect(loopWindowByBranch[first]).toBe(1)
  expect(loopWindowByBranch).not.toHaveProperty('gone')
  expect(branchTags.filter(({ branchId }) => branchId === first).map((tag) => tag.tagValueId)).toEqual([
    otherValueId,
  ])
  expect(branchTags.filter(({ branchId }) => branchId === second).map((tag) => tag.tagValueId)).toEqual([
    valueId,
  ])
  expect(branchTags.map(({ branchId }) => branchId)).not.toContain('gone')
})

test('categories and tags that were deleted since are left out', () => {
  const { branchTags, categoryIdByBranch } = analyzeDefinition(forked, none, {
    ...resources,
    tagKeys: new Map(),
    categories: new Set(),
  })
  expect(branchTags).toEqual([])
  expect(categoryIdByBranch).toEqual({})
})

test('of a key with several values every one is there, the most downstream last; of other keys the most downstream', () => {
  const tagged = (values: string[]) => ({
    tags: values.map((tagValueId) => ({ tagKeyId: keyId, tagValueId })),
  })
  const values = ['b3', 'a1', 'c2'].map((each) => each.padEnd(24, '0'))
  const [upper = '', middle = '', lower = ''] = values
  const definition: WorkflowDefinition = {
    nodes: { first: { type: 'context' }, second: { type: 'context' }, end },
    entrypoints: { zone: { type: 'web', format: 'json' } },
    edges: {
      e0: { from: 'zone', to: 'first', ...tagged([upper, lower]) },
      e1: { from: 'first', to: 'second', ...tagged([middle]) },
      e2: { from: 'second', to: 'end', ...tagged([lower]) },
    },
  }
  const tagsWith = (cardinality: 'single' | 'multiple') => {
    const key = { cardinality, assignmentMode: 'custom' as const, valueIds: new Set(values) }
    const { branchTags } = analyzeDefinition(definition, none, {
      ...resources,
      tagKeys: new Map([[keyId, key]]),
    })
    return branchTags.map(({ tagValueId }) => tagValueId)
  }
  expect(tagsWith('multiple')).toEqual([upper, middle, lower])
  expect(tagsWith('single')).toEqual([lower])
})

test('a variant of an experiment brings its system tag and its name', () => {
  const definition: WorkflowDefinition = {
    nodes: { test: { type: 'experiment', experimentId }, end, other: end },
    entrypoints: { zone: { type: 'web', format: 'json' } },
    edges: {
      e0: { from: 'zone', to: 'test' },
      e1: { from: 'test', to: 'end', output: 'control' },
      e2: { from: 'test', to: 'other', output: 'treatment' },
    },
  }
  const variants = [{ id: 'control', name: 'As before', tagValueId: valueId }, { id: 'treatment' }]
  const experiments = new Map([[experimentId, { variants, systemTagKeyId: 'k', status: 'running' as const }]])
  const analysis = analyzeDefinition(definition, none, { ...resources, experiments })
  const { branchTags, branches, branchesInfos } = analysis
  expect(branchTags).toEqual([{ tagKeyId: 'k', tagValueId: valueId, branchId: branches[0] }])
  expect(Object.values(branchesInfos).map(({ name }) => name)).toEqual(['test: As before', 'test: treatment'])
})

test('fields are used by filters, sorting, bindings and the automatic bindings of templates', () => {
  const templateId = 't'.padEnd(24, '0')
  const definition = lineOf({
    rows: {
      type: 'datasource',
      datasourceId,
      filters: [{ field: 'owner', operator: '$eq', value: { value: 1 } }],
      sort: { field: 'rank', order: 'asc' },
    },
    answer: { type: 'json', templateId, bindings: { price: { node: 'rows', field: 'price' } } },
  })
  const templates = new Map([
    [templateId, { variables: [{ name: 'title', type: 'scalar' as const }], definition: {} }],
  ])
  expect(analyzeDefinition(definition, none, { ...resources, templates }).usedDatasourceFields).toEqual({
    [datasourceId]: ['owner', 'price', 'rank', 'title'],
  })
})

test('the id of a branch stays while its steps stay, whatever else changes', () => {
  const renamed = { ...forked, edges: { ...forked.edges, paris: { ...forked.edges.paris, name: 'Paris!' } } }
  expect(analyze(renamed as WorkflowDefinition).branches).toEqual(analyze(forked).branches)
  // SHA-256 of [["end"]].
  expect(analyze(lineOf({ end })).branches).toEqual(['4e4bb0e4427b2446bbc29ed5'])
})

test('W13: a draft with a cycle has no branches, and still says what its entrypoints reach', () => {
  const analysis = analyze({
    nodes: { a: { type: 'context' }, b: { type: 'context' }, end },
    entrypoints: { zone: { type: 'web', format: 'json' } },
    edges: {
      e0: { from: 'zone', to: 'a' },
      e1: { from: 'a', to: 'b' },
      e2: { from: 'b', to: 'a' },
      e3: { from: 'b', to: 'end' },
    },
  })
  expect(analysis.branches).toEqual([])
  expect(analysis.datasForEntrypoint).toEqual({ zone: ['a', 'b'] })
  expect(analysis.outputsForEntrypoint).toEqual({ zone: [{ nodeId: 'end', type: 'empty' }] })
})

/** Logic nodes one after the other, both outputs of each leading to the next. */
function ladder(length: number): WorkflowDefinition {
  const nodes: [string, WorkflowDefinition['nodes'][string]][] = [['end', end]]
  const edges: [string, WorkflowDefinition['edges'][string]][] = [['start', { from: 'zone', to: 'n0' }]]
  for (let place = 0; place < length; place++) {
    nodes.push([`n${place}`, { type: 'cohort', cohortId }])
    const to = place === length - 1 ? 'end' : `n${place + 1}`
    edges.push([`m${place}`, { from: `n${place}`, to, output: 'member' }])
    edges.push([`d${place}`, { from: `n${place}`, to, output: 'default' }])
  }
  return {
    nodes: Object.fromEntries(nodes),
    entrypoints: { zone: { type: 'web', format: 'json' } },
    edges: Object.fromEntries(edges),
  }
}

test('W13: paths are counted before they are listed: 2^400 of them cost no more than 2^10', async () => {
  expect(analyze(ladder(10)).branches).toHaveLength(1_024)
  expect(analyze(ladder(11)).branches).toEqual([])
  expect(analyze(ladder(400)).branches).toEqual([])
  await expect(() => analyze(ladder(400))).toCostAtMost(1, () => analyze(ladder(10)))
})

test('complexity is the cyclomatic number and the details of nodes', () => {
  expect(complexityOf({ nodes: {}, entrypoints: {}, edges: {} })).toBe(0)
  // One way: 2 edges, 3 vertices, 1 part.
  expect(complexityOf(lineOf({ context: { type: 'context' }, end }))).toBe(1)
  // 8 edges, 7 vertices, 1 part, and two rules.
  expect(complexityOf(forked)).toBe(8 - 7 + 2 + 2)
  const expression = { function: 'length', arguments: [{ function: 'case', arguments: [{ value: 'x' }] }] }
  expect(complexityOf(lineOf({ length: { type: 'transform', expression }, end }))).toBe(1 + 2)
})
