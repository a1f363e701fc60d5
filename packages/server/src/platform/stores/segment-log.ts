import type { Clock } from '../clock.ts'
import { systemClock } from '../clock.ts'
import type { DiskReserve } from '../files/disk-reserve.ts'
import { newId } from '../ids.ts'
import type { Lines, LogBatch, LogDamage, LogState, Position } from './event-log.ts'
import { comparePositions, type EventLog, LogUnavailable } from './event-log.ts'
import { Backlog, type Segment, SegmentCatalogue } from './segment-catalogue.ts'
import { nodeFiles, type SegmentFiles } from './segment-files.ts'
import { SEGMENT_HEADER_BYTES } from './segment-frame.ts'
import { lockDirectory } from './segment-lock.ts'
import { loadOrCreateLogId } from './segment-log-id.ts'
import { readFrames } from './segment-reader.ts'
import { describeDamage, recoverSegments } from './segment-recovery.ts'
import { SpareSegment } from './segment-spare.ts'
import { SegmentWriter } from './segment-writer.ts'

const MEBIBYTE = 1024 * 1024

export interface SegmentLogOptions {
  /** Made if it does not exist; holds nothing but the log. */
  readonly directory: string
  /** Default 32 MiB. */
  readonly segmentBytes?: number
  /** Fills segments with zeros before they are used, which makes durable writes faster; default false. */
  readonly preparesSegments?: boolean
  /** Appends are refused while more than this waits in memory; default 64 MiB. */
  readonly backlogBytes?: number
  /** Appends are refused while the disk of the directory is down to it; without one they go on until it refuses them. */
  readonly reserve?: DiskReserve
  /** Called once for each range of the log that cannot be read. */
  readonly onDamage?: (damage: LogDamage) => void
  /** How long a process that was killed may take to give the directory back; default 10 s. */
  readonly lockWaitMs?: number
  readonly clock?: Clock
  readonly files?: SegmentFiles
}

/**
 * Opens the event log of one machine: segment files in a directory.
 * @throws when the directory is in use by another process or cannot be read
 */
export const openSegmentLog = async (options: SegmentLogOptions): Promise<EventLog> => {
  const { directory, files = nodeFiles, clock = systemClock, lockWaitMs = 10_000 } = options
  await files.makeDirectory(directory)
  const unlock = files === nodeFiles ? await lockDirectory(directory, lockWaitMs) : () => undefined
  try {
    const catalogue = new SegmentCatalogue(directory, options.onDamage ?? (() => undefined))
    const nextSequence = await recoverSegments(files, catalogue, clock.now())
    const id = files === nodeFiles ? loadOrCreateLogId(directory, catalogue.segments.length > 0) : newId()
    await options.reserve?.check()
    return new SegmentLog({ options, id, files, clock, catalogue, nextSequence, unlock })
  } catch (error) {
    unlock()
    throw error
  }
}

interface Parts {
  readonly options: SegmentLogOptions
  readonly id: string
  readonly files: SegmentFiles
  readonly clock: Clock
  readonly catalogue: SegmentCatalogue
  readonly nextSequence: number
  readonly unlock: () => void
}

