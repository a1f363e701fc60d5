import { languages } from '@millrace/contract/languages.ts'
import { boolean, pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id, instant, owned } from './columns.ts'

export const users = pgTable('users', {
  ...owned,
  /** As `parseEmailAddress` gives it; unique among the users of a company that are not deleted. */
  email: text('email').notNull(),
  /** Whether the address signs in to this account: one of the whole service, and none that is only invited. */
  holdsEmail: boolean('holds_email').notNull().default(true),
  /** argon2id in the PHC format; null for users without a password. */
  passwordHash: text('password_hash'),
  /** Whether it was chosen behind a link that others have seen, and no mail has reached the user since. */
  passwordHandedOver: boolean('password_handed_over').notNull().default(false),
  /** Only the active may sign in and only their tokens work. */
  status: text('status', { enum: ['invited', 'active', 'disabled', 'deleted'] }).notNull(),
  roleId: id('role_id').notNull(),
  firstName: text('first_name').notNull().default(''),
  lastName: text('last_name').notNull().default(''),
  jobTitle: text('job_title').notNull().default(''),
  phone: text('phone').notNull().default(''),
  /** Null follows the company. */
  language: text('language', { enum: languages }),
  theme: text('theme', { enum: ['light', 'dark', 'system'] })
    .notNull()
    .default('system'),
  /** IANA name of the zone in which screens show times; null follows the company. */
  timezone: text('timezone'),
  favourites: text('favourites').array().notNull().default([]),
  /** A program that signs in with a password: provisioning does not see it, single sign-on does not bind it. */
  serviceAccount: boolean('service_account').notNull().default(false),
  lastSignInAt: instant('last_sign_in_at'),
  /** Whether the identity provider manages this user (SCIM). */
  provisioned: boolean('provisioned').notNull().default(false),
  /** The identity provider's own identifier, opaque. */
  externalId: text('external_id'),
  /** When the identity provider deleted the user, who is hidden from it while the account is disabled. */
  unprovisionedAt: instant('unprovisioned_at'),
  /** The identifier that the identity provider had for the user then. */
  formerExternalId: text('former_external_id'),
  ...history,
})
