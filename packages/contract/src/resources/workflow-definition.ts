import { type Static, type TProperties, Type } from 'typebox'
import {
  flag,
  id,
  integer,
  keyPattern,
  like,
  lineText,
  listOf,
  mapOf,
  named,
  nameText,
  object,
  oneOf,
  optionals,
  storablePattern,
  text,
} from './formats.ts'
import type { Entrypoint } from './workflow-entrypoint.ts'

/** Bounds of a definition (docs/workflows.md, Definition). */
export const definitionLimits = {
  nodes: 500,
  entrypoints: 50,
  edges: 2_000,
  /** Ways from an entrypoint to an output. */
  paths: 2_000,
  /** Of all those ways together. */
  steps: 100_000,
  /** That one way collects. */
  tagsPerBranch: 100,
  /** Of the definition as JSON. */
  bytes: 1_000_000,
  casesPerNode: 50,
  rulesPerCase: 20,
  rows: 200,
  /** Of an expression: functions within functions, and all of them together. */
  expressionDepth: 10,
  expressionFunctions: 200,
  /** Instructions that all its patterns compile to together, at most. */
  patternCost: 10_000,
  /** Faults and changes that one reply names. */
  listed: 200,
} as const

/** Fields of a `context` node with the type that conditions compare them as. */
export const contextFields = {
  'user.id': 'text',
  'user.isAnonymous': 'boolean',
  'user.locale': 'text',
  'device.type': 'text',
  'device.os': 'text',
  'device.browser': 'text',
  'device.mailClient': 'text',
  'time.now': 'date',
  'time.date': 'date',
  'time.hour': 'number',
  'time.weekday': 'number',
  'page.url': 'text',
  'page.host': 'text',
} as const satisfies Record<string, ConditionType>

/** Fields of the rows of an `events` node; a label of an event is `labels.<key>`. */
export const eventFields = {
  name: 'text',
  time: 'date',
  datasourceId: 'text',
  url: 'text',
  ids: 'list',
  value: 'number',
} as const satisfies Record<string, ConditionType>

/**
 * Where a text takes the value of a binding: `{{name}}`, spaces allowed around the name. Anything else between braces
 * stays as it is. `{{click}}` needs no binding: it is the address that counts the click and leads to `redirect`.
 */
export const placeholderPattern = '\\{\\{ {0,10}([A-Za-z][A-Za-z0-9_.-]{0,99}) {0,10}\\}\\}'
export const clickPlaceholder = 'click'

/** Schemes of addresses that lead to no page or app: they run script, read what is local, or start what they name. */
export const refusedSchemes: ReadonlySet<string> = new Set([
  'about',
  'blob',
  'chrome',
  'content',
  'data',
  'file',
  'filesystem',
  'ftp',
  'intent',
  'jar',
  'javascript',
  'resource',
  'vbscript',
  'view-source',
  'ws',
  'wss',
])

const key = (description: string) => Type.String({ pattern: keyPattern, description })
const storable = (description: string, maxLength = 2_000) =>
  Type.String({ maxLength, pattern: storablePattern, description })

const Scalar = Type.Union([Type.String({ maxLength: 10_000 }), Type.Number(), Type.Boolean(), Type.Null()])

/** A value that is known when the workflow is built, or comes from a node further up. */
export const Binding = Type.Union(
  [
    object({ value: Type.Union([Scalar, Type.Array(Scalar, { maxItems: 1_000 })]) }),
    object({
      node: key('A data node that lies on every way to this one'),
      field: Type.Optional(lineText('Field of its rows or of its record; absent for a node with one value')),
      row: Type.Optional(integer(0, 199, 'Row, from 0; 0 when absent')),
      all: Type.Optional(flag('The values of all rows, as a list')),
    }),
  ],
  { title: 'WorkflowBinding' },
)
export type Binding = Static<typeof Binding>

const bindingOf = (description: string) => Type.Unsafe<Binding>({ ...Binding, description })

/** Operators of conditions by the type of what is compared (docs/workflows.md, Conditions). */
export const conditionOperators = {
  text: ['equals', 'notEquals', 'contains', 'notContains', 'empty', 'notEmpty'],
  number: ['equals', 'notEquals', 'gt', 'lt', 'lte', 'gte', 'empty', 'notEmpty'],
  date: ['equals', 'notEquals', 'before', 'after', 'empty', 'notEmpty', 'inNext', 'inLast'],
  boolean: ['equals'],
  list: ['contains', 'notContains', 'empty', 'notEmpty'],
} as const
export type ConditionType = keyof typeof conditionOperators

