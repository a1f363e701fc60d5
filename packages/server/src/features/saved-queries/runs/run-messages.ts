import type { ServiceContext } from '../../../platform/service-context.ts'
import type { Work } from '../../../platform/work/background.ts'
import type { Zone } from '../../analytics/query/time/zone.ts'
import { createSavedQueryStore } from '../saved-query-store.ts'
import type { PauseSchedule } from './pause-schedule.ts'
import { RightsLost, requireRights } from './require-rights.ts'
import { type Delivery, messageText, resultUrl, undeliveredMail } from './run-mails.ts'
import { createRunStore, type StoredMessage, type StoredRun } from './run-store.ts'

/** What a linked account is sent: the text for people, the details for a webhook. */
export interface RunMessage {
  readonly type: 'saved-query-run'
  readonly text: string
  readonly details: Readonly<Record<string, unknown>>
}

/**
 * Sends to a user's own linked account; false when there is none by this id.
 * Throws an error whose message is for that user when it was not taken.
 */
export type SendMessage = (
  user: { readonly companyId: string; readonly userId: string },
  linkedAccountId: string,
  message: RunMessage,
) => Promise<boolean>

export interface RunMessagesDependencies
  extends Pick<ServiceContext, 'relational' | 'enqueueMail' | 'publicUrl' | 'clock' | 'log'> {
  readonly sendMessage: SendMessage
  readonly readSettings: (companyId: string) => Promise<{ readonly timezone: string }>
  readonly openZone: (name: string) => Zone
  readonly pause: PauseSchedule
}

/** Longer than any attempt may take. */
const leaseSeconds = 120
const maxAttempts = 4
/** Seconds before each further attempt. */
const pauses = [30, 300, 1_800] as const
/** Webhooks get the CSV itself up to so many bytes of all results. */
const maxInlineBytes = 1_000_000

/** Announces runs to linked accounts, one message at a time. */
export function createRunMessages(dependencies: RunMessagesDependencies) {
  const { relational, sendMessage, readSettings, openZone, enqueueMail, pause, publicUrl, log } = dependencies
  const runs = createRunStore(relational.db)
  const savedQueries = createSavedQueryStore(relational.db)

  async function csvOf(run: StoredRun, index: number): Promise<string> {
    const pieces: Buffer[] = []
    for await (const piece of runs.readPieces(run, index)) pieces.push(piece)
    return Buffer.concat(pieces).toString('utf8')
  }

  async function detailsOf(run: StoredRun, delivery: Delivery) {
    const isInline = run.results.reduce((sum, { bytes }) => sum + bytes, 0) <= maxInlineBytes
    const results: unknown[] = []
    for (const result of run.results) {
      const csv = isInline ? { csv: await csvOf(run, result.index) } : {}
      results.push({ ...result, url: resultUrl(delivery, result), ...csv })
    }
    return {
      savedQuery: { id: run.savedQueryId, name: delivery.name },
      // The same in every attempt, so that a receiver knows a repetition.
      run: { id: run.id, trigger: run.trigger, plannedFor: run.plannedFor.toISOString() },
      results,
    }
  }

  /** @returns why it was not sent, undefined when it was */
  async function send(run: StoredRun, { linkedAccountId }: StoredMessage): Promise<string | undefined> {
    const { companyId, savedQueryId } = run
    const savedQuery = await savedQueries.find(companyId, savedQueryId)
    const { ownerId, schedule, name } = savedQuery ?? {}
    if (!name) return gone
    const owner = await requireRights(savedQueries, companyId, ownerId ?? null, 'its owner')
    const zone = openZone(schedule?.timezone ?? (await readSettings(companyId)).timezone)
    const delivery = {
      ...{ savedQueryId, runId: run.id, name, owner: owner.email, results: run.results, zone },
      plannedFor: run.plannedFor.getTime(),
      publicUrl: publicUrl(),
    }
    const sent = await sendMessage({ companyId, userId: owner.userId }, linkedAccountId, {
      type: 'saved-query-run',
      text: messageText(owner.language, delivery),
      details: await detailsOf(run, delivery),
    })
    return sent ? undefined : gone
  }

  /** The schedule leaves the account out from now on, and its owner is notified. */
  async function giveUp(run: StoredRun, message: StoredMessage, reason: string): Promise<void> {
    const { companyId, savedQueryId } = run
    await relational.transaction(async (tx) => {
      const within = createSavedQueryStore(tx)
      const locked = await within.lock(companyId, savedQueryId)
      await createRunStore(tx).noteMessage(message, { state: 'failed', reason })
      const accounts = locked?.schedule.linkedAccounts ?? []
      if (!locked || !accounts.includes(message.linkedAccountId)) return
      const linkedAccounts = accounts.filter((id) => id !== message.linkedAccountId)
      const changed = await within.update(companyId, savedQueryId, {
        schedule: { ...locked.schedule, linkedAccounts },
      })
      const { id, name, ownerId, schedule, nextRunAt } = changed
      if (nextRunAt !== null && linkedAccounts.length + (schedule.recipients ?? []).length === 0) {
        await pause(tx, changed, `no receiver of its results is left: ${reason}`)
        return
      }
      const owner = ownerId === null ? undefined : await within.findRunner(companyId, ownerId)
      if (!owner?.isActive) return
      await enqueueMail(tx, companyId, undeliveredMail(owner, { id, name, reason, publicUrl: publicUrl() }))
    })
  }

  /** Sends what is due longest. @returns false when nothing is due */
  async function sendOne(): Promise<boolean> {
    const due = await runs.takeMessage(leaseSeconds)
    if (!due) return false
    const { message, run } = due
    let reason: string | undefined
    try {
      if (message.attempts > maxAttempts) reason = 'the service ended during every attempt'
      else reason = await send(run, message)
    } catch (error) {
      reason = (error as Error).message
      if (error instanceof RightsLost) {
        await runs.noteMessage(message, { state: 'failed', reason })
        return true
      }
      const seconds = pauses[message.attempts - 1]
      if (seconds !== undefined) {
        log.warn(
          { runId: run.id, attempt: message.attempts, err: error },
          'a message about a run was not taken',
        )
        await runs.noteMessage(message, { state: 'queued', reason, seconds })
        return true
      }
    }
    if (reason === undefined) await runs.noteMessage(message, { state: 'sent', reason: null })
    else await giveUp(run, message, reason)
    return true
  }

  const work: Work = { name: 'messages of runs', dueAt: runs.messageDueAt, run: sendOne }
  return { ...work, sendOne }
}

const gone = 'the owner no longer has such a linked account'
