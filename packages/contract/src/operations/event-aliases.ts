import { Type } from 'typebox'
import { EmptyObject, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { EventAlias, EventAliasSetting, eventName } from '../resources/event-alias.ts'
import { strict } from '../resources/formats.ts'

const url = '/v2/statistics/analytics/settings/event-aliases'
const byName = Type.Object({ name: eventName('The name that senders give') }, strict)

export const listEventAliases = {
  id: 'listEventAliases',
  extension: true,
  method: 'GET',
  url,
  scope: 'authenticated',
  permission: { resource: 'statistics', action: 'access' },
  tag: 'Statistics',
  summary: 'List event aliases',
  description: 'All renamed events of your company, by name. There are at most 200.',
  errors: [],
  replies: { 200: { description: 'The aliases' } },
  schema: { response: { 200: successEnvelope(Type.Array(EventAlias)) } },
} as const satisfies Operation

export const setEventAlias = {
  id: 'setEventAlias',
  extension: true,
  method: 'PUT',
  url: `${url}/:name`,
  scope: 'authenticated',
  permission: { resource: 'company', action: 'update' },
  tag: 'Statistics',
  summary: 'Rename a custom event',
  description: [
    'From now on events of this name answer under the alias, those of the past too, in every query. Nothing that is stored changes: deleting the alias brings the name back. Several names may have one alias, and events that are sent under the alias itself count with them.',
    'A filter that names the former name by `equals` or `notEquals` means the alias, so that saved queries go on as before; the other operators compare the name that is shown.',
    'Built-in events keep their names. An alias has no alias itself, and a name that others answer under gets none.',
  ].join('\n\n'),
  audit: { action: 'event-alias-set', target: 'event', named: 'name' },
  errors: ['eventAliasChain', 'tooManyEventAliases'],
  examples: { rename: { summary: 'Another name', value: { alias: 'registration' } } },
  replies: { 200: { description: 'The alias' } },
  schema: { params: byName, body: EventAliasSetting, response: { 200: successEnvelope(EventAlias) } },
} as const satisfies Operation

export const deleteEventAlias = {
  id: 'deleteEventAlias',
  extension: true,
  method: 'DELETE',
  url: `${url}/:name`,
  scope: 'authenticated',
  permission: { resource: 'company', action: 'update' },
  tag: 'Statistics',
  summary: 'Give an event its own name back',
  audit: { action: 'event-alias-delete', target: 'event', named: 'name' },
  errors: ['eventAliasNotFound'],
  replies: { 200: { description: 'The event answers under the name that senders give' } },
  schema: { params: byName, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation
