import { Worker } from 'node:worker_threads'
import { DomainError } from '../../../../platform/errors.ts'
import { programFile } from '../../../../platform/files/package-files.ts'
import type { Logger } from '../../../../platform/logger.ts'
import type { RefusedPersons } from '../../persons/refused-persons.ts'
import type { Validated, ValidationJob, ValidationResult } from './validation-thread.ts'

export interface ValidationThreads {
  /** Whether a body of this length is worth being handed over. */
  isWorthwhile(bytes: number): boolean
  /**
   * Reads and validates the events of a body, which is moved into the thread and back.
   * @param refused of whom the company takes no event
   * @throws {DomainError} emptyEvents, malformedEvents, eventsTooLarge (rejects)
   * @throws Error when the thread failed (rejects): nothing is known of the body
   */
  validate(
    body: Buffer,
    request: Omit<ValidationJob, 'id' | 'body' | 'refused'>,
    refused: RefusedPersons | undefined,
  ): Promise<Validated>
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (validated: Validated) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
  /** What it has of companies, as it was given. */
  readonly refused: Map<string, RefusedPersons>
}

/**
 * To hand over a body of 10 events costs more than to validate it, one of 50 takes as long in all and half the time of
 * the main thread, one of 100 takes less.
 */
const usualMinBytes = 16 * 1024

export interface ValidationThreadsOptions {
  /** At most. */
  readonly count: number
  /** Of bodies that are worth it. */
  readonly minBytes?: number
  readonly newWorker?: () => Worker
  readonly logger: Pick<Logger, 'warn'>
}

/**
 * Threads that read and validate bodies of many events, so that the main thread has time for what only it can do:
 * connections, sequence numbers and the log. Each starts when it is first needed.
 */
export function createValidationThreads({
  count,
  minBytes = usualMinBytes,
  newWorker = () => new Worker(programFile('features/events/collector/threads/validation-thread')),
  logger,
}: ValidationThreadsOptions): ValidationThreads {
  const threads = new Set<Thread>()
  let lastId = 0
  let hasEnded = false

  function start(): Thread | undefined {
    let worker: Worker
    try {
      worker = newWorker()
    } catch (error) {
      giveUp(error)
      return undefined
    }
    const thread: Thread = { worker, waiting: new Map(), refused: new Map() }
    threads.add(thread)
    worker.unref()
    worker.on('message', (result: ValidationResult) => {
      const waiting = thread.waiting.get(result.id)
      thread.waiting.delete(result.id)
      if (thread.waiting.size === 0) worker.unref()
      if ('validated' in result) waiting?.resolve(result.validated)
      else if ('failure' in result) waiting?.reject(new Error(result.failure))
      else {
        const { errorName, data, message } = result.refusal
        waiting?.reject(new DomainError(errorName, data, message === undefined ? {} : { message }))
      }
    })
    worker.on('error', (error) => {
      giveUp(error)
      fail(thread, error as Error)
    })
    return thread
  }

  /** A thread that fails may fail again, and no sender should wait for that: the main thread can do without. */
  function giveUp(error: unknown): void {
    if (!hasEnded)
      logger.warn(
        { err: error },
        'a thread that validates events failed: the main thread does it from now on',
      )
    hasEnded = true
  }

  function fail(thread: Thread, error: Error): void {
    threads.delete(thread)
    for (const { reject } of thread.waiting.values()) reject(error)
    thread.waiting.clear()
  }

  function idlest(): Thread | undefined {
    let found: Thread | undefined
    for (const thread of threads) {
      if (thread.waiting.size === 0) return thread
      if (found === undefined || thread.waiting.size < found.waiting.size) found = thread
    }
    return threads.size < count ? (start() ?? found) : found
  }

  return {
    isWorthwhile: (bytes) => bytes >= minBytes && !hasEnded && idlest() !== undefined,

    validate(body, request, refused) {
      const thread = idlest()
      if (thread === undefined) return Promise.reject(new Error('validating has ended'))
      const { companyId } = request.origin
      const isKnown = thread.refused.get(companyId) === refused
      if (refused === undefined) thread.refused.delete(companyId)
      else thread.refused.set(companyId, refused)
      return new Promise((resolve, reject) => {
        const id = ++lastId
        thread.waiting.set(id, { resolve, reject })
        thread.worker.ref()
        const { buffer, length } = body
        // What shares its memory with others cannot be moved alone.
        const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === length
        const moved = isOwn ? buffer : new Uint8Array(body).buffer
        const news = isKnown ? {} : { refused: refused ?? ('none' as const) }
        const job: ValidationJob = { ...request, ...news, id, body: moved }
        thread.worker.postMessage(job, [moved])
      })
    },

    async close() {
      hasEnded = true
      await Promise.all(
        [...threads].map(async (thread) => {
          fail(thread, new Error('validating has ended'))
          await thread.worker.terminate()
        }),
      )
    },
  }
}
