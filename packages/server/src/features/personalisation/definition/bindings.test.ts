import type { WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import { expect, test } from 'vitest'
import { withAutomaticBindings } from './definition-graph.ts'
import type { DefinitionResources } from './definition-resources.ts'

const resources: DefinitionResources = {
  datasources: new Map([
    ['people', { fields: new Map([['name', { type: 'name', primitive: 'string' }]]) }],
    [
      'products',
      {
        fields: new Map([
          ['name', { type: 'name', primitive: 'string' }],
          ['price', { type: 'price', primitive: 'number' }],
        ]),
      },
    ],
  ]),
  trackingDatasources: new Set(),
  templates: new Map([
    [
      'template',
      {
        variables: [
          { name: 'name', type: 'scalar' },
          { name: 'price', type: 'array' },
          { name: 'Price', type: 'scalar' },
          { name: 'given', type: 'scalar' },
        ],
        definition: {},
      },
    ],
    ['fixed', { variables: [{ name: 'price', type: 'fixed', index: 3 }], definition: {} }],
  ]),
  cohorts: new Set(),
  experiments: new Map(),
  tagKeys: new Map(),
  categories: new Set(),
}

const definition: WorkflowDefinition = {
  nodes: {
    products: { type: 'datasource', datasourceId: 'products' },
    half: {
      type: 'split',
      groups: [
        { id: 'A', share: 50 },
        { id: 'B', share: 50 },
      ],
    },
    people: { type: 'datasource', datasourceId: 'people' },
    near: { type: 'json', templateId: 'template', bindings: { given: { value: 1 } } },
    far: { type: 'json', templateId: 'fixed' },
  },
  entrypoints: { zone: { type: 'web', format: 'json' } },
  edges: {
    e1: { from: 'zone', to: 'products' },
    e2: { from: 'products', to: 'half' },
    e3: { from: 'half', to: 'people', output: 'A' },
    e4: { from: 'people', to: 'near' },
    e5: { from: 'half', to: 'far', output: 'B' },
  },
}

test('a variable takes the field of its name from the nearest datasource on every way', () => {
  const { nodes } = withAutomaticBindings(definition, resources)
  expect(nodes.near).toEqual({
    type: 'json',
    templateId: 'template',
    bindings: {
      name: { node: 'people', field: 'name' },
      price: { node: 'products', field: 'price', all: true },
      given: { value: 1 },
    },
  })
  expect(nodes.far).toEqual({
    type: 'json',
    templateId: 'fixed',
    bindings: { price: { node: 'products', field: 'price', row: 3 } },
  })
})

test('a datasource that lies on some ways only binds nothing', () => {
  const joined = {
    ...definition,
    edges: { ...definition.edges, e5: { from: 'half', to: 'near', output: 'B' } },
  }
  expect(withAutomaticBindings(joined, resources).nodes.near).toMatchObject({
    bindings: { name: { node: 'products', field: 'name' } },
  })
})
