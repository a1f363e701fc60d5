import { type Static, Type } from 'typebox'
import { dateTime, id, named, nullable, text } from './formats.ts'

/** A client that acts for a user: it has the user’s consent, or sessions. */
export const Application = named('Application', {
  id: id('Its `client_id`'),
  name: text('What it is called', 'Reports'),
  consentedAt: nullable(dateTime('When you gave your consent; null for one that need not ask'), {
    examples: ['2026-01-31T12:00:00.000Z'],
  }),
  lastUsedAt: nullable(
    dateTime('When one of its sessions last got an access token; null without a session'),
    {
      examples: ['2026-02-01T08:30:00.000Z'],
    },
  ),
  sessions: Type.Integer({ minimum: 0, description: 'How many sessions it has with you', examples: [1] }),
})
export type Application = Static<typeof Application>
