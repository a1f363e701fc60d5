import { allOperations } from '@millrace/contract/operations/all.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DocumentedAnswers, openDocumentedAnswers } from '../support/documented-answers.ts'

/** Every field that the interface documents of the answers of its operations, held by presence and type. */

type Leaf =
  | 'string'
  | 'number'
  | 'boolean'
  | 'date'
  | 'id'
  | 'object'
  | 'string[]'
  | 'cell'
  | 'nothing'
  | 'no body'

/**
 * An object by its keys, of which one with `?` may be absent from some but not from all; `*` stands for every value of a
 * map. A list by its element.
 */
type Shape = Leaf | readonly [Shape] | { readonly [key: string]: Shape }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown) => typeof value === 'string'

const leaves: Readonly<Record<Leaf, (value: unknown) => boolean>> = {
  string: isText,
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  date: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value)),
  id: (value) => /^[0-9a-f]{24}$/.test(String(value)),
  object: isObject,
  'string[]': (value) => Array.isArray(value) && value.every(isText),
  cell: (value) => value === null || ['string', 'number', 'boolean'].includes(typeof value),
  'no body': (value) => value === '',
  nothing: (value) => isObject(value) && Object.keys(value).length === 0,
}

/** What values lack of a shape, each fault once. */
function faultsOf(shape: Shape, values: readonly unknown[], path: string): string[] {
  if (values.length === 0) return [`${path} is nowhere`]
  if (typeof shape === 'string') {
    return values.every(leaves[shape]) ? [] : [`${path} is no ${shape}: ${JSON.stringify(values[0])}`]
  }
  if (Array.isArray(shape)) {
    if (!values.every(Array.isArray)) return [`${path} is no list`]
    return faultsOf(shape[0] as Shape, values.flat(), `${path}[]`)
  }
  if (!values.every(isObject)) return [`${path} is no object`]
  return Object.entries(shape).flatMap(([key, inner]) => {
    if (key === '*') return faultsOf(inner, values.flatMap(Object.values), `${path}.*`)
    const name = key.replace('?', '')
    const having = values.filter((value) => name in value)
    const isAbsent = !key.endsWith('?') && having.length < values.length
    return [
      ...(isAbsent ? [`${path}.${name} is absent`] : []),
      ...faultsOf(
        inner,
        having.map((value) => value[name]),
        `${path}.${name}`,
      ),
    ]
  })
}

const success = (data: Shape): Shape => ({
  ...{ status: 'string', program: 'string', version: 'string', datetime: 'date', message: 'string' },
  ...{ data, code: 'number' },
})

const query: Shape = {
  ...{ measures: 'string[]', dimensions: 'string[]', 'limit?': 'number', 'order?': 'object' },
  filters: [{ 'dimension?': 'string', 'member?': 'string', operator: 'string', values: 'string[]' }],
  timeDimensions: [
    {
      ...{ dimension: 'string', 'granularity?': 'string', 'dateRange?': 'string[]' },
      'compareDateRange?': ['string[]'],
    },
  ],
}

const savedQuery: Shape = {
  ...{ name: 'string', queries: [query], schedule: 'object', companyId: 'id', id: 'id' },
  ...{ createdAt: 'date', updatedAt: 'date' },
}

const window: Shape = { start: 'date', end: 'date' }
const requester: Shape = { type: 'string', 'userId?': 'string' }

const evidence: Shape = {
  id: 'string',
  query: { measures: 'string[]', dimensions: 'string[]' },
  rows: [{ '*': { value: 'cell', 'metadata?': { link: 'string' } } }],
  sources: [{ service: 'string', queryLayer: 'string', members: 'string[]' }],
  freshness: { capturedAt: 'date' },
  ...{ state: 'string', executedAt: 'date', durationMs: 'number', rowCount: 'number' },
  ...{ embeddedRowCount: 'number', payloadBytes: 'number', resultHash: 'string' },
  ...{
    'operationId?': 'string',
    'warning?': 'string',
    'failureCode?': 'string',
    'failureMessage?': 'string',
  },
}

