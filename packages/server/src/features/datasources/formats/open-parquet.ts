import { Worker } from 'node:worker_threads'
import { programFile } from '../../../platform/files/package-files.ts'
import { pathOf } from './content.ts'
import type { ParquetSample } from './parquet-reader.ts'
import type { ParquetJob, ParquetMessage } from './parquet-thread.ts'
import { malformed, SourceFault, tooLarge } from './source-fault.ts'
import type { SourceFile, SourceLimits } from './source-options.ts'
import type { RowSink } from './text-reader.ts'

/** Memory of the thread, and the time for one slice of rows: a broken file can claim values without end. */
const maxHeapMegabytes = 1024
const sliceMilliseconds = 60_000

/**
 * The rows of a Parquet file, slice by slice, read in a thread of its own: the library trusts the counts that the
 * file claims, and a thread can be ended while it computes.
 */
export async function* openParquet(
  file: SourceFile,
  sink: RowSink,
  limits: SourceLimits,
  { sample, milliseconds = sliceMilliseconds }: { sample?: ParquetSample; milliseconds?: number } = {},
): AsyncGenerator<void> {
  const job: ParquetJob = { path: pathOf(file), limits, sample }
  const thread = new Worker(programFile('features/datasources/formats/parquet-thread'), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes },
  })
  try {
    for (;;) {
      const message = await ask(thread, milliseconds)
      if ('isDone' in message) return
      if ('refusal' in message) {
        const { rule, message: text, position } = message.refusal
        throw new SourceFault(rule, text, position)
      }
      if ('failure' in message) throw new Error(message.failure)
      for (const fault of message.slice.faults) sink.fault(fault)
      for (const [entry, row] of message.slice.rows) sink.row(entry, row)
      yield
    }
  } finally {
    await thread.terminate()
  }
}

function ask(thread: Worker, milliseconds: number): Promise<ParquetMessage> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => finish(() => reject(malformed('Not a Parquet file that can be read: it takes too long'))),
      milliseconds,
    )
    const onMessage = (message: ParquetMessage) => finish(() => resolve(message))
    const onError = (error: unknown) =>
      finish(() =>
        reject(
          (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? tooLarge('The rows of the Parquet file need too much memory: write smaller row groups')
            : error,
        ),
      )
    const finish = (settle: () => void) => {
      clearTimeout(timer)
      thread.off('message', onMessage)
      thread.off('error', onError)
      settle()
    }
    thread.on('message', onMessage)
    thread.on('error', onError)
    thread.postMessage('next')
  })
}
