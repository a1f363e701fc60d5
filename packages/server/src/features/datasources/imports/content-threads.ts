import { Worker } from 'node:worker_threads'
import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import { ImportRefused } from './import-faults.ts'
import type { ContentFile, LoggedFault, ReadCounts, ThreadJob, ThreadMessage } from './thread-messages.ts'
import { threadMemoryMb } from './thread-messages.ts'

export interface ReadContent {
  readonly counts: ReadCounts
  readonly faults: readonly LoggedFault[]
}

export interface ReadOptions {
  /** Text of COPY; the thread reads on once it resolves. */
  readonly onLines: (lines: Uint8Array, counts: ReadCounts) => Promise<void>
  readonly signal: AbortSignal
}

/** Parses content in threads, so that it never holds up the requests of the process. */
export interface ContentThreads {
  /** @throws ImportRefused, the reason of the signal */
  read(content: ContentFile, fields: readonly WorkerField[], options: ReadOptions): Promise<ReadContent>
  /** @throws ImportRefused, the reason of the signal */
  analyze(content: ContentFile, signal: AbortSignal): Promise<readonly DatasourceField[]>
}

/** A thread for each job, which ends with it and takes its memory along. */
export function createContentThreads(): ContentThreads {
  function run<T>(
    job: ThreadJob,
    signal: AbortSignal,
    onMessage: (message: ThreadMessage, more: () => void) => Promise<T | undefined>,
  ): Promise<T> {
    signal.throwIfAborted()
    const worker = new Worker(new URL('./content-thread.ts', import.meta.url), {
      workerData: job,
      resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb },
    })
    return new Promise<T>((resolve, reject) => {
      const onAbort = () => settle(() => reject(signal.reason))
      let isSettled = false
      let underWay: Promise<unknown> = Promise.resolve()
      const settle = (say: () => void) => {
        // A thread that has said its last word ends by itself too.
        if (isSettled) return
        isSettled = true
        signal.removeEventListener('abort', onAbort)
        worker.terminate().then(say, say)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      worker.on('message', (message: ThreadMessage) => {
        if (message.kind === 'refused') {
          settle(() => reject(new ImportRefused(message.reason, message.message)))
          return
        }
        underWay = onMessage(message, () => worker.postMessage('more')).then(
          (result) => result !== undefined && settle(() => resolve(result)),
          (error: unknown) => settle(() => reject(error)),
        )
      })
      worker.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return settle(() => reject(error))
        const message = `reading the content takes more than ${threadMemoryMb} MB of memory: make its rows smaller`
        settle(() => reject(new ImportRefused('content-too-large', message, error)))
      })
      worker.on('exit', () => {
        const ended = new Error('a thread that reads content has ended')
        void underWay.then(() => settle(() => reject(ended)))
      })
    })
  }

  return {
    read: (content, fields, { onLines, signal }) =>
      run<ReadContent>({ kind: 'import', content, fields }, signal, async (message, more) => {
        if (message.kind === 'read') return message
        if (message.kind === 'lines') {
          await onLines(message.lines, message.counts)
          more()
        }
        return undefined
      }),
    analyze: (content, signal) =>
      run<readonly DatasourceField[]>({ kind: 'analyze', content }, signal, async (message) =>
        message.kind === 'fields' ? message.fields : undefined,
      ),
  }
}
