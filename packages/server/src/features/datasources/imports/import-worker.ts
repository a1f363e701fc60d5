import { stat } from 'node:fs/promises'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import type { DiskRoom } from '../../../platform/files/disk-reserve.ts'
import { newId } from '../../../platform/ids.ts'
import { OutgoingError } from '../../../platform/outgoing/outgoing-error.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import type { Relational } from '../../../platform/stores/relational.ts'
import { createLedgerWork, maxPerCompany, type Verdict } from '../../../platform/work/ledger-work.ts'
import type { HoldStorage, StorageHold } from '../../storage/storage-service.ts'
import type { ContentFiles } from '../contents/content-files.ts'
import type { FetchContent } from '../contents/fetch-content.ts'
import { createDatasourceStore } from '../datasource-store.ts'
import { personFieldsOf } from '../refreshes/worker-fields.ts'
import { createWorkerStore, type LiveVersion, type StoredWorker } from '../refreshes/worker-store.ts'
import { withRelationalTransaction } from '../rows/long-transaction.ts'
import { createRowTables } from '../rows/row-tables.ts'
import type { ContentProcesses, ReadContent } from './content-processes.ts'
import { ImportRefused } from './import-faults.ts'
import { refreshFailedMail } from './import-mails.ts'
import { isExpected, isPassing, isStorageFull, placeOf, refusalOf } from './import-refusals.ts'
import { createImportStore, type LogLine, type StoredImport } from './import-store.ts'
import type { ContentFile, ReadCounts } from './process-messages.ts'

export interface ImportWorkerDependencies extends Pick<ServiceContext, 'enqueueMail' | 'publicUrl' | 'log'> {
  readonly relational: Pick<Relational, 'db' | 'transaction' | 'pool'>
  readonly files: Pick<ContentFiles, 'pathOf' | 'withDownload'>
  readonly fetch: FetchContent
  readonly processes: Pick<ContentProcesses, 'read'>
  /** Bytes of a content. */
  readonly limitBytes: number
  readonly holdStorage: HoldStorage
  /** Of the disk of the rows. */
  readonly rowsRoom: DiskRoom
}

/** What an import fills, and with what. */
interface Plan {
  readonly worker: StoredWorker
  readonly live: LiveVersion | undefined
  readonly fields: readonly WorkerField[]
  /** Whether the rows that are there stay, but for those whose key comes again. */
  readonly isMerged: boolean
}

interface FoundContent {
  readonly content: ContentFile
  readonly sha256: string
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
  /** Of a stored file: its name. */
  readonly stored?: string
}

/**
 * At once in one process: each has a process that parses and a connection that copies. One more than a company may
 * take, so that the slow addresses of one do not make the others wait.
 */
const lanes = maxPerCompany + 1
/** Seconds before the second and the third attempt. */
const pauses = [30, 300] as const
const noteEveryMs = 1_000
/** Characters of a line of the log. */
const maxSample = 500
const fetchLimits = { idleMs: 60_000, timeoutMs: 30 * 60_000, beyondLimit: 'fail' } as const

/** Another process has the import, or its datasource is gone: nothing of it counts. */
class ImportLost extends Error {
  override readonly name = 'ImportLost'
}

