import { type Static, Type } from 'typebox'
import { dateTime, id, nameText, nullable, responseOnly, strict } from './formats.ts'

/** A token of the company for its identity provider; the secret is in the answer that creates it and nowhere else. */
export const ScimToken = Type.Object(
  {
    id: id('Identifier of the token'),
    label: Type.String({ description: 'What the company calls it', examples: ['Okta'] }),
    createdAt: dateTime('When it was created'),
    lastUsedAt: nullable(dateTime('When the identity provider used it last, to about ten seconds'), {
      description: 'Null until it is used',
    }),
  },
  { ...strict, title: 'ScimToken' },
)
export type ScimToken = Static<typeof ScimToken>

export const CreatedScimToken = Type.Object(
  {
    ...ScimToken.properties,
    token: Type.String({
      description: 'The secret: `scim_` and 43 characters, shown this once',
      examples: [`scim_${'x'.repeat(43)}`],
    }),
  },
  { ...strict, title: 'CreatedScimToken' },
)
export type CreatedScimToken = Static<typeof CreatedScimToken>

const creation = { label: nameText('What the company calls the token', 100) }

export const ScimTokenCreation = Type.Object(
  { ...creation, ...responseOnly(CreatedScimToken, creation) },
  { ...strict, title: 'ScimTokenCreation' },
)
export type ScimTokenCreation = Static<typeof ScimTokenCreation>
