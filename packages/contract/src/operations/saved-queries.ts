import { successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { idParams } from '../resources/formats.ts'
import { SavedQuery, SavedQueryCreation, SavedQueryUpdate } from '../resources/saved-query.ts'

const statisticsAccess = { resource: 'statistics', action: 'access' } as const

const queryErrors = [
  'unknownMember',
  'incompatibleMembers',
  'virtualMeasureFilter',
  'invalidQuery',
  'invalidSchedule',
] as const

const example = {
  name: 'Purchases by day',
  queries: [
    {
      measures: ['purchases.count'],
      dimensions: [],
      filters: [],
      timeDimensions: [{ dimension: 'purchases.time', granularity: 'day', dateRange: 'last 30 days' }],
    },
  ],
  schedule: {
    enabled: true,
    frequency: 'weekly',
    weekdays: [1],
    time: '07:30',
    timezone: 'Europe/Paris',
    recipients: ['ada@example.com'],
    format: 'csv',
  },
}

/** Operation 6. */
export const saveQuery = {
  id: 'saveQuery',
  number: 6,
  method: 'POST',
  url: '/v2/statistics/query/save',
  scope: 'authenticated',
  permission: statisticsAccess,
  tag: 'Statistics',
  summary: 'Save queries',
  description:
    'Saves one or several queries under a name, with a schedule where their results are to be mailed.',
  errors: queryErrors,
  examples: { weekly: { summary: 'Mailed every Monday', value: example } },
  replies: { 200: { description: 'The saved query' } },
  schema: { body: SavedQueryCreation, response: { 200: successEnvelope(SavedQuery) } },
} as const satisfies Operation

/** Operation 7. */
export const updateSavedQuery = {
  id: 'updateSavedQuery',
  number: 7,
  method: 'PATCH',
  url: '/v2/statistics/query/:id',
  scope: 'authenticated',
  permission: statisticsAccess,
  tag: 'Statistics',
  summary: 'Change a saved query',
  description:
    'A partial update: a field that is absent stays as it is. `schedule` is replaced as a whole; `{}` or null removes it.',
  errors: ['savedQueryNotFound', ...queryErrors],
  examples: {
    rename: { summary: 'Another name', value: { name: 'Orders by day' } },
    unschedule: { summary: 'No mail any more', value: { schedule: {} } },
  },
  replies: { 200: { description: 'The saved query as it is now' } },
  schema: {
    params: idParams('Identifier of the saved query'),
    body: SavedQueryUpdate,
    response: { 200: successEnvelope(SavedQuery) },
  },
} as const satisfies Operation
