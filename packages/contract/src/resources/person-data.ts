import { type Static, Type } from 'typebox'
import { eventLimits } from '../events/limits.ts'
import {
  count,
  dateTime,
  filled,
  id,
  integer,
  listOf,
  named,
  nullable,
  oneOf,
  optionals,
  text,
} from './formats.ts'

const identifiers = (what: string, example: string) =>
  listOf(filled(what, eventLimits.clientId, example), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: what,
  })

const person = {
  clientIds: identifiers('The `clientId` that its events have', 'client-4711'),
  tmpIds: identifiers('The `tmpId` of a device: all that the device sent, for any client', '5f0c7d2e-device'),
  orders: identifiers('The `transId` of orders: who placed them', 'order-1001'),
  emails: identifiers(
    'Addresses that orders have as a label: who placed them; and those that rows of datasources have',
    'ada@example.com',
  ),
}

/** Who is meant; at least one of the fields. */
export const PersonReference = named('PersonReference', optionals(person))
export type PersonReference = Static<typeof PersonReference>

export const PersonErasureRequest = named('PersonErasureRequest', {
  ...optionals(person),
  refuseDays: Type.Optional(
    integer(1, 365, 'Days for which events with the same identifiers are refused; 30 when absent', 30),
  ),
  confirm: Type.Optional(
    text(
      'Where several persons are meant: the words that the search or the refusal names',
      'erase 12 persons',
    ),
  ),
})
export type PersonErasureRequest = Static<typeof PersonErasureRequest>

/** What is stored of the person. */
export const PersonMatch = named('PersonMatch', {
  events: count('Events'),
  purchases: count('Of these, events of orders'),
  persons: count('Different `clientId` of these events; 1 where they have none'),
  devices: count('Devices that sent them'),
  rows: count('Rows of worker datasources that name it in a field with `isPerson`'),
  earliest: nullable(dateTime('When the first event happened')),
  latest: nullable(dateTime('When the last event happened')),
  confirm: nullable(text('What an erasure asks you to send as `confirm`; null for one person')),
})
export type PersonMatch = Static<typeof PersonMatch>

/** The receipt of an erasure: it holds nothing of the person. */
export const PersonErasure = named('PersonErasure', {
  id: id('Identifier of the erasure'),
  state: oneOf(['queued', 'done'], 'Whether everything is removed'),
  requestedBy: id('The user who asked for it'),
  requestedAt: dateTime('When it was asked for'),
  finishedAt: nullable(dateTime('When the last row was removed')),
  refuseUntil: dateTime('Until when events with the same identifiers are refused'),
  removed: nullable(
    Type.Record(Type.String(), Type.Integer(), {
      description: 'Rows that were removed, by kind; null until it is done',
    }),
  ),
})
export type PersonErasure = Static<typeof PersonErasure>
