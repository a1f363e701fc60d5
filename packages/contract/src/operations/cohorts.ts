import { Type } from 'typebox'
import { EmptyObject, paginatedEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import {
  Cohort,
  CohortCreation,
  CohortList,
  CohortMember,
  CohortSize,
  CohortUpdate,
  cohortLimits,
} from '../resources/cohort.ts'
import { idParams, pagination, strict } from '../resources/formats.ts'
import { etag, expectedRevision } from '../revision.ts'

const access = { resource: 'statistics', action: 'access' } as const
const params = idParams('Identifier of the cohort')
const ofAnother = 'Statistics: access; for what another user made also Statistics: manage'

/** What a rule can be wrong about. */
const ruleErrors = ['unknownMember', 'invalidQuery', 'tooComplex'] as const
const queryErrors = ['invalidQuery', 'tooComplex', 'timeout', 'tooManyRequests'] as const

const rule = {
  and: [
    {
      event: {
        events: ['purchase'],
        filters: [{ member: 'events.deviceType', operator: 'equals', values: ['mobile'] }],
      },
      atLeast: 2,
      dateRange: 'last 90 days',
    },
    { label: { key: 'country', operator: 'equals', values: ['France'] } },
    { not: { lastSeen: { before: '30 days ago' } } },
  ],
}
const example = {
  id: '65f0c0ffee5ca1ab1e0ddba1',
  companyId: '65f0c0ffee5ca1ab1e0ddba2',
  name: 'Active buyers from France',
  description: '',
  kind: 'rule',
  rule,
  listed: null,
  revision: 3,
  ownerId: '65f0c0ffee5ca1ab1e0ddba3',
  createdAt: '2026-01-31T12:00:00.000Z',
  updatedAt: '2026-01-31T12:00:00.000Z',
}
const reply = (description: string) => ({
  200: { description, headers: etag, examples: { rule: { summary: 'With a rule', value: example } } },
})

export const listCohorts = {
  id: 'listCohorts',
  extension: true,
  method: 'GET',
  url: '/v2/statistics/cohorts',
  scope: 'authenticated',
  permission: access,
  tag: 'Statistics',
  summary: 'List cohorts',
  description: `Cohorts of the company by name. A company has at most ${cohortLimits.perCompany}.`,
  errors: [],
  replies: {
    200: { description: 'One page', examples: { one: { summary: 'One', value: [example] } } },
  },
  schema: {
    querystring: Type.Object({ ...pagination }, strict),
    response: { 200: paginatedEnvelope(Cohort) },
  },
} as const satisfies Operation

export const createCohort = {
  id: 'createCohort',
  extension: true,
  method: 'POST',
  url: '/v2/statistics/cohorts',
  scope: 'authenticated',
  permission: access,
  tag: 'Statistics',
  summary: 'Save a group of persons',
  description: [
    'A cohort has a `rule`, which is read whenever a query runs, or a list of `persons`; one of the two is given. Queries filter by it: `{"member": "persons.cohort", "operator": "equals", "values": ["<id>"]}`.',
    'A rule is one of `event` (with `atLeast`, `atMost`, `dateRange`), `firstSeen`, `lastSeen`, `label` (with `dateRange`), `and`, `or` and `not`. Dates are read in the company’s time zone. A rule cannot name another cohort.',
    `A list of more than 1 MiB is sent by \`PUT\` to \`/members\`, up to ${cohortLimits.persons.toLocaleString('en-US')} persons.`,
  ].join('\n\n'),
  audit: { action: 'cohort-create', target: 'cohort', named: 'name' },
  errors: ['cohortNameTaken', 'tooManyCohorts', ...ruleErrors],
  examples: {
    rule: { summary: 'By a rule', value: { name: 'Active buyers from France', rule } },
    list: { summary: 'By a list', value: { name: 'Panel', persons: ['customer-17850', 'customer-13047'] } },
  },
  replies: reply('The cohort'),
  schema: { body: CohortCreation, response: { 200: successEnvelope(Cohort) } },
} as const satisfies Operation

export const readCohort = {
  id: 'readCohort',
  extension: true,
  method: 'GET',
  url: '/v2/statistics/cohorts/:id',
  scope: 'authenticated',
  permission: access,
  tag: 'Statistics',
  summary: 'Read a cohort',
  description: 'Its name and rule. Who is in it is read at `/size` and `/members`.',
  errors: ['cohortNotFound'],
  replies: reply('The cohort'),
  schema: { params, response: { 200: successEnvelope(Cohort) } },
} as const satisfies Operation

export const updateCohort = {
  id: 'updateCohort',
  extension: true,
  method: 'PATCH',
  url: '/v2/statistics/cohorts/:id',
  scope: 'authenticated',
  permission: access,
  access: ofAnother,
  tag: 'Statistics',
  summary: 'Change a cohort',
  description:
    'A partial update: a field that is absent stays as it is. A rule is replaced as a whole; a list cannot become a rule.',
  audit: { action: 'cohort-update', target: 'cohort' },
  errors: ['cohortNotFound', 'savedMeanwhile', 'cohortNameTaken', 'cohortKind', ...ruleErrors],
  examples: {
    rename: { summary: 'Another name', value: { name: 'Buyers from France' } },
    rule: { summary: 'Another rule', value: { rule: { firstSeen: { dateRange: 'last 30 days' } } } },
  },
  replies: reply('The cohort as it is now'),
  schema: {
    params,
    headers: expectedRevision,
    body: CohortUpdate,
    response: { 200: successEnvelope(Cohort) },
  },
} as const satisfies Operation

export const deleteCohort = {
  id: 'deleteCohort',
  extension: true,
  method: 'DELETE',
  url: '/v2/statistics/cohorts/:id',
  scope: 'authenticated',
  permission: access,
  access: ofAnother,
  tag: 'Statistics',
  summary: 'Delete a cohort',
  description:
    'Queries that filter by it are answered with 400 from then on, saved ones too. One that a published workflow uses stays.',
  audit: { action: 'cohort-delete', target: 'cohort' },
  errors: ['cohortNotFound', 'savedMeanwhile', 'usedByWorkflows'],
  replies: { 200: { description: 'It is deleted' } },
  schema: { params, headers: expectedRevision, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation

export const readCohortSize = {
  id: 'readCohortSize',
  extension: true,
  method: 'GET',
  url: '/v2/statistics/cohorts/:id/size',
  scope: 'authenticated',
  permission: access,
  tag: 'Statistics',
  summary: 'Count the persons of a cohort',
  description: 'Counted now, as a query, under the limits of queries.',
  errors: ['cohortNotFound', ...queryErrors],
  replies: {
    200: {
      description: 'How many persons it has',
      examples: {
        some: {
          summary: 'Some',
          value: { people: 412, identified: 380, readAt: '2026-01-31T12:00:00.000Z' },
        },
      },
    },
  },
  schema: { params, response: { 200: successEnvelope(CohortSize) } },
} as const satisfies Operation

export const listCohortMembers = {
  id: 'listCohortMembers',
  extension: true,
  method: 'GET',
  url: '/v2/statistics/cohorts/:id/members',
  scope: 'authenticated',
  permission: { resource: 'statistics', action: 'export' },
  tag: 'Statistics',
  summary: 'List the persons of a cohort',
  description: 'Persons whom the company has events of, by the bytes of their names, found by a query now.',
  errors: ['cohortNotFound', ...queryErrors],
  replies: {
    200: {
      description: 'One page',
      examples: {
        one: {
          summary: 'One',
          value: [
            {
              person: 'customer-17850',
              isIdentified: true,
              events: 34,
              firstSeen: '2025-12-01T08:26:00.000Z',
              lastSeen: '2026-01-30T17:02:11.000Z',
            },
          ],
        },
      },
    },
  },
  schema: {
    params,
    querystring: Type.Object({ ...pagination }, strict),
    response: { 200: paginatedEnvelope(CohortMember) },
  },
} as const satisfies Operation

export const replaceCohortMembers = {
  id: 'replaceCohortMembers',
  extension: true,
  method: 'PUT',
  url: '/v2/statistics/cohorts/:id/members',
  scope: 'authenticated',
  permission: access,
  access: ofAnother,
  tag: 'Statistics',
  summary: 'Replace the list of a cohort',
  description: `All of the list, up to ${cohortLimits.persons.toLocaleString('en-US')} persons in a body of 8 MiB; repeated ones count once. A cohort with a rule has no list.`,
  audit: { action: 'cohort-update', target: 'cohort' },
  errors: ['cohortNotFound', 'savedMeanwhile', 'cohortKind'],
  examples: { two: { summary: 'Two persons', value: { persons: ['customer-17850', 'customer-13047'] } } },
  replies: { 200: { description: 'The cohort as it is now', headers: etag } },
  schema: { params, headers: expectedRevision, body: CohortList, response: { 200: successEnvelope(Cohort) } },
} as const satisfies Operation
