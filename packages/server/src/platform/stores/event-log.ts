/**
 * The event log: events that were accepted and are not yet in the columnar store. An accepted event is durable
 * here before its sender hears 200 (ARCHITECTURE.md, The way of an event).
 */

/**
 * A place in the log. Positions of one log are ordered by `segment`, then `offset`, and stay valid across
 * restarts until everything before them was released.
 */
export interface Position {
  readonly segment: number
  readonly offset: number
}

/** A stretch of the log that cannot be read. Whatever lies on both sides of it is still delivered. */
export interface LogDamage {
  /**
   * `damaged`: bytes that fail their checksum; `tail`: bytes after the last whole write of a log that was not closed,
   * cut when it was opened (a write that was never acknowledged, unless the disk lost what it had confirmed); `missing`:
   * a whole segment is gone; `format`: a segment of another version, left untouched on disk.
   */
  readonly kind: 'damaged' | 'tail' | 'missing' | 'format'
  readonly segment: number
  /** Byte offsets inside the segment, `to` exclusive; both 0 when the segment is missing. */
  readonly from: number
  readonly to: number
  /** For the operator: what is wrong and what to do. */
  readonly message: string
}

/** Whole verified appends, in the order of the log. */
export interface LogBatch {
  /** The appended lines, unchanged, as NDJSON. Empty when only damage was found. */
  readonly payload: Buffer
  /** Lines in `payload`. */
  readonly count: number
  /** Smallest and greatest sequence number in `payload`; both 0 when `count` is 0. */
  readonly firstSequence: number
  readonly lastSequence: number
  /** Epoch milliseconds at which the oldest append of this batch was written; 0 when `count` is 0. */
  readonly writtenAt: number
  /** Where the next read continues, and what to release once this batch is loaded and checkpointed. */
  readonly next: Position
  /** What had to be skipped on the way from the position read from to `next`. */
  readonly damaged: readonly LogDamage[]
}

export interface LogState {
  /** Bytes between the released position and the end. */
  readonly bytes: number
  /** Events between the released position and the end; never too few, exact when nothing waits. */
  readonly events: number
  /** Epoch milliseconds at which the oldest waiting event was written (never too late); undefined when none waits. */
  readonly oldestAt: number | undefined
  readonly segments: number
  /** What was found unreadable since the log was opened. */
  readonly damage: readonly LogDamage[]
  /** Undefined while appends are accepted, else why they are refused right now. */
  readonly refusing: LogRefusal | undefined
  /** Free bytes of the file system as last seen; undefined before the first look. */
  readonly freeBytes: number | undefined
  /** Bytes appended and not yet durable. */
  readonly waitingBytes: number
  /** Totals since the log was opened. */
  readonly totals: {
    readonly appends: number
    readonly events: number
    readonly bytes: number
    /** Groups made durable: appends / groups is the gain of group commit. */
    readonly groups: number
    /** Groups of which nothing was acknowledged because the file system failed. */
    readonly failures: number
  }
}

/**
 * Why an append is refused: `closed` after close(); `backlog` when more waits in memory than is allowed; `disk`
 * when free space is down to the reserve; `failed` when the file system refuses to write or to sync.
 */
export type LogRefusal = 'closed' | 'backlog' | 'disk' | 'failed'

/** Nothing of this append was acknowledged; the same events may be sent again. The collector answers 503. */
export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable'
  readonly reason: LogRefusal
  /** A hint for `Retry-After`. */
  readonly retryAfterSeconds: number

  constructor(
    reason: LogRefusal,
    message: string,
    options: { cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.reason = reason
    this.retryAfterSeconds = options.retryAfterSeconds ?? 1
  }
}

/** NDJSON, each line ended by a newline: as text, or as its bytes, which stay as they are until they are on disk. */
export type Lines = string | Buffer

export interface EventLog {
  /** Names this log for as long as it exists, across restarts: a position is one of the log that gave it. */
  readonly id: string

  /**
   * Gives the first of `count` consecutive sequence numbers. Numbers only ever grow; after a restart they lie above
   * all that were given before, also when everything was released.
   */
  reserve(count: number): number

  /**
   * Appends `count` NDJSON lines (each ended by a newline) that carry the sequence numbers from `firstSequence` on.
   * They are kept or lost together. Resolves when they are on disk, and all that was appended before is there or refused.
   * @param place `newSegment` leaves what was appended before in segments that are released without these lines
   * @throws {LogUnavailable} nothing was acknowledged
   */
  append(lines: Lines, count: number, firstSequence: number, place?: 'newSegment'): Promise<void>

  /**
   * Reads durable appends from a position on: as many whole ones as fit in `maxBytes`, but at least one.
   * @param memory where the payload may stand, if it is large enough; the payload is good until the caller uses it
   *   for something else. Memory that is used again and again saves the system from giving new pages each time.
   * @returns undefined when nothing durable lies behind `from`
   * @throws the file system's error when the log cannot be read; the same read may be tried again
   */
  read(from: Position, maxBytes: number, memory?: Buffer): Promise<LogBatch | undefined>

  /** Everything before `upTo` is loaded and checkpointed: its disk space may be given back. */
  release(upTo: Position): Promise<void>

  /** Where the oldest kept event is: the place to begin without a checkpoint. */
  start(): Position

  /** The end of what is durable. */
  end(): Position

  /** Resolves once something durable lies behind `after`, at once if it already does, or when `signal` aborts. */
  changed(after: Position, signal?: AbortSignal): Promise<void>

  state(): LogState

  /** Refuses further appends, makes those that wait durable, gives files free. */
  close(): Promise<void>
}

/** Orders positions: negative when `a` lies before `b`. */
export const comparePositions = (a: Position, b: Position): number =>
  a.segment - b.segment || a.offset - b.offset
