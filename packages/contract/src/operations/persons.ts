import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, lists, operationsOf } from '../operation-builders.ts'
import { idParams } from '../resources/formats.ts'
import {
  PersonErasure,
  PersonErasureRequest,
  PersonMatch,
  PersonReference,
} from '../resources/person-data.ts'

const operation = operationsOf('Accounts')
const url = '/v2/entities/persons'

const ada = example('By the identifier that your pages and servers send', { clientIds: ['client-4711'] })

export const findPerson = {
  ...operation('findPerson', 'POST', `${url}/search`, 'company:update'),
  summary: 'See what is stored of a person',
  description:
    'Counts what an export would hold and an erasure would remove. A person is what its `clientId` sent, and what the devices sent without one that an `identify` bound to it and to no other. The search is in the audit log, without the identifiers.',
  audit: { action: 'person-search', target: 'company', of: 'company' },
  errors: ['personTooLarge', 'tooManyRequests'],
  examples: { client: ada, order: example('By an order', { orders: ['order-1001'] }) },
  ...answers('What is stored', PersonMatch, { body: PersonReference }),
} as const satisfies Operation

export const exportPerson = {
  ...operation('exportPerson', 'POST', `${url}/export`, 'company:update'),
  access: 'Company: update and Statistics: export',
  summary: 'Export what is stored of a person',
  description:
    'A stream of NDJSON: the first line (`"table": "about"`) says what the others are, each of which is a row of the table that it names, with all that is stored. It is complete when it ends with the line `"table": "end"`.',
  audit: { action: 'person-export', target: 'company', of: 'company' },
  errors: ['personTooLarge', 'tooManyRequests'],
  examples: { client: ada },
  replies: { 200: { description: 'The rows' } },
  schema: {
    body: PersonReference,
    response: { 200: Type.String({ contentMediaType: 'application/x-ndjson' }) },
  },
} as const satisfies Operation

export const erasePerson = {
  ...operation('erasePerson', 'POST', `${url}/erase`, 'company:update'),
  summary: 'Erase a person',
  description: [
    'Removes everything that is stored of a person, also what waits to be loaded, and refuses events with the same identifiers for `refuseDays`. There is no way back. Statistics are computed anew without the person; orders to which others have contributed are computed of what is left.',
    'The reply comes before the work is done: read the erasure until its `state` is `done`. Identifiers are kept sealed until then, and as keyed hashes while they are refused. Results of saved queries and mails that were sent before go when they expire, within 7 days.',
    'Where several persons are meant, as of the device of a shop, `confirm` has to name how many.',
  ].join('\n\n'),
  audit: { action: 'person-erase', target: 'person-erasure' },
  errors: ['personTooLarge', 'personsNotConfirmed', 'tooManyErasures', 'tooManyRequests'],
  examples: { client: ada },
  ...answers('The erasure, queued', PersonErasure, { body: PersonErasureRequest }),
} as const satisfies Operation

export const listPersonErasures = {
  ...operation('listPersonErasures', 'GET', `${url}/erasures`, 'company:update'),
  summary: 'List erasures',
  description: 'The newest first.',
  ...lists('One page of erasures', PersonErasure),
} as const satisfies Operation

export const readPersonErasure = {
  ...operation('readPersonErasure', 'GET', `${url}/erasures/:id`, 'company:update'),
  summary: 'Read an erasure',
  errors: ['erasureNotFound'],
  ...answers('The erasure', PersonErasure, { params: idParams('Identifier of the erasure') }),
} as const satisfies Operation
