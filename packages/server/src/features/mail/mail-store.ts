import { sealedColumns } from '../../database/sealed-columns.ts'
import { outgoingMails } from '../../database/tables/outgoing-mail.ts'
import { type SecretBox, SecretBoxError, UnknownSecretKey } from '../../platform/crypto/secret-box.ts'
import { newId } from '../../platform/ids.ts'
import type { EnqueueMail, QueuedMail } from '../../platform/mail/mail-queue.ts'
import { MailRefused } from '../../platform/mail/outbox.ts'
import { and, eq, isNotNull, isNull, lte, sql } from '../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../platform/stores/relational.ts'

export interface DueMail {
  readonly id: string
  /** Of this attempt, from 1. */
  readonly attempt: number
  /**
   * Opens the text.
   * @throws MailRefused when it was changed; UnknownSecretKey
   */
  read(): QueuedMail
}

const { contextOf } = sealedColumns.mailContent

/** Seals a mail and queues it. */
export function createMailQueue(box: SecretBox): EnqueueMail {
  return async (queries, companyId, { to, isAwaited = false, ...content }) => {
    const id = newId()
    const sealedContent = box.seal(JSON.stringify(content), contextOf(id))
    await queries
      .insert(outgoingMails)
      .values({ id, companyId: companyId ?? null, recipient: to, sealedContent, isAwaited })
  }
}

const keptDays = 30
/** Max length of a failure that is kept; a server may send any amount. */
const maxErrorLength = 500

export function createMailStore(db: Queries, box: SecretBox) {
  const waiting = and(isNull(outgoingMails.sentAt), isNull(outgoingMails.failedAt))
  const ended = sql`(${outgoingMails.sentAt} is not null or ${outgoingMails.failedAt} is not null)`

  function open(id: string, sealed: Buffer): Omit<QueuedMail, 'to' | 'isAwaited'> {
    try {
      return JSON.parse(box.open(sealed, contextOf(id)).toString('utf8'))
    } catch (error) {
      if (!(error instanceof SecretBoxError) || error instanceof UnknownSecretKey) throw error
      throw new MailRefused('its text cannot be opened: it was changed', { cause: error })
    }
  }

  return {
    /** When the next mail of a lane can be taken. */
    dueAt: (isAwaited: boolean) =>
      sql`(select min(due_at) from ${outgoingMails}
        where sent_at is null and failed_at is null and is_awaited = ${isAwaited})`,

    /**
     * Takes the mail that is due longest; no other process gets it until `leaseSeconds` have passed.
     * @param isAwaited of those that a user waits for, or of the others; default all
     */
    async takeDue(leaseSeconds: number, isAwaited?: boolean): Promise<DueMail | undefined> {
      const rows = await sqlOn(db)<{
        id: string
        recipient: string
        sealed_content: Buffer
        attempts: number
      }>`
        update ${outgoingMails} set attempts = attempts + 1, due_at = now() + make_interval(secs => ${leaseSeconds})
        where id = (
          select id from ${outgoingMails} where sent_at is null and failed_at is null and due_at <= now()
            and ${isAwaited === undefined ? sql`true` : sql`is_awaited = ${isAwaited}`}
          order by due_at limit 1 for update skip locked
        ) returning id, recipient, sealed_content, attempts`
      const [row] = rows
      return (
        row && {
          id: row.id,
          attempt: row.attempts,
          read: () => ({ to: row.recipient, ...open(row.id, row.sealed_content) }),
        }
      )
    },

    async markSent(id: string): Promise<void> {
      await db
        .update(outgoingMails)
        .set({ sentAt: sql`now()`, sealedContent: null, lastError: null })
        .where(eq(outgoingMails.id, id))
    },

    async postpone(id: string, seconds: number, error: string): Promise<void> {
      await db
        .update(outgoingMails)
        .set({
          dueAt: sql`now() + make_interval(secs => ${seconds})`,
          lastError: error.slice(0, maxErrorLength),
        })
        .where(eq(outgoingMails.id, id))
    },

    async giveUp(id: string, error: string): Promise<void> {
      await db
        .update(outgoingMails)
        .set({ failedAt: sql`now()`, sealedContent: null, lastError: error.slice(0, maxErrorLength) })
        .where(eq(outgoingMails.id, id))
    },

    /** Deletes a mail that is not to be sent any more. */
    async drop(id: string): Promise<void> {
      await db.delete(outgoingMails).where(eq(outgoingMails.id, id))
    },

    async count(state: 'waiting' | 'failed'): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(outgoingMails)
        .where(state === 'waiting' ? waiting : isNotNull(outgoingMails.failedAt))
      return row?.count ?? 0
    },

    /** Deletes mails that were created so many days ago and sent or given up. */
    async sweep(days = keptDays): Promise<void> {
      await db
        .delete(outgoingMails)
        .where(and(ended, lte(outgoingMails.createdAt, sql`now() - make_interval(days => ${days})`)))
    },
  }
}

export type MailStore = ReturnType<typeof createMailStore>