class SegmentLog implements EventLog {
  readonly id: string
  readonly #files: SegmentFiles
  readonly #catalogue: SegmentCatalogue
  readonly #backlog = new Backlog()
  readonly #writer: SegmentWriter
  readonly #reserve: DiskReserve | undefined
  readonly #unwatch: (() => void) | undefined
  readonly #unlock: () => void
  readonly #waiters = new Set<() => void>()
  #released: Position = { segment: 0, offset: 0 }
  #releasing: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor({ options, id, files, clock, catalogue, nextSequence, unlock }: Parts) {
    this.id = id
    this.#files = files
    this.#catalogue = catalogue
    this.#unlock = unlock
    for (const segment of catalogue.segments) {
      const position = { segment: segment.base, offset: SEGMENT_HEADER_BYTES }
      if (segment.events > 0) this.#backlog.add(position, segment.events, segment.createdAt)
    }
    const { reserve } = options
    this.#reserve = reserve
    const segmentBytes = options.segmentBytes ?? 32 * MEBIBYTE
    this.#writer = new SegmentWriter({
      files,
      spare: new SpareSegment(files, options.directory, options.preparesSegments ? segmentBytes : 0, clock),
      catalogue,
      backlog: this.#backlog,
      clock,
      nextSequence,
      limits: {
        segmentBytes,
        backlogBytes: options.backlogBytes ?? 64 * MEBIBYTE,
      },
      onDurable: (bytes) => {
        reserve?.wrote(bytes)
        this.#wake()
      },
    })
    this.#unwatch = reserve?.watch((isReached) => {
      const message = `The disk of the event log is nearly full: less than ${reserve.mebibytes} MiB are free`
      const refusal = new LogUnavailable('disk', message, { retryAfterSeconds: 10 })
      this.#writer.refuse(isReached ? refusal : undefined)
    })
  }

  reserve(count: number): number {
    return this.#writer.reserve(count)
  }

  append(lines: Lines, count: number, firstSequence: number, place?: 'newSegment'): Promise<void> {
    return this.#writer.append(lines, count, firstSequence, place)
  }

  start(): Position {
    return this.#catalogue.start()
  }

  end(): Position {
    return this.#catalogue.end()
  }

  async read(from: Position, maxBytes: number, memory?: Buffer): Promise<LogBatch | undefined> {
    const { segments } = this.#catalogue
    const damaged: LogDamage[] = []
    const report = (damage: LogDamage): void => {
      damaged.push(damage)
      this.#catalogue.report(damage)
    }
    let index = this.#catalogue.indexFrom(from.segment)
    if (index === segments.length && segments.length > 0) index = 0 // a place of another log: nothing is left out
    const first = segments[index]
    if (first && first.base !== from.segment && from.segment > 0) {
      report(describeDamage('missing', from.segment))
    }
    let offset =
      first?.base === from.segment ? Math.max(from.offset, SEGMENT_HEADER_BYTES) : SEGMENT_HEADER_BYTES
    for (let segment = first; segment; segment = segments[++index]) {
      if (segment !== first && segment.missingBefore !== undefined) {
        report(describeDamage('missing', segment.missingBefore))
      }
      const limit = segment.end
      if (segment.foreign && offset < limit) report(describeDamage('format', segment.base, 0, limit))
      if (segment.foreign) offset = limit
      if (offset < limit) {
        const run = await this.#readSegment(segment, offset, limit, maxBytes, memory)
        for (const { from: start, to } of run.damaged) {
          segment.damaged = true
          report(describeDamage('damaged', segment.base, start, to))
        }
        // The end of a segment is the start of the next one: a checkpoint then keeps no segment that is all loaded.
        const following = segments[segments.indexOf(segment) + 1]
        if (!following || run.next < segment.end) {
          return { ...run, damaged, next: { segment: segment.base, offset: run.next } }
        }
        if (following.missingBefore !== undefined) report(describeDamage('missing', following.missingBefore))
        return { ...run, damaged, next: { segment: following.base, offset: SEGMENT_HEADER_BYTES } }
      }
      offset = SEGMENT_HEADER_BYTES
    }
    if (damaged.length === 0) return undefined
    const next = this.end()
    return {
      payload: Buffer.alloc(0),
      count: 0,
      firstSequence: 0,
      lastSequence: 0,
      writtenAt: 0,
      damaged,
      next,
    }
  }

  async release(upTo: Position): Promise<void> {
    this.#releasing = this.#releasing.then(
      () => this.#release(upTo),
      () => this.#release(upTo),
    )
    return this.#releasing
  }

  async changed(after: Position, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || comparePositions(this.end(), after) > 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const abort = (): void => resolve()
    this.#waiters.add(resolve)
    signal?.addEventListener('abort', abort)
    await promise
    signal?.removeEventListener('abort', abort)
    this.#waiters.delete(resolve)
  }

  state(): LogState {
    return {
      bytes: this.#catalogue.bytesAfter(this.#released),
      events: this.#backlog.events,
      oldestAt: this.#backlog.oldestAt,
      segments: this.#catalogue.segments.length,
      damage: [...this.#catalogue.damage],
      refusing: this.#writer.condition()?.reason,
      freeBytes: this.#reserve?.freeBytes,
      waitingBytes: this.#writer.waiting,
      totals: { ...this.#writer.totals },
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#unwatch?.()
    this.#writer.refuse(new LogUnavailable('closed', 'The event log is closed'))
    await this.#writer.close()
    await this.#releasing.catch(() => undefined)
    this.#wake()
    this.#unlock()
  }

  #wake(): void {
    for (const resolve of this.#waiters) resolve()
    this.#waiters.clear()
  }

  async #readSegment(
    { path, base }: Segment,
    offset: number,
    limit: number,
    maxBytes: number,
    memory?: Buffer,
  ) {
    const fd = await this.#files.openForReading(path)
    try {
      return await readFrames(this.#files, { fd, base, limit }, offset, maxBytes, memory)
    } finally {
      await this.#files.close(fd).catch(() => undefined)
    }
  }

  async #release(upTo: Position): Promise<void> {
    if (comparePositions(upTo, this.#released) > 0) this.#released = upTo
    this.#backlog.release(this.#released, this.end())
    const { segments } = this.#catalogue
    let removed = false
    // Oldest first, so that a crash leaves no hole; the last one stays, its name carries the sequence numbers on.
    for (let index = 0; index < segments.length - 1; ) {
      const segment = segments[index]
      if (!segment || segment.base >= this.#released.segment) break
      if (segment.foreign) {
        index += 1
        continue
      }
      if (segment.damaged) await this.#files.rename(segment.path, `${segment.path}.damaged`)
      else await this.#files.unlink(segment.path)
      segments.splice(index, 1)
      removed = true
    }
    if (removed) await this.#files.syncDirectory(this.#catalogue.directory)
  }
}
