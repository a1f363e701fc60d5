import type { DefinitionFault } from '@millrace/contract/resources/workflow-definition.ts'
import { expect, test } from 'vitest'
import { readDefinition, type UnreadDefinition } from './read-definition.ts'

const read = (parts: { [K in keyof UnreadDefinition]?: unknown }) =>
  readDefinition({ nodes: {}, entrypoints: {}, edges: {}, ...parts } as UnreadDefinition)
const messages = (faults: readonly DefinitionFault[]) => faults.map(({ message }) => message)

test('an empty definition can be read', () => {
  expect(read({})).toEqual({ definition: { nodes: {}, entrypoints: {}, edges: {} }, faults: [] })
})

test.each([
  [{ type: 'imag', url: 'x' }, 'Node "n1": type is not known; did you mean "image"?', 'nodes.n1.type'],
  [{ url: 'x' }, 'Node "n1": type is required; types are datasource, parameter', 'nodes.n1.type'],
  [{ type: 'constructor' }, 'Node "n1": type is not known; types are', 'nodes.n1.type'],
  [{ type: 'image' }, 'Node "n1" (image): url is required', 'nodes.n1.url'],
  [{ type: 'image', url: 3 }, 'Node "n1" (image): url must be a text, it is 3', 'nodes.n1.url'],
  [{ type: 'image', ulr: 'x', url: 'x' }, 'did you mean "url"?', 'nodes.n1.ulr'],
  [
    { type: 'image', url: 'x', bindings: { a: { nod: 'n2' } } },
    'Node "n1" (image): bindings.a must have either a value, as {"value": "x"}, or the node that gives it',
    'nodes.n1.bindings.a',
  ],
  [
    { type: 'image', url: 'x', bindings: { a: { node: 'n2', feld: 'b' } } },
    'bindings.a.feld is not known; did you mean "field"?',
    'nodes.n1.bindings.a.feld',
  ],
  [
    { type: 'transform', expression: { function: 'sum', arguments: [{ function: 'sum', arguments: [{}] }] } },
    'expression.arguments.0.arguments.0 must have either a value, as {"value": "x"}, or the node that gives it',
    'nodes.n1.expression.arguments.0.arguments.0',
  ],
  [
    { type: 'transform', expression: { function: 'sum', arguments: [{ function: 3, arguments: [] }] } },
    'expression.arguments.0.function must be a text, it is 3',
    'nodes.n1.expression.arguments.0.function',
  ],
  [
    { type: 'datasource', datasourceId: 'x' },
    'datasourceId must be 24 hexadecimal characters',
    'nodes.n1.datasourceId',
  ],
  [null, 'Node "n1": must be an object with a type', 'nodes.n1'],
  [
    { type: 'json', templateId: '65f0c0ffee5ca1ab1e0ddba1', bindings: { title: 'Hello' } },
    'bindings.title must be {"value": "Hello"}, or {"node": "<id>"} for the value of a node',
    'nodes.n1.bindings.title',
  ],
  [
    { type: 'image', url: 'https://a.example/a.png', redirect: 'https://a.example' },
    'redirect must be {"value": "https://a.example"}, or',
    'nodes.n1.redirect',
  ],
  [
    { type: 'transform', expression: { function: 'length', arguments: ['x'] } },
    'must be {"value": "x"}, or {"node": "<id>"} for the value of a node, or another function',
    'nodes.n1.expression.arguments.0',
  ],
  [
    {
      type: 'conditions',
      cases: [{ id: 'a', match: 'and', rules: [{ value: 'x', type: 'text', operator: 'equals' }] }],
    },
    'must be {"value": "x"}, or',
    'nodes.n1.cases.0.rules.0.value',
  ],
])('names what is wrong with the node %j', (n1, message, path) => {
  const { faults } = read({ nodes: { n1 } })
  expect(faults).toHaveLength(1)
  expect(faults[0]).toMatchObject({ path, nodeId: 'n1', rule: 'shape' })
  expect(faults[0]?.message).toContain(message)
})

test('names every part that has a fault', () => {
  const { faults } = read({
    nodes: { '__proto__ ': { type: 'empty' }, n2: 3 },
    entrypoints: { e1: { type: 'wb', format: 'json' } },
    edges: { g1: { from: 'e1' } },
  })
  expect(messages(faults)).toEqual([
    'Node "__proto__ ": its id must be 1 to 64 letters, digits, dashes and underscores, the first a letter or digit',
    'Node "n2": must be an object with a type',
    expect.stringContaining('Entrypoint "e1": type must be one of "email", "web"'),
    'Edge "g1": to is required',
  ])
  expect(faults[2]).toMatchObject({ entrypointId: 'e1' })
  expect(faults[3]).toMatchObject({ edgeId: 'g1', path: 'edges.g1.to' })
})

