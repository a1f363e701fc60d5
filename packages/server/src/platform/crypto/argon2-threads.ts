import { Worker } from 'node:worker_threads'
import { programFile } from '../files/package-files.ts'
import type { Argon2Job, Argon2Result } from './argon2-thread.ts'
import type { DeriveArgon2id } from './argon2id.ts'

export interface Argon2Threads {
  readonly derive: DeriveArgon2id
  close(): Promise<void>
}

interface Waiting {
  readonly parameters: Argon2Job['parameters']
  readonly resolve: (tag: Buffer) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  job: Waiting | undefined
}

/** Below everything that a user or a sender waits for; above the engine once that yields. */
const niceness = 19

/**
 * Argon2 on threads of its own with a low priority. On libuv's threads a hash competes with the event loop for a
 * core, and with the event log for a thread to sync its files.
 */
export function createArgon2Threads(count: number): Argon2Threads {
  const threads = new Set<Thread>()
  const queue: Waiting[] = []
  let lastId = 0
  let isClosed = false

  function give(thread: Thread): void {
    thread.job = queue.shift()
    if (!thread.job) {
      thread.worker.unref()
      return
    }
    thread.worker.ref()
    thread.worker.postMessage({ id: ++lastId, parameters: thread.job.parameters } satisfies Argon2Job)
  }

  function start(): Thread {
    const worker = new Worker(programFile('platform/crypto/argon2-thread'), { workerData: { niceness } })
    const thread: Thread = { worker, job: undefined }
    threads.add(thread)
    worker.on('message', (result: Argon2Result) => {
      const { job } = thread
      if ('tag' in result) job?.resolve(Buffer.from(result.tag))
      else job?.reject(new Error(result.failure))
      give(thread)
    })
    worker.on('error', (error) => {
      threads.delete(thread)
      thread.job?.reject(error as Error)
      if (queue.length > 0 && !isClosed) give(start())
    })
    return thread
  }

  return {
    derive(parameters) {
      if (isClosed) return Promise.reject(new Error('hashing has ended'))
      return new Promise<Buffer>((resolve, reject) => {
        queue.push({ parameters, resolve, reject })
        const idle = [...threads].find(({ job }) => job === undefined)
        if (idle) give(idle)
        else if (threads.size < count) give(start())
      })
    },

    async close() {
      isClosed = true
      const underWay = [...threads].flatMap(({ job }) => job ?? [])
      for (const { reject } of [...queue.splice(0), ...underWay]) reject(new Error('hashing has ended'))
      await Promise.all([...threads].map(({ worker }) => worker.terminate()))
    },
  }
}
