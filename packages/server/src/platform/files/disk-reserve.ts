import { stat, statfs } from 'node:fs/promises'
import type { Clock } from '../clock.ts'
import { DomainError } from '../errors.ts'

/** Free space is looked at again after so many written bytes, or so much time. */
const LOOK_BYTES = 16 * 1024 * 1024
const LOOK_MS = 1_000
/** While the disk is full it is looked at this often, so that events are taken again without anyone's doing. */
const RETRY_MS = 500
/** What is large leaves as much again to events, which would else be refused as soon as it has filled the disk. */
const ROOM_FOR_EVENTS = 2
const RETRY_AFTER_SECONDS = 60

/** What is large is not written any more: 503 with `Retry-After` for a caller. */
export class DiskNearlyFull extends DomainError<'unavailable'> {
  constructor(mebibytes: number) {
    const message = `The disk of the service is nearly full: try again once ${mebibytes} MiB are free`
    super(
      'unavailable',
      { retryAfter: RETRY_AFTER_SECONDS },
      { message, retryAfterSeconds: RETRY_AFTER_SECONDS },
    )
    this.name = 'DiskNearlyFull'
  }
}

interface DiskReserveOptions {
  /** Any directory on the disk. */
  readonly directory: string
  /** 0 for no reserve. */
  readonly reserveBytes: number
  readonly clock: Clock
  readonly freeBytes?: FreeBytes
}

/** Bytes that an ordinary user may still write to the file system of a directory. */
export type FreeBytes = (directory: string) => Promise<number>

export const readFreeBytes: FreeBytes = async (directory) => {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/** Whether what is written to one directory takes the space of the other. */
export async function isSameDisk(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([stat(one), stat(other)])
  return first.dev === second.dev
}

/** What whoever writes much asks before and while it writes. */
export type DiskRoom = Pick<DiskReserve, 'take'>

/** Watches the free space of a disk: the event log stops at the reserve, and what is large before it. */
export class DiskReserve {
  readonly #options: DiskReserveOptions
  readonly #listeners = new Set<(isReached: boolean) => void>()
  #free: number | undefined
  #lookedAt = 0
  #writtenSince = 0
  #isReached = false
  #looking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(options: DiskReserveOptions) {
    this.#options = options
  }

  /** As last seen, less what was written since; undefined where nobody can tell. */
  get freeBytes(): number | undefined {
    return this.#free === undefined ? undefined : Math.max(0, this.#free - this.#writtenSince)
  }

  /** For messages. */
  get mebibytes(): number {
    return Math.round(this.#options.reserveBytes / 1024 / 1024)
  }

  /** Calls the listener when the disk is down to the reserve and when it is not any more, until the function it gives. */
  watch(listener: (isReached: boolean) => void): () => void {
    this.#listeners.add(listener)
    if (this.#isReached) listener(true)
    return () => void this.#listeners.delete(listener)
  }

  /** Notes what is written in any case. */
  wrote(bytes: number): void {
    this.#writtenSince += bytes
    if (this.#options.reserveBytes === 0) return
    if ((this.freeBytes ?? Infinity) < this.#options.reserveBytes) this.#checkReserve()
    if (this.#isStale()) void this.check()
  }

  /**
   * Asks for the room of bytes that are about to be written; 0 before the first of them. Whoever asks at the same time
   * is counted.
   * @throws DiskNearlyFull
   */
  async take(bytes: number): Promise<void> {
    const { reserveBytes } = this.#options
    if (reserveBytes === 0) return
    this.wrote(bytes)
    const wanted = ROOM_FOR_EVENTS * reserveBytes
    const isFull = (pending: number) => (this.freeBytes ?? Infinity) - pending < wanted
    // What was deleted since the last look counts at once.
    if (bytes > 0 && !this.#looking && !isFull(0)) return
    await this.check()
    // A look forgets what was noted and is not on the disk yet.
    if (isFull(bytes)) throw new DiskNearlyFull(ROOM_FOR_EVENTS * this.mebibytes)
  }

  /** Looks at the disk. Never rejects: a file system that cannot tell is written to until it refuses. */
  check(): Promise<void> {
    if (this.#stopped || this.#options.reserveBytes === 0) return Promise.resolve()
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #isStale(): boolean {
    const age = this.#options.clock.now() - this.#lookedAt
    return this.#writtenSince >= LOOK_BYTES || age >= LOOK_MS || age < 0
  }

  async #look(): Promise<void> {
    const { directory, clock, freeBytes = readFreeBytes } = this.#options
    const before = this.#writtenSince
    this.#lookedAt = clock.now()
    try {
      this.#free = await freeBytes(directory)
      this.#writtenSince -= before
    } catch {
      this.#free = undefined
    }
    this.#checkReserve()
  }

  #checkReserve(): void {
    const { reserveBytes } = this.#options
    const free = this.freeBytes ?? Infinity
    // Taken again a little above the reserve, so that it does not flicker.
    const isReached = free < (this.#isReached ? reserveBytes + reserveBytes / 16 : reserveBytes)
    if (isReached !== this.#isReached) {
      this.#isReached = isReached
      for (const listener of this.#listeners) listener(isReached)
    }
    if (isReached && !this.#stopped) {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.check(), RETRY_MS).unref()
    }
  }
}