export const ConditionRule = named('WorkflowConditionRule', {
  value: bindingOf('What is compared'),
  type: oneOf(['text', 'number', 'date', 'boolean', 'list'], 'How both sides are read'),
  operator: oneOf(
    [
      'equals',
      'notEquals',
      'contains',
      'notContains',
      'empty',
      'notEmpty',
      'gt',
      'gte',
      'lt',
      'lte',
      'before',
      'after',
      'inNext',
      'inLast',
    ],
    'One that the type has (Conditions)',
  ),
  to: Type.Optional(
    Type.Array(Binding, {
      minItems: 1,
      maxItems: 100,
      description:
        'Compared with; any of several matches, for `not…` none may. Hours for `inNext` and `inLast`',
    }),
  ),
})
export type ConditionRule = Static<typeof ConditionRule>

/** Filters of a datasource: operators of filter-operators.ts, with or without `$`; a window is a number of hours. */
export const NodeFilter = named('WorkflowNodeFilter', {
  field: lineText('Field of the datasource'),
  operator: text('One of the type of the field, as `$eq`', '$eq', { maxLength: 30 }),
  value: bindingOf('Compared with; what is absent matches nothing'),
})
export type NodeFilter = Static<typeof NodeFilter>

/** A function over values further up; arguments are bindings or further functions. */
export interface Expression {
  readonly function: string
  readonly arguments: readonly (Binding | Expression)[]
}
/** Nesting is bounded by the validation of definitions. */
export const ExpressionShape = Type.Unsafe<Expression>({
  type: 'object',
  description: '`{function, arguments}` (Transform functions)',
  required: ['function', 'arguments'],
  additionalProperties: false,
  properties: {
    function: { type: 'string', maxLength: 50 },
    arguments: { type: 'array', maxItems: 100 },
  },
})

const share = Type.Number({
  exclusiveMinimum: 0,
  maximum: 100,
  description: 'Percent of the persons; all sum to 100',
})

const bindingsOf = (description: string) => Type.Optional(mapOf(Binding, description))

function node<const T extends string, P extends TProperties>(type: T, properties: P) {
  return object({
    type: Type.Literal(type),
    name: Type.Optional(nameText('Name of the node', 200)),
    ...properties,
  })
}

/** Every kind of node with its shape. */
export const nodeSchemas = {
  // Data: one edge leads on.
  datasource: node('datasource', {
    datasourceId: id('A worker datasource'),
    ...optionals({
      match: oneOf(['and', 'or'], 'Whether all filters or one of them must hold; `and` when absent'),
      filters: Type.Array(NodeFilter, {
        maxItems: 20,
        description: 'Rows that they hold for; all rows when absent',
      }),
      limit: integer(1, definitionLimits.rows, 'Rows; 20 when absent'),
      sort: object(
        { field: lineText('Sortable field'), order: oneOf(['asc', 'desc'], 'Direction') },
        'With `ordering: sorted` alone, which needs it',
      ),
      ordering: oneOf(
        ['stored', 'sorted', 'shuffled', 'person'],
        '`stored` when absent; `sorted` by `sort`; `shuffled`: another order every 10 s for everyone; `person`: one of each person’s own',
      ),
    }),
  }),
  parameter: node('parameter', {
    parameter: lineText('Name of the URL parameter', 100),
    kind: oneOf(
      ['text', 'number', 'texts', 'numbers', 'date'],
      'How it is read; `texts` and `numbers` are lists',
    ),
    default: Type.Optional(Type.String({ maxLength: 2_000, description: 'Where the address lacks it' })),
  }),
  events: node('events', {
    ...optionals({
      datasourceId: id('A tracking datasource; all that the workflow’s teams see when absent'),
      names: Type.Array(lineText('Name of an event'), {
        minItems: 1,
        maxItems: 50,
        description: 'Only these events',
      }),
      exceptNames: Type.Array(lineText('Name of an event'), {
        minItems: 1,
        maxItems: 50,
        description: 'All events but these',
      }),
    }),
    lookBackHours: integer(1, 2_160, 'Age of the oldest event'),
    limit: Type.Optional(integer(1, definitionLimits.rows, 'Rows; 20 when absent')),
  }),
  transform: node('transform', { expression: ExpressionShape }),
  context: node('context', {}),
  // Logic: one edge for each output.
  conditions: node('conditions', {
    cases: Type.Array(
      object({
        id: key('Output that it leads to'),
        name: Type.Optional(nameText('Name of the case', 200)),
        match: oneOf(['and', 'or'], 'Whether all rules or one of them must hold'),
        rules: Type.Array(ConditionRule, {
          minItems: 1,
          maxItems: definitionLimits.rulesPerCase,
          description: 'Comparisons',
        }),
      }),
      {
        minItems: 1,
        maxItems: definitionLimits.casesPerNode,
        description: 'The first that matches; else `default`',
      },
    ),
  }),
  cohort: node('cohort', { cohortId: id('Members take `member`, others `default`') }),
  split: node('split', {
    groups: Type.Array(
      object({ id: key('Output'), name: Type.Optional(nameText('Name of the group', 200)), share }),
      { minItems: 2, maxItems: 26, description: 'From 2 to 26' },
    ),
  }),
  experiment: node('experiment', { experimentId: id('Its variants are the outputs') }),
  // Output: no edge leads on.
  json: node('json', {
    templateId: id('JSON template'),
    bindings: bindingsOf('Values of variables of the template'),
    redirect: Type.Optional(bindingOf('Where a click leads')),
  }),
  html: node('html', {
    html: storable('HTML with `{{name}}` for the bindings, whose values are escaped', 200_000),
    bindings: bindingsOf('Values of `{{name}}`'),
    redirect: Type.Optional(bindingOf('Where a click leads')),
  }),
  image: node('image', {
    url: storable('Address of the image, with `{{name}}` for the bindings', 2_048),
    bindings: bindingsOf('Values of `{{name}}`'),
    redirect: Type.Optional(bindingOf('Where a click leads')),
  }),
  redirect: node('redirect', {
    url: storable('Address of the page, with `{{name}}` for the bindings', 2_048),
    bindings: bindingsOf('Values of `{{name}}`'),
  }),
  empty: node('empty', {}),
} as const

