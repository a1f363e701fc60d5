import { fork } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import { programFile } from '../../../platform/files/package-files.ts'
import { ImportRefused } from './import-faults.ts'
import {
  type ContentFile,
  type LoggedFault,
  type ProcessJob,
  type ProcessMessage,
  processMemoryMb,
  type ReadCounts,
} from './process-messages.ts'

export interface ReadContent {
  readonly counts: ReadCounts
  readonly faults: readonly LoggedFault[]
}

export interface ReadOptions {
  /** Text of COPY; the process reads on once it resolves. */
  readonly onLines: (lines: Uint8Array, counts: ReadCounts) => Promise<void>
  readonly signal: AbortSignal
}

/** Parses content in processes of their own, so that it never holds up the requests of the service. */
export interface ContentProcesses {
  /** @throws ImportRefused, the reason of the signal */
  read(content: ContentFile, fields: readonly WorkerField[], options: ReadOptions): Promise<ReadContent>
  /** @throws ImportRefused, the reason of the signal */
  analyze(content: ContentFile, signal: AbortSignal): Promise<readonly DatasourceField[]>
}

const program = fileURLToPath(programFile('features/datasources/imports/content-process'))
/** Of reading one content, as long as the statement that stores it may take: an import holds one of a few places. */
const readMs = 15 * 60_000

/** Below everything that a user or a sender waits for. */
const niceness = 10

function lower(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness)
  } catch {
    // It has ended already, which its exit says.
  }
}

/**
 * A process for each job, which ends with it and takes its memory along. Not a thread: content comes from outside, and
 * what brings a parser down must not bring down the collector. It gets no secret, and nothing of the environment: only
 * where this process keeps compiled modules, because compiling them takes longer than reading a small content.
 */
export function createContentProcesses({
  timeoutMs = readMs,
}: {
  /** Longest time of reading a content for an import; 15 minutes when absent. */
  readonly timeoutMs?: number
} = {}): ContentProcesses {
  function run<T>(
    job: ProcessJob,
    signal: AbortSignal,
    onMessage: (message: ProcessMessage) => Promise<T | undefined>,
  ): Promise<T> {
    signal.throwIfAborted()
    const compiled = getCompileCacheDir()
    const child = fork(program, [], {
      execArgv: [`--max-old-space-size=${processMemoryMb}`],
      env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    })
    return new Promise<T>((resolve, reject) => {
      let isSettled = false
      let underWay: Promise<unknown> = Promise.resolve()
      const onAbort = () => settle(() => reject(signal.reason))
      const settle = (say: () => void) => {
        if (isSettled) return
        isSettled = true
        signal.removeEventListener('abort', onAbort)
        child.kill('SIGKILL')
        say()
      }
      signal.addEventListener('abort', onAbort, { once: true })
      child.on('spawn', () => {
        lower(child.pid)
        child.send(job)
      })
      child.on('message', (message: ProcessMessage) => {
        if (message.kind === 'refused') {
          settle(() => reject(new ImportRefused(message.reason, message.message)))
          return
        }
        if (message.kind === 'failed') {
          settle(() => reject(new Error(`a process that reads content has failed: ${message.message}`)))
          return
        }
        // One after the other: that all is read must not overtake what was read last.
        underWay = underWay
          .then(() => onMessage(message))
          .then(
            (result) => {
              if (result !== undefined) settle(() => resolve(result))
              else if (child.connected) child.send('more')
            },
            (error: unknown) => settle(() => reject(error)),
          )
      })
      child.on('error', (error) => settle(() => reject(error)))
      child.on('exit', (_code, by) => {
        const ended =
          by === 'SIGABRT'
            ? new ImportRefused(
                'content-too-large',
                `reading the content takes more than ${processMemoryMb} MB of memory: make its rows smaller`,
              )
            : new Error(`a process that reads content has ended${by === null ? '' : ` by ${by}`}`)
        void underWay.then(() => settle(() => reject(ended)))
      })
    })
  }

  return {
    async read(content, fields, { onLines, signal }) {
      const late = new AbortController()
      const timer = setTimeout(() => {
        const message = `reading the content takes longer than ${Math.round(timeoutMs / 60_000)} minutes: make it smaller, or its rules simpler`
        late.abort(new ImportRefused('content-too-large', message))
      }, timeoutMs)
      try {
        const both = AbortSignal.any([signal, late.signal])
        return await run<ReadContent>({ kind: 'import', content, fields }, both, async (message) => {
          if (message.kind === 'read') return message
          if (message.kind === 'lines') await onLines(message.lines, message.counts)
          return undefined
        })
      } finally {
        clearTimeout(timer)
      }
    },
    analyze: (content, signal) =>
      run<readonly DatasourceField[]>({ kind: 'analyze', content }, signal, async (message) =>
        message.kind === 'fields' ? message.fields : undefined,
      ),
  }
}