test('names every fault of a part, each where it is', () => {
  const rule = { value: { value: 1 }, type: 'number', operator: 'gt' }
  const { definition, faults } = read({
    nodes: {
      n1: {
        type: 'conditions',
        colour: 'red',
        cases: [
          {
            id: 'a',
            rules: [{ ...rule, operator: 'above' }, rule, { ...rule, value: 'x', to: [3, { node: 'n0' }] }],
          },
          { id: 'b b', match: 'nor', rules: [] },
        ],
      },
      n2: { type: 'image', ulr: 'x', bindings: { a: { nod: 'n2' }, b: { value: 1 } }, name: '' },
      n3: {
        type: 'transform',
        nmae: 'x',
        expression: {
          function: 3,
          arguments: ['x', { function: 'sum', arguments: [{}] }, { node: 'n1', row: -1 }],
        },
      },
      n4: { type: 'empty' },
    },
    entrypoints: { e1: { type: 'web', format: 'html', position: -1 } },
    edges: { g1: { source: 'e1', target: 'n4', individualized: 'yes' } },
  })
  const ofPart = (id: string) =>
    faults
      .filter(({ nodeId, edgeId, entrypointId }) => [nodeId, edgeId, entrypointId].includes(id))
      .map(({ path, message }) => [path, message.replace(/^[^:]*: /, '')])
  expect(ofPart('n1')).toEqual([
    ['nodes.n1.colour', 'colour is not known; known are type, name, cases'],
    ['nodes.n1.cases.0.match', 'cases.0.match is required'],
    ['nodes.n1.cases.0.rules.0.operator', expect.stringContaining('must be one of "equals"')],
    ['nodes.n1.cases.0.rules.2.value', expect.stringContaining('must be {"value": "x"}, or')],
    ['nodes.n1.cases.0.rules.2.to.0', expect.stringContaining('must be {"value": 3}, or')],
    ['nodes.n1.cases.1.id', expect.stringContaining('letters, digits, dashes')],
    ['nodes.n1.cases.1.match', 'cases.1.match must be one of "and", "or"; did you mean "or"?'],
    ['nodes.n1.cases.1.rules', 'cases.1.rules must not be empty'],
  ])
  expect(ofPart('n2')).toEqual([
    ['nodes.n2.url', 'url is required; "ulr" is not known'],
    ['nodes.n2.name', 'name must not be empty'],
    ['nodes.n2.bindings.a', expect.stringContaining('must have either a value')],
  ])
  expect(ofPart('n3')).toEqual([
    ['nodes.n3.nmae', 'nmae is not known; did you mean "name"?'],
    ['nodes.n3.expression.function', 'expression.function must be a text, it is 3'],
    ['nodes.n3.expression.arguments.0', expect.stringContaining('or another function')],
    ['nodes.n3.expression.arguments.1.arguments.0', expect.stringContaining('must have either a value')],
    ['nodes.n3.expression.arguments.2.row', expect.stringContaining('must be at least 0; it is -1')],
  ])
  expect(ofPart('e1')).toEqual([
    ['entrypoints.e1.format', expect.stringContaining('for the channel web')],
    ['entrypoints.e1.position', 'position must be at least 0; it is -1'],
  ])
  expect(ofPart('g1')).toEqual([
    ['edges.g1.source', 'source is not known; an edge has "from" instead'],
    ['edges.g1.target', 'target is not known; an edge has "to" instead'],
    ['edges.g1.individualized', 'individualized must be true or false, it is "yes"'],
  ])
  expect(definition).toEqual({ nodes: { n4: { type: 'empty' } }, entrypoints: {}, edges: {} })
})

test('lists 20 faults of a part and 200 in all, and keeps what has none', () => {
  const wrong = { type: 'split', groups: Array.from({ length: 25 }, () => ({ share: 0 })) }
  const nodes = Object.fromEntries(
    Array.from({ length: 30 }, (_, place) => [`x${place}`, place % 2 === 0 ? wrong : { type: 'empty' }]),
  )
  const { definition, faults } = read({ nodes })
  expect(faults).toHaveLength(200)
  expect(faults.filter(({ nodeId }) => nodeId === 'x0')).toHaveLength(20)
  expect(faults.filter(({ nodeId }) => nodeId === 'x18')).toHaveLength(20)
  expect(faults.filter(({ nodeId }) => nodeId === 'x20')).toEqual([])
  expect(Object.keys(definition.nodes)).toHaveLength(15)
})

