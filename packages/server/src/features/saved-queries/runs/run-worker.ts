import { DomainError } from '../../../platform/errors.ts'
import type { DiskRoom } from '../../../platform/files/disk-reserve.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import { createLedgerWork, type Verdict } from '../../../platform/work/ledger-work.ts'
import type { Zone } from '../../analytics/query/time/zone.ts'
import type { Answer, QueryRequest } from '../../analytics/statistics-service.ts'
import type { HoldStorage, StorageHold } from '../../storage/storage-service.ts'
import { createSavedQueryStore, type Runner, type StoredSavedQuery } from '../saved-query-store.ts'
import { isOn } from '../schedule/read-schedule.ts'
import type { PauseSchedule } from './pause-schedule.ts'
import { RightsLost, requireRights } from './require-rights.ts'
import { createRowCounter, fileNamesOf } from './result-files.ts'
import { failureMail, type RunResult, resultMail } from './run-mails.ts'
import { createRunStore, type StoredRun } from './run-store.ts'

export interface RunWorkerDependencies
  extends Pick<ServiceContext, 'relational' | 'enqueueMail' | 'publicUrl' | 'clock' | 'log'> {
  readonly answer: (request: QueryRequest) => Pick<Answer, 'pieces' | 'warnings'>
  readonly readSettings: (companyId: string) => Promise<{ readonly timezone: string }>
  readonly openZone: (name: string) => Zone
  readonly pause: PauseSchedule
  readonly holdStorage: HoldStorage
  /** Of the disk of the results. */
  readonly rowsRoom: DiskRoom
}

interface Receivers {
  readonly recipients: readonly string[]
  /** Ids of the owner's. */
  readonly linkedAccounts: readonly string[]
  /** Who has chosen them; absent where there are none. */
  readonly owner?: Runner
  /** Why nothing is sent. */
  readonly refused?: string
}

interface Failure {
  readonly reason: string
  readonly rightsLost?: boolean
}

/** A run that no further attempt can help; the message is for its owner. */
class RunRefused extends Error {
  override readonly name = 'RunRefused'
}

/** Runs at once in one process; a query computes on all cores already. */
const lanes = 3
/** Seconds before the second and the third attempt. */
const pauses = [60, 300] as const
/** While the company asks more than it may, its runs wait without an attempt being counted, for an hour at most. */
const busySeconds = 15
const busyForMs = 3_600_000
/** Scheduled runs in a row after whose failure the schedule pauses. */
const maxFailures = 5
const resultDays = 7
/** Of all results of a run. */
const maxRunBytes = 64 * 1024 * 1024
const pieceBytes = 1024 * 1024

