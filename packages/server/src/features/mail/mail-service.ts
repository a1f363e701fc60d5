import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { QueuedMail, ReadAttachment } from '../../platform/mail/mail-queue.ts'
import { type Attachment, type Mail, MailRefused, type Outbox } from '../../platform/mail/outbox.ts'
import type { DueMail, MailStore } from './mail-store.ts'

export interface MailServiceDependencies {
  readonly store: Pick<MailStore, 'takeDue' | 'markSent' | 'drop' | 'postpone' | 'giveUp' | 'sweep'>
  readonly outbox: Outbox
  /** Absent where no mail carries anything. */
  readonly readAttachment?: ReadAttachment
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly clock?: Clock
  readonly pollMs?: number
  /** Max milliseconds that a stop waits for a mail in flight. */
  readonly stopWithinMs?: number
}

/** Longer than any attempt may take: a process that holds a mail this long has ended. */
const leaseSeconds = 300
const maxAttempts = 12
const maxPauseSeconds = 3_600
const sweepEveryMs = 3_600_000
const keptDays = 30
/** While the store does not answer it is asked less often. */
const outageMs = 5_000

/** Seconds before the next attempt: 5, 10, 20, up to an hour; all twelve spread over about four hours. */
const pauseAfter = (attempt: number): number => Math.min(5 * 2 ** (attempt - 1), maxPauseSeconds)

/**
 * Sends queued mails, one at a time, and tries again those that the outbox did not take. Whatever happens between
 * the server's taking a mail and the mark that it was sent, the next attempt carries the same Message-ID.
 * Mails do not stand on `platform/jobs`, because the pauses between attempts are exact and each row is sealed and
 * re-encrypted when the key is rotated.
 */
export function createMailService(dependencies: MailServiceDependencies) {
  const {
    store,
    outbox,
    readAttachment,
    log,
    clock = systemClock,
    pollMs = 500,
    stopWithinMs = 10_000,
  } = dependencies
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> | undefined
  let stopped = false
  let sweptAt = 0

  /** Undefined when what it carries has been deleted: there is nothing to send any more. */
  async function complete({ attachments = [], ...mail }: QueuedMail): Promise<Mail | undefined> {
    if (attachments.length === 0) return mail
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
      if (!mail) {
        log.info({ mailId: id }, 'a mail is not sent: what it carries has been deleted')
        return await store.drop(id)
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

  /** Sends all that is due now; false when the store does not answer. */
  async function work(): Promise<boolean> {
    try {
      while (!stopped) {
        const due = await store.takeDue(leaseSeconds)
        if (!due) break
        await send(due)
      }
      if (!stopped && clock.now() - sweptAt > sweepEveryMs) {
        await store.sweep(keptDays)
        sweptAt = clock.now()
      }
      return true
    } catch (error) {
      log.warn({ err: error }, 'mails wait: the relational store does not answer')
      return false
    }
  }

  function schedule(pause: number): void {
    if (stopped) return
    timer = setTimeout(() => {
      working = work().then((answered) => schedule(answered ? pollMs : outageMs))
    }, pause).unref()
  }

  return {
    start: () => schedule(pollMs),
    work,
    /** Takes no further mail and waits, up to `stopWithinMs`, for the one in flight. */
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      const late = new AbortController()
      await Promise.race([working, sleep(stopWithinMs, undefined, { signal: late.signal }).catch(() => {})])
      late.abort()
    },
  }
}
