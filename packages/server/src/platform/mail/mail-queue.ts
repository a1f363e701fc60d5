import type { Queries } from '../stores/relational.ts'
import type { Mail } from './outbox.ts'

/**
 * Enqueues a mail inside a transaction, so that it is sent if, and only if, the change that it reports is
 * committed; a mail server that is slow or down delays no request.
 */
export type EnqueueMail = (queries: Queries, mail: Mail) => Promise<void>
