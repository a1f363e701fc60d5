import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answersRevision, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import { Dashboard, DashboardInput, DashboardSummary, dashboardLimits } from '../resources/dashboard.ts'
import { idParams, nameText, oneOf } from '../resources/formats.ts'
import { expectedRevision } from '../revision.ts'

const operation = operationsOf('Statistics')
const url = '/v2/statistics/dashboards'
const params = idParams('Identifier of the dashboard')
const ofAnother = 'Statistics: access; for what another user made also Statistics: manage'
const contentErrors = [
  'unknownMember',
  'incompatibleMembers',
  'virtualMeasureFilter',
  'invalidQuery',
  'tooComplex',
  'unknownTeam',
  'notInTeam',
] as const

const sample = {
  name: 'Sales',
  tiles: [
    {
      id: 'revenue',
      title: 'Revenue by day',
      x: 0,
      y: 0,
      w: 8,
      h: 4,
      kind: 'query',
      query: {
        measures: ['purchases.revenue'],
        dimensions: [],
        filters: [],
        timeDimensions: [{ dimension: 'purchases.time', granularity: 'day' }],
      },
      view: 'area',
    },
    { id: 'note', title: '', x: 8, y: 0, w: 4, h: 4, kind: 'text', text: 'The campaign began on Monday.' },
  ],
  range: 'last 30 days',
  comparison: 'previous',
}

export const listDashboards = {
  ...operation('listDashboards', 'GET', url, 'statistics:access'),
  summary: 'List dashboards',
  description:
    'Those that the caller sees, without their tiles: dashboards that name no team, those of the caller’s teams and the caller’s own; with Statistics: manage all of the company.',
  ...lists('One page of dashboards', DashboardSummary, {
    q: Type.Optional(nameText('Only those whose name or description contains it, whatever its case')),
    sortBy: Type.Optional(oneOf(['name', 'updatedAt', 'createdAt'], '`updatedAt` when absent')),
    sortOrder: Type.Optional(oneOf(['asc', 'desc'], 'When absent, names ascend and times descend')),
  }),
} as const satisfies Operation

export const createDashboard = {
  ...operation('createDashboard', 'POST', url, 'statistics:access'),
  access: 'Statistics: access, and membership of every team in `resourceGroupIds`',
  summary: 'Make a dashboard',
  description: `Queries and explorations of tiles are checked as if they were run; \`path\` of a failure begins with their place (\`tiles.2.query.measures.0\`). Tiles and filters have at most ${dashboardLimits.characters.toLocaleString('en-US')} characters of JSON together; a company has at most ${dashboardLimits.perCompany.toLocaleString('en-US')} dashboards.`,
  audit: { action: 'dashboard-create', target: 'dashboard', named: 'name' },
  errors: [...contentErrors, 'tooManyDashboards'],
  examples: { sales: example('A chart and a note', sample) },
  ...answersRevision('The dashboard', Dashboard, { body: DashboardInput }),
} as const satisfies Operation

export const readDashboard = {
  ...operation('readDashboard', 'GET', `${url}/:id`, 'statistics:access'),
  summary: 'Read a dashboard',
  description: 'With its tiles. What they show is asked by their own operations.',
  errors: ['dashboardNotFound'],
  ...answersRevision('The dashboard', Dashboard, { params }),
} as const satisfies Operation

export const replaceDashboard = {
  ...operation('replaceDashboard', 'PUT', `${url}/:id`, 'statistics:access'),
  access: `${ofAnother}; membership of every team that is added to \`resourceGroupIds\``,
  summary: 'Replace a dashboard',
  description:
    'All of it: a field that is absent is not kept. What has not changed is not checked again, so that a dashboard is saved although a member of another tile is gone.',
  audit: { action: 'dashboard-update', target: 'dashboard' },
  errors: ['dashboardNotFound', 'savedMeanwhile', ...contentErrors],
  examples: { sales: example('A chart and a note', sample) },
  ...answersRevision('The dashboard as it is now', Dashboard, {
    params,
    headers: expectedRevision,
    body: DashboardInput,
  }),
} as const satisfies Operation

export const deleteDashboard = {
  ...operation('deleteDashboard', 'DELETE', `${url}/:id`, 'statistics:access'),
  access: ofAnother,
  summary: 'Delete a dashboard',
  description: 'What its tiles show is not touched.',
  audit: { action: 'dashboard-delete', target: 'dashboard' },
  errors: ['dashboardNotFound', 'savedMeanwhile'],
  ...succeeds('It is deleted', { params, headers: expectedRevision }),
} as const satisfies Operation

export const duplicateDashboard = {
  ...operation('duplicateDashboard', 'POST', `${url}/:id/duplicate`, 'statistics:access'),
  summary: 'Duplicate a dashboard',
  description: 'The copy is the caller’s own, called "Copy of ...", with the same tiles, for the same teams.',
  audit: { action: 'dashboard-duplicate', target: 'dashboard' },
  errors: ['dashboardNotFound', 'tooManyDashboards'],
  ...answersRevision('The copy', Dashboard, { params }),
} as const satisfies Operation
