import { DomainError } from '../../platform/errors.ts'
import { OutgoingError } from '../../platform/outgoing/outgoing-error.ts'
import type { ServiceContext } from '../../platform/service-context.ts'
import { createLedgerWork, type LedgerWork } from '../../platform/work/ledger-work.ts'
import type { HoldStorage } from '../storage/storage-service.ts'
import type { ExportFiles } from './export-files.ts'
import { createExportStore, manifestOf, type StoredExport, type StoredFile } from './export-store.ts'
import type { ExportedDay, ExportedRows, ExportedRowsStore } from './exported-rows-store.ts'

export interface ExportWorkerDependencies extends Pick<ServiceContext, 'relational' | 'clock' | 'log'> {
  readonly files: Pick<
    ExportFiles,
    'write' | 'writeManifest' | 'find' | 'listCopies' | 'removeDay' | 'remove'
  >
  readonly rows: ExportedRowsStore
  readonly holdStorage: HoldStorage
  /** Why the user may not take these rows out, as a sentence; undefined when they may. */
  readonly whyRefused: (companyId: string, userId: string) => Promise<string | undefined>
}

/** Another process has the export, or it was deleted: nothing of this attempt counts. */
class ExportLost extends Error {
  override readonly name = 'ExportLost'
}

class ExportRefused extends Error {
  override readonly name = 'ExportRefused'
}

/** Seconds before the second and the third attempt. */
const pauses = [60, 300] as const

/** What a kill takes back at most. */
const daysTogether = 31
/** While one waits for the disk, others are read. */
const daysAtOnce = 3

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)
const dayMs = 86_400_000

/** Brings the files of exports up to date with what is stored, a day after the other. */
export function createExportWorker(dependencies: ExportWorkerDependencies): LedgerWork {
  const { relational, clock, log, files, rows, holdStorage, whyRefused } = dependencies
  const store = createExportStore(relational.db)

  /** The last day: one that changes all the time is no part of what is made again and again. */
  function untilOf({ until, everyHours }: StoredExport): string {
    const last = dayOf(clock.now() - (everyHours === null ? 0 : dayMs))
    return until === null || until > last ? last : until
  }

  /** Writes the files of some days, and notes them together: each commit and each sync waits for the disk. */
  async function writeDays(
    row: StoredExport,
    asked: ExportedRows,
    days: readonly ExportedDay[],
    signal: AbortSignal,
  ): Promise<void> {
    await holdStorage(row.companyId, 0, async (hold) => {
      const written: Omit<StoredFile, 'writtenAt'>[] = []
      let bytes = 0
      let held: Promise<void> = Promise.resolve()
      const onBytes = (added: number): Promise<void> => {
        bytes += added
        held = held.then(() => hold.require(bytes))
        return held
      }
      const waiting = days.values()
      const ending = new AbortController()
      const both = AbortSignal.any([signal, ending.signal])
      async function writeSome(): Promise<void> {
        for (const { day, fingerprint } of waiting) {
          const stream = await rows.stream(asked, day, both)
          const file = await files.write(row, day, stream, onBytes, both)
          written.push({ exportId: row.id, day, fingerprint, ...file })
        }
      }
      const writing = Array.from({ length: daysAtOnce }, () =>
        writeSome().catch((error: unknown) => {
          ending.abort(error)
          throw error
        }),
      )
      await Promise.allSettled(writing)
      await Promise.all(writing)
      await relational.transaction(async (tx) => {
        const within = createExportStore(tx)
        if (!(await within.lockHeld(row))) throw new ExportLost()
        await within.removeFiles(
          row.id,
          written.map(({ day }) => day),
        )
        await hold.settle(tx, bytes)
        await within.insertFiles(written)
      })
    })
  }

  /** Rows of days that expired or were erased are in no file either. */
  async function removeDay(row: StoredExport, day: string): Promise<void> {
    await relational.transaction(async (tx) => {
      const within = createExportStore(tx)
      if (!(await within.lockHeld(row))) throw new ExportLost()
      await within.removeFiles(row.id, [day])
    })
    await files.removeDay(row, day)
  }

  async function attempt(row: StoredExport, signal: AbortSignal): Promise<void> {
    const refused = await whyRefused(row.companyId, row.requestedBy)
    if (refused !== undefined) throw new ExportRefused(refused)
    const asked: ExportedRows = { ...row, until: untilOf(row) }
    const days = asked.until < row.from ? [] : await rows.listDays(asked, signal)
    const written = new Map((await store.listFiles(row.id)).map((file) => [file.day, file]))
    const present = new Set(days.map(({ day }) => day))
    for (const day of written.keys()) if (!present.has(day)) await removeDay(row, day)
    const copies = await files.listCopies(row)
    const changed: ExportedDay[] = []
    for (const each of days) {
      const file = written.get(each.day)
      const isThere =
        file?.fingerprint === each.fingerprint &&
        (await files.find(row, each.day))?.bytes === file.bytes &&
        (copies === undefined || copies.get(each.day) === file.bytes)
      if (!isThere) changed.push(each)
    }
    for (let first = 0; first < changed.length; first += daysTogether) {
      signal.throwIfAborted()
      await writeDays(row, asked, changed.slice(first, first + daysTogether), signal)
    }
    const finished: StoredExport = { ...row, state: 'done', finishedAt: new Date(clock.now()), reason: null }
    await files.writeManifest(row, manifestOf(finished, await store.listFiles(row.id)))
    if (!(await store.end(row, null))) throw new ExportLost()
  }

  /** What another process writes now is its own; of one that was deleted nothing stays. */
  async function clear(row: StoredExport): Promise<void> {
    if (!(await store.isThere(row.id))) await files.remove(row)
  }

  return createLedgerWork<StoredExport, string>({
    names: ['an export', 'exports'],
    ...{ relational, log, pauses },
    lanes: 1,
    ledgerOf: createExportStore,
    interrupted: 'the service ended during every attempt',
    async attempt(row, signal) {
      try {
        await attempt(row, signal)
      } catch (error) {
        await clear(row)
        throw error
      }
    },
    judge(error) {
      if (error instanceof ExportLost) return undefined
      if (error instanceof ExportRefused) return { failure: error.message }
      if (error instanceof OutgoingError) {
        const { status = 0, fault } = error
        return {
          failure: `the files could not be copied: ${error.message}`,
          mayPass: fault !== 'refused' && !(status >= 400 && status < 500),
        }
      }
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOSPC') return { failure: 'the disk is full', mayPass: true }
      if (!(error instanceof DomainError)) {
        return {
          failure: 'the service had a failure of its own, which is in its log',
          mayPass: true,
          isFault: true,
        }
      }
      const { errorName, status, message: failure } = error
      return { failure, mayPass: status >= 500 && errorName !== 'storageFull' }
    },
    async fail(row, reason) {
      await store.end(row, reason)
    },
  })
}
