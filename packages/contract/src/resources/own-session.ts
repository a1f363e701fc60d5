import { type Static, Type } from 'typebox'
import { dateTime, id, nullable, strict } from './formats.ts'

/** A session of a user with a client. */
export const OwnSession = Type.Object(
  {
    id: id('Identifier of the session'),
    clientId: id('The application that it was opened by'),
    clientName: Type.String({ description: 'What the application is called', examples: ['Reports'] }),
    createdAt: dateTime('When it began'),
    lastUsedAt: dateTime('When it last got an access token'),
    network: Type.String({
      description: 'Where it last got one from: an IPv4 address, or the /64 of an IPv6 one',
      examples: ['192.0.2.1'],
    }),
    browser: nullable(Type.String({ description: 'The browser that began it; null where none is known' }), {
      examples: ['Firefox'],
    }),
    os: nullable(Type.String({ description: 'Its operating system; null where none is known' }), {
      examples: ['Linux'],
    }),
    current: Type.Boolean({ description: 'Whether the token of this call belongs to it' }),
  },
  { ...strict, title: 'OwnSession' },
)
export type OwnSession = Static<typeof OwnSession>
