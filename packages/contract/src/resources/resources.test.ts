import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { expect, test } from 'vitest'
import { CollectedEvent } from './collected-event.ts'
import { DatasourceField } from './datasource-field.ts'
import { Evidence } from './evidence.ts'
import { Experiment } from './experiment.ts'
import { JsonTemplate } from './json-template.ts'
import { BinaryFilter, Query, TimeDimension } from './query.ts'
import { ReportSummary, ReportUsage } from './report.ts'
import { SavedQuery, SavedQueryCreation, SavedQueryUpdate, Schedule } from './saved-query.ts'
import { ScimConfig, ScimConfigUpdate } from './scim-config.ts'
import { StatisticsMeta } from './statistics-meta.ts'
import { TagKey } from './tag-key.ts'
import { TokenRequest } from './token.ts'
import { Workflow, WorkflowCreation } from './workflow.ts'
import { Integration } from './workflow-integration.ts'
import { Analyze, AnalyzeOverrides, WorkflowVersion } from './workflow-version.ts'

/** The field names of each resource, copied from docs/interface.md, Resources and their fields. */
const documented: [string, { properties: object }, string][] = [
  ['Query', Query, 'measures dimensions filters timeDimensions limit order'],
  ['BinaryFilter', BinaryFilter, 'dimension member operator values'],
  ['TimeDimension', TimeDimension, 'dimension granularity compareDateRange dateRange'],
  ['SavedQuery', SavedQuery, 'name queries schedule companyId id createdAt updatedAt'],
  ['Schedule', Schedule, 'enabled frequency time weekdays days cron timezone recipients format'],
  [
    'ReportSummary',
    ReportSummary,
    'id createdBy requestedBy createdAt updatedAt title origin guidedAnalysis archivedAt sectionCount activeGeneration lastGenerationFailure automatic',
  ],
  ['ReportUsage', ReportUsage, 'queryCount rowCount payloadBytes agentTurns durationMs'],
  [
    'Evidence',
    Evidence,
    'id query rows sources freshness state executedAt durationMs rowCount embeddedRowCount payloadBytes resultHash operationId warning failureCode failureMessage',
  ],
  [
    'Experiment',
    Experiment,
    '_id companyId name hypothesis createdBy type unit successMetric status attachments variants baselineVariantId systemTagKeyId resourceGroupIds createdAt updatedAt scheduledAt startedAt readAt endedAt archivedAt outcome',
  ],
  ['TagKey', TagKey, 'id companyId resourceGroupIds createdAt updatedAt type definition'],
  ['TagKey.definition', TagKey.properties.definition, 'name assignmentMode cardinality values description'],
  [
    'Workflow',
    Workflow,
    '_id id name companyId description variableProfileId createdAt updatedAt archivedAt hierarchy status hidden resourceGroupIds integrations versions',
  ],
  [
    'Integration',
    Integration,
    'type format outputTypes parameters id workflowId shortId display click domain code selector enabled includeContext includeDatalayerPath waitForEvents filters emplacement',
  ],
  [
    'WorkflowVersion',
    WorkflowVersion,
    'id createdAt updatedAt state definition analyze metadata analyzeOverrides lastSavedBy changeDescription complexityScore',
  ],
  [
    'Analyze',
    Analyze,
    'entrypointsByBranches branches individualizedBranches branchesScore defaultBranches usedDatasourceFields usedDatagraphEntityParameters branchesInfos entrypointsPerDataNodeId entrypointsPerPathId entrypointTypes entrypointFormats categoryIdByBranch loopWindowByBranch branchTags outputsForEntrypoint datasForEntrypoint',
  ],
  [
    'AnalyzeOverrides',
    AnalyzeOverrides,
    'vertexIndividualizedScore customVertexNames branchCategoryIds branchLoopWindows branchTags',
  ],
  [
    'DatasourceField',
    DatasourceField,
    'name type selected primitive rulesPerSources source ignoreIfMissing metadata',
  ],
  [
    'JsonTemplate',
    JsonTemplate,
    '_id id type createdAt updatedAt companyId resourceGroupIds name definition variables redirectVariable',
  ],
  [
    'ScimConfig',
    ScimConfig,
    'enabled groupSync roleSource roleMapping defaultRoleId deprovisionMode baseUrl lastSyncAt',
  ],
  ['StatisticsMeta', StatisticsMeta, 'measures dimensions queryCompatibility'],
  [
    'StatisticsMeta.queryCompatibility',
    StatisticsMeta.properties.queryCompatibility,
    'components measureSources',
  ],
  ['CollectedEvent', CollectedEvent, 'key name url referrer tmpId clientId data eventId v timestamp consent'],
]

test.each(documented)('%s has exactly the fields of docs/interface.md', (_name, { properties }, fields) => {
  const own = Object.entries(properties).filter(([, schema]) => !schema['x-millrace-extension'])
  expect(own.map(([name]) => name).sort()).toEqual(fields.split(' ').sort())
})

const id = '65f0c0ffee5ca1ab1e0ddba1'
const at = '2026-01-31T12:00:00.000Z'
const query = { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }

