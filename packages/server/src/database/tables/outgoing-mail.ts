import { boolean, integer, pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { bytes, id, instant } from './columns.ts'

/** A mail on its way. */
export const outgoingMails = pgTable('outgoing_mails', {
  id: id('id').primaryKey(),
  /** Null for mails to nobody's user. */
  companyId: id('company_id'),
  recipient: text('recipient').notNull(),
  /** Sealed, because it may hold a link; null once the mail is sent or given up. */
  sealedContent: bytes('sealed_content'),
  /** Whether a user waits for it. */
  isAwaited: boolean('is_awaited').notNull().default(false),
  attempts: integer('attempts').notNull().default(0),
  createdAt: instant('created_at').notNull().defaultNow(),
  dueAt: instant('due_at').notNull().defaultNow(),
  sentAt: instant('sent_at'),
  failedAt: instant('failed_at'),
  lastError: text('last_error'),
})
