import type { Static } from 'typebox'
import { bodyOf, dateTime, id, named, nameText, nullable, text } from './formats.ts'

/** A token of the company for its identity provider; the secret is in the answer that creates it and nowhere else. */
export const ScimToken = named('ScimToken', {
  id: id('Identifier of the token'),
  label: text('What the company calls it', 'Okta'),
  createdAt: dateTime('When it was created'),
  lastUsedAt: nullable(
    dateTime('When the identity provider used it last, to about ten seconds'),
    'Null until it is used',
  ),
})
export type ScimToken = Static<typeof ScimToken>

export const CreatedScimToken = named('CreatedScimToken', {
  ...ScimToken.properties,
  token: text('The secret: `scim_` and 43 characters, shown this once', `scim_${'x'.repeat(43)}`),
})
export type CreatedScimToken = Static<typeof CreatedScimToken>

const creation = { label: nameText('What the company calls the token', 100) }

export const ScimTokenCreation = bodyOf('ScimTokenCreation', CreatedScimToken, creation)
export type ScimTokenCreation = Static<typeof ScimTokenCreation>