test('of a part with very many values the first fault is named alone', () => {
  const rules = Array.from({ length: 20 }, () => ({ type: 3, operator: 3, value: 3, to: Array(90).fill(3) }))
  const ofCases = (count: number) =>
    read({
      nodes: {
        n1: {
          type: 'conditions',
          cases: Array.from({ length: count }, () => ({ id: 'a', match: 'and', rules })),
        },
      },
    }).faults
  expect(ofCases(2)).toHaveLength(20)
  expect(ofCases(3)).toHaveLength(1)
  expect(ofCases(3)).toEqual(ofCases(2).slice(0, 1))
})

const nested = (levels: number): unknown => ({
  function: 'length',
  arguments: [levels === 1 ? { value: 'x' } : nested(levels - 1)],
})

test('names the fields of an edge to who knows them by other names', () => {
  const ofEdge = (edge: object) => messages(read({ edges: { g1: edge } }).faults)[0]
  expect(ofEdge({ source: 'a', target: 'b' })).toBe(
    'Edge "g1": source is not known; an edge has "from" instead',
  )
  expect(ofEdge({ from: 'a', target: 'b' })).toBe('Edge "g1": target is not known; an edge has "to" instead')
})

test('names the formats of the channel', () => {
  const { faults } = read({ entrypoints: { e1: { type: 'web', format: 'html' } } })
  expect(messages(faults)).toEqual([
    'Entrypoint "e1": format must be one of "embed-image", "embed-html", "json" for the channel web',
  ])
})

test('bounds the nesting and the number of functions of an expression', () => {
  const ofDepth = (levels: number) =>
    messages(read({ nodes: { n1: { type: 'transform', expression: nested(levels) } } }).faults)
  expect(ofDepth(10)).toEqual([])
  expect(ofDepth(11)[0]).toContain('nests more than 10 functions')
  const wide = (count: number) => {
    const functions = Array.from({ length: count - 3 }, () => ({ function: 'sum', arguments: [] }))
    const halves = [functions.slice(0, 99), functions.slice(99)]
    const expression = {
      function: 'sum',
      arguments: halves.map((half) => ({ function: 'sum', arguments: half })),
    }
    return messages(read({ nodes: { n1: { type: 'transform', expression } } }).faults)
  }
  expect(wide(200)).toEqual([])
  expect(wide(201)[0]).toContain('has more than 200 functions')
})

test('W12: bounds nodes, edges, entrypoints, bytes and depth', () => {
  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, place) => [`x${place}`, value]))
  expect(read({ nodes: many(500, { type: 'empty' }) }).faults).toEqual([])
  expect(messages(read({ nodes: many(501, { type: 'empty' }) }).faults)).toEqual([
    'A definition has at most 500 nodes; there are 501',
  ])
  expect(read({ entrypoints: many(51, 0) }).faults[0]?.rule).toBe('limit')
  expect(read({ edges: many(2_001, 0) }).faults[0]?.rule).toBe('limit')
  expect(messages(read({ nodes: many(500, 3) }).faults)).toHaveLength(200)
  const html = (length: number) => ({ type: 'html', html: 'x'.repeat(length) })
  expect(messages(read({ nodes: many(6, html(199_000)) }).faults)[0]).toContain('at most 1000000 bytes')
  let deep: unknown = 1
  for (let level = 0; level < 100_000; level++) deep = [deep]
  expect(messages(read({ nodes: { n1: deep } }).faults)).toEqual([
    'The definition nests deeper than 64 levels',
  ])
  expect(messages(read({ nodes: [] }).faults)).toEqual(['nodes must be an object, from id to what it is'])
})

test('ids of objects come in lower case', () => {
  const id = '65F0C0FFEE5CA1AB1E0DDBA1'
  const { definition } = read({
    nodes: { n1: { type: 'cohort', cohortId: id } },
    edges: { g1: { from: 'n1', to: 'n2', categoryId: id, tags: [{ tagKeyId: id, tagValueId: id }] } },
  })
  const lower = id.toLowerCase()
  expect(definition?.nodes.n1).toEqual({ type: 'cohort', cohortId: lower })
  expect(definition?.edges.g1).toMatchObject({
    categoryId: lower,
    tags: [{ tagKeyId: lower, tagValueId: lower }],
  })
})