export type NodeType = keyof typeof nodeSchemas
export type WorkflowNodeOf<T extends NodeType> = Static<(typeof nodeSchemas)[T]>
export type WorkflowNode = { [T in NodeType]: WorkflowNodeOf<T> }[NodeType]

export const nodeCategories = {
  datasource: 'data',
  parameter: 'data',
  events: 'data',
  transform: 'data',
  context: 'data',
  conditions: 'logic',
  cohort: 'logic',
  split: 'logic',
  experiment: 'logic',
  json: 'output',
  html: 'output',
  image: 'output',
  redirect: 'output',
  empty: 'output',
} as const satisfies Record<NodeType, 'data' | 'logic' | 'output'>

/** From an entrypoint or node to a node, with what qualifies the branches that take it. */
export const Edge = named('WorkflowEdge', {
  from: key('Entrypoint or node'),
  to: key('Node'),
  output: Type.Optional(key('Output of a logic node: a case, group or variant, `member` or `default`')),
  name: Type.Optional(nameText('Name of the branch', 200)),
  individualized: Type.Optional(flag('Whether branches through it are individualised, whatever their score')),
  categoryId: Type.Optional(id('Branch category')),
  loopWindow: Type.Optional(integer(1, 8_760, 'Loop window of the branch, in hours')),
  tags: Type.Optional(
    Type.Array(object({ tagKeyId: id('Tag key'), tagValueId: id('Its value') }), {
      maxItems: 50,
      description: 'What statistics filter branches by',
    }),
  ),
})
export type Edge = Static<typeof Edge>

/** A whole graph whose parts have their shapes; what is stored of a draft need not have them yet. */
export interface WorkflowDefinition {
  readonly nodes: Readonly<Record<string, WorkflowNode>>
  readonly entrypoints: Readonly<Record<string, Entrypoint>>
  readonly edges: Readonly<Record<string, Edge>>
}

/** Rules that a definition can break (docs/workflows.md, Validation). */
export const definitionRules = [
  'shape',
  'limit',
  'entrypoint',
  'edges',
  'cycle',
  'unreachable',
  'paths',
  'format',
  'binding',
  'operator',
  'shares',
  'expression',
  'reference',
  'template',
  'address',
  'tag',
  'category',
] as const
export type DefinitionRule = (typeof definitionRules)[number]

/** What is wrong with a definition, where, and what would be right. */
export const DefinitionFault = named('WorkflowDefinitionFault', {
  path: like('nodes.n1.url'),
  nodeId: Type.Optional(Type.String()),
  edgeId: Type.Optional(Type.String()),
  entrypointId: Type.Optional(Type.String()),
  rule: oneOf(definitionRules),
  message: text('A sentence that names what is wrong and what would be right'),
})
export type DefinitionFault = Static<typeof DefinitionFault>

/** One difference between two definitions. */
export const DefinitionChange = named('WorkflowDefinitionChange', {
  kind: oneOf(['entrypoint', 'node', 'edge']),
  id: Type.String(),
  change: oneOf(['added', 'removed', 'changed']),
  fields: listOf(Type.String(), 'Those that differ, where it was changed'),
  description: like('Node "hero" (image) changed: url'),
})
export type DefinitionChange = Static<typeof DefinitionChange>
