import type { Readable } from 'node:stream'
import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import type { Datasource } from '@millrace/contract/resources/datasource.ts'
import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import type { DatasourceImport } from '@millrace/contract/resources/datasource-import.ts'
import type { DatasourceQuery } from '@millrace/contract/resources/datasource-query.ts'
import type { WorkerFieldsUpdate } from '@millrace/contract/resources/datasource-version.ts'
import { auditEventOf } from '../../../platform/audit.ts'
import { DomainError } from '../../../platform/errors.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import { invalidAll, refuseFaults } from '../../../platform/invalid.ts'
import { createKeyedSemaphore, createSemaphore, SemaphoreFull } from '../../../platform/limits/semaphore.ts'
import { type Listed, type Page, rangeOf } from '../../../platform/paging.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import type { HoldStorage } from '../../storage/storage-service.ts'
import type { ContentFiles, StoredFile } from '../contents/content-files.ts'
import { createDatasourceStore, type StoredDatasource, type Viewer } from '../datasource-store.ts'
import { createImportStore, type StoredImport } from '../imports/import-store.ts'
import { isGone, maxMatches, type RowReader, shownRow } from '../rows/row-reader.ts'
import { unknownField } from '../unknown-field.ts'
import type { SourceAnalysis } from './source-analysis.ts'
import { changeFields, faultsOfFields, faultsOfType } from './worker-fields.ts'
import { createWorkerStore, type LiveVersion, type StoredWorker } from './worker-store.ts'

export interface WorkerServiceDependencies extends Pick<ServiceContext, 'relational' | 'recordAudit'> {
  readonly files: Pick<ContentFiles, 'store' | 'remove'>
  readonly reader: Pick<RowReader, 'readPage'>
  readonly analysis: SourceAnalysis
  readonly read: (viewer: Viewer, id: string) => Promise<Datasource>
  /** Bytes of a content. */
  readonly limitBytes: number
  readonly holdStorage: HoldStorage
}

export interface UploadedBody {
  readonly body: Readable
  /** What the request says that the body has; undefined where it says nothing. */
  readonly declaredBytes: number | undefined
  readonly fileName: string | undefined
  readonly contentType: string | undefined
}

/** Uploads at once in one process: each may last, and has a file. */
const uploadsAtOnce = 16
const uploadsOfCompany = 4

export type WorkerService = ReturnType<typeof createWorkerService>

