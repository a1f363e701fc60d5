import type { Clock } from '../clock.ts'
import { LogUnavailable } from './event-log.ts'

/** Free space is looked at again after so many written bytes, or so much time. */
const LOOK_BYTES = 16 * 1024 * 1024
const LOOK_MS = 1_000
/** While the disk is full it is looked at this often, so that appends are taken again without anyone's doing. */
const RETRY_MS = 500

interface DiskReserveOptions {
  readonly freeBytes: () => Promise<number>
  /** 0 for no reserve. */
  readonly reserveBytes: number
  readonly clock: Clock
  /** Called when appends must be refused, and with undefined when they are accepted again. */
  readonly onChange: (refusal: LogUnavailable | undefined) => void
}

/** Watches the free space of the log's disk and says when it is down to the reserve. */
export class DiskReserve {
  readonly #options: DiskReserveOptions
  #free: number | undefined
  #lookedAt = 0
  #writtenSince = 0
  #refusing = false
  #looking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(options: DiskReserveOptions) {
    this.#options = options
  }

  get freeBytes(): number | undefined {
    return this.#free === undefined ? undefined : Math.max(0, this.#free - this.#writtenSince)
  }

  wrote(bytes: number): void {
    this.#writtenSince += bytes
    if (this.#options.reserveBytes === 0) return
    if ((this.freeBytes ?? Infinity) < this.#options.reserveBytes) this.#checkReserve()
    const age = this.#options.clock.now() - this.#lookedAt
    if (this.#writtenSince >= LOOK_BYTES || age >= LOOK_MS || age < 0) void this.check()
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

  async #look(): Promise<void> {
    const before = this.#writtenSince
    this.#lookedAt = this.#options.clock.now()
    try {
      this.#free = await this.#options.freeBytes()
      this.#writtenSince -= before
    } catch {
      this.#free = undefined
    }
    this.#checkReserve()
  }

  #checkReserve(): void {
    const { reserveBytes, onChange } = this.#options
    const free = this.freeBytes ?? Infinity
    // Taken again a little above the reserve, so that it does not flicker.
    const refusing = free < (this.#refusing ? reserveBytes + reserveBytes / 16 : reserveBytes)
    if (refusing !== this.#refusing) {
      this.#refusing = refusing
      const message = `The disk of the event log is nearly full: less than ${Math.round(reserveBytes / 1024 / 1024)} MiB are free`
      onChange(refusing ? new LogUnavailable('disk', message, { retryAfterSeconds: 10 }) : undefined)
    }
    if (refusing && !this.#stopped) {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.check(), RETRY_MS).unref()
    }
  }
}
