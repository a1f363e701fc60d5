import { type Static, Type } from 'typebox'
import { dateTime, id, nameText, oneOf, responseOnly, strict, webhookSecretPattern } from './formats.ts'

export const linkedAccountProviders = ['slack', 'teams', 'webhook'] as const
export type LinkedAccountProvider = (typeof linkedAccountProviders)[number]

/** A link from a user to a place that messages are sent to. Its address is a secret and never read back. */
export const LinkedAccount = Type.Object(
  {
    id: Type.String({
      description: 'Identifier of the linked account',
      examples: ['65f0c0ffee5ca1ab1e0ddba1'],
    }),
    userId: id('Whose it is'),
    provider: oneOf(linkedAccountProviders, { examples: ['slack'] }),
    name: Type.String({ examples: ['Sales channel'] }),
    host: Type.String({
      description: 'Host of the address; the rest of it stays secret',
      examples: ['hooks.slack.com'],
    }),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
  },
  { ...strict, title: 'LinkedAccount' },
)
export type LinkedAccount = Static<typeof LinkedAccount>

const creation = {
  provider: oneOf(linkedAccountProviders, { examples: ['slack'] }),
  name: nameText('How you call it', 100, { examples: ['Sales channel'] }),
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    writeOnly: true,
    description:
      'Address of an incoming webhook in Slack, of a workflow for webhooks in Teams, or any public https address',
    examples: ['https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX'],
  }),
  secret: Type.Optional(
    Type.String({
      pattern: webhookSecretPattern,
      writeOnly: true,
      description: 'For a webhook: messages are signed with it',
      examples: ['Q0m6vS1x-9dTz-4hKw-rB27'],
    }),
  ),
}

export const LinkedAccountCreation = Type.Object(
  { ...creation, ...responseOnly(LinkedAccount, creation) },
  { ...strict, title: 'LinkedAccountCreation' },
)
export type LinkedAccountCreation = Static<typeof LinkedAccountCreation>
