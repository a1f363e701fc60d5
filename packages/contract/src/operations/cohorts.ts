import type { Operation } from '../operation.ts'
import { answers, answersRevision, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import {
  Cohort,
  CohortCreation,
  CohortList,
  CohortMember,
  CohortRule,
  CohortSize,
  CohortUpdate,
  cohortLimits,
} from '../resources/cohort.ts'
import { idParams, named, searchIn, sorting } from '../resources/formats.ts'
import { expectedRevision } from '../revision.ts'

const operation = operationsOf('Statistics')
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
const sample = {
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
const sizes = {
  some: example('Some', { people: 412, identified: 380, readAt: '2026-01-31T12:00:00.000Z' }),
}
const samples = { rule: example('With a rule', sample) }

export const listCohorts = {
  ...operation('listCohorts', 'GET', '/v2/statistics/cohorts', 'statistics:access'),
  summary: 'List cohorts',
  description: `Cohorts of the company, by name unless they are sorted otherwise. A company has at most ${cohortLimits.perCompany}.`,
  ...lists(
    'One page',
    Cohort,
    { ...searchIn('name'), ...sorting(['name', 'updatedAt', 'createdAt'], '`name`') },
    {},
    { one: example('One', [sample]) },
  ),
} as const satisfies Operation

export const createCohort = {
  ...operation('createCohort', 'POST', '/v2/statistics/cohorts', 'statistics:access'),
  summary: 'Save a group of persons',
  description: [
    'A cohort has a `rule`, which is read whenever a query runs, or a list of `persons`; one of the two is given. Queries filter by it: `{"member": "persons.cohort", "operator": "equals", "values": ["<id>"]}`.',
    'A rule is one of `event` (with `atLeast`, `atMost`, `dateRange`), `firstSeen`, `lastSeen`, `label` (with `dateRange`), `and`, `or` and `not`. Dates are read in the company’s time zone. A rule cannot name another cohort.',
    `A list of more than 1 MiB is sent by \`PUT\` to \`/members\`, up to ${cohortLimits.persons.toLocaleString('en-US')} persons.`,
  ].join('\n\n'),
  audit: { action: 'cohort-create', target: 'cohort', named: 'name' },
  errors: ['cohortNameTaken', 'tooManyCohorts', ...ruleErrors],
  examples: {
    rule: example('By a rule', { name: 'Active buyers from France', rule }),
    list: example('By a list', { name: 'Panel', persons: ['customer-17850', 'customer-13047'] }),
  },
  ...answersRevision('The cohort', Cohort, { body: CohortCreation }, samples),
} as const satisfies Operation

export const readCohort = {
  ...operation('readCohort', 'GET', '/v2/statistics/cohorts/:id', 'statistics:access'),
  summary: 'Read a cohort',
  description: 'Its name and rule. Who is in it is read at `/size` and `/members`.',
  errors: ['cohortNotFound'],
  ...answersRevision('The cohort', Cohort, { params }, samples),
} as const satisfies Operation

export const updateCohort = {
  ...operation('updateCohort', 'PATCH', '/v2/statistics/cohorts/:id', 'statistics:access'),
  access: ofAnother,
  summary: 'Change a cohort',
  description:
    'A partial update: a field that is absent stays as it is. A rule is replaced as a whole; a list cannot become a rule.',
  audit: { action: 'cohort-update', target: 'cohort' },
  errors: ['cohortNotFound', 'savedMeanwhile', 'cohortNameTaken', 'cohortKind', ...ruleErrors],
  examples: {
    rename: example('Another name', { name: 'Buyers from France' }),
    rule: example('Another rule', { rule: { firstSeen: { dateRange: 'last 30 days' } } }),
  },
  ...answersRevision(
    'The cohort as it is now',
    Cohort,
    { params, headers: expectedRevision, body: CohortUpdate },
    samples,
  ),
} as const satisfies Operation

export const deleteCohort = {
  ...operation('deleteCohort', 'DELETE', '/v2/statistics/cohorts/:id', 'statistics:access'),
  access: ofAnother,
  summary: 'Delete a cohort',
  description:
    'Queries that filter by it are answered with 400 from then on, saved ones too. One that a published workflow uses stays.',
  audit: { action: 'cohort-delete', target: 'cohort' },
  errors: ['cohortNotFound', 'savedMeanwhile', 'usedByWorkflows'],
  ...succeeds('It is deleted', { params, headers: expectedRevision }),
} as const satisfies Operation

export const readCohortSize = {
  ...operation('readCohortSize', 'GET', '/v2/statistics/cohorts/:id/size', 'statistics:access'),
  summary: 'Count the persons of a cohort',
  description: 'Counted now, as a query, under the limits of queries.',
  errors: ['cohortNotFound', ...queryErrors],
  ...answers('How many persons it has', CohortSize, { params }, sizes),
} as const satisfies Operation

export const countCohortRule = {
  ...operation('countCohortRule', 'POST', '/v2/statistics/cohorts/size', 'statistics:access'),
  summary: 'Count the persons of a rule',
  description: 'As of a cohort with this rule, which is not saved: for whoever is writing one.',
  idempotent: true,
  errors: ['unknownMember', ...queryErrors],
  examples: { rule: example('Of a rule', { rule }) },
  ...answers(
    'How many persons the rule has',
    CohortSize,
    { body: named('CohortRuleCount', { rule: CohortRule }) },
    sizes,
  ),
} as const satisfies Operation

export const listCohortMembers = {
  ...operation('listCohortMembers', 'GET', '/v2/statistics/cohorts/:id/members', 'statistics:export'),
  summary: 'List the persons of a cohort',
  description: 'Persons whom the company has events of, by the bytes of their names, found by a query now.',
  errors: ['cohortNotFound', ...queryErrors],
  ...lists(
    'One page',
    CohortMember,
    {},
    { params },
    {
      one: example('One', [
        {
          person: 'customer-17850',
          isIdentified: true,
          events: 34,
          firstSeen: '2025-12-01T08:26:00.000Z',
          lastSeen: '2026-01-30T17:02:11.000Z',
        },
      ]),
    },
  ),
} as const satisfies Operation

export const replaceCohortMembers = {
  ...operation('replaceCohortMembers', 'PUT', '/v2/statistics/cohorts/:id/members', 'statistics:access'),
  access: ofAnother,
  summary: 'Replace the list of a cohort',
  description: `All of the list, up to ${cohortLimits.persons.toLocaleString('en-US')} persons in a body of 8 MiB; repeated ones count once. A cohort with a rule has no list.`,
  audit: { action: 'cohort-update', target: 'cohort' },
  errors: ['cohortNotFound', 'savedMeanwhile', 'cohortKind'],
  examples: { two: example('Two persons', { persons: ['customer-17850', 'customer-13047'] }) },
  ...answersRevision('The cohort as it is now', Cohort, {
    params,
    headers: expectedRevision,
    body: CohortList,
  }),
} as const satisfies Operation
