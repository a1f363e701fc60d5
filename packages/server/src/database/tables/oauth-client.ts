import { boolean, pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id } from './columns.ts'

/** A program that gets tokens for users; registered by the operator of the service, for users of every company. */
export const oauthClients = pgTable('oauth_clients', {
  id: id('id').primaryKey(),
  name: text('name').notNull(),
  /** Values of `grant_type` that the client may use. */
  grants: text('grants').array().notNull(),
  redirectUris: text('redirect_uris').array().notNull().default([]),
  /** Users are not asked for consent to a client of the operator's own. */
  firstParty: boolean('first_party').notNull().default(true),
  /** Every refresh gives another refresh token; without it one stays the same for the whole session. */
  rotatesRefreshTokens: boolean('rotates_refresh_tokens').notNull().default(false),
  /** Origins whose pages may read what the interface answers. */
  origins: text('origins').array().notNull().default([]),
  /** An application on a device, which may return to a private-use scheme (RFC 8252 7.1). */
  native: boolean('native').notNull().default(false),
  /** An inactive client gets no tokens, and those it has do not work. */
  active: boolean('active').notNull().default(true),
  ...history,
})
