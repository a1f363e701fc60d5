import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { earliestTime } from '@millrace/contract/events/timestamps.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import type {
  StatisticsExport,
  StatisticsExportManifest,
  StatisticsExportRequest,
} from '@millrace/contract/resources/statistics-export.ts'
import { auditEventOf } from '../../platform/audit.ts'
import { DomainError } from '../../platform/errors.ts'
import { newId, normalizeId } from '../../platform/ids.ts'
import { invalid, placed } from '../../platform/invalid.ts'
import { OutgoingError } from '../../platform/outgoing/outgoing-error.ts'
import type { Listed, Page } from '../../platform/paging.ts'
import { found, type ResourceContext, requireRoom } from '../../platform/resources/resource.ts'
import { assertMayExport } from '../../platform/statistics-rights.ts'
import type { Caller, Principal } from '../identity/sessions/principal.ts'
import { type ExportFiles, fileNameOf } from './export-files.ts'
import { createExportStore, type ExportViewer, manifestOf, type StoredExport } from './export-store.ts'

export interface ExportServiceDependencies extends ResourceContext {
  readonly files: Pick<ExportFiles, 'find' | 'remove'>
  /** Checks a query as its rows would be asked for. */
  readonly validateQuery: (query: Query, reader: { companyId: string; readerId: string }) => Promise<void>
  /** Whether the user sees workflows of all teams, of which rows tell. */
  readonly seesAllWorkflows: (companyId: string, userId: string) => Promise<boolean>
}

/** A part of a file: the first byte and the one behind the last. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface ExportDownload extends ByteRange {
  readonly name: string
  readonly bytes: number
  readonly etag: string
  open(): Readable
}

export type ExportService = ReturnType<typeof createExportService>

const maxExports = 100
const earliestDay = new Date(earliestTime).toISOString().slice(0, 10)
const kind = 'statistics-export'

const viewerOf = ({ companyId, userId, can }: Principal): ExportViewer => ({
  ...{ companyId, userId },
  seesAll: can('statistics', 'manage'),
})

/**
 * The part of a file that a header `Range` asks for: one range of bytes. Other units and several ranges are for the
 * server to ignore (RFC 9110 14.2).
 * @throws DomainError `exportRangeInvalid`
 */
export function readRange(header: string | undefined, bytes: number): ByteRange {
  const all = { start: 0, end: bytes }
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return all
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1)
  if (first !== '' && last !== '' && Number(last) < start) return all
  if (start >= end) throw new DomainError('exportRangeInvalid', {})
  return { start, end }
}

/**
 * Refuses fields that do not go together.
 * @throws DomainError `validation`
 */
function rejectMisfits({ table, query, from, until, datasources }: StatisticsExportRequest): void {
  const isQuery = table === 'query'
  if (isQuery && !query) throw invalid('query', 'is missing: give the query whose rows are wanted')
  if (!isQuery && query) throw invalid('query', 'goes with the table query alone')
  for (const [field, value] of Object.entries({ from, until, datasources })) {
    if (isQuery && value !== undefined) {
      throw invalid(field, 'does not go with a query, which has ranges and filters itself')
    }
  }
  if (table === 'sessions' && datasources) {
    throw invalid('datasources', 'does not go with sessions, which have events of several datasources')
  }
  if (isQuery) return
  if (from === undefined) throw invalid('from', 'is missing: give the first day')
  if (from < earliestDay) throw invalid('from', `must not be before ${earliestDay}: no event is older`)
  if (until !== undefined && until < from) throw invalid('until', 'must not be before from')
}

