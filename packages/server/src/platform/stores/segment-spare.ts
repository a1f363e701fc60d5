import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { SegmentFiles } from './segment-files.ts'

const NAME = 'next-segment'
/** A disk that refuses, for want of space perhaps, is not filled with zeros again at once. */
const RETRY_MS = 5_000

/**
 * A file of zeros on disk, ready to become the next segment. Writing over what is there changes no metadata of the
 * file: a durable write then takes one way to the disk, where one that makes the file longer waits for the file
 * system's journal as well (0.13 ms instead of 0.25 ms, and half the processor time).
 */
export class SpareSegment {
  readonly #files: SegmentFiles
  readonly #path: string
  readonly #bytes: number
  readonly #clock: Clock
  #state: 'none' | 'preparing' | 'ready' = 'none'
  #preparing: Promise<void> = Promise.resolve()
  #closed = false
  #retryAt = 0

  /** @param bytes the size of a segment; 0 for no spare ones */
  constructor(files: SegmentFiles, directory: string, bytes: number, clock: Clock) {
    this.#files = files
    this.#path = join(directory, NAME)
    this.#bytes = bytes
    this.#clock = clock
  }

  get isReady(): boolean {
    return this.#state === 'ready'
  }

  /** Begins to prepare one, unless there is one. What fails is tried again by a later call. */
  prepare(): void {
    if (this.#bytes === 0 || this.#state !== 'none' || this.#closed) return
    if (this.#clock.now() < this.#retryAt) return
    this.#state = 'preparing'
    this.#preparing = this.#prepare()
  }

  async #prepare(): Promise<void> {
    try {
      // Left by a process that was killed: how much of it is on disk is unknown.
      await this.#discard()
      await this.#files.prepare(this.#path, this.#bytes, () => this.#closed)
      this.#state = 'ready'
    } catch {
      await this.#discard()
      this.#state = 'none'
      this.#retryAt = this.#clock.now() + RETRY_MS
    }
  }

  /**
   * Makes the prepared file the one at `path`.
   * @returns its descriptor; undefined when there is none, or it cannot be used: a new file serves as well
   */
  async take(path: string): Promise<number | undefined> {
    if (this.#state !== 'ready') return undefined
    this.#state = 'none'
    let fd: number | undefined
    try {
      fd = await this.#files.openForWriting(this.#path)
      await this.#files.rename(this.#path, path)
      return fd
    } catch {
      if (fd !== undefined) await this.#files.close(fd).catch(() => undefined)
      return undefined
    }
  }

  /** Gives the disk space back. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#preparing
    if (this.#bytes > 0) await this.#discard()
    this.#state = 'none'
  }

  async #discard(): Promise<void> {
    await this.#files.unlink(this.#path).catch(() => undefined)
  }
}
