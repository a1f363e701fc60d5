import { type Static, Type } from 'typebox'
import { bodyOf, id, like, named, nameText, oneOf, text, times, webhookSecretPattern } from './formats.ts'

export const linkedAccountProviders = ['slack', 'teams', 'webhook'] as const
export type LinkedAccountProvider = (typeof linkedAccountProviders)[number]

/** A link from a user to a place that messages are sent to. Its address is a secret and never read back. */
export const LinkedAccount = named('LinkedAccount', {
  id: text('Identifier of the linked account', '65f0c0ffee5ca1ab1e0ddba1'),
  userId: id('Whose it is'),
  provider: oneOf(linkedAccountProviders, { examples: ['slack'] }),
  name: like('Sales channel'),
  host: text('Host of the address; the rest of it stays secret', 'hooks.slack.com'),
  ...times,
})
export type LinkedAccount = Static<typeof LinkedAccount>

const creation = {
  provider: oneOf(linkedAccountProviders, { examples: ['slack'] }),
  name: nameText('How you call it', 100, { examples: ['Sales channel'] }),
  url: text(
    'Address of an incoming webhook in Slack, of a workflow for webhooks in Teams, or any public https address',
    'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
    { minLength: 1, maxLength: 2048, writeOnly: true },
  ),
  secret: Type.Optional(
    text('For a webhook: messages are signed with it', 'Q0m6vS1x-9dTz-4hKw-rB27', {
      pattern: webhookSecretPattern,
      writeOnly: true,
    }),
  ),
}

export const LinkedAccountCreation = bodyOf('LinkedAccountCreation', LinkedAccount, creation)
export type LinkedAccountCreation = Static<typeof LinkedAccountCreation>
