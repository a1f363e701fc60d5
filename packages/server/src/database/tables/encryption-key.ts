import { pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { instant } from './columns.ts'

/** A key that secrets are sealed under; never the key itself. */
export const encryptionKeys = pgTable('encryption_keys', {
  keyId: text('key_id').primaryKey(),
  firstUsedAt: instant('first_used_at').notNull().defaultNow(),
})
