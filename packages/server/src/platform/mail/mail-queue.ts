import type { Queries } from '../stores/relational.ts'
import type { Attachment, Mail } from './outbox.ts'

/** A mail that waits. Of what it carries it names the place, which is read when it is sent. */
export interface QueuedMail extends Omit<Mail, 'attachments'> {
  readonly attachments?: readonly AttachmentReference[]
  /** Whether a user waits for it, as for a link to sign in with: it is sent beside the others, not behind them. */
  readonly isAwaited?: boolean
}

export interface AttachmentReference extends Omit<Attachment, 'content'> {
  /** Opaque to the queue: the feature that queued it reads it. */
  readonly source: string
}

/** The content of an attachment; undefined when it has been deleted. */
export type ReadAttachment = (source: string) => Promise<Buffer | undefined>

/**
 * Enqueues a mail inside a transaction, so that it is sent if, and only if, the change that it reports is
 * committed; a mail server that is slow or down delays no request.
 * @param companyId whose mail it is: it is not sent once the company's user with that address is deleted
 */
export type EnqueueMail = (queries: Queries, companyId: string | undefined, mail: QueuedMail) => Promise<void>
