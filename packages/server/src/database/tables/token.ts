import { integer, pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { bytes, id, instant } from './columns.ts'

/** A session of a user in a client. Deleting the row ends the session and its access tokens. */
export const refreshTokens = pgTable('refresh_tokens', {
  id: id('id').primaryKey(),
  /** Null for a client that may not refresh. */
  tokenHash: bytes('token_hash'),
  userId: id('user_id').notNull(),
  clientId: id('client_id').notNull(),
  /** Where the session was last used from: an IPv4 address or the /64 of an IPv6 one. */
  address: text('address').notNull(),
  /** What the program that it began with calls itself; empty when unknown. */
  userAgent: text('user_agent').notNull().default(''),
  createdAt: instant('created_at').notNull(),
  expiresAt: instant('expires_at').notNull(),
  /** How the user has authenticated. */
  method: text('method', { enum: ['password', 'sso'] })
    .notNull()
    .default('password'),
  /** How often the session's tokens were replaced by others; stays 0 unless the client rotates them. */
  generation: integer('generation').notNull().default(0),
  replacedAt: instant('replaced_at'),
  /** When the session last got an access token. */
  usedAt: instant('used_at').notNull(),
})

/** Refresh tokens of a session that were given before its last one. */
export const earlierRefreshTokens = pgTable('earlier_refresh_tokens', {
  tokenHash: bytes('token_hash').primaryKey(),
  refreshTokenId: id('refresh_token_id').notNull(),
  generation: integer('generation').notNull(),
  expiresAt: instant('expires_at').notNull(),
})

export const accessTokens = pgTable('access_tokens', {
  id: id('id').primaryKey(),
  tokenHash: bytes('token_hash').notNull(),
  refreshTokenId: id('refresh_token_id').notNull(),
  createdAt: instant('created_at').notNull(),
  expiresAt: instant('expires_at').notNull(),
})
