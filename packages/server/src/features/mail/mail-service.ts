import type { Logger } from '../../platform/logger.ts'
import type { QueuedMail, ReadAttachment } from '../../platform/mail/mail-queue.ts'
import { type Attachment, type Mail, MailRefused, type Outbox } from '../../platform/mail/outbox.ts'
import type { Work } from '../../platform/work/background.ts'
import type { DueMail, MailStore } from './mail-store.ts'

export interface MailServiceDependencies {
  readonly store: Pick<MailStore, 'takeDue' | 'dueAt' | 'markSent' | 'postpone' | 'giveUp' | 'drop'>
  readonly outbox: Outbox
  /** Absent where no mail carries anything. */
  readonly readAttachment?: ReadAttachment
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

/** Longer than any attempt may take: a process that holds a mail this long has ended. */
const leaseSeconds = 300
const maxAttempts = 12
const maxPauseSeconds = 3_600
/** At once in one process; mails that a user waits for are sent beside the others, however slow those are. */
const awaitedAtOnce = 3
const othersAtOnce = 2

/** Seconds before the next attempt: 5, 10, 20, up to an hour; all twelve spread over about four hours. */
const pauseAfter = (attempt: number): number => Math.min(5 * 2 ** (attempt - 1), maxPauseSeconds)

/**
 * Sends queued mails, and tries again those that the outbox did not take. Whatever happens between the server's taking a
 * mail and the mark that it was sent, the next attempt carries the same Message-ID.
 */
export function createMailService({ store, outbox, readAttachment, log }: MailServiceDependencies) {
  /** Undefined where what it carries has been deleted. */
  async function complete({ attachments = [], ...mail }: QueuedMail): Promise<Mail | undefined> {
    const read: Attachment[] = []
    for (const { source, ...attachment } of attachments) {
      const content = await readAttachment?.(source)
      if (!content) return undefined
      read.push({ ...attachment, content })
    }
    return { ...mail, attachments: read }
  }

  async function send({ id, attempt, read }: DueMail): Promise<void> {
    try {
      if (attempt > maxAttempts) throw new MailRefused('the process ended during every attempt')
      const mail = await complete(read())
      if (mail === undefined) {
        log.info({ mailId: id, attempt }, 'a mail is dropped: what it carries has been deleted')
        await store.drop(id)
        return
      }
      await outbox.send({ ...mail, id })
    } catch (error) {
      const reason = (error as Error).message
      if (error instanceof MailRefused || attempt >= maxAttempts) {
        log.error({ mailId: id, attempt, reason }, 'a mail is given up')
        await store.giveUp(id, reason)
      } else {
        log.warn({ mailId: id, attempt, reason }, 'a mail was not taken, trying again later')
        await store.postpone(id, pauseAfter(attempt), reason)
      }
      return
    }
    await store.markSent(id)
  }

  /** @returns whether there was one */
  async function sendOne(isAwaited: boolean, onTaken?: () => void): Promise<boolean> {
    const due = await store.takeDue(leaseSeconds, isAwaited)
    if (!due) return false
    onTaken?.()
    await send(due)
    return true
  }

  const workOf = (name: string, isAwaited: boolean, lanes: number): Work => ({
    name,
    dueAt: store.dueAt(isAwaited),
    run: (_, onTaken) => sendOne(isAwaited, onTaken),
    lanes,
  })

  return {
    works: [workOf('awaited mails', true, awaitedAtOnce), workOf('mails', false, othersAtOnce)],
    /** Sends all that is due now, one after another. */
    async work(): Promise<void> {
      while ((await sendOne(true)) || (await sendOne(false)));
    },
  }
}
