import type { Clock } from '../clock.ts'
import { type Lines, LogUnavailable, type Position } from './event-log.ts'
import type { Backlog, Segment, SegmentCatalogue } from './segment-catalogue.ts'
import type { SegmentFiles } from './segment-files.ts'
import { encodeSegmentHeader, FRAME_HEADER_BYTES, SEGMENT_HEADER_BYTES, sealFrame } from './segment-frame.ts'
import type { SpareSegment } from './segment-spare.ts'

export interface WriterLimits {
  /** A segment that has reached this size is followed by a new one. */
  readonly segmentBytes: number
  /** Appends are refused while more than this waits in memory (characters, at most three bytes each). */
  readonly backlogBytes: number
}

/** Appends share a frame up to this size: one damaged bit costs no more than what stands in its frame. */
const FRAME_CHARACTERS = 128 * 1024
/** A group is written in one piece; more than this waits for the next one. */
const GROUP_CHARACTERS = 4 * 1024 * 1024
const MAX_APPEND_CHARACTERS = 64 * 1024 * 1024
const SCRATCH_BYTES = 1024 * 1024
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1_000

/** The appends that share one frame. */
interface FrameDraft {
  readonly lines: Lines[]
  characters: number
  count: number
  firstSequence: number
  lastSequence: number
}

/** The appends that share one write, one fdatasync and one promise. */
interface Group {
  /** Whether it begins a segment. */
  readonly place: 'newSegment' | undefined
  readonly frames: FrameDraft[]
  characters: number
  appends: number
  events: number
  readonly durable: Promise<void>
  readonly resolve: () => void
  readonly reject: (reason: LogUnavailable) => void
}

interface ActiveSegment {
  readonly fd: number
  /** Its bytes are on disk already, as zeros. */
  readonly prepared: boolean
  readonly segment: Segment
  /** In the catalogue since its first acknowledged group. */
  listed: boolean
}

interface Failure {
  readonly error: LogUnavailable
  /** Failures since the last group that became durable. */
  readonly times: number
  /** Until then appends are refused without a try. */
  retryAt: number
  /** A segment could be made since, so the next group has a fair chance. */
  mended: boolean
}

/** Made once: under overload an error with its stack for each refused append would be work of its own. */
const BACKLOG = new LogUnavailable('backlog', 'The event log cannot write as fast as events arrive')

const newGroup = (place?: 'newSegment'): Group => {
  const { promise: durable, resolve, reject } = Promise.withResolvers<void>()
  return { place, frames: [], characters: 0, appends: 0, events: 0, durable, resolve, reject }
}

const isWhole = (lines: Lines): boolean =>
  (typeof lines === 'string' ? lines.charCodeAt(lines.length - 1) : lines.at(-1)) === 10

/** Texts of a frame as one, since each takes a call to be encoded; beside bytes, which come many lines at once, as they are. */
const joinTexts = (lines: readonly Lines[]): readonly Lines[] =>
  lines.every((each) => typeof each === 'string') ? [lines.join('')] : lines

/**
 * Writes groups of appends: while one group is being written and synced, the next one gathers. A segment that failed
 * to be written or synced is never written or synced again, because the system may have dropped the pages that it
 * could not write and would then confirm them (fsync after EIO); the next group goes to a new segment.
 */
