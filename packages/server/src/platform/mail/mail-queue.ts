import type { Queries } from '../stores/relational.ts'
import type { Mail } from './outbox.ts'

/**
 * Puts a mail on its way inside a transaction, so that it goes out when, and only when, what it tells about
 * has happened; a mail server that is slow or down delays no request.
 */
export type EnqueueMail = (queries: Queries, mail: Mail) => Promise<void>