const savedQuery = {
  id,
  companyId: id,
  name: 'Purchases',
  queries: [query],
  schedule: {},
  createdAt: at,
  updatedAt: at,
  revision: 1,
}
const workflow = {
  _id: id,
  id,
  companyId: id,
  name: 'Banner',
  description: '',
  createdAt: at,
  updatedAt: at,
  hierarchy: [],
  status: 'draft',
  hidden: false,
  resourceGroupIds: [id],
  integrations: [],
  versions: [],
}
const scimConfig = {
  enabled: false,
  groupSync: true,
  roleMapping: [],
  deprovisionMode: 'soft',
  baseUrl: 'http://127.0.0.1:8080/v2/scim/v2',
}

test('what was read can be sent back: response-only fields are accepted on input', () => {
  expect(Compile(SavedQuery).Check(savedQuery)).toBe(true)
  expect(Compile(SavedQueryCreation).Check(savedQuery)).toBe(true)
  expect(Compile(SavedQueryUpdate).Check(savedQuery)).toBe(true)
  expect(Compile(Workflow).Check(workflow)).toBe(true)
  expect(Compile(WorkflowCreation).Check(workflow)).toBe(true)
  expect(Compile(ScimConfig).Check(scimConfig)).toBe(true)
  expect(Compile(ScimConfigUpdate).Check({ ...scimConfig, lastSyncAt: at })).toBe(true)
})

test('response-only fields are ignored whatever they hold', () => {
  expect(Compile(SavedQueryUpdate).Check({ id: 5, companyId: null, createdAt: ['x'] })).toBe(true)
  expect(Compile(WorkflowCreation).Check({ ...workflow, status: 'live', versions: 'x' })).toBe(true)
})

test.each<[string, TSchema, unknown]>([
  ['an unknown field of a saved query', SavedQueryCreation, { name: 'a', queries: [query], owner: id }],
  ['a saved query without queries', SavedQueryCreation, { name: 'a', queries: [] }],
  ['a saved query without name', SavedQueryCreation, { queries: [query] }],
  ['null for queries', SavedQueryUpdate, { queries: null }],
  ['a weekday 0', SavedQueryUpdate, { schedule: { weekdays: [0] } }],
  ['a time 24:00', SavedQueryUpdate, { schedule: { time: '24:00' } }],
  [
    'a second recipient in an address',
    SavedQueryUpdate,
    { schedule: { recipients: ['a@b.c\r\nBcc: d@e.f'] } },
  ],
  ['a workflow for no team', WorkflowCreation, { name: 'a', resourceGroupIds: [] }],
  [
    'a workflow that is hidden by text',
    WorkflowCreation,
    { name: 'a', resourceGroupIds: [id], hidden: 'false' },
  ],
  ['enabled as text', ScimConfigUpdate, { enabled: 'true' }],
  ['another role source', ScimConfigUpdate, { roleSource: 'users' }],
  ['another deprovision mode', ScimConfigUpdate, { deprovisionMode: 'hard' }],
  ['a short role', ScimConfigUpdate, { defaultRoleId: 'abc' }],
  ['null for a role', ScimConfigUpdate, { defaultRoleId: null }],
  ['an extra key in a mapping', ScimConfigUpdate, { roleMapping: [{ group: 'a', roleId: id, x: 1 }] }],
  ['a token without client', TokenRequest, { grant_type: 'password', username: 'a', password: 'b' }],
  ['another grant', TokenRequest, { grant_type: 'client_credentials', client_id: 'a' }],
])('refuses %s', (_case, schema, value) => {
  expect(Compile(schema).Check(value)).toBe(false)
})

test('a schedule is removed by an empty object or null', () => {
  const accepts = Compile(SavedQueryUpdate)
  expect(accepts.Check({ schedule: {} })).toBe(true)
  expect(accepts.Check({ schedule: null })).toBe(true)
  expect(accepts.Check({})).toBe(true)
})

test('an experiment may have null dates and null statistics', () => {
  const experiment = {
    _id: id,
    companyId: id,
    name: 'Holdout',
    createdBy: id,
    type: 'holdout',
    unit: 'user',
    successMetric: 'unique_conversion',
    status: 'draft',
    attachments: [{ surface: 'workflow', resourceId: id, attachedAt: at }],
    variants: [{ id, name: 'A', allocation: 0.5, tagValueId: id }],
    resourceGroupIds: [id],
    createdAt: at,
    updatedAt: at,
    startedAt: null,
    outcome: {
      status: 'decided',
      decidedBy: { type: 'user', userId: id },
      pValue: null,
      lift: { estimate: 0.1, low: null, high: null },
    },
    metrics: [
      {
        id: 'orders',
        kind: 'unique_conversion',
        source: { purchases: true },
        role: 'success',
        direction: 'increase',
        windowHours: 168,
      },
    ],
    conversionWindowHours: 168,
    plannedSample: null,
    outlierCap: null,
    cupedDays: null,
    salt: id,
  }
  expect(Compile(Experiment).Check(experiment)).toBe(true)
})
