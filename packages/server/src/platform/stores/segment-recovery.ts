import type { LogDamage } from './event-log.ts'
import { type Segment, type SegmentCatalogue, segmentBase, segmentName } from './segment-catalogue.ts'
import type { SegmentFiles } from './segment-files.ts'
import {
  decodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
  segmentVersion,
} from './segment-frame.ts'
import { readFrames } from './segment-reader.ts'

const SCAN_BYTES = 8 * 1024 * 1024

/** Sequence numbers taken from the clock stay below this (the year 2112), so that a wrong clock cannot use them up. */
const MAX_CLOCK_SEQUENCE = 2 ** 52

/** Numbers that may have been given before a crash without anything of them being written. */
const UNWRITTEN_SEQUENCES = 2 ** 20

interface Found {
  readonly base: number
  readonly path: string
  readonly size: number
  readonly header: SegmentHeader | undefined
  /** Undefined when the first bytes are all zero or too few: the segment was being made when the machine stopped. */
  readonly version: number | undefined | 'unknown'
}

interface Scan {
  /** Behind it all bytes are zero: a segment may be prepared with zeros before it is written to. */
  readonly contentEnd: number
  readonly events: number
  readonly lastSequence: number
  readonly damaged: readonly { from: number; to: number }[]
}

/** Says what is wrong with a segment, for the log and the operator. */
export const describeDamage = (kind: LogDamage['kind'], segment: number, from = 0, to = 0): LogDamage => {
  const name = segmentName(segment)
  const messages: Record<LogDamage['kind'], string> = {
    damaged: `Bytes ${from} to ${to} of the event log's segment ${name} fail their checksum: the events in them are skipped`,
    tail: `Bytes ${from} to ${to} at the end of the event log's segment ${name} are not a whole write: they are cut`,
    missing: `The event log's segment ${name} is missing: the events in it are skipped`,
    format: `${name} is no event log segment of this version: it is skipped and kept; load it with the version that wrote it, or move it away`,
  }
  return { kind, segment, from, to, message: messages[kind] }
}

const look = async (files: SegmentFiles, path: string, base: number): Promise<Found> => {
  const fd = await files.openForReading(path)
  try {
    const size = await files.size(fd)
    const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES)
    const got = await files.read(fd, bytes, 0, bytes.length, 0)
    const begun = got === bytes.length && bytes.some((byte) => byte !== 0)
    const header = begun ? decodeSegmentHeader(bytes, base) : undefined
    return { base, path, size, header, version: begun ? (segmentVersion(bytes) ?? 'unknown') : undefined }
  } finally {
    await files.close(fd)
  }
}

const scan = async (files: SegmentFiles, { path, base, size }: Found): Promise<Scan> => {
  const fd = await files.openForReading(path)
  try {
    // What a killed process wrote may be in memory only. Before it counts as the log's, it is on disk.
    await files.datasync(fd)
    let events = 0
    let lastSequence = 0
    const damaged: { from: number; to: number }[] = []
    for (let offset = SEGMENT_HEADER_BYTES; offset < size; ) {
      const run = await readFrames(files, { fd, base, limit: size }, offset, SCAN_BYTES)
      events += run.count
      lastSequence = Math.max(lastSequence, run.lastSequence)
      for (const range of run.damaged) {
        const before = damaged.at(-1)
        if (before && before.to === range.from) before.to = range.to
        else damaged.push({ ...range })
      }
      offset = run.next
    }
    const last = damaged.at(-1)
    const contentEnd = last?.to === size ? await findContentEnd(files, fd, last.from, size) : size
    return { contentEnd, events, lastSequence, damaged }
  } finally {
    await files.close(fd)
  }
}

const zeros = Buffer.alloc(256 * 1024)

/** From the end backwards: most of a prepared segment may be zeros. */
const findContentEnd = async (
  files: SegmentFiles,
  fd: number,
  least: number,
  size: number,
): Promise<number> => {
  const bytes = Buffer.allocUnsafe(zeros.length)
  for (let to = size; to > least; ) {
    const from = Math.max(least, to - bytes.length)
    const got = await files.read(fd, bytes, 0, to - from, from)
    if (bytes.compare(zeros, 0, got, 0, got) !== 0) {
      let last = got - 1
      while (bytes[last] === 0) last -= 1
      return from + last + 1
    }
    to = from
  }
  return least
}

