import type {
  ConditionRule,
  DefinitionFault,
  WorkflowDefinition,
  WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import { expect, test } from 'vitest'
import type { DefinitionResources } from './definition-resources.ts'
import { checkDefinition, validateDefinition } from './validate-definition.ts'

const idOf = (text: string): string => text.padEnd(24, '0')
const ids = {
  products: idOf('d1'),
  template: idOf('f1'),
  otherTemplate: idOf('f2'),
  linked: idOf('f3'),
  experiment: idOf('e1'),
  archived: idOf('e2'),
  single: idOf('a1'),
  multiple: idOf('a2'),
  red: idOf('b1'),
  blue: idOf('b2'),
  absent: idOf('9'),
  unpublished: idOf('8'),
}

const resources: DefinitionResources = {
  datasources: new Map([
    [
      ids.products,
      {
        fields: new Map([
          ['title', { type: 'name', primitive: 'string' }],
          ['sku', { type: 'product_id', primitive: 'string', sortable: true }],
          ['price', { type: 'price', primitive: 'number' }],
          ['day', { type: 'datetime_iso', primitive: 'datetime_iso' }],
          ['sizes', { type: 'array_string', primitive: 'string[]' }],
          ['stock', { type: 'record_number', primitive: 'number{}' }],
          ['sold', { type: 'boolean', primitive: 'boolean' }],
        ]),
      },
    ],
    [ids.unpublished, {}],
  ]),
  trackingDatasources: new Set(),
  templates: new Map([
    [
      ids.template,
      {
        variables: [
          { name: 'title', type: 'scalar' },
          { name: 'prices', type: 'array' },
        ],
        definition: {},
      },
    ],
    [ids.otherTemplate, { variables: [], definition: {} }],
    [
      ids.linked,
      {
        variables: [
          { name: 'sku', type: 'fixed', index: 7 },
          { name: 'link', type: 'scalar' },
        ],
        definition: {},
        redirectVariable: 'link',
      },
    ],
  ]),
  cohorts: new Set(),
  experiments: new Map([
    [ids.experiment, { variants: [{ id: 'control' }, { id: 'treatment' }], status: 'draft' }],
    [ids.archived, { variants: [{ id: 'control' }], status: 'archived' }],
  ]),
  tagKeys: new Map([
    [ids.single, { cardinality: 'single', assignmentMode: 'custom', valueIds: new Set([ids.red, ids.blue]) }],
    [ids.multiple, { cardinality: 'multiple', assignmentMode: 'custom', valueIds: new Set() }],
  ]),
  categories: new Set(),
}

/** One way: a URL parameter, products, the time, the nodes given, in this order. */
function withNodes(nodes: Record<string, WorkflowNode>, type: 'web' | 'landing' = 'web'): WorkflowDefinition {
  const all: Record<string, WorkflowNode> = {
    city: { type: 'parameter', parameter: 'city', kind: 'text' },
    count: { type: 'parameter', parameter: 'count', kind: 'number' },
    products: { type: 'datasource', datasourceId: ids.products, limit: 5 },
    context: { type: 'context' },
    ...nodes,
  }
  const vertices = ['zone', ...Object.keys(all)]
  const edges = vertices.slice(1).map((to, place) => [`e${place}`, { from: vertices[place] ?? '', to }])
  return {
    nodes: all,
    entrypoints: { zone: { type, format: type === 'web' ? 'embed-html' : 'page' } },
    edges: Object.fromEntries(edges),
  }
}

const faultsOf = (definition: WorkflowDefinition, known = resources): DefinitionFault[] =>
  [...checkDefinition(definition, known)].filter((fault) => fault !== undefined)
const textsOf = (definition: WorkflowDefinition): string[] =>
  faultsOf(definition).map(({ rule, message }) => `${rule}: ${message}`)

const end = { type: 'empty' } as const

/** The one fault of a rule of a conditions node; undefined where it is right. */
function faultOfRule(rule: ConditionRule): string | undefined {
  const definition = withNodes({
    which: { type: 'conditions', cases: [{ id: 'yes', match: 'and', rules: [rule] }] },
    end,
  })
  const { e4, e5, ...edges } = definition.edges
  const [fault, ...others] = faultsOf({
    ...definition,
    edges: {
      ...edges,
      ...(e4 && { e4 }),
      yes: { from: 'which', to: 'end', output: 'yes' },
      no: { from: 'which', to: 'end', output: 'default' },
    },
  })
  expect(e5).toEqual({ from: 'which', to: 'end' })
  expect(others).toEqual([])
  return fault?.message.replace('Node "which" (conditions): cases.0.rules.0.', '')
}

const city = { node: 'city' }
const price = { node: 'products', field: 'price' }
const day = { node: 'products', field: 'day' }
const sizes = { node: 'products', field: 'sizes' }

test.each<[ConditionRule, string | undefined]>([
  [
    { value: city, type: 'text', operator: 'equals', to: [{ value: 'Paris' }, { value: ['Rome', 3] }] },
    undefined,
  ],
  [{ value: price, type: 'text', operator: 'contains', to: [city] }, undefined],
  [{ value: price, type: 'number', operator: 'gte', to: [{ value: 3 }] }, undefined],
  [{ value: day, type: 'date', operator: 'before', to: [{ node: 'context', field: 'time.now' }] }, undefined],
  [{ value: day, type: 'date', operator: 'after', to: [{ value: '2026-01-31' }] }, undefined],
  [{ value: day, type: 'date', operator: 'inNext', to: [{ value: 48 }] }, undefined],
  [{ value: sizes, type: 'list', operator: 'contains', to: [{ value: 'XL' }] }, undefined],
  [{ value: { ...price, all: true }, type: 'list', operator: 'notEmpty' }, undefined],
  [
    {
      value: { node: 'products', field: 'sold' },
      type: 'boolean',
      operator: 'equals',
      to: [{ value: true }],
    },
    undefined,
  ],
  [{ value: city, type: 'text', operator: 'equals', to: [sizes] }, undefined],
  [
    { value: city, type: 'text', operator: 'gt', to: [{ value: 'a' }] },
    'operator gt does not fit the type text, which has equals, notEquals, contains, notContains, empty, notEmpty',
  ],
  [
    { value: city, type: 'number', operator: 'gt', to: [{ value: 3 }] },
    'value must be a number, and it is a text, because the rule compares as number',
  ],
  [
    { value: price, type: 'number', operator: 'gt', to: [{ value: '3' }] },
    'to.0 must be a number, and it is a text, because the rule compares as number',
  ],
  [
    { value: day, type: 'date', operator: 'after', to: [{ value: 'soon' }] },
    'to.0 must be a date of ISO 8601, as 2026-01-31, because the rule compares as date',
  ],
  [
    { value: day, type: 'date', operator: 'inLast', to: [{ value: '2026-01-31' }] },
    'to.0 must be a number, and it is a text, because the rule compares as date',
  ],
  [
    { value: day, type: 'date', operator: 'inLast', to: [{ value: 1 }, { value: 2 }] },
    'to must hold one value for inLast',
  ],
  [
    { value: city, type: 'text', operator: 'empty', to: [{ value: 1 }] },
    'to empty compares with nothing; leave out to',
  ],
  [
    { value: city, type: 'text', operator: 'equals' },
    'to is required by equals: what the value is compared with',
  ],
  [
    { value: sizes, type: 'text', operator: 'equals', to: [{ value: 'XL' }] },
    'value must be a text, and it is a list, because the rule compares as text',
  ],
])('a rule %j: %s', (rule, message) => {
  expect(faultOfRule(rule)).toBe(message)
})

const filtered = (field: string, operator: string, value: unknown) =>
  textsOf(
    withNodes({
      rows: {
        type: 'datasource',
        datasourceId: ids.products,
        filters: [{ field, operator, value: value as { value: string } }],
      },
      end,
    }),
  )

test.each([
  ['title', '$eq', { value: ['a', 'b'] }],
  ['title', 'contains', { node: 'city' }],
  ['price', '$gte', { node: 'count' }],
  ['price', '$neq', { value: 3 }],
  ['day', '$rangefuture', { value: 24 }],
  ['day', '$lt', { node: 'context', field: 'time.now' }],
  ['sizes', '$contains', { value: 'XL' }],
  ['sold', '$eq', { value: true }],
  ['sizes', '$eq', { value: ['XL', 'L'] }],
  ['stock', '$empty', { value: false }],
  ['title', '$empty', { value: true }],
])('a filter of %s by %s %j is right', (field, operator, value) => {
  expect(filtered(field, operator, value)).toEqual([])
})

test('a datasource without a live version is not the same as one that does not exist', () => {
  const filters = [{ field: 'titel', operator: '$eq', value: { value: 'a' } } as const]
  const read = (datasourceId: string) =>
    textsOf(withNodes({ rows: { type: 'datasource', datasourceId, filters }, end }))
  expect(read(ids.unpublished)).toEqual([
    `reference: Node "rows" (datasource): datasource "${ids.unpublished}" has no live version yet; bring its fields live first`,
  ])
  expect(read(ids.absent)).toEqual([
    expect.stringContaining(`reference: Node "rows" (datasource): datasource "${ids.absent}" does not exist`),
  ])
})

test.each([
  [
    'titel',
    '$eq',
    { value: 'a' },
    'binding: Node "rows" (datasource): filters.0.field names "titel", which the datasource does not have; did you mean "title"?',
  ],
  [
    'price',
    '$contains',
    { value: 1 },
    'operator: Node "rows" (datasource): filters.0.operator $contains does not fit field "price" (number), which has $neq, $nne,',
  ],
  [
    'price',
    '$gt',
    { node: 'city' },
    'filters.0.value must be a number, and it is a text, because field "price" is number',
  ],
  ['price', '$neq', { value: [1, 'x'] }, 'filters.0.value must be a number'],
  ['title', '$contains', { value: ['a'] }, 'filters.0.value must be a text, and it is a list'],
  [
    'stock',
    '$eq',
    { value: 1 },
    'filters.0.operator $eq does not fit field "stock" (number{}), which has $empty',
  ],
  ['title', '$eq', { node: 'count' }, 'filters.0.value must be a text, and it is a number, because'],
  ['price', '$eq', { value: 1 }, 'filters.0.operator $eq does not fit'],
  ['title', '$where', { value: 1 }, 'filters.0.operator $where does not fit'],
])('a filter of %s by %s %j is refused', (field, operator, value, message) => {
  const texts = filtered(field, operator, value)
  expect(texts).toHaveLength(1)
  expect(texts[0]).toContain(message)
})

test('rows are sorted by what has an order', () => {
  const sorted = (field: string, ordering?: 'sorted' | 'person') =>
    textsOf(
      withNodes({
        rows: {
          type: 'datasource',
          datasourceId: ids.products,
          sort: { field, order: 'asc' },
          ...(ordering && { ordering }),
        },
        end,
      }),
    )
  expect(sorted('price', 'sorted')).toEqual([])
  expect(sorted('sku', 'sorted')).toEqual([])
  expect(sorted('price', 'person')).toEqual([
    'operator: Node "rows" (datasource): ordering must be sorted where sort is given',
  ])
  expect(sorted('price')).toHaveLength(1)
  expect(sorted('titel', 'sorted')).toEqual([expect.stringContaining('did you mean "title"?')])
  expect(sorted('title', 'sorted')).toEqual([
    expect.stringContaining('"title" (string), which is not sortable'),
  ])
})

const shownBy = (binding: unknown) =>
  textsOf(withNodes({ end: { type: 'html', html: '{{x}}', bindings: { x: binding as { value: 1 } } } }))

test.each([
  [{ value: 1 }],
  [{ node: 'city' }],
  [{ node: 'products', field: 'title', row: 4 }],
  [{ node: 'products', field: 'title', all: true }],
  [{ node: 'context', field: 'device.os' }],
])('a binding %j is right', (binding) => {
  expect(shownBy(binding)).toEqual([])
})

test.each([
  [{ node: 'cit' }, 'names node "cit", which does not exist; did you mean "city"?'],
  [{ node: 'toString' }, 'names node "toString", which does not exist'],
  [{ node: 'end' }, 'names node "end" (html), which gives no value; bind a data node'],
  [{ node: 'city', field: 'x' }, 'node "city" (parameter) has one value; leave out field, row and all'],
  [{ node: 'products' }, 'must name a field of node "products" (datasource)'],
  [
    { node: 'products', field: 'prise' },
    'node "products" (datasource) has no field "prise"; did you mean "price"?',
  ],
  [
    { node: 'products', field: 'constructor' },
    'node "products" (datasource) has no field "constructor"; there are "title", "sku", "price"',
  ],
  [{ node: 'context', field: 'toString' }, 'node "context" (context) has no field "toString"'],
  [
    { node: 'context', field: 'user.locale', row: 0 },
    'node "context" (context) has one record; leave out row and all',
  ],
  [
    { node: 'products', field: 'title', row: 5 },
    'node "products" gives 5 rows, of which the last is 4; row is 5',
  ],
  [{ node: 'products', field: 'title', row: 1, all: true }, 'takes either one row or all of them'],
])('a binding %j is refused', (binding, message) => {
  const texts = shownBy(binding)
  expect(texts).toHaveLength(1)
  expect(texts[0]).toContain(`binding: Node "end" (html): bindings.x: ${message}`)
})

const led = (
  url: string,
  bindings: Record<string, { value: string } | { node: string; field?: string }> = {},
) => textsOf(withNodes({ end: { type: 'redirect', url, bindings } }, 'landing'))

test.each([
  ['https://example.com/a?b={{x}}', { x: { node: 'city' } }],
  ['http://example.com', {}],
  ['myapp://product/{{x}}', { x: { node: 'city' } }],
  ['mailto:ada@example.com', {}],
  ['tel:+33123456789', {}],
  ['{{ x }}', { x: { node: 'products', field: 'title' } }],
  ['{{x}}', { x: { value: 'https://example.com' } }],
])('the address %s is right', (url, bindings) => {
  expect(led(url, bindings)).toEqual([])
})

test.each([
  ['javascript:alert(1)', {}, 'must begin with'],
  ['JaVaScRiPt://example.com/%0aalert(1)', {}, 'must begin with'],
  ['data:text/html,x', {}, 'must begin with'],
  ['vbscript://x', {}, 'must begin with'],
  ['file:///etc/passwd', {}, 'must begin with'],
  ['//example.com', {}, 'must begin with'],
  ['/page', {}, 'must begin with'],
  ['myapp:page', {}, 'must begin with'],
  ['intent://scan/', {}, 'must begin with'],
  ['ftp://example.com/', {}, 'must begin with'],
  [' https://example.com', {}, 'must hold no spaces'],
  ['https://example.com/\r\nSet-Cookie: a=b', {}, 'must hold no spaces'],
  ['https:\\\\example.com', {}, 'must hold no spaces, backslashes'],
  ['https://user:password@example.com/', {}, 'must hold no user and password'],
  ['https://', {}, 'must be an address'],
  ['https://{{x}}/', { x: { node: 'city' } }, 'must name its host without placeholders'],
  ['https://example.com{{x}}', { x: { node: 'city' } }, 'must name its host without placeholders'],
  ['{{x}}://example.com', { x: { node: 'city' } }, 'must begin with'],
  ['{{x}}', { x: { node: 'city' } }, 'bindings.x, the whole address, must not be a URL parameter'],
  ['{{x}}', { x: { node: 'context', field: 'page.url' } }, 'must not be a URL parameter'],
  ['{{x}}', { x: { value: 'javascript:alert(1)' } }, 'bindings.x, the whole address, must begin with'],
  ['{{x}}', { x: { value: 'https://{{y}}' } }, 'must hold no placeholders'],
  ['https://example.com/{{y}}', {}, 'template: Node "end" (redirect): {{y}} in url has no binding'],
])('W15: the address %s is refused', (url, bindings, message) => {
  const texts = led(url, bindings)
  expect(texts).toHaveLength(1)
  expect(texts[0]).toContain(message)
})

test('W15: an image leads to no app, and a redirect of any content nowhere that runs script', () => {
  expect(textsOf(withNodes({ end: { type: 'image', url: 'myapp://x' } }))).toEqual([
    'address: Node "end" (image): url must begin with https:// or http://',
  ])
  const redirected = (redirect: { value: string | number } | { node: string; field?: string }) =>
    textsOf(withNodes({ end: { type: 'image', url: 'https://example.com/a.png', redirect } }))
  expect(redirected({ value: 'myapp://x' })).toEqual([])
  expect(redirected({ node: 'products', field: 'title' })).toEqual([])
  for (const wrong of [
    { value: 'javascript:x' },
    { value: 3 },
    { node: 'city' },
    { node: 'products', field: 'sizes' },
  ])
    expect(redirected(wrong)).toEqual([expect.stringContaining('address: Node "end" (image): redirect must')])
})

test('HTML that counts clicks has a redirect', () => {
  const html = { type: 'html', html: '<a href="{{click}}">More</a>' } as const
  expect(textsOf(withNodes({ end: html }))).toEqual([
    'address: Node "end" (html): redirect is required: {{click}} in html leads to it',
  ])
  expect(textsOf(withNodes({ end: { ...html, redirect: { value: 'https://example.com' } } }))).toEqual([])
  expect(textsOf(withNodes({ end: { type: 'html', html: '{{ two words }} {{}} {x}' } }))).toEqual([])
})

const transformed = (name: string, ...values: unknown[]) =>
  textsOf(
    withNodes({
      made: { type: 'transform', expression: { function: name, arguments: values as { value: string }[] } },
      end,
    }),
  )

test.each([
  ['case', { node: 'city' }, { value: 'upper' }],
  ['format-currency-locale-var', price, { value: 'EUR' }, { node: 'context', field: 'user.locale' }],
  ['sum', price, { node: 'count' }, { function: 'length', arguments: [city] }],
  ['array-get', { ...price, all: true }, { value: 0 }],
  ['extract', city, { value: '([a-z]+)' }],
  ['concat', city, { value: 1 }],
  ['add-to-date', day, { value: 1 }, { value: 'days' }, { value: 'Europe/Paris' }],
])('the function %s takes what fits', (name, ...values) => {
  expect(transformed(name, ...values)).toEqual([])
})

test.each([
  ['uper', [city], 'expression.function "uper" is no function'],
  ['truncat', [city, { value: 3 }], 'did you mean "truncate"?'],
  ['constructor', [city], 'is no function'],
  ['truncate', [city], 'expression.arguments of truncate has too few arguments: (text, length, ending?)'],
  ['absolute', [price, price], 'has too many arguments: (number)'],
  ['sum', [], 'has too few arguments: (...)'],
  [
    'truncate',
    [city, { node: 'count' }],
    'expression.arguments.1 (length of truncate) must be given as a value',
  ],
  ['absolute', [city], 'expression.arguments.0 (number of absolute) must be a number, and it is a text'],
  ['unique', [city], '(list of unique) must be a list, and it is a text'],
  [
    'absolute',
    [{ function: 'case', arguments: [city, { value: 'upper' }] }],
    '(number of absolute) must be number, and case gives text',
  ],
  [
    'absolute',
    [{ function: 'nothing', arguments: [] }],
    'expression.arguments.0.function "nothing" is no function',
  ],
  ['case', [city, { value: 'uper' }], 'expression (case) mode must be one of upper, lower, capitalize'],
  ['extract', [city, { value: '(?=a)' }], 'the pattern is not valid'],
  ['extract', [city, { value: '(a{1,100}){1,10}' }], 'the pattern repeats too much'],
  [
    'format-date',
    [day, { value: 'iso' }, { value: 'french' }],
    '"french" is no locale; give one as fr_FR or en',
  ],
  [
    'format-date',
    [day, { value: 'iso' }, { value: null }, { value: 'Mars/Base' }],
    '"Mars/Base" is no time zone',
  ],
  ['divide', [price, { value: 0 }], 'cannot divide by 0'],
  ['lookup', [city, { value: ['a'] }, { value: [] }], 'keys and values must have the same number of items'],
])('the function %s with %j is refused', (name, values, message) => {
  const texts = transformed(name, ...values)
  expect(texts).toHaveLength(1)
  expect(texts[0]).toContain('expression: Node "made" (transform): ')
  expect(texts[0]).toContain(message)
})

const answered = (node: Omit<Extract<WorkflowNode, { type: 'json' }>, 'type'>) =>
  textsOf(withNodes({ end: { type: 'json', ...node } }))

test('variables of a template are bound, by hand or by the name of a field', () => {
  const prices = { ...price, all: true }
  const templateId = ids.template
  expect(answered({ templateId, bindings: { prices } })).toEqual([])
  expect(answered({ templateId })).toEqual([
    'template: Node "end" (json): variable "prices" of the template has no binding, and no datasource node on every way has a field of this name',
  ])
  expect(answered({ templateId, bindings: { prices, titel: { value: 1 } } })).toEqual([
    expect.stringContaining('bindings.titel is no variable of the template; did you mean "title"?'),
  ])
  // The mode of the variable takes all rows.
  expect(answered({ templateId, bindings: { prices: price } })).toEqual([])
  expect(answered({ templateId, bindings: { prices: { node: 'count' } } })).toEqual([
    expect.stringContaining('bindings.prices must be a list, or a field of rows: the variable is an array'),
  ])
  expect(answered({ templateId, bindings: { prices, title: prices } })).toEqual([
    expect.stringContaining('bindings.title must be one value, and not a list: the variable is scalar'),
  ])
  expect(answered({ templateId: ids.absent })).toEqual([
    expect.stringContaining(`template: Node "end" (json): JSON template "${ids.absent}" does not exist`),
  ])
})

test('a fixed variable names a row that there is, and the link of a template is an address', () => {
  const templateId = ids.linked
  const link = { value: 'https://example.com' }
  const sku = { node: 'products', field: 'sku' }
  expect(answered({ templateId, bindings: { sku: { value: 1 }, link } })).toEqual([])
  expect(answered({ templateId, bindings: { link } })).toEqual([
    expect.stringContaining('variable "sku" of the template has no binding'),
  ])
  expect(answered({ templateId, bindings: { sku, link } })).toEqual([
    'template: Node "end" (json): bindings.sku must give row 7 of the variable, and its node gives 5 rows; raise its limit',
  ])
  const linked = (binding: { value: string } | { node: string }) =>
    answered({ templateId, bindings: { sku: { value: 1 }, link: binding } })
  expect(linked({ value: 'javascript:alert(1)' })).toEqual([
    expect.stringContaining('address: Node "end" (json): bindings.link must begin with https://'),
  ])
  expect(linked({ node: 'city' })).toEqual([
    expect.stringContaining('bindings.link must not be a URL parameter'),
  ])
})

test('all JSON nodes have one template, and experiments edges for their variants', () => {
  const definition: WorkflowDefinition = {
    nodes: {
      test: { type: 'experiment', experimentId: ids.experiment },
      a: { type: 'json', templateId: ids.otherTemplate },
      b: {
        type: 'json',
        templateId: ids.template,
        bindings: { title: { value: 1 }, prices: { value: [1] } },
      },
    },
    entrypoints: { zone: { type: 'web', format: 'json' } },
    edges: {
      e1: { from: 'zone', to: 'test' },
      e2: { from: 'test', to: 'a', output: 'control' },
      e3: { from: 'test', to: 'b', output: 'treatment' },
    },
  }
  expect(textsOf(definition)).toEqual([
    'template: Node "b" (json): it has another template than node "a"; all JSON nodes of a workflow must have the same one',
  ])
  const { e3, ...edges } = definition.edges
  expect(e3?.to).toBe('b')
  expect(
    textsOf({ ...definition, edges: { ...edges, e4: { from: 'test', to: 'b', output: 'tretment' } } }),
  ).toEqual([
    'edges: Edge "e4": "test" has no output "tretment"; did you mean "treatment"?',
    'edges: Node "test" (experiment): its output "treatment" leads nowhere; add the edge to its next node',
    expect.stringContaining('has another template'),
  ])
  const archived = { ...definition.nodes, test: { type: 'experiment', experimentId: ids.archived } as const }
  expect(textsOf({ ...definition, nodes: archived })).toContain(
    'reference: Node "test" (experiment): the experiment is archived; choose another one',
  )
})

test('W13: a cycle is named in its order, and two cycles both', () => {
  const context = { type: 'context' } as const
  const definition: WorkflowDefinition = {
    nodes: { a: context, b: context, c: context, d: context },
    entrypoints: { zone: { type: 'web', format: 'json' } },
    edges: {
      e0: { from: 'zone', to: 'b' },
      e1: { from: 'b', to: 'c' },
      e2: { from: 'c', to: 'a' },
      e3: { from: 'a', to: 'b' },
      e4: { from: 'd', to: 'd' },
    },
  }
  expect(faultsOf(definition).filter(({ rule }) => rule === 'cycle')).toEqual([
    {
      path: 'nodes.a',
      nodeId: 'a',
      rule: 'cycle',
      message: 'Node "a" (context): lies on a cycle, a → b → c → a; remove one of its edges',
    },
    expect.objectContaining({ nodeId: 'd', message: expect.stringContaining('d → d') }),
  ])
})

test('paths and the steps of all paths have bounds', () => {
  const ladder = (length: number, tail: number): WorkflowDefinition => {
    const nodes: Record<string, WorkflowNode> = { end }
    const edges: Record<string, WorkflowDefinition['edges'][string]> = {}
    const groups = [
      { id: 'A', share: 50 },
      { id: 'B', share: 50 },
    ]
    let from: { from: string; output?: string }[] = [{ from: 'zone' }]
    const attach = (to: string) => {
      for (const each of from) edges[`e${Object.keys(edges).length}`] = { ...each, to }
    }
    for (let place = 0; place < tail; place++) {
      attach(`c${place}`)
      nodes[`c${place}`] = { type: 'context' }
      from = [{ from: `c${place}` }]
    }
    for (let place = 0; place < length; place++) {
      attach(`n${place}`)
      nodes[`n${place}`] = { type: 'split', groups }
      from = ['A', 'B'].map((output) => ({ from: `n${place}`, output }))
    }
    attach('end')
    return { nodes, entrypoints: { zone: { type: 'web', format: 'json' } }, edges }
  }
  expect(textsOf(ladder(10, 0))).toEqual([])
  expect(textsOf(ladder(11, 0))).toEqual([
    'paths: The definition has more than 2000 paths from an entrypoint to an output; use fewer logic nodes one after the other',
  ])
  expect(textsOf(ladder(200, 0))).toHaveLength(1)
  expect(textsOf(ladder(10, 86))).toEqual([])
  expect(textsOf(ladder(10, 90))).toEqual([
    'paths: The paths of the definition have 103424 steps together, and at most 100000 are allowed; use fewer nodes before the branches',
  ])
})

test('2000 paths are allowed, and 2001 are not', () => {
  const nodes: Record<string, WorkflowNode> = { end }
  const edges: Record<string, WorkflowDefinition['edges'][string]> = { start: { from: 'zone', to: 'n0' } }
  for (const [place, count] of [20, 10, 10].entries()) {
    const groups = Array.from({ length: count }, (_, group) => ({ id: `g${group}`, share: 100 / count }))
    nodes[`n${place}`] = { type: 'split', groups }
    const to = place === 2 ? 'end' : `n${place + 1}`
    for (const { id } of groups) edges[`e${place}${id}`] = { from: `n${place}`, to, output: id }
  }
  const zone = { type: 'web', format: 'json' } as const
  expect(textsOf({ nodes, entrypoints: { zone }, edges })).toEqual([])
  expect(
    textsOf({
      nodes,
      entrypoints: { zone, other: zone },
      edges: { ...edges, other: { from: 'other', to: 'end' } },
    }),
  ).toEqual([expect.stringContaining('more than 2000 paths')])
})

test('a branch has one value of an exclusive tag key, and not too many tags', () => {
  const tag = (tagKeyId: string, tagValueId: string) => ({ tagKeyId, tagValueId })
  const tagged = (tags: { tagKeyId: string; tagValueId: string }[]) => {
    const definition = withNodes({ end })
    return textsOf({ ...definition, edges: { ...definition.edges, e0: { from: 'zone', to: 'city', tags } } })
  }
  expect(tagged([tag(ids.single, ids.red)])).toEqual([])
  expect(tagged([tag(ids.single, ids.red), tag(ids.single, ids.blue)])).toEqual([
    'tag: Edge "e0": a branch has one value of this tag key; keep one of them',
  ])
  expect(tagged([tag(ids.absent, ids.red)])).toEqual([
    `tag: Edge "e0": tag key "${ids.absent}" does not exist; choose another one`,
  ])
  const values = Array.from({ length: 101 }, (_, place) => place.toString(16).padStart(24, '0'))
  const tagKeys = new Map([
    [
      ids.multiple,
      { cardinality: 'multiple' as const, assignmentMode: 'custom' as const, valueIds: new Set(values) },
    ],
  ])
  const many = (count: number) => {
    const definition = withNodes({ end })
    const tags = values.slice(0, count).map((value) => tag(ids.multiple, value))
    const edges = {
      ...definition.edges,
      e0: { from: 'zone', to: 'city', tags: tags.slice(0, 50) },
      e2: { from: 'count', to: 'products', tags: tags.slice(50) },
    }
    return faultsOf({ ...definition, edges }, { ...resources, tagKeys }).map(({ message }) => message)
  }
  expect(many(100)).toEqual([])
  expect(many(101)).toEqual(['Edge "e2": a way that takes it has more than 100 tags; remove some'])
})

test('not more faults are listed than one reads', () => {
  const nodes = Object.fromEntries(Array.from({ length: 300 }, (_, place) => [`n${place}`, end]))
  expect(faultsOf({ nodes, entrypoints: {}, edges: {} })).toHaveLength(200)
})

test.each([
  '<a href={{click}}>More</a>',
  '<script>show("{{click}}")</script>',
  '<p onclick="show(\'{{click}}\')">',
  '<!-- {{click}} -->',
  '<style>a { color: {{click}} }</style>',
  '<p {{click}}>',
])('a placeholder in %s, where no value is put, is a fault', (html) => {
  const redirect = { value: 'https://shop.example/' }
  expect(textsOf(withNodes({ end: { type: 'html', html, redirect } }))).toEqual([
    expect.stringContaining('template: Node "end" (html): {{click}} in html stands where no value is put'),
  ])
})

test('a placeholder in text and in attributes with quotes is none', () => {
  const html = '<a href="{{click}}" title=\'{{click}}\' style="color: {{click}}">{{click}}</a>'
  const redirect = { value: 'https://shop.example/' }
  expect(textsOf(withNodes({ end: { type: 'html', html, redirect } }))).toEqual([])
})

test.each([
  ['<a\nhref="javascript:x">', 'href of <a> in line 2 of html must not begin with javascript:'],
  ['<p>\n<META content=0 http-equiv="Refresh">', 'http-equiv of <meta> in line 2 of html moves visitors'],
  ['<a href="//{{x}}/">', 'href of <a> in line 1 of html must name its host without placeholders'],
])('an address in %j is a fault that names its line', (html, message) => {
  const bindings = { x: { value: 'https://shop.example/' } }
  expect(textsOf(withNodes({ end: { type: 'html', html, bindings } }))).toEqual([
    expect.stringContaining(`address: Node "end" (html): ${message}`),
  ])
})

test.each([
  '<iframe src="{{x}}">',
  '<form action="{{x}}">',
  '<button formaction="{{x}}">',
  '<a href="{{x}}">',
  '<a ping="{{x}}">',
  '<a href="/" ping="/a {{x}}">',
  '<svg><a xlink:href="{{x}}">',
  '<p style="background: url({{x}})">',
])('W16: the whole address in %s is held to the rule of redirects', (html) => {
  const of = (x: object) =>
    textsOf(withNodes({ end: { type: 'html', html, bindings: { x } } as WorkflowNode }))
  expect(of({ node: 'city' })).toEqual([
    expect.stringMatching(
      /^address: .*bindings\.x, the whole address in \S+ of <\w+> in line 1 of html, must not be a URL/,
    ),
  ])
  expect(of({ value: 'ftp://shop.example/' })).toEqual([expect.stringContaining('must begin with https://')])
  expect(of({ node: 'products', field: 'sku' })).toEqual([])
  expect(of({ value: 'https://shop.example/' })).toEqual([])
})

/** As many nodes as there are patterns, each of which extracts from a URL parameter. */
const extracting = (patterns: readonly string[]): WorkflowDefinition =>
  withNodes({
    ...Object.fromEntries(
      patterns.map((pattern, place): [string, WorkflowNode] => [
        `extract${place}`,
        {
          type: 'transform',
          expression: { function: 'extract', arguments: [city, { value: pattern }] },
        },
      ]),
    ),
    end,
  })

test('W19: patterns that would compile to millions of instructions are refused by their text', async () => {
  const patterns = Array.from(
    { length: 60 },
    (_, place) => `(?:a{1000}){${place + 1}}${'a{1000}'.repeat(140)}`,
  )
  const draft = extracting(patterns)
  const small = extracting(patterns.map((_, place) => `a{${place}}`))
  expect(faultsOf(draft)).toHaveLength(60)
  expect(textsOf(draft)[0]).toContain('the pattern repeats too much')
  expect(faultsOf(small)).toEqual([])
  await expect(() => faultsOf(draft)).toCostAtMost(20, () => faultsOf(small))
})

test('W19: patterns of a definition have a bound together', () => {
  const patterns = (count: number) => Array.from({ length: count }, (_, place) => `a{900}${place}b`)
  expect(faultsOf(extracting(patterns(11)))).toEqual([])
  const texts = textsOf(extracting(patterns(14)))
  expect(texts).toHaveLength(3)
  expect(texts[0]).toContain('the patterns of a definition may compile to 10000 instructions together')
})

test('W20: between its parts a validation lets other requests have their turn', async () => {
  const draft = extracting(Array.from({ length: 100 }, (_, place) => `a{90}${place}`))
  let turns = 0
  let isDone = false
  const others = (async () => {
    for (; !isDone; turns++) await new Promise(setImmediate)
  })()
  expect(await validateDefinition(draft, resources, 0)).toEqual([])
  isDone = true
  await others
  expect(turns).toBeGreaterThan(100)
})
