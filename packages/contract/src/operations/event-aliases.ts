import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf, succeeds } from '../operation-builders.ts'
import { EventAlias, EventAliasSetting, eventName } from '../resources/event-alias.ts'
import { object } from '../resources/formats.ts'

const operation = operationsOf('Statistics')

const url = '/v2/statistics/analytics/settings/event-aliases'
const byName = object({ name: eventName('The name that senders give') })

export const listEventAliases = {
  ...operation('listEventAliases', 'GET', url, 'statistics:access'),
  summary: 'List event aliases',
  description: 'All renamed events of your company, by name. There are at most 200.',
  ...answers('The aliases', Type.Array(EventAlias)),
} as const satisfies Operation

export const setEventAlias = {
  ...operation('setEventAlias', 'PUT', `${url}/:name`, 'company:update'),
  summary: 'Rename a custom event',
  description: [
    'From now on events of this name answer under the alias, those of the past too, in every query. Nothing that is stored changes: deleting the alias brings the name back. Several names may have one alias, and events that are sent under the alias itself count with them.',
    'A filter that names the former name by `equals` or `notEquals` means the alias, so that saved queries go on as before; the other operators compare the name that is shown.',
    'Built-in events keep their names. An alias has no alias itself, and a name that others answer under gets none.',
  ].join('\n\n'),
  audit: { action: 'event-alias-set', target: 'event', named: 'name' },
  errors: ['eventAliasChain', 'tooManyEventAliases'],
  examples: { rename: example('Another name', { alias: 'registration' }) },
  ...answers('The alias', EventAlias, { params: byName, body: EventAliasSetting }),
} as const satisfies Operation

export const deleteEventAlias = {
  ...operation('deleteEventAlias', 'DELETE', `${url}/:name`, 'company:update'),
  summary: 'Give an event its own name back',
  audit: { action: 'event-alias-delete', target: 'event', named: 'name' },
  errors: ['eventAliasNotFound'],
  ...succeeds('The event answers under the name that senders give', { params: byName }),
} as const satisfies Operation
