import { Type } from 'typebox'
import { answeredInRows, rowsReply } from '../answered-in-rows.ts'
import type { Operation } from '../operation.ts'
import { answersRevision, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import { idParams, searchIn, sorting } from '../resources/formats.ts'
import {
  explorationKind,
  SavedExploration,
  SavedExplorationCreation,
  SavedExplorationUpdate,
  savedExplorationLimits,
} from '../resources/saved-exploration.ts'
import { expectedRevision } from '../revision.ts'

const operation = operationsOf('Statistics')
const url = '/v2/statistics/explorations'
const params = idParams('Identifier of the saved exploration')
const ofAnother = 'Statistics: access; for what another user saved also Statistics: manage'
const definitionErrors = ['unknownMember', 'incompatibleMembers', 'invalidQuery', 'tooComplex'] as const

const sample = {
  name: 'From a product to an order',
  exploration: 'funnel',
  definition: { steps: [{ events: ['product_page'] }, { events: ['purchase'] }], dateRange: 'last 30 days' },
}

export const listSavedExplorations = {
  ...operation('listSavedExplorations', 'GET', url, 'statistics:access'),
  summary: 'List saved explorations',
  description: 'Those of your company, the newest first unless they are sorted.',
  ...lists('One page of saved explorations', SavedExploration, {
    exploration: Type.Optional(explorationKind),
    ...searchIn('name'),
    ...sorting(['name', 'updatedAt', 'createdAt'], '`createdAt`'),
  }),
} as const satisfies Operation

export const saveExploration = {
  ...operation('saveExploration', 'POST', url, 'statistics:access'),
  summary: 'Save an exploration',
  description: `Saves a funnel, a retention or paths under a name. The definition is checked as if it were asked; \`path\` of a failure begins with \`definition\`. It has at most ${savedExplorationLimits.characters.toLocaleString('en-US')} characters of JSON; a company has at most ${savedExplorationLimits.perCompany.toLocaleString('en-US')} saved explorations.`,
  errors: [...definitionErrors, 'tooManySavedExplorations'],
  examples: { funnel: example('A funnel', sample) },
  ...answersRevision('The saved exploration', SavedExploration, { body: SavedExplorationCreation }),
} as const satisfies Operation

export const readSavedExploration = {
  ...operation('readSavedExploration', 'GET', `${url}/:id`, 'statistics:access'),
  summary: 'Read a saved exploration',
  errors: ['savedExplorationNotFound'],
  ...answersRevision('The saved exploration', SavedExploration, { params }),
} as const satisfies Operation

export const updateSavedExploration = {
  ...operation('updateSavedExploration', 'PATCH', `${url}/:id`, 'statistics:access'),
  access: ofAnother,
  summary: 'Change a saved exploration',
  description:
    'A partial update: a field that is absent stays as it is, and so does the kind. An unchanged definition is not checked again.',
  errors: ['savedExplorationNotFound', 'savedMeanwhile', ...definitionErrors],
  examples: { rename: example('Another name', { name: 'Orders' }) },
  ...answersRevision('The saved exploration as it is now', SavedExploration, {
    params,
    headers: expectedRevision,
    body: SavedExplorationUpdate,
  }),
} as const satisfies Operation

export const deleteSavedExploration = {
  ...operation('deleteSavedExploration', 'DELETE', `${url}/:id`, 'statistics:access'),
  access: ofAnother,
  summary: 'Delete a saved exploration',
  description: 'Tiles of dashboards hold definitions of their own, and are not touched.',
  errors: ['savedExplorationNotFound', 'savedMeanwhile'],
  ...succeeds('It is deleted', { params, headers: expectedRevision }),
} as const satisfies Operation

export const runSavedExploration = {
  ...answeredInRows,
  id: 'runSavedExploration',
  url: `${url}/:id/run`,
  summary: 'Run a saved exploration',
  description: 'Asks it now, with the rights of the caller, and answers as the operation of its kind does.',
  errors: [...answeredInRows.errors, 'savedExplorationNotFound'],
  replies: rowsReply(
    [{ step: 1, name: 'Product', people: 1200, conversionFromPrevious: null, conversionFromFirst: 1 }],
    'step,name,people,conversionFromPrevious,conversionFromFirst\r\n1,Product,1200,,1\r\n',
  ),
  schema: { ...answeredInRows.schema, params },
} as const satisfies Operation