/** Content, fields, imports and rows of worker datasources. */
export function createWorkerService(dependencies: WorkerServiceDependencies) {
  const { relational, recordAudit, files, reader, analysis, read, limitBytes, holdStorage } = dependencies
  const uploads = createSemaphore(uploadsAtOnce, 0)
  const uploadsOfEach = createKeyedSemaphore(uploadsOfCompany, 0)

  async function get(viewer: Viewer, id: string): Promise<StoredDatasource> {
    const found = await createDatasourceStore(relational.db).find(viewer, normalizeId(id))
    if (!found) throw absent(id)
    if (found.kind !== 'worker') throw new DomainError('notAWorkerDatasource', { id: found.id })
    return found
  }

  async function getWorker(viewer: Viewer, id: string): Promise<StoredWorker> {
    const { companyId, id: datasourceId } = await get(viewer, id)
    const worker = await createWorkerStore(relational.db).find(companyId, datasourceId)
    if (!worker) throw absent(id)
    return worker
  }

  /** Works on a datasource that is locked meanwhile. */
  function locked<T>(
    { principal }: Caller,
    id: string,
    work: (tx: Queries, worker: StoredWorker, datasource: StoredDatasource) => Promise<T>,
  ): Promise<T> {
    return relational.transaction(async (tx) => {
      const datasource = await createDatasourceStore(tx).lock(principal, normalizeId(id))
      if (!datasource) throw absent(id)
      if (datasource.kind !== 'worker') throw new DomainError('notAWorkerDatasource', { id: datasource.id })
      const worker = await createWorkerStore(tx).lock(datasource.companyId, datasource.id)
      if (!worker) throw absent(id)
      return work(tx, worker, datasource)
    })
  }

  const record = (
    tx: Queries,
    caller: Caller,
    action: AuditAction,
    { id, name }: StoredDatasource,
    details?: Readonly<Record<string, unknown>>,
  ) => recordAudit(tx, auditEventOf(caller, action, { kind: 'datasource', id, name }, details))

  /** @throws DomainError `datasourcePaused`, `datasourceWithoutSource` or `datasourceWithoutContent` */
  function requireContent(
    { source, content, datasourceId: id }: StoredWorker,
    { status }: StoredDatasource,
  ): void {
    if (status !== 'active') throw new DomainError('datasourcePaused', { id })
    if (!source) throw new DomainError('datasourceWithoutSource', { id })
    if (source.type === 'file' && !content) throw new DomainError('datasourceWithoutContent', { id })
  }

  async function enqueue(tx: Queries, worker: StoredWorker, trigger: StoredImport['trigger']): Promise<void> {
    const { companyId, datasourceId } = worker
    const row = await createImportStore(tx).insert({ id: newId(), companyId, datasourceId, trigger })
    if (!row) throw new DomainError('datasourceImports', { id: datasourceId })
  }

  /** A place for an upload, and the function that leaves it. */
  async function enterUpload(companyId: string): Promise<() => void> {
    let leaveOwn = (): void => {}
    try {
      leaveOwn = await uploadsOfEach.acquire(companyId)
      const leave = await uploads.acquire()
      return () => {
        leave()
        leaveOwn()
      }
    } catch (error) {
      leaveOwn()
      if (!(error instanceof SemaphoreFull)) throw error
      const message = `At most ${uploadsOfCompany} uploads of your company run at a time: send it again later`
      throw new DomainError('tooManyRequests', { retryAfter: 10 }, { message, retryAfterSeconds: 10 })
    }
  }

  async function answerQuery(
    live: LiveVersion,
    wanted: DatasourceQuery,
    page: Page,
  ): Promise<Listed<Record<string, unknown>>> {
    const faults = (wanted.fields ?? []).flatMap((name, i) =>
      live.fields.some((field) => field.name === name)
        ? []
        : [
            {
              path: `fields.${i}`,
              message: unknownField(
                name,
                live.fields.map((field) => field.name),
              ),
            },
          ],
    )
    const range = rangeOf(page)
    if (range.offset + range.limit > maxMatches) {
      faults.push({ path: 'page', message: `must not reach beyond the first ${maxMatches} rows` })
    }
    const query = readTree(wanted.query)
    if (typeof query === 'string') faults.push({ path: 'query', message: query })
    refuseFaults(faults, 'invalidDatasourceQuery')
    const sort = (wanted.sort ?? []).map(({ field, order = 'asc' }) => ({ field, order }))
    const { rows, count } = await reader.readPage(live, { query, sort }, range)
    const fields = live.fields.filter(({ name }) => wanted.fields?.includes(name) ?? true)
    return { rows: rows.map((row) => shownRow(row, fields)), count }
  }

  return {
    /**
     * Stores a file as the content of a datasource, and queues its import where there is a live version.
     * @throws DomainError `datasourceNotFound`, `notAWorkerDatasource`, `sourceIsAnAddress`, `unsupportedMediaType`,
     *   `contentTooLarge`, `emptyContent`, `contentNotStored`, `storageFull`, `unavailable` or `tooManyRequests`
     */
    async upload(
      caller: Caller,
      id: string,
      { body, declaredBytes = 0, fileName, contentType }: UploadedBody,
    ): Promise<Datasource> {
      const { principal } = caller
      const worker = await getWorker(principal, id)
      const requireFile = ({ source, datasourceId }: StoredWorker) => {
        if (source?.type === 'url') throw new DomainError('sourceIsAnAddress', { id: datasourceId })
      }
      requireFile(worker)
      // Its boundaries would be taken for lines of the file.
      if (/^multipart\//i.test(contentType ?? ''))
        throw new DomainError(
          'unsupportedMediaType',
          { accepted: ['application/octet-stream'] },
          { message: 'Send the file itself as the body, not a form that holds it' },
        )
      if (declaredBytes > limitBytes)
        throw new DomainError('contentTooLarge', { limit: limitBytes, unit: 'bytes', actual: declaredBytes })
      const leave = await enterUpload(principal.companyId)
      let stored: StoredFile | undefined
      try {
        await holdStorage(principal.companyId, declaredBytes, async (hold) => {
          stored = await files.store(body, { limitBytes, onBytes: hold.require })
          if (stored.bytes === 0) throw new DomainError('emptyContent', { id: worker.datasourceId })
          const content = {
            ...{ file: stored.name, bytes: stored.bytes, sha256: stored.sha256 },
            ...{ fileName: fileName ?? null, contentType: contentType ?? null },
            uploadedAt: new Date().toISOString(),
          }
          const former = await locked(caller, id, async (tx, present, datasource) => {
            requireFile(present)
            const { companyId, datasourceId } = present
            await hold.settle(tx, content.bytes)
            const workers = createWorkerStore(tx)
            await workers.update(companyId, datasourceId, {
              content,
              ...(present.source === null && { source: { type: 'file' } }),
            })
            await createDatasourceStore(tx).update(companyId, datasourceId, {})
            // The end of an import that runs looks for a newer file by itself.
            const isLive = (await workers.findLive(companyId, datasourceId)) !== undefined
            if (isLive && datasource.status === 'active') {
              await createImportStore(tx).insert({ id: newId(), companyId, datasourceId, trigger: 'upload' })
            }
            const { bytes } = content
            await record(tx, caller, 'datasource-content', datasource, { bytes, fileName: content.fileName })
            return present.content?.file
          })
          if (former !== undefined) await files.remove(former).catch(() => {})
        })
      } catch (error) {
        if (stored) await files.remove(stored.name).catch(() => {})
        throw isDiskFault(error)
          ? new DomainError('contentNotStored', { retryAfter: 60 }, { retryAfterSeconds: 60, cause: error })
          : error
      } finally {
        leave()
      }
      return read(principal, id)
    },

    /** @throws DomainError `datasourceNotFound`, `notAWorkerDatasource` or `invalidFields` */
    async updateFields(caller: Caller, id: string, wanted: WorkerFieldsUpdate): Promise<Datasource> {
      await locked(caller, id, async (tx, worker, datasource) => {
        const changed = changeFields(worker.fields, wanted)
        if ('faults' in changed) throw invalidAll(changed.faults, 'invalidFields')
        await createWorkerStore(tx).update(worker.companyId, worker.datasourceId, {
          fields: changed.fields,
          fieldsUpdatedAt: new Date(),
        })
        await createDatasourceStore(tx).update(worker.companyId, worker.datasourceId, {})
        await record(tx, caller, 'datasource-update', datasource, { changed: ['fields'] })
      })
      return read(caller.principal, id)
    },

    /**
     * Queues the import after which the draft is live.
     * @throws DomainError `datasourceNotFound`, `notAWorkerDatasource`, `datasourcePaused`, `datasourceWithoutSource`,
     *   `datasourceWithoutContent`, `datasourceWithoutFields`, `invalidFields` or `datasourceImports`
     */
    async publish(caller: Caller, id: string): Promise<Datasource> {
      await locked(caller, id, async (tx, worker, datasource) => {
        requireContent(worker, datasource)
        if (!worker.fields.some(({ selected }) => selected)) {
          throw new DomainError('datasourceWithoutFields', { id: worker.datasourceId })
        }
        const faults = [...faultsOfFields(worker.fields), ...faultsOfType(worker.type, worker.fields)]
        if (worker.updateStrategy === 'upsert' && !worker.fields.some(({ isKey }) => isKey)) {
          faults.push({ path: 'fields', message: 'must have a key for the update strategy upsert' })
        }
        refuseFaults(faults, 'invalidFields')
        await enqueue(tx, worker, 'live')
        await record(tx, caller, 'datasource-publish', datasource)
      })
      return read(caller.principal, id)
    },

    /**
     * @throws DomainError `datasourceNotFound`, `notAWorkerDatasource`, `datasourcePaused`, `datasourceNotLive`,
     *   `datasourceWithoutContent` or `datasourceImports`
     */
    async refresh(caller: Caller, id: string): Promise<Datasource> {
      await locked(caller, id, async (tx, worker, datasource) => {
        if (!(await createWorkerStore(tx).findLive(worker.companyId, worker.datasourceId))) {
          throw new DomainError('datasourceNotLive', { id: worker.datasourceId })
        }
        requireContent(worker, datasource)
        await enqueue(tx, worker, 'refresh')
      })
      return read(caller.principal, id)
    },

    /** @throws DomainError `datasourceNotFound` or `notAWorkerDatasource` */
    async listImports(viewer: Viewer, id: string, page: Page): Promise<Listed<DatasourceImport>> {
      const { companyId, id: datasourceId } = await get(viewer, id)
      const imports = createImportStore(relational.db)
      const [rows, count] = await Promise.all([
        imports.list(companyId, datasourceId, rangeOf(page)),
        imports.count(companyId, datasourceId),
      ])
      return { rows: rows.map(toImport), count }
    },

    /**
     * @throws DomainError `datasourceNotFound`, `notAWorkerDatasource`, `datasourceNotLive`,
     *   `invalidDatasourceQuery`, `datasourceQueryTooSlow` or `tooManyRequests`
     */
    async query(
      viewer: Viewer,
      wanted: DatasourceQuery,
      page: Page,
    ): Promise<Listed<Record<string, unknown>>> {
      const { companyId, id: datasourceId } = await get(viewer, wanted.datasourceId)
      const answer = async () => {
        const live = await createWorkerStore(relational.db).findLive(companyId, datasourceId)
        if (!live) throw new DomainError('datasourceNotLive', { id: datasourceId })
        return answerQuery(live, wanted, page)
      }
      return answer().catch((error: unknown) => {
        if (isGone(error)) return answer()
        throw error
      })
    },

    /**
     * Operation 13.
     * @throws DomainError `datasourceNotFound`, `notAWorkerDatasource`, `datasourceWithoutSource`,
     *   `sourceNotReachable`, `sampleFailed` or `tooManyRequests`
     */
    async analyze(
      principal: Principal,
      id: string,
      signal: AbortSignal,
    ): Promise<{ fields: DatasourceField[] }> {
      return { fields: [...(await analysis.analyze(await getWorker(principal, id), signal))] }
    },
  }
}

const absent = (id: string) => new DomainError('datasourceNotFound', { id: normalizeId(id) })

/** A full disk, or one that cannot be written. */
function isDiskFault(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO' || code === 'EROFS' || code === 'EMFILE'
}

/** The tree; a text where it is none, saying what would be right. */
function readTree(query: DatasourceQuery['query']): object | string {
  if (typeof query !== 'string') return query ?? {}
  try {
    const tree: unknown = JSON.parse(query)
    return typeof tree === 'object' && tree !== null ? tree : 'must be the JSON text of an object'
  } catch (error) {
    return `must be JSON text: ${(error as Error).message}`
  }
}

function toImport(row: StoredImport): DatasourceImport {
  const { id, datasourceId, trigger, state, rowsRead, rowsStored, rowsRefused, bytes, bytesTotal, fault } =
    row
  const isRead = state === 'done' || state === 'unchanged'
  const share = bytesTotal === null || bytes === 0 ? null : Math.min(1, bytes / Math.max(1, bytesTotal))
  return {
    ...{ id, datasourceId, trigger, state, rowsRead, rowsStored, rowsRefused, bytes, fault },
    progress: isRead ? 1 : share === null ? null : Math.round(share * 1000) / 1000,
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    endedAt: row.endedAt?.toISOString() ?? null,
  }
}
