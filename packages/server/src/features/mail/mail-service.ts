import type { Logger } from '../../platform/logger.ts'
import type { Outbox } from '../../platform/mail/outbox.ts'
import type { MailStore } from './mail-store.ts'

export interface MailServiceDependencies {
  readonly store: Pick<MailStore, 'takeDue' | 'markSent' | 'postpone' | 'giveUp' | 'sweep'>
  readonly outbox: Outbox
  readonly log: Pick<Logger, 'warn' | 'error'>
  readonly pollMs?: number
}

/** Longer than any attempt may take: whoever holds a mail this long has died. */
const leaseSeconds = 300
const mostAttempts = 12
const longestPauseSeconds = 3_600
const sweepEveryMs = 3_600_000
const keptDays = 30

/** Seconds before the next attempt: 5, 10, 20, up to an hour; all twelve spread over about four hours. */
const pauseAfter = (attempt: number): number => Math.min(5 * 2 ** (attempt - 1), longestPauseSeconds)

export type MailService = ReturnType<typeof createMailService>

/** Sends queued mails, one at a time, and tries again those that the outbox refused. */
export function createMailService({ store, outbox, log, pollMs = 500 }: MailServiceDependencies) {
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> | undefined
  let stopped = false
  let sweptAt = 0

  async function sendNext(): Promise<boolean> {
    const due = await store.takeDue(leaseSeconds)
    if (!due) return false
    try {
      await outbox.send({ ...due.mail, id: due.id })
    } catch (error) {
      const reason = (error as Error).message
      if (due.attempt >= mostAttempts) {
        log.error({ mailId: due.id, err: error }, 'a mail is given up')
        await store.giveUp(due.id, reason)
      } else {
        log.warn(
          { mailId: due.id, attempt: due.attempt, err: error },
          'a mail was not taken, trying again later',
        )
        await store.postpone(due.id, pauseAfter(due.attempt), reason)
      }
      return true
    }
    await store.markSent(due.id)
    return true
  }

  async function work(): Promise<void> {
    try {
      while (!stopped && (await sendNext()));
      if (Date.now() - sweptAt > sweepEveryMs) {
        sweptAt = Date.now()
        await store.sweep(keptDays)
      }
    } catch (error) {
      log.warn({ err: error }, 'mails wait: the relational store does not answer')
    }
  }

  function schedule(): void {
    if (stopped) return
    timer = setTimeout(() => {
      working = work().finally(schedule)
    }, pollMs).unref()
  }

  return {
    start: schedule,
    /** Sends all that is due now. */
    work,
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await working
    },
  }
}
