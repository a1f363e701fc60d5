import type { Static } from 'typebox'
import { dateTime, flag, id, named, nullable, text } from './formats.ts'

/** A session of a user with a client. */
export const OwnSession = named('OwnSession', {
  id: id('Identifier of the session'),
  clientId: id('The application that it was opened by'),
  clientName: text('What the application is called', 'Reports'),
  createdAt: dateTime('When it began'),
  lastUsedAt: dateTime('When it last got an access token'),
  network: text('Where it last got one from: an IPv4 address, or the /64 of an IPv6 one', '192.0.2.1'),
  browser: nullable(text('The browser that began it; null where none is known'), {
    examples: ['Firefox'],
  }),
  os: nullable(text('Its operating system; null where none is known'), {
    examples: ['Linux'],
  }),
  current: flag('Whether the token of this call belongs to it'),
})
export type OwnSession = Static<typeof OwnSession>
