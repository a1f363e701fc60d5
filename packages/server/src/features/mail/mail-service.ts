import { createWorkLoops } from '../../platform/jobs/work-loops.ts'
import type { Logger } from '../../platform/logger.ts'
import type { QueuedMail, ReadAttachment } from '../../platform/mail/mail-queue.ts'
import { type Attachment, type Mail, MailRefused, type Outbox } from '../../platform/mail/outbox.ts'
import type { DueMail, MailStore } from './mail-store.ts'

export interface MailServiceDependencies {
  readonly store: Pick<MailStore, 'takeDue' | 'markSent' | 'postpone' | 'giveUp' | 'drop' | 'sweep'>
  readonly outbox: Outbox
  /** Absent where no mail carries anything. */
  readonly readAttachment?: ReadAttachment
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly pollMs?: number
  /** Max milliseconds that a stop waits for mails in flight. */
  readonly stopWithinMs?: number
}

/** Longer than any attempt may take: a process that holds a mail this long has ended. */
const leaseSeconds = 300
const maxAttempts = 12
const maxPauseSeconds = 3_600
const sweepEveryMs = 3_600_000
const keptDays = 30
/** At once in one process; mails that a user waits for are sent beside the others, however slow those are. */
const awaitedAtOnce = 3
const othersAtOnce = 2

/** Seconds before the next attempt: 5, 10, 20, up to an hour; all twelve spread over about four hours. */
const pauseAfter = (attempt: number): number => Math.min(5 * 2 ** (attempt - 1), maxPauseSeconds)

/**
 * Sends queued mails, and tries again those that the outbox did not take. Whatever happens between the server's taking a
 * mail and the mark that it was sent, the next attempt carries the same Message-ID.
 * Mails do not stand on `platform/jobs`, because the pauses between attempts are exact and each row is sealed and
 * re-encrypted when the key is rotated.
 */
export function createMailService(dependencies: MailServiceDependencies) {
  const { store, outbox, readAttachment, log, pollMs = 500, stopWithinMs } = dependencies

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
  async function sendOne(isAwaited: boolean): Promise<boolean> {
    const due = await store.takeDue(leaseSeconds, isAwaited)
    if (due) await send(due)
    return due !== undefined
  }

  async function sweep(): Promise<boolean> {
    await store.sweep(keptDays)
    return false
  }

  const loops = createWorkLoops(
    [
      { name: 'awaited mails', run: () => sendOne(true), everyMs: pollMs, lanes: awaitedAtOnce },
      { name: 'mails', run: () => sendOne(false), everyMs: pollMs * 2, lanes: othersAtOnce },
      { name: 'removals of old mails', run: sweep, everyMs: sweepEveryMs },
    ],
    log,
    stopWithinMs,
  )

  return {
    start: loops.start,
    /** Sends all that is due now, one after another. */
    async work(): Promise<void> {
      while ((await sendOne(true)) || (await sendOne(false)));
    },
    /** Takes no further mail and waits, up to `stopWithinMs`, for those in flight. */
    stop: loops.stop,
  }
}
