import { boolean, pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id, owned } from './columns.ts'

export const roles = pgTable('roles', {
  ...owned,
  name: text('name').notNull(),
  /** Made with the company and the same in all of them: it cannot be edited. */
  builtIn: boolean('built_in').notNull().default(false),
  ...history,
})

/** The (resource, action) pairs that a role allows, in the words of the contract's permission table. */
export const rolePermissions = pgTable(
  'role_permissions',
  {
    roleId: id('role_id').notNull(),
    resource: text('resource').notNull(),
    action: text('action').notNull(),
  },
  (table) => [primaryKey({ columns: [table.roleId, table.resource, table.action] })],
)
