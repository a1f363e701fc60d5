import {
  bigint,
  boolean,
  integer,
  pgTable,
  primaryKey,
  text,
} from '../../platform/stores/postgres/drizzle.ts'
import { bytes, id, instant } from './columns.ts'

/** How a user has authenticated. */
const method = () => text('method', { enum: ['password', 'sso'] }).notNull()

/** A code of RFC 6749 4.1, kept for a while after its use so that a second use is noticed. */
export const authorizationCodes = pgTable('authorization_codes', {
  codeHash: bytes('code_hash').primaryKey(),
  userId: id('user_id').notNull(),
  clientId: id('client_id').notNull(),
  redirectUri: text('redirect_uri').notNull(),
  codeChallenge: text('code_challenge').notNull(),
  method: method(),
  /** What was verified; null for single sign-on. */
  passwordHash: text('password_hash'),
  createdAt: instant('created_at').notNull(),
  expiresAt: instant('expires_at').notNull(),
  usedAt: instant('used_at'),
  /** The session that its first use gave. */
  refreshTokenId: id('refresh_token_id'),
})

/** A sign-in between its first step and its end, bound to one browser. */
export const pendingSignIns = pgTable('pending_sign_ins', {
  secretHash: bytes('secret_hash').primaryKey(),
  browserHash: bytes('browser_hash').notNull(),
  userId: id('user_id').notNull(),
  clientId: id('client_id').notNull(),
  method: method(),
  passwordHash: text('password_hash'),
  /** Whether a one-time code was given or none is needed. */
  complete: boolean('complete').notNull(),
  /** One-time codes that were tried. */
  tries: integer('tries').notNull().default(0),
  createdAt: instant('created_at').notNull(),
  expiresAt: instant('expires_at').notNull(),
})

/** The authenticator of a user with one-time codes (RFC 6238). */
export const userAuthenticators = pgTable('user_authenticators', {
  userId: id('user_id').primaryKey(),
  sealedSecret: bytes('sealed_secret').notNull(),
  /** Null until a first code has shown that the secret arrived. */
  confirmedAt: instant('confirmed_at'),
  lastStep: bigint('last_step', { mode: 'number' }).notNull().default(0),
  createdAt: instant('created_at').notNull().defaultNow(),
})

export const recoveryCodes = pgTable(
  'recovery_codes',
  { userId: id('user_id').notNull(), codeHash: bytes('code_hash').notNull() },
  (table) => [primaryKey({ columns: [table.userId, table.codeHash] })],
)

/** A link to set a password, which is mailed or passed on by the inviting user. */
export const userLinks = pgTable('user_links', {
  id: id('id').primaryKey(),
  kind: text('kind', { enum: ['password-reset', 'invitation'] }).notNull(),
  secretHash: bytes('secret_hash').notNull(),
  userId: id('user_id').notNull(),
  createdBy: id('created_by'),
  createdAt: instant('created_at').notNull(),
  expiresAt: instant('expires_at').notNull(),
  /** Used, or revoked by a newer link or another sign-in method. */
  endedAt: instant('ended_at'),
})

/** Third-party applications that a user has consented to. */
export const clientConsents = pgTable(
  'client_consents',
  {
    userId: id('user_id').notNull(),
    clientId: id('client_id').notNull(),
    grantedAt: instant('granted_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.clientId] })],
)
