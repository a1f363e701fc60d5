import { DomainError } from '../../platform/errors.ts'
import { forEachAtOnce } from '../../platform/limits/at-once.ts'
import { OutgoingError } from '../../platform/outgoing/outgoing-error.ts'
import type { ServiceContext } from '../../platform/service-context.ts'
import { createLedgerWork, type LedgerWork, type LedgerWorkOptions } from '../../platform/work/ledger-work.ts'
import type { HoldStorage } from '../storage/storage-service.ts'
import type { ExportFiles } from './export-files.ts'
import {
  createExportStore,
  type ExportQueue,
  manifestOf,
  type StoredExport,
  type StoredFile,
} from './export-store.ts'
import type { ExportedPart, ExportedRows } from './exported-rows-store.ts'

export interface ExportWorkerDependencies extends Pick<ServiceContext, 'relational' | 'clock' | 'log'> {
  readonly files: Pick<
    ExportFiles,
    'write' | 'writeManifest' | 'find' | 'readCopies' | 'removePart' | 'remove'
  >
  /** What an export has, as of an instant. */
  readonly rowsOf: (asked: StoredExport, instant: number) => ExportedRows
  readonly holdStorage: HoldStorage
  /** Why the user may not take these rows out, as a sentence; undefined when they may. */
  readonly whyRefused: (asked: StoredExport) => Promise<string | undefined>
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
const partsTogether = 31
/** While one waits for the disk, the others are read. */
const partsAtOnce = 3

/** Names for the log, and how many are made at once in one process. */
const queues = [
  ['tables', ['an export', 'exports'], 2],
  ['queries', ['an export of a query', 'exports of queries'], 1],
] as const satisfies readonly (readonly [
  ExportQueue,
  LedgerWorkOptions<StoredExport, string>['names'],
  number,
])[]

/** Brings the files of exports up to date with what is stored, a part after the other. */
export function createExportWorker(dependencies: ExportWorkerDependencies): readonly LedgerWork[] {
  const { relational, clock, log, files, rowsOf, holdStorage, whyRefused } = dependencies
  const store = createExportStore(relational.db)

  /** Writes the files of some parts, and notes them together: each commit and each sync waits for the disk. */
  async function writeParts(
    row: StoredExport,
    rows: ExportedRows,
    parts: readonly ExportedPart[],
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
      await forEachAtOnce(parts, partsAtOnce, async ({ part, fingerprint }, ending) => {
        const both = AbortSignal.any([signal, ending])
        const stream = await rows.stream(part, both)
        const file = await files.write(row, part, stream, onBytes, both)
        written.push({ exportId: row.id, part, fingerprint, ...file })
      })
      await relational.transaction(async (tx) => {
        const within = createExportStore(tx)
        if (!(await within.lockHeld(row))) throw new ExportLost()
        await within.removeFiles(
          row.id,
          written.map(({ part }) => part),
        )
        await hold.settle(tx, bytes)
        await within.insertFiles(written)
      })
    })
  }

  /** Rows of days that expired or were erased are in no file either. */
  async function removePart(row: StoredExport, part: string): Promise<void> {
    await relational.transaction(async (tx) => {
      const within = createExportStore(tx)
      if (!(await within.lockHeld(row))) throw new ExportLost()
      await within.removeFiles(row.id, [part])
    })
    await files.removePart(row, part)
  }

  async function attempt(row: StoredExport, signal: AbortSignal): Promise<void> {
    const refused = await whyRefused(row)
    if (refused !== undefined) throw new ExportRefused(refused)
    const rows = rowsOf(row, clock.now())
    const parts = await rows.listParts(signal)
    const written = new Map((await store.listFiles(row.id)).map((file) => [file.part, file]))
    const present = new Set(parts.map(({ part }) => part))
    for (const part of written.keys()) if (!present.has(part)) await removePart(row, part)
    const hasCopy = await files.readCopies(row)
    const changed: ExportedPart[] = []
    for (const each of parts) {
      const file = written.get(each.part)
      const isThere =
        file?.fingerprint === each.fingerprint &&
        (await files.find(row, each.part))?.bytes === file.bytes &&
        hasCopy(each.part, file.bytes)
      if (!isThere) changed.push(each)
    }
    for (let first = 0; first < changed.length; first += partsTogether) {
      signal.throwIfAborted()
      await writeParts(row, rows, changed.slice(first, first + partsTogether), signal)
    }
    const finished: StoredExport = { ...row, state: 'done', finishedAt: new Date(clock.now()), reason: null }
    await files.writeManifest(row, manifestOf(finished, await store.listFiles(row.id)))
    if (!(await store.end(row, null))) throw new ExportLost()
  }

  /** What another process writes now is its own; of one that was deleted nothing stays. */
  async function clear(row: StoredExport): Promise<void> {
    if (!(await store.isThere(row.id))) await files.remove(row)
  }

  const work: Omit<LedgerWorkOptions<StoredExport, string>, 'names' | 'lanes' | 'ledgerOf'> = {
    ...{ relational, log, pauses },
    // The exports of one company do not hold up those of all others.
    perCompany: 1,
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
  }
  return queues.map(([queue, names, lanes]) =>
    createLedgerWork({ ...work, names, lanes, ledgerOf: (db) => createExportStore(db, queue) }),
  )
}
