import { boolean, integer, jsonb, pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { bytes, id, instant, owned } from './columns.ts'

/** What a company has set about its identity provider; absent for one that set nothing. */
export const scimConfigs = pgTable('scim_configs', {
  companyId: id('company_id').primaryKey(),
  enabled: boolean('enabled').notNull().default(false),
  groupSync: boolean('group_sync').notNull().default(true),
  /** Null: the identity provider moves no roles. */
  roleSource: text('role_source', { enum: ['groups'] }),
  defaultRoleId: id('default_role_id'),
  deprovisionMode: text('deprovision_mode', { enum: ['soft'] })
    .notNull()
    .default('soft'),
  lastSyncAt: instant('last_sync_at'),
})

/** Which role a group gives; the first match by `position` holds. */
export const scimRoleMappings = pgTable(
  'scim_role_mappings',
  {
    companyId: id('company_id').notNull(),
    position: integer('position').notNull(),
    groupName: text('group_name').notNull(),
    roleId: id('role_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.companyId, table.position] })],
)

/** A token of a company's identity provider. */
export const scimTokens = pgTable('scim_tokens', {
  ...owned,
  label: text('label').notNull(),
  tokenHash: bytes('token_hash').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  lastUsedAt: instant('last_used_at'),
})

/** What the identity provider has sent about a user, as it is returned. */
export const scimUserAttributes = pgTable('scim_user_attributes', {
  userId: id('user_id').primaryKey(),
  attributes: jsonb('attributes').$type<Record<string, unknown>>().notNull(),
})