/** Runs what is queued: queries, storing of their results, delivery. */
export function createRunWorker(dependencies: RunWorkerDependencies) {
  const { relational, answer, readSettings, openZone, enqueueMail, pause, publicUrl, clock, log } =
    dependencies
  const { holdStorage, rowsRoom } = dependencies
  const runs = createRunStore(relational.db)
  const savedQueries = createSavedQueryStore(relational.db)

  function requireRunner(
    store: Pick<ReturnType<typeof createSavedQueryStore>, 'findRunner'>,
    { companyId, ownerId }: StoredSavedQuery,
    { askedBy }: StoredRun,
  ): Promise<Runner> {
    const who = askedBy === null ? 'its owner' : 'who asked for it'
    return requireRights(store, companyId, askedBy ?? ownerId, who)
  }

  /**
   * Who gets the results. Receivers are the owner's choice: where the owner may not export, results that another user
   * asked for go to none of them.
   */
  async function receiversOf(
    store: ReturnType<typeof createSavedQueryStore>,
    { companyId, ownerId, schedule }: StoredSavedQuery,
  ): Promise<Receivers> {
    const { recipients = [], linkedAccounts = [] } = schedule
    if (recipients.length + linkedAccounts.length === 0) return { recipients, linkedAccounts }
    try {
      const owner = await requireRights(store, companyId, ownerId, 'its owner')
      return { recipients, linkedAccounts, owner }
    } catch (error) {
      if (!(error instanceof RightsLost)) throw error
      return { recipients: [], linkedAccounts: [], refused: `sent to no one: ${error.message}` }
    }
  }

  /** Runs the queries one after the other and stores their CSV. */
  async function produce(
    run: StoredRun,
    savedQuery: StoredSavedQuery,
    hold: StorageHold,
    signal: AbortSignal,
  ): Promise<RunResult[]> {
    await runs.deletePieces(run)
    await rowsRoom.take(0)
    const fileNames = fileNamesOf(savedQuery.name, savedQuery.queries.length)
    const results: RunResult[] = []
    let total = 0
    for (const [index, query] of savedQuery.queries.entries()) {
      const counter = createRowCounter()
      let [bytes, pieces, text] = [0, 0, '']
      const store = async () => {
        const content = Buffer.from(text)
        text = ''
        bytes += content.length
        total += content.length
        if (total > maxRunBytes) {
          throw new RunRefused(
            `its results have more than ${maxRunBytes / 1024 / 1024} MiB together: set a limit, shorten the dateRange or group by less`,
          )
        }
        await hold.require(total)
        await rowsRoom.take(content.length)
        await runs.insertPiece(run, index, pieces++, content)
      }
      const { companyId, plannedFor } = run
      // Whoever asks for the run: those get it whom the owner has chosen.
      const readerId = savedQuery.ownerId
      const at = plannedFor.getTime()
      const answered = answer({ query, companyId, readerId, format: 'csv', at, signal })
      for await (const piece of answered.pieces) {
        signal.throwIfAborted()
        counter.add(piece)
        text += piece
        if (text.length >= pieceBytes) await store()
      }
      if (text !== '') await store()
      const isCut = answered.warnings.some(({ path }) => path === 'limit')
      const fileName = fileNames[index] ?? ''
      results.push({ index, fileName, rows: counter.rows(), bytes, ...(isCut && { isCut }) })
    }
    return results
  }

  /** Queues mails and messages and marks the run, all at once: whatever ends meanwhile, they go out once. */
  async function deliver(run: StoredRun, results: RunResult[], hold: StorageHold): Promise<void> {
    await relational.transaction(async (tx) => {
      const withinQueries = createSavedQueryStore(tx)
      const within = createRunStore(tx)
      const { companyId, savedQueryId, trigger } = run
      const locked = await withinQueries.lock(companyId, savedQueryId)
      if (!locked || !(await within.lockHeld(run))) return
      const isScheduled = trigger === 'schedule'
      if (isScheduled && !isOn(locked.schedule)) {
        await within.fail(run, turnedOff)
        await within.deletePieces(run)
        return
      }
      const runner = await requireRunner(withinQueries, locked, run)
      const { recipients, linkedAccounts, owner = runner, refused } = await receiversOf(withinQueries, locked)
      const readers = await withinQueries.listReaders(companyId, recipients)
      if (isScheduled && readers.length + linkedAccounts.length === 0) {
        throw new RunRefused(`no recipient may get its results: ${outsiders(recipients)}`)
      }
      const zone = openZone(locked.schedule.timezone ?? (await readSettings(companyId)).timezone)
      const { name } = locked
      const delivery = {
        ...{ savedQueryId, runId: run.id, name, owner: owner.email, results, zone },
        plannedFor: run.plannedFor.getTime(),
        publicUrl: publicUrl(),
      }
      for (const reader of readers)
        await enqueueMail(tx, companyId, resultMail(reader, delivery, run.attempts))
      await within.insertMessages(run.id, linkedAccounts)
      const reached = readers.map(({ email }) => email)
      const left = recipients.filter((each) => !reached.includes(each))
      await hold.settle(
        tx,
        results.reduce((sum, { bytes }) => sum + bytes, 0),
      )
      await within.finish(run, {
        recipients: reached,
        results,
        reason: refused ?? (left.length === 0 ? null : `left out: ${outsiders(left)}`),
        resultDays,
      })
      await within.deleteOtherPieces(run)
      if (isScheduled) await withinQueries.note(companyId, savedQueryId, { failures: 0 })
    })
  }

  /** Ends the run; the owner hears of the first of several failures, and of the pause after the last. */
  async function fail(run: StoredRun, { reason, rightsLost }: Failure): Promise<void> {
    await relational.transaction(async (tx) => {
      const withinQueries = createSavedQueryStore(tx)
      const within = createRunStore(tx)
      const { companyId, savedQueryId, trigger } = run
      const locked = await withinQueries.lock(companyId, savedQueryId)
      if (!locked || !(await within.fail(run, reason))) return
      await within.deletePieces(run)
      if (trigger === 'manual' || !isOn(locked.schedule)) return
      if (rightsLost) {
        // The user who has taken the schedule over meanwhile has rights of their own.
        const isStillLost = await requireRunner(withinQueries, locked, run).then(
          () => false,
          () => true,
        )
        if (isStillLost) await pause(tx, locked, reason)
        return
      }
      const failures = locked.failures + 1
      if (failures >= maxFailures) {
        await pause(tx, locked, `${failures} runs in a row have failed, the last one because ${reason}`)
        return
      }
      await withinQueries.note(companyId, savedQueryId, { failures })
      const owner =
        locked.ownerId === null ? undefined : await withinQueries.findRunner(companyId, locked.ownerId)
      if (failures > 1 || !owner?.isActive) return
      const { id, name } = locked
      await enqueueMail(tx, companyId, failureMail(owner, { id, name, reason, publicUrl: publicUrl() }))
    })
  }

  function judge(error: unknown, { plannedFor }: StoredRun): Verdict<StoredRun, Failure> {
    if (error instanceof RightsLost) return { failure: { reason: error.message, rightsLost: true } }
    if (error instanceof RunRefused) return { failure: { reason: error.message } }
    if (!(error instanceof DomainError)) {
      // What users may know: failures inside the service are in its log.
      const reason = 'the service had a failure of its own, which is in its log'
      return { failure: { reason }, mayPass: true, isFault: true, columns: { reason } }
    }
    const { errorName, status, message: reason } = error
    const isBusy = errorName === 'tooManyRequests' && clock.now() - plannedFor.getTime() < busyForMs
    return {
      failure: { reason },
      mayPass: status >= 500 && errorName !== 'storageFull',
      columns: { reason },
      ...(isBusy && { waitSeconds: busySeconds }),
    }
  }

  return createLedgerWork<StoredRun, Failure>({
    names: ['a run of a saved query', 'runs of saved queries'],
    ...{ relational, log, lanes, pauses, judge, fail },
    ledgerOf: createRunStore,
    interrupted: { reason: 'the service ended during every attempt' },
    async attempt(run, signal) {
      const savedQuery = await savedQueries.find(run.companyId, run.savedQueryId)
      if (!savedQuery) return
      if (run.trigger === 'schedule' && !isOn(savedQuery.schedule)) throw new RunRefused(turnedOff)
      await requireRunner(savedQueries, savedQuery, run)
      await holdStorage(run.companyId, 0, async (hold) =>
        deliver(run, await produce(run, savedQuery, hold, signal), hold),
      )
    },
  })
}

const turnedOff = 'the schedule was turned off before it ran'

const outsiders = (addresses: readonly string[]): string =>
  `${addresses.join(', ')} ${addresses.length === 1 ? 'is' : 'are'} of no active user of the company and of no domain that it has verified`