const report: Shape = {
  ...{ id: 'string', createdBy: 'string', requestedBy: requester, createdAt: 'date', updatedAt: 'date' },
  'title?': 'string',
  origin: { type: 'string', 'dashboardPath?': 'string', 'dashboardTitle?': 'string' },
  ...{ 'guidedAnalysis?': 'string', 'archivedAt?': 'date', sectionCount: 'number' },
  'activeGeneration?': { id: 'string', kind: 'string', status: 'string', startedAt: 'date' },
  'lastGenerationFailure?': {
    ...{ kind: 'string', question: 'string', evidence: [evidence], generationId: 'string', code: 'string' },
    ...{ message: 'string', retryable: 'boolean', failedAt: 'date', requestedBy: requester },
    'usage?': {
      ...{ queryCount: 'number', rowCount: 'number', payloadBytes: 'number' },
      ...{ agentTurns: 'number', durationMs: 'number' },
    },
  },
  'automatic?': {
    ...{ slug: 'string', cadence: 'string', settingsId: 'string' },
    period: {
      ...{ key: 'string', ...window, timezone: 'string' },
      comparisonWindows: { previousPeriod: window, 'previousYear?': window },
    },
    promptSnapshot: {
      ...{ templateKey: 'string', defaultVersion: 'number', settingsRevision: 'number' },
      ...{ locale: 'string', source: 'string', text: 'string' },
    },
    ...{ 'publicationQuality?': 'string', 'supersedesReportId?': 'string' },
  },
}

const experiment: Shape = {
  ...{ _id: 'id', companyId: 'id', name: 'string', hypothesis: 'string', createdBy: 'string' },
  ...{ type: 'string', unit: 'string', successMetric: 'string', status: 'string' },
  attachments: [{ surface: 'string', resourceId: 'string', attachedAt: 'date' }],
  variants: [{ id: 'string', name: 'string', allocation: 'number', tagValueId: 'string' }],
  ...{ baselineVariantId: 'string', systemTagKeyId: 'string', resourceGroupIds: 'string[]' },
  ...{ createdAt: 'date', updatedAt: 'date', scheduledAt: 'date', startedAt: 'date', readAt: 'date' },
  ...{ endedAt: 'date', archivedAt: 'date' },
  outcome: {
    ...{ status: 'string', routingVariantId: 'string', decidedBy: { type: 'string', userId: 'string' } },
    ...{ validated: 'boolean', confidence: 'number', pValue: 'number' },
    lift: { estimate: 'number', low: 'number', high: 'number' },
  },
}

const tagKey: Shape = {
  ...{ id: 'id', companyId: 'id', resourceGroupIds: 'string[]', createdAt: 'date', updatedAt: 'date' },
  type: 'string',
  definition: {
    ...{ name: 'string', assignmentMode: 'string', cardinality: 'string', description: 'string' },
    values: [{ _id: 'id', name: 'string', description: 'string' }],
  },
}

const branchTags: Shape = [{ tagKeyId: 'string', tagValueId: 'string', branchId: 'string' }]

