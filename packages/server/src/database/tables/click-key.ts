import { pgTable } from '../../platform/stores/postgres/drizzle.ts'
import { bytes, id } from './columns.ts'

/** What a company's addresses of clicks are signed with. */
export const clickKeys = pgTable('click_keys', {
  companyId: id('company_id').primaryKey(),
  sealedKey: bytes('sealed_key').notNull(),
})
