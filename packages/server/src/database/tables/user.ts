import { pgTable, text } from 'drizzle-orm/pg-core'
import { history, id } from './columns.ts'

export const users = pgTable('users', {
  id: id('id').primaryKey(),
  companyId: id('company_id').notNull(),
  /** As `parseEmailAddress` gives it; unique among all people who are not deleted. */
  email: text('email').notNull(),
  /** argon2id in the PHC format; null for people who have no password of their own. */
  passwordHash: text('password_hash'),
  /** Only the active may sign in and only their tokens work. */
  status: text('status', { enum: ['invited', 'active', 'disabled', 'deleted'] }).notNull(),
  roleId: id('role_id').notNull(),
  ...history,
})