const workflow: Shape = {
  ...{ _id: 'id', id: 'id', name: 'string', companyId: 'id', 'description?': 'string' },
  ...{ 'variableProfileId?': 'string', createdAt: 'date', updatedAt: 'date', 'archivedAt?': 'date' },
  ...{ hierarchy: 'string[]', status: 'string', hidden: 'boolean', resourceGroupIds: 'string[]' },
  integrations: [
    {
      ...{ type: 'string', format: 'string', outputTypes: 'string[]', parameters: 'object', id: 'string' },
      ...{ workflowId: 'string', shortId: 'string', display: 'string', click: 'string', domain: 'string' },
      ...{ code: 'string', selector: 'string', enabled: 'boolean', includeContext: 'boolean' },
      ...{ includeDatalayerPath: 'string[]', waitForEvents: 'string[]', emplacement: 'string' },
      filters: { type: 'string', conditions: [{ operator: 'string', field: 'string', values: 'string[]' }] },
    },
  ],
  versions: [
    {
      ...{ id: 'string', createdAt: 'date', updatedAt: 'date', state: 'string' },
      definition: { nodes: 'object', entrypoints: 'object', edges: 'object' },
      analyze: {
        entrypointsByBranches: [{ branch: 'string', entrypointIds: 'string[]' }],
        ...{ branches: 'string[]', individualizedBranches: 'string[]', branchesScore: 'object' },
        ...{ defaultBranches: 'string[]', usedDatasourceFields: 'object' },
        ...{ usedDatagraphEntityParameters: 'object', branchesInfos: 'object' },
        ...{ entrypointsPerDataNodeId: 'object', entrypointsPerPathId: 'object' },
        ...{ entrypointTypes: 'string[]', entrypointFormats: 'string[]', categoryIdByBranch: 'object' },
        ...{ loopWindowByBranch: 'object', branchTags },
        ...{ outputsForEntrypoint: 'object', datasForEntrypoint: 'object' },
      },
      metadata: 'object',
      analyzeOverrides: {
        vertexIndividualizedScore: 'object',
        customVertexNames: [{ vertexId: 'string', name: 'string' }],
        ...{ branchCategoryIds: 'object', branchLoopWindows: 'object', branchTags },
      },
      ...{ lastSavedBy: 'string', 'changeDescription?': 'string', complexityScore: 'number' },
    },
  ],
}

const template: Shape = {
  ...{ _id: 'id', id: 'id', type: 'string', createdAt: 'date', updatedAt: 'date', companyId: 'id' },
  ...{ resourceGroupIds: 'string[]', name: 'string', definition: 'object', redirectVariable: 'string' },
  variables: [{ name: 'string', type: 'string', description: 'string' }],
}

const scimConfig: Shape = {
  ...{ enabled: 'boolean', groupSync: 'boolean', roleSource: 'string', defaultRoleId: 'id' },
  ...{ roleMapping: [{ group: 'string', roleId: 'string' }], deprovisionMode: 'string' },
  ...{ baseUrl: 'string', lastSyncAt: 'date' },
}

const field: Shape = {
  ...{ name: 'string', type: 'string', selected: 'boolean', primitive: 'string' },
  ...{ rulesPerSources: 'object', source: 'string', ignoreIfMissing: 'boolean' },
  metadata: { 'locale?': 'string' },
}

/** By the number of the operation. */
const documented: readonly Shape[] = [
  { access_token: 'string', refresh_token: 'string', token_type: 'string', expires_in: 'number' },
  'no body',
  success([report]),
  success('string'),
  success({
    ...{ measures: 'object', dimensions: 'object' },
    queryCompatibility: { components: ['string[]'], measureSources: 'object' },
  }),
  success(savedQuery),
  success(savedQuery),
  success(experiment),
  success(tagKey),
  success(workflow),
  {
    ...(success([template]) as object),
    ...{ paginationCount: 'number', paginationPage: 'number', paginationLimit: 'number' },
  },
  success('object'),
  success({ fields: [field] }),
  ...[14, 15, 16].map(() => success('nothing')),
  success(scimConfig),
  success(scimConfig),
  'no body',
]

const failure: Shape = {
  ...{ program: 'string', version: 'string', datetime: 'date', status: 'string', code: 'number' },
  ...{ message: 'string', data: { id: 'string' }, error_code: 'number' },
}

let opened: DocumentedAnswers
beforeAll(async () => {
  opened = await openDocumentedAnswers()
})
afterAll(() => opened.close())

const numbers = allOperations.flatMap((operation) => ('number' in operation ? operation.number : []))

test('there are answers of every documented operation', () => {
  expect(numbers.toSorted((a, b) => a - b)).toEqual(documented.map((_, i) => i + 1))
})

test.each(documented.map((shape, i) => [i + 1, shape] as const))(
  'operation %i answers every documented field with its type',
  (number, shape) => {
    expect(faultsOf(shape, opened.answers.get(number) ?? [], `operation ${number}`)).toEqual([])
  },
)

test('the fail envelope has every documented field', () => {
  expect(faultsOf(failure, [opened.failure], 'failure')).toEqual([])
})
