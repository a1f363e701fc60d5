import { stat } from 'node:fs/promises'
import { errorTable } from '@millrace/contract/errors.ts'
import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import { DomainError } from '../../../platform/errors.ts'
import { createSemaphore, SemaphoreFull } from '../../../platform/limits/semaphore.ts'
import { OutgoingError } from '../../../platform/outgoing/outgoing-error.ts'
import type { ContentFiles } from '../contents/content-files.ts'
import type { FetchContent } from '../contents/fetch-content.ts'
import type { ContentProcesses } from '../imports/content-processes.ts'
import { ImportRefused } from '../imports/import-faults.ts'
import type { StoredWorker } from './worker-store.ts'

export interface SourceAnalysisDependencies {
  readonly files: Pick<ContentFiles, 'pathOf' | 'withDownload'>
  readonly fetch: FetchContent
  readonly processes: Pick<ContentProcesses, 'analyze'>
  /** Longest time of an analysis in milliseconds; default 30,000. */
  readonly timeoutMs?: number
}

/** In one process; the others wait, fewest of a company first (docs/faults.md, D08). */
const atOnce = 2
const waiting = 50
/** Of an address no more is fetched. */
const sampleBytes = 32 * 1024 * 1024
const fetchLimits = {
  limitBytes: sampleBytes,
  beyondLimit: 'cut',
  idleMs: 20_000,
  timeoutMs: 25_000,
} as const

export type SourceAnalysis = ReturnType<typeof createSourceAnalysis>

function withoutSource(id: string): DomainError {
  const message = `This datasource has no source to analyse: set one by PATCH /v2/datasources/${id}, as {"source": {"type": "file"}}, and send a file by PUT /v2/datasources/${id}/content`
  return new DomainError('datasourceWithoutSource', { id }, { message })
}

/** The reason is part of the message, because many clients show nothing else. */
function failed(name: 'sampleFailed' | 'sourceNotReachable', url: string, err: string, cause?: unknown) {
  return new DomainError(name, { url, err }, { message: `${errorTable[name].message}: ${err}`, cause })
}

/** Looks at a sample of what a datasource would import, and changes nothing. */
export function createSourceAnalysis({
  files,
  fetch,
  processes,
  timeoutMs = 30_000,
}: SourceAnalysisDependencies) {
  const places = createSemaphore(atOnce, waiting)

  async function analyzeFile(worker: StoredWorker, signal: AbortSignal): Promise<readonly DatasourceField[]> {
    const { content, source, datasourceId } = worker
    if (!source) throw withoutSource(datasourceId)
    if (!content) {
      const message = `This datasource has no content to analyse yet: send a file by PUT /v2/datasources/${datasourceId}/content first`
      throw new DomainError('datasourceWithoutSource', { id: datasourceId }, { message })
    }
    const path = files.pathOf(content.file)
    await stat(path).catch((error: unknown) => {
      throw new ImportRefused(
        'content-missing',
        'the stored content is not where this process looks for it',
        error,
      )
    })
    const { bytes, fileName, contentType } = content
    return processes.analyze(
      {
        path,
        bytes,
        fileName: fileName ?? undefined,
        contentType: contentType ?? undefined,
        options: source,
      },
      signal,
    )
  }

  function analyzeAddress(worker: StoredWorker, signal: AbortSignal): Promise<readonly DatasourceField[]> {
    return files.withDownload(async (path) => {
      const { file, contentType } = await fetch(worker, {
        path,
        limits: fetchLimits,
        ifChanged: false,
        signal,
      })
      const { source } = worker
      return processes.analyze(
        {
          path,
          bytes: file.bytes,
          fileName: new URL(source?.url ?? '').pathname.split('/').at(-1),
          contentType,
          options: source ?? {},
        },
        signal,
      )
    })
  }

  return {
    /** @throws DomainError `datasourceWithoutSource`, `sourceNotReachable`, `sampleFailed` or `tooManyRequests` */
    async analyze(worker: StoredWorker, leaving: AbortSignal): Promise<readonly DatasourceField[]> {
      const { source, companyId, datasourceId } = worker
      if (!source) throw withoutSource(datasourceId)
      const url = source.url ?? ''
      const leave = await places
        .acquire({ holders: [companyId], signal: leaving })
        .catch((error: unknown) => {
          if (!(error instanceof SemaphoreFull)) throw error
          const message = 'Too many analyses wait: send it again later'
          throw new DomainError('tooManyRequests', { retryAfter: 10 }, { message, retryAfterSeconds: 10 })
        })
      const late = AbortSignal.timeout(timeoutMs)
      const signal = AbortSignal.any([leaving, late])
      try {
        return await (source.type === 'file' ? analyzeFile(worker, signal) : analyzeAddress(worker, signal))
      } catch (error) {
        if (error instanceof OutgoingError) {
          throw failed('sourceNotReachable', url, error.message, error)
        }
        if (error instanceof ImportRefused) throw failed('sampleFailed', url, error.message)
        if (late.aborted)
          throw failed('sampleFailed', url, `the analysis took longer than ${timeoutMs / 1000} s`)
        throw error
      } finally {
        leave()
      }
    },
  }
}
