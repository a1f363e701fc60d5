import { join } from 'node:path'
import type { LogDamage, Position } from './event-log.ts'
import { comparePositions } from './event-log.ts'
import { SEGMENT_HEADER_BYTES } from './segment-frame.ts'

/** A segment file whose content counts. */
export interface Segment {
  /** Its name: no sequence number at or above it was given before the segment was made. */
  readonly base: number
  readonly path: string
  /** Epoch milliseconds at which it was made. */
  readonly createdAt: number
  /** The bytes that count end here: acknowledged ones, or those that were found whole when the log was opened. */
  end: number
  /** Events before `end`. */
  events: number
  /** The segment that should stand before this one but is gone. */
  readonly missingBefore?: number | undefined
  /** Another version wrote it: it is never read and never removed. */
  readonly foreign?: boolean
  /** Some of it cannot be read: it is set aside, not removed, when its turn to go comes. */
  damaged?: boolean
}

const NAME = /^(\d{16})\.log$/
const MAX_DAMAGE_ENTRIES = 100

export const segmentName = (base: number): string => `${String(base).padStart(16, '0')}.log`

/** The number in a segment's file name; undefined for any other file. */
export const segmentBase = (name: string): number | undefined => {
  const digits = NAME.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** The segments of a log in order, and the damage seen in them. */
export class SegmentCatalogue {
  readonly directory: string
  readonly segments: Segment[] = []
  readonly damage: LogDamage[] = []
  readonly #onDamage: (damage: LogDamage) => void

  constructor(directory: string, onDamage: (damage: LogDamage) => void) {
    this.directory = directory
    this.#onDamage = onDamage
  }

  path(base: number): string {
    return join(this.directory, segmentName(base))
  }

  start(): Position {
    const first = this.segments[0]
    return first ? { segment: first.base, offset: SEGMENT_HEADER_BYTES } : { segment: 0, offset: 0 }
  }

  end(): Position {
    const last = this.segments.at(-1)
    return last ? { segment: last.base, offset: last.end } : { segment: 0, offset: 0 }
  }

  /** The index of the segment named `base`, or else of the next one; the number of segments when there is none. */
  indexFrom(base: number): number {
    const index = this.segments.findIndex((segment) => segment.base >= base)
    return index < 0 ? this.segments.length : index
  }

  /** Bytes of frames behind a position. */
  bytesAfter(position: Position): number {
    let bytes = 0
    for (const { base, end, foreign } of this.segments) {
      if (foreign) continue
      if (base > position.segment) bytes += end - SEGMENT_HEADER_BYTES
      else if (base === position.segment) {
        bytes += Math.max(0, end - Math.max(position.offset, SEGMENT_HEADER_BYTES))
      }
    }
    return bytes
  }

  /** Notes damage once, however often it is read; pieces that touch become one. */
  report(damage: LogDamage): void {
    const known = this.damage.findIndex(
      (entry) =>
        entry.kind === damage.kind &&
        entry.segment === damage.segment &&
        entry.from <= damage.from &&
        damage.from <= entry.to,
    )
    const entry = this.damage[known]
    if (!entry) {
      if (this.damage.length < MAX_DAMAGE_ENTRIES) this.damage.push(damage)
      this.#onDamage(damage)
    } else if (damage.to > entry.to) {
      this.damage[known] = { ...damage, from: entry.from }
      this.#onDamage(damage)
    }
  }
}

interface Mark {
  readonly position: Position
  /** Events that were appended before this position, counted since the log was opened. */
  readonly before: number
  readonly at: number
}

const MARK_INTERVAL_MS = 1_000
const MAX_MARKS = 4_096

/**
 * Counts what waits between the released position and the end, from marks about a second apart: the figures are
 * exact when nothing waits, and otherwise never too small.
 */
export class Backlog {
  #marks: Mark[] = []
  #total = 0

  /** A group of `events` became durable behind `position`. */
  add(position: Position, events: number, at: number): void {
    const last = this.#marks.at(-1)
    if (!last || at - last.at >= MARK_INTERVAL_MS || at < last.at) {
      this.#marks.push({ position, before: this.#total, at })
      if (this.#marks.length > MAX_MARKS) this.#marks = this.#marks.filter((_, index) => index % 2 === 0)
    }
    this.#total += events
  }

  release(upTo: Position, end: Position): void {
    if (comparePositions(upTo, end) >= 0) {
      this.#marks = []
      return
    }
    let keep = 0
    for (let next = 1; next < this.#marks.length; next++) {
      const mark = this.#marks[next]
      if (mark && comparePositions(mark.position, upTo) <= 0) keep = next
    }
    if (keep > 0) this.#marks.splice(0, keep)
  }

  get events(): number {
    const first = this.#marks[0]
    return first ? this.#total - first.before : 0
  }

  get oldestAt(): number | undefined {
    return this.#marks[0]?.at
  }
}
