import { boolean, pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id, owned } from './columns.ts'

/** A team; what it owns is a resource group of the interface. */
export const teams = pgTable('teams', {
  ...owned,
  name: text('name').notNull(),
  /** For users without a team of their own; one in each company. */
  isDefault: boolean('is_default').notNull().default(false),
  description: text('description').notNull().default(''),
  /** Members also reach the team's ancestors, up to but without the first that has the flag too. */
  reachesAncestors: boolean('reaches_ancestors').notNull().default(false),
  /** Whether the identity provider manages this team (SCIM). */
  provisioned: boolean('provisioned').notNull().default(false),
  externalId: text('external_id'),
  ...history,
})

export const teamMembers = pgTable(
  'team_members',
  {
    companyId: id('company_id').notNull(),
    teamId: id('team_id').notNull(),
    userId: id('user_id').notNull(),
    /** Whether the identity provider put the user into the team: only such a membership gives a role. */
    provisioned: boolean('provisioned').notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.teamId, table.userId] })],
)

/** The graph of teams: members of the parent may use what belongs to the child. */
export const teamParents = pgTable(
  'team_parents',
  {
    companyId: id('company_id').notNull(),
    parentId: id('parent_id').notNull(),
    childId: id('child_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.parentId, table.childId] })],
)