/** Exports in bulk (docs/data-life.md, Out in bulk). */
export function createExportService(dependencies: ExportServiceDependencies) {
  const { relational, recordAudit, lockCompany, files, validateQuery, seesAllWorkflows } = dependencies
  const store = createExportStore(relational.db)

  /** @throws DomainError `forbidden` */
  async function requireSight({ companyId, userId }: Principal): Promise<void> {
    if (await seesAllWorkflows(companyId, userId)) return
    throw new DomainError(
      'forbidden',
      { resource: 'team', action: 'update' },
      { message: 'Rows tell of workflows of teams that you are not in: ask an administrator for the export' },
    )
  }

  async function get(principal: Principal, id: string): Promise<StoredExport> {
    assertMayExport(principal)
    return found(await store.find(viewerOf(principal), normalizeId(id)), 'exportNotFound', id)
  }

  /** @throws DomainError `unavailable`: the bucket with the copies does not answer */
  async function removeFiles(asked: Pick<StoredExport, 'id' | 'companyId'>): Promise<void> {
    try {
      await files.remove(asked)
    } catch (cause) {
      if (!(cause instanceof OutgoingError)) throw cause
      const message = `The copies could not be removed: ${cause.message}`
      throw new DomainError('unavailable', { retryAfter: 60 }, { cause, message, retryAfterSeconds: 60 })
    }
  }

  async function remove(asked: Pick<StoredExport, 'id' | 'companyId'>): Promise<void> {
    await store.stop(asked.id)
    await removeFiles(asked)
    await store.delete(asked.id)
    // What a process wrote meanwhile that had not noticed yet.
    await removeFiles(asked)
  }

  return {
    /** @throws DomainError `forbidden`, `validation`, `tooManyExports`, or what is wrong with a query */
    async create(caller: Caller, body: StatisticsExportRequest): Promise<StatisticsExport> {
      const { principal } = caller
      const { companyId, userId } = principal
      assertMayExport(principal)
      const { format = 'parquet', until = null, datasources, everyHours = null } = body
      const { table, query = null, from = null } = body
      rejectMisfits(body)
      if (query) {
        await validateQuery(query, { companyId, readerId: userId }).catch((error: unknown) => {
          throw placed(error, 'query')
        })
      } else await requireSight(principal)
      const id = newId()
      return relational.transaction(async (tx) => {
        await lockCompany(tx, companyId)
        const within = createExportStore(tx)
        requireRoom('tooManyExports', maxExports, await within.count(companyId))
        const asked = { table, format, from, until, everyHours }
        // Filters may name persons.
        const members = query && { measures: query.measures, dimensions: query.dimensions }
        const details = { ...asked, ...members }
        await recordAudit(tx, auditEventOf(caller, 'statistics-export-create', { kind, id }, details))
        return within.insert({
          ...{ id, companyId, requestedBy: userId, query, ...asked },
          datasources: datasources?.map(normalizeId) ?? null,
        })
      })
    },

    async list(principal: Principal, page: Page): Promise<Listed<StatisticsExport>> {
      assertMayExport(principal)
      return store.list(viewerOf(principal), page)
    },

    /** @throws DomainError `forbidden` or `exportNotFound` */
    async read(principal: Principal, id: string): Promise<StatisticsExportManifest> {
      const row = await get(principal, id)
      return manifestOf(row, await store.listFiles(row.id))
    },

    /**
     * A file, or the part of it that is asked for.
     * @throws DomainError `forbidden`, `exportNotFound`, `exportFileNotFound` or `exportRangeInvalid`
     */
    async download(
      caller: Caller,
      { id, name, range, ifRange }: { id: string; name: string; range?: string; ifRange?: string },
    ): Promise<ExportDownload> {
      const { principal } = caller
      const row = await get(principal, id)
      // A query says what its user sees, who may see more than others.
      if (row.table !== 'query' || row.requestedBy !== principal.userId) await requireSight(principal)
      const written = (await store.listFiles(row.id)).find(
        ({ part }) => fileNameOf(row.format, part) === name,
      )
      const file = written && (await files.find(row, written.part))
      if (!file || file.bytes !== written.bytes) throw new DomainError('exportFileNotFound', { id: row.id })
      const etag = `"${written.sha256}"`
      const part = readRange(ifRange === undefined || ifRange === etag ? range : undefined, file.bytes)
      await recordAudit(
        relational.db,
        auditEventOf(
          caller,
          'statistics-export-download',
          { kind, id: row.id },
          { name, rows: written.rows },
        ),
      )
      return {
        ...{ name, etag, bytes: file.bytes, ...part },
        open: () => createReadStream(file.path, { start: part.start, end: part.end - 1 }),
      }
    },

    /** @throws DomainError `forbidden` or `exportNotFound` */
    async delete(caller: Caller, id: string): Promise<void> {
      const row = await get(caller.principal, id)
      await recordAudit(relational.db, auditEventOf(caller, 'statistics-export-delete', { kind, id: row.id }))
      await remove(row)
    },

    /** Removes exports that are made once, some days later. */
    async sweep(): Promise<void> {
      for (const expired of await store.listExpired()) await remove(expired)
    },
  }
}