/** Runs what is queued: fetches, parses and stores rows, and brings them live in one step. */
export function createImportWorker(dependencies: ImportWorkerDependencies) {
  const { relational, files, fetch, processes, enqueueMail, publicUrl, limitBytes, log } = dependencies
  const { holdStorage, rowsRoom } = dependencies
  const imports = createImportStore(relational.db)
  const workers = createWorkerStore(relational.db)

  async function planOf({ companyId, datasourceId, trigger }: StoredImport): Promise<Plan> {
    const worker = await workers.find(companyId, datasourceId)
    if (!worker) throw new ImportLost('its datasource is gone')
    const live = await workers.findLive(companyId, datasourceId)
    const fields = (trigger === 'live' || !live ? worker.fields : live.fields).filter(
      ({ selected }) => selected,
    )
    if (fields.length === 0) {
      throw new ImportRefused('fields-missing', 'no field is selected: analyse the content and select fields')
    }
    const key = fields.find(({ isKey }) => isKey)?.name
    const isMerged =
      worker.updateStrategy === 'upsert' && trigger !== 'live' && live !== undefined && key !== undefined
    return { worker, live, fields, isMerged }
  }

  /** Calls the work with the content in a file; undefined when it is that of the live version. */
  async function withContent<T>(
    row: StoredImport,
    { worker, live }: Plan,
    signal: AbortSignal,
    work: (found: FoundContent) => Promise<T>,
  ): Promise<T | undefined> {
    const { source, content } = worker
    if (!source) throw new ImportRefused('content-missing', 'the datasource has no source')
    const ifChanged = live !== undefined && (row.trigger === 'refresh' || row.trigger === 'schedule')
    const isSame = (sha256: string) => ifChanged && worker.fetched?.sha256 === sha256
    if (source.type === 'file') {
      if (!content) throw new ImportRefused('content-missing', 'no content was uploaded yet')
      const path = files.pathOf(content.file)
      // Another process may have replaced it, or does not share its directory with this one.
      await stat(path)
      if (isSame(content.sha256)) return undefined
      const { bytes, sha256, fileName, contentType } = content
      return work({
        content: {
          path,
          bytes,
          fileName: fileName ?? undefined,
          contentType: contentType ?? undefined,
          options: source,
        },
        sha256,
        stored: content.file,
      })
    }
    return files.withDownload(async (path) => {
      const { isUnchanged, file, contentType, etag, lastModified } = await fetch(worker, {
        path,
        limits: { ...fetchLimits, limitBytes },
        ifChanged,
        signal,
      })
      if (isUnchanged || isSame(file.sha256)) return undefined
      if (file.bytes === 0) throw new ImportRefused('no-rows', 'the address answered without content')
      const fileName = new URL(source.url ?? '').pathname.split('/').at(-1)
      return work({
        content: { path, bytes: file.bytes, fileName, contentType, options: source },
        sha256: file.sha256,
        etag,
        lastModified,
      })
    })
  }

  /** Says every second how far it is; never two statements at once. */
  function createNotes(row: StoredImport, bytesTotal: number) {
    let [last, pending] = [0, Promise.resolve()]
    return {
      note(counts: ReadCounts): void {
        const now = performance.now()
        if (now - last < noteEveryMs) return
        last = now
        pending = pending
          .then(() => imports.note(row, counts, bytesTotal))
          .catch((error: unknown) => log.warn({ err: error }, 'the progress of an import was not stored'))
      },
      settled: () => pending,
    }
  }

  function requireRows(
    { counts: { read, stored, refused } }: ReadContent,
    { maxRefusedShare }: StoredWorker,
  ): void {
    if (read > 0 && refused / read > maxRefusedShare) {
      const share = Math.round((1000 * refused) / read) / 10
      throw new ImportRefused(
        'too-many-refused',
        `${refused} of ${read} rows (${share} %) were refused, more than the ${Math.round(maxRefusedShare * 1000) / 10} % that the datasource allows: its log says why`,
      )
    }
    if (stored === 0) throw new ImportRefused('no-rows', 'the content has no row that can be stored')
  }

  /** One transaction from the first row to the switch: until it commits nothing of it is seen, and a kill undoes it. */
  async function fill(
    row: StoredImport,
    plan: Plan,
    found: FoundContent,
    hold: StorageHold,
    signal: AbortSignal,
  ): Promise<void> {
    const { worker, live, fields, isMerged } = plan
    const { companyId, datasourceId } = row
    const notes = createNotes(row, found.content.bytes)
    const versionId = newId()
    const keyField = fields.find(({ isKey }) => isKey)?.name ?? null
    let read: ReadContent | undefined
    let copiedBytes = 0
    try {
      await rowsRoom.take(0)
      await withRelationalTransaction(relational.pool, async (tx, client) => {
        const tables = createRowTables(client)
        await tables.allowTime()
        await tables.make(versionId)
        const copy = tables.copy(versionId)
        try {
          read = await processes.read(found.content, fields, {
            signal,
            async onLines(lines, counts) {
              copiedBytes += lines.length
              await hold.require(copiedBytes)
              await rowsRoom.take(lines.length)
              await copy.write(lines)
              notes.note(counts)
            },
          })
          const copied = await copy.end()
          if (copied !== read.counts.stored)
            throw new Error(`${copied} of ${read.counts.stored} rows were copied`)
        } catch (error) {
          copy.destroy()
          throw error
        }
        requireRows(read, worker)
        await rowsRoom.take(0)
        const repeated = await tables.finish(versionId, keyField !== null)
        const digests = await tables.listRefused(companyId)
        const erased = digests.length
          ? await tables.removeOfPersons(versionId, {
              ...{ companyId, digests },
              fields: personFieldsOf(worker.fields, fields),
            })
          : 0
        const kept = read.counts.stored - repeated - erased
        await rowsRoom.take(0)
        // Before the locks, which users would wait for.
        const added = isMerged && live ? await tables.merge(versionId, live.id) : 0
        if (isMerged) await tables.remove(versionId)
        const rowBytes = await tables.countBytes(isMerged && live ? live.id : versionId)
        await notes.settled()
        signal.throwIfAborted()

        const [within, withinImports] = [createWorkerStore(tx), createImportStore(tx)]
        const locked = await within.lock(companyId, datasourceId)
        if (!locked || !(await withinImports.lockHeld(row))) throw new ImportLost('another process has it')
        await hold.settle(tx, isMerged && live ? Math.max(0, rowBytes - live.rowBytes) : rowBytes)
        if (isMerged && live) await within.noteMerged(live.id, added, rowBytes)
        else {
          await within.goLive({
            id: versionId,
            companyId,
            datasourceId,
            fields: [...fields],
            keyField,
            rowCount: kept,
            rowBytes,
          })
        }
        const { sha256, etag, lastModified } = found
        await within.update(companyId, datasourceId, {
          failure: null,
          fetched: { sha256, etag, lastModified },
        })
        await createDatasourceStore(tx).update(companyId, datasourceId, {})
        await withinImports.finish(row, 'done', { ...read.counts, stored: kept })
        await withinImports.insertLog(linesOf(row, read, { repeated, erased }))
        // A file that was uploaded meanwhile is another one.
        if (found.stored !== undefined && locked.content && locked.content.file !== found.stored) {
          await withinImports.insert({ id: newId(), companyId, datasourceId, trigger: 'upload' })
        }
      })
    } catch (error) {
      if (read && error instanceof ImportRefused)
        await imports.insertLog(linesOf(row, read, { repeated: 0, erased: 0 }))
      throw error
    } finally {
      await notes.settled()
    }
  }

  /** Ends the import; the creator hears of the first failed refresh until one succeeds. */
  async function fail(row: StoredImport, { reason, message }: ImportRefused): Promise<void> {
    await relational.transaction(async (tx) => {
      const [within, withinImports] = [createWorkerStore(tx), createImportStore(tx)]
      const { companyId, datasourceId, trigger } = row
      const worker = await within.lock(companyId, datasourceId)
      if (!worker || !(await withinImports.fail(row, { reason, message }))) return
      await within.update(companyId, datasourceId, { failure: message })
      await withinImports.insertLog([
        {
          companyId,
          datasourceId,
          kind: 'refused',
          rule: reason,
          path: placeOf(reason),
          sample: message.slice(0, maxSample),
          count: 0,
        },
      ])
      if (worker.failure !== null || (trigger !== 'schedule' && trigger !== 'refresh')) return
      const creator = await within.findCreator(worker)
      if (!creator) return
      const name = (await createDatasourceStore(tx).findName(companyId, datasourceId)) ?? ''
      await enqueueMail(
        tx,
        companyId,
        refreshFailedMail(creator, { id: datasourceId, name, reason: message, publicUrl: publicUrl() }),
      )
    })
  }

  function judge(
    error: unknown,
    { trigger }: StoredImport,
  ): Verdict<StoredImport, ImportRefused> | undefined {
    if (error instanceof ImportLost) return undefined
    if (error instanceof ImportRefused) return { failure: error }
    // Users who wait learn at once that an address does not answer.
    const isFinal =
      isStorageFull(error) ||
      (error instanceof OutgoingError && (trigger !== 'schedule' || !isPassing(error)))
    return { failure: refusalOf(error), mayPass: !isFinal, isFault: !isExpected(error) }
  }

  async function finishUnchanged(row: StoredImport): Promise<void> {
    await relational.transaction(async (tx) => {
      const withinImports = createImportStore(tx)
      if (!(await withinImports.lockHeld(row))) return
      await withinImports.finish(row, 'unchanged')
      await createWorkerStore(tx).update(row.companyId, row.datasourceId, { failure: null })
    })
  }

  return createLedgerWork<StoredImport, ImportRefused>({
    names: ['an import', 'imports of datasources'],
    ...{ relational, log, lanes, pauses, judge, fail },
    ledgerOf: createImportStore,
    interrupted: new ImportRefused('interrupted', 'the service ended during every attempt'),
    async attempt(row, signal) {
      const plan = await planOf(row)
      const filled = await withContent(row, plan, signal, async (found) => {
        await holdStorage(row.companyId, 0, (hold) => fill(row, plan, found, hold, signal))
        return true
      })
      if (!filled) await finishUnchanged(row)
    },
  })
}

function linesOf(
  { companyId, datasourceId }: StoredImport,
  { counts, faults }: ReadContent,
  { repeated, erased }: { readonly repeated: number; readonly erased: number },
): LogLine[] {
  const line = (fields: Omit<LogLine, 'companyId' | 'datasourceId'>) => ({
    companyId,
    datasourceId,
    ...fields,
  })
  return [
    ...faults.map((fault) => line(fault)),
    ...(repeated > 0
      ? [line({ kind: 'dropped', rule: 'duplicate_key', path: '', sample: '', count: repeated })]
      : []),
    ...(erased > 0
      ? [line({ kind: 'dropped', rule: 'person_erased', path: '', sample: '', count: erased })]
      : []),
    line({
      ...{ kind: 'noted', rule: 'content_update', path: '', sample: '' },
      count: counts.stored - repeated - erased,
    }),
  ]
}