export class SegmentWriter {
  readonly totals = { appends: 0, events: 0, bytes: 0, groups: 0, failures: 0 }
  readonly #files: SegmentFiles
  readonly #catalogue: SegmentCatalogue
  readonly #backlog: Backlog
  readonly #spare: SpareSegment
  readonly #clock: Clock
  readonly #limits: WriterLimits
  readonly #onDurable: (bytes: number) => void
  #nextSequence: number
  /** Groups waiting to be written; appends join the last one. */
  #groups: Group[] = []
  #waiting = 0
  #running: Promise<void> | undefined
  /** Ends the wait for the rest of a turn of the event loop; undefined while no append waits. */
  #begin: (() => void) | undefined
  /** Appends of the last two groups. */
  #sizes: readonly [number, number] = [0, 0]
  #active: ActiveSegment | undefined
  #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  #refusal: LogUnavailable | undefined
  #failure: Failure | undefined
  #probe: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: {
    files: SegmentFiles
    catalogue: SegmentCatalogue
    backlog: Backlog
    spare: SpareSegment
    clock: Clock
    limits: WriterLimits
    nextSequence: number
    /** Called after each group with the bytes it took. */
    onDurable: (bytes: number) => void
  }) {
    this.#files = options.files
    this.#catalogue = options.catalogue
    this.#backlog = options.backlog
    this.#spare = options.spare
    this.#clock = options.clock
    this.#limits = options.limits
    this.#nextSequence = options.nextSequence
    this.#onDurable = options.onDurable
  }

  reserve(count: number): number {
    const first = this.#nextSequence
    this.#nextSequence += count
    return first
  }

  /** Refuses appends for a reason outside the writer (a full disk, the end), until it is given undefined. */
  refuse(refusal: LogUnavailable | undefined): void {
    this.#refusal = refusal
  }

  /** Why the log takes no appends; unlike refusing(), steady while a failing file system is being tried again. */
  condition(): LogUnavailable | undefined {
    return this.#failure && !this.#failure.mended ? (this.#refusal ?? this.#failure.error) : this.refusing()
  }

  /** Why an append would be refused now. */
  refusing(): LogUnavailable | undefined {
    if (this.#refusal) return this.#refusal
    if (this.#failure && this.#clock.now() < this.#failure.retryAt) return this.#failure.error
    if (this.#waiting > this.#limits.backlogBytes) return BACKLOG
    return undefined
  }

  get waiting(): number {
    return this.#waiting
  }

  append(lines: Lines, count: number, firstSequence: number, place?: 'newSegment'): Promise<void> {
    const refusal = this.refusing()
    if (refusal) return Promise.reject(refusal)
    const characters = lines.length
    if (characters > MAX_APPEND_CHARACTERS || count < 1 || !isWhole(lines)) {
      return Promise.reject(
        new RangeError(
          `An append holds one or more whole lines, ${MAX_APPEND_CHARACTERS} characters at most`,
        ),
      )
    }
    let group = this.#groups.at(-1)
    if (!group || group.characters > GROUP_CHARACTERS || place !== undefined) {
      group = newGroup(place)
      this.#groups.push(group)
    }
    let frame = group.frames.at(-1)
    if (!frame || frame.characters + characters > FRAME_CHARACTERS) {
      frame = { lines: [], characters: 0, count: 0, firstSequence, lastSequence: 0 }
      group.frames.push(frame)
    }
    frame.lines.push(lines)
    frame.characters += characters
    frame.count += count
    if (firstSequence < frame.firstSequence) frame.firstSequence = firstSequence
    if (firstSequence + count - 1 > frame.lastSequence) frame.lastSequence = firstSequence + count - 1
    group.characters += characters
    group.appends += 1
    group.events += count
    this.#waiting += characters
    this.#running ??= this.#run()
    if (this.#begin && group.appends >= this.#eagerSize()) this.#begin()
    return group.durable
  }

  /** Resolves when nothing is left waiting. */
  async drain(): Promise<void> {
    while (this.#running) await this.#running
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#probe)
    await this.drain()
    if (this.#active) await this.#files.close(this.#active.fd).catch(() => undefined)
    this.#active = undefined
    await this.#spare.close()
  }

  async #run(): Promise<void> {
    do {
      const [waiting] = this.#groups
      if (!waiting || waiting.appends < this.#eagerSize()) await this.#restOfTurn()
      const group = this.#groups.shift()
      if (!group) continue
      this.#sizes = [this.#sizes[1], group.appends]
      await this.#commit(group)
    } while (this.#groups.length > 0)
    this.#running = undefined
  }

  /** What arrives in the same turn of the event loop joins the group: fewer, larger syncs. */
  #restOfTurn(): Promise<void> {
    return new Promise((resolve) => {
      const begin = (): void => {
        if (this.#begin === begin) this.#begin = undefined
        resolve()
      }
      this.#begin = begin
      setImmediate(begin)
    })
  }

  /**
   * A group this large does not wait for the rest of the turn: half of what senders that wait for their answers have
   * under way. Otherwise all of them fall into step, and the processor has nothing to do while the disk works.
   */
  #eagerSize(): number {
    return Math.ceil(Math.max(...this.#sizes) / 2)
  }

  async #commit(group: Group): Promise<void> {
    let refusal: LogUnavailable | undefined
    let active: ActiveSegment | undefined
    try {
      active = await this.#writable(group.place)
      const { segment, fd } = active
      const now = this.#clock.now()
      const { buffer, length } = this.#encode(group, segment.base, segment.end, now)
      await this.#write(fd, buffer, length, segment.end)
      await this.#files.datasync(fd)
      this.#acknowledge(active, group, length, now)
    } catch (cause) {
      refusal = this.#fail(cause)
      this.#active = undefined
      if (active) await this.#abandon(active)
    }
    this.#waiting -= group.characters
    if (refusal) group.reject(refusal)
    else group.resolve()
  }

  #acknowledge(active: ActiveSegment, group: Group, length: number, now: number): void {
    const { segment } = active
    const at: Position = { segment: segment.base, offset: segment.end }
    segment.end += length
    segment.events += group.events
    if (!active.listed) this.#catalogue.segments.push(segment)
    active.listed = true
    this.#backlog.add(at, group.events, now)
    this.#failure = undefined
    this.totals.appends += group.appends
    this.totals.events += group.events
    this.totals.bytes += length
    this.totals.groups += 1
    if (!active.prepared || segment.end > this.#limits.segmentBytes / 2) this.#spare.prepare()
    this.#onDurable(length)
  }

  /**
   * The first failure is tried again with the next group, on a new segment; repeated ones after a pause. A segment
   * is also made without waiting for an append, because a sender that was refused may send none.
   */
  #fail(cause: unknown): LogUnavailable {
    const times = (this.#failure?.times ?? 0) + 1
    const pause = times === 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (times - 2), LONGEST_PAUSE_MS)
    const reason = cause instanceof Error ? cause.message : String(cause)
    const error = new LogUnavailable('failed', `The event log cannot be written: ${reason}`, { cause })
    this.#failure = { error, times, retryAt: this.#clock.now() + pause, mended: false }
    this.totals.failures += 1
    clearTimeout(this.#probe)
    if (!this.#closed) {
      this.#probe = setTimeout(() => {
        this.#running ??= this.#mend()
      }, pause + FIRST_PAUSE_MS).unref()
    }
    return error
  }

  async #mend(): Promise<void> {
    try {
      await this.#writable()
      if (this.#failure) {
        this.#failure.mended = true
        this.#failure.retryAt = 0
      }
    } catch (cause) {
      this.#fail(cause)
    }
    this.#running = this.#groups.length > 0 ? this.#run() : undefined
  }

  /** The segment to write to: the active one, or a new one behind it. */
  async #writable(place?: 'newSegment'): Promise<ActiveSegment> {
    if (this.#active && place === undefined && !this.#isOver(this.#active)) return this.#active
    const full = this.#active
    this.#active = undefined
    if (full) await this.#files.close(full.fd).catch(() => undefined)
    this.#active = await this.#create()
    return this.#active
  }

  /** A segment that grows with each write is left as soon as there is a prepared one. */
  #isOver({ segment, prepared }: ActiveSegment): boolean {
    return segment.end >= this.#limits.segmentBytes || (!prepared && this.#spare.isReady)
  }

  async #create(): Promise<ActiveSegment> {
    const base = this.#nextSequence
    this.#nextSequence += 1 // the next name differs, whatever becomes of this one
    const path = this.#catalogue.path(base)
    const createdAt = this.#clock.now()
    const last = this.#catalogue.segments.at(-1)
    const previous = last && { base: last.base, end: last.end, events: last.events }
    const segment: Segment = { base, path, createdAt, end: SEGMENT_HEADER_BYTES, events: 0 }
    const taken = await this.#spare.take(path)
    const fd = taken ?? (await this.#files.create(path))
    const active: ActiveSegment = { fd, prepared: taken !== undefined, segment, listed: false }
    try {
      const header = encodeSegmentHeader({ base, createdAt, previous })
      await this.#write(active.fd, header, header.length, 0)
      await this.#files.datasync(active.fd)
      await this.#files.syncDirectory(this.#catalogue.directory)
      return active
    } catch (error) {
      await this.#abandon(active)
      throw error
    }
  }

  /** Gives up a segment that failed; one without anything acknowledged goes away. */
  async #abandon(active: ActiveSegment): Promise<void> {
    await this.#files.close(active.fd).catch(() => undefined)
    if (!active.listed) await this.#files.unlink(active.segment.path).catch(() => undefined)
  }

  #encode(group: Group, base: number, offset: number, writtenAt: number): { buffer: Buffer; length: number } {
    let needed = 0
    const payloads: (readonly Lines[])[] = []
    for (const frame of group.frames) {
      const payload = joinTexts(frame.lines)
      payloads.push(payload)
      needed += FRAME_HEADER_BYTES
      for (const piece of payload) needed += Buffer.byteLength(piece)
    }
    const buffer = needed > this.#scratch.length ? Buffer.allocUnsafeSlow(needed) : this.#scratch
    let at = 0
    for (const [index, frame] of group.frames.entries()) {
      const start = at + FRAME_HEADER_BYTES
      let end = start
      for (const piece of payloads[index] ?? [])
        end += typeof piece === 'string' ? buffer.write(piece, end) : piece.copy(buffer, end)
      sealFrame(buffer, at, end - start, { ...frame, writtenAt }, base, offset + at)
      at = end
    }
    return { buffer, length: at }
  }

  async #write(fd: number, buffer: Buffer, length: number, position: number): Promise<void> {
    let written = 0
    while (written < length) {
      const bytes = await this.#files.write(fd, buffer, written, length - written, position + written)
      if (bytes === 0) throw new Error('the file system took no bytes')
      written += bytes
    }
  }
}
