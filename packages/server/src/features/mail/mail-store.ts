import { and, eq, isNull, lte, sql } from 'drizzle-orm'
import { outgoingMails } from '../../database/tables/outgoing-mail.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { newId } from '../../platform/ids.ts'
import type { EnqueueMail } from '../../platform/mail/mail-queue.ts'
import type { Mail } from '../../platform/mail/outbox.ts'
import type { Queries } from '../../platform/stores/relational.ts'

export interface DueMail {
  readonly id: string
  /** Of this attempt, from 1. */
  readonly attempt: number
  readonly mail: Mail
}

const contextOf = (id: string) => `mail:${id}`

/** Seals a mail and queues it. */
export function createMailQueue(box: SecretBox): EnqueueMail {
  return async (queries, { to, ...content }) => {
    const id = newId()
    const sealedContent = box.seal(JSON.stringify(content), contextOf(id))
    await queries.insert(outgoingMails).values({ id, recipient: to, sealedContent })
  }
}

export function createMailStore(db: Queries, box: SecretBox) {
  const waiting = and(isNull(outgoingMails.sentAt), isNull(outgoingMails.failedAt))

  return {
    /** Takes the mail that is due longest for this process alone: until `leaseSeconds` have passed nobody else gets it. */
    async takeDue(leaseSeconds: number): Promise<DueMail | undefined> {
      const { rows } = await db.execute<{
        id: string
        recipient: string
        sealed_content: Buffer
        attempts: number
      }>(
        sql`update ${outgoingMails} set attempts = attempts + 1, due_at = now() + make_interval(secs => ${leaseSeconds})
          where id = (
            select id from ${outgoingMails} where sent_at is null and failed_at is null and due_at <= now()
            order by due_at limit 1 for update skip locked
          ) returning id, recipient, sealed_content, attempts`,
      )
      const [row] = rows
      if (!row) return undefined
      const content = JSON.parse(box.open(row.sealed_content, contextOf(row.id)).toString('utf8'))
      return { id: row.id, attempt: row.attempts, mail: { to: row.recipient, ...content } }
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
        .set({ dueAt: sql`now() + make_interval(secs => ${seconds})`, lastError: error })
        .where(eq(outgoingMails.id, id))
    },

    async giveUp(id: string, error: string): Promise<void> {
      await db
        .update(outgoingMails)
        .set({ failedAt: sql`now()`, sealedContent: null, lastError: error })
        .where(eq(outgoingMails.id, id))
    },

    async countWaiting(): Promise<number> {
      const [row] = await db.select({ count: sql<number>`count(*)::int` }).from(outgoingMails).where(waiting)
      return row?.count ?? 0
    },

    /** Takes away what was sent or given up long ago. */
    async sweep(days: number): Promise<void> {
      await db
        .delete(outgoingMails)
        .where(
          and(
            sql`(${outgoingMails.sentAt} is not null or ${outgoingMails.failedAt} is not null)`,
            lte(outgoingMails.createdAt, sql`now() - make_interval(days => ${days})`),
          ),
        )
    },
  }
}

export type MailStore = ReturnType<typeof createMailStore>