/**
 * Fills the catalogue with the segments of its directory. Each segment's header states where the one before it ends
 * and what it holds, so only the last segment is read through; the others are verified as they are read. No file is
 * changed: what was cut from the last segment's end is recorded by the header of the next one to be made.
 * @returns the first sequence number that no one can have been given yet
 */
export const recoverSegments = async (
  files: SegmentFiles,
  catalogue: SegmentCatalogue,
  now: number,
): Promise<number> => {
  const bases: number[] = []
  for (const name of await files.list(catalogue.directory)) {
    const base = segmentBase(name)
    if (base !== undefined) bases.push(base)
  }
  bases.sort((a, b) => a - b)
  const found: Found[] = []
  for (const base of bases) found.push(await look(files, catalogue.path(base), base))

  // The clock in microseconds lies above every number given by a log that was deleted, at any rate below a million
  // events a second: the columnar store, which knows rows by their number, then still distinguishes the rows.
  let floor = Math.max(1, Math.min(Math.floor(now * 1_000), MAX_CLOCK_SEQUENCE))
  for (const [index, segment] of found.entries()) {
    floor = Math.max(floor, segment.base + UNWRITTEN_SEQUENCES)
    const following = found.slice(index + 1).find(({ header }) => header)?.header?.previous
    // Made, but given up before anything in it was acknowledged: the chain of headers leaves it out.
    if (following && following.base < segment.base) {
      await files.unlink(segment.path).catch(() => undefined)
      continue
    }
    const named = following?.base === segment.base ? following : undefined
    const kept = await recover(files, catalogue, segment, named)
    if (!kept) continue
    floor = Math.max(floor, kept.lastSequence + UNWRITTEN_SEQUENCES)
    catalogue.segments.push(kept.segment)
    if (kept.segment.missingBefore !== undefined) {
      catalogue.report(describeDamage('missing', kept.segment.missingBefore))
    }
  }
  return floor
}

const recover = async (
  files: SegmentFiles,
  catalogue: SegmentCatalogue,
  found: Found,
  named: SegmentHeader['previous'],
): Promise<{ segment: Segment; lastSequence: number } | undefined> => {
  const { base, path, header } = found
  const before = catalogue.segments.at(-1)
  const previous = header?.previous?.base
  const missingBefore = before && previous !== undefined && previous > before.base ? previous : undefined
  const common = { base, path, createdAt: header?.createdAt ?? before?.createdAt ?? 0, missingBefore }
  if (header && named) {
    return { segment: { ...common, end: named.end, events: named.events }, lastSequence: 0 }
  }
  const { contentEnd, events, lastSequence, damaged } = await scan(files, found)
  if (named) {
    catalogue.report(describeDamage('damaged', base, 0, SEGMENT_HEADER_BYTES))
    return { segment: { ...common, end: named.end, events: named.events, damaged: true }, lastSequence }
  }
  if (!header && events === 0) {
    // A part of a header and nothing else: the segment was being made when the machine stopped.
    if (found.version === undefined || contentEnd <= SEGMENT_HEADER_BYTES) {
      await files.unlink(path).catch(() => undefined)
      return undefined
    }
    catalogue.report(describeDamage('format', base, 0, found.size))
    return { segment: { ...common, end: found.size, events: 0, foreign: true }, lastSequence: 0 }
  }
  if (!header) catalogue.report(describeDamage('damaged', base, 0, SEGMENT_HEADER_BYTES))
  const tail = damaged.at(-1)?.to === found.size ? damaged.at(-1) : undefined
  if (tail && tail.from < contentEnd) {
    catalogue.report(describeDamage('tail', base, tail.from, contentEnd))
  }
  const inside = damaged.filter((range) => range !== tail)
  for (const { from, to } of inside) catalogue.report(describeDamage('damaged', base, from, to))
  return {
    segment: {
      ...common,
      end: Math.max(tail?.from ?? found.size, SEGMENT_HEADER_BYTES),
      events,
      damaged: inside.length > 0 || !header,
    },
    lastSequence,
  }
}
