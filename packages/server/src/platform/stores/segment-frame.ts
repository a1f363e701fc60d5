import { crc32 } from 'node:zlib'

/**
 * Bytes of a segment: one header of 64 bytes, then frames. A frame is a header of 40 bytes and NDJSON lines. Numbers
 * are little-endian; sequence numbers and times are doubles, which hold every integer up to 2^53 exactly.
 *
 * Both magics begin with 0xFF, a byte that UTF-8 never has: a search for the next frame cannot stop inside a payload.
 */
export const SEGMENT_HEADER_BYTES = 64
export const FRAME_HEADER_BYTES = 40
const VERSION = 1
const SEGMENT_MAGIC = Buffer.from([0xff, 0x4d, 0x49, 0x4c, 0x4c, 0x52, 0x43]) // 0xFF "MILLRC", then the version
const FRAME_MAGIC = Buffer.from([0xff, 0x46, 0x52, 0xfe])
const FRAME_MAGIC_NUMBER = FRAME_MAGIC.readUInt32LE(0)

export interface SegmentHeader {
  /** The first sequence number that was not yet given when the segment was made; also its name. */
  readonly base: number
  readonly createdAt: number
  /**
   * The segment before this one, undefined for the very first: its name, how many of its bytes count (a write that
   * failed may have left more), and how many events these hold.
   */
  readonly previous: { readonly base: number; readonly end: number; readonly events: number } | undefined
}

export const encodeSegmentHeader = (header: SegmentHeader): Buffer => {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES)
  SEGMENT_MAGIC.copy(bytes)
  bytes.writeUInt8(VERSION, SEGMENT_MAGIC.length)
  bytes.writeDoubleLE(header.base, 8)
  bytes.writeDoubleLE(header.createdAt, 16)
  bytes.writeDoubleLE(header.previous?.base ?? -1, 24)
  bytes.writeDoubleLE(header.previous?.end ?? 0, 32)
  bytes.writeDoubleLE(header.previous?.events ?? 0, 40)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 60)), 60)
  return bytes
}

/** Undefined unless all of the header is intact, of this version, and that of the segment named `base`. */
export const decodeSegmentHeader = (bytes: Buffer, base: number): SegmentHeader | undefined => {
  if (bytes.length < SEGMENT_HEADER_BYTES || segmentVersion(bytes) !== VERSION) return undefined
  if (crc32(bytes.subarray(0, 60)) !== bytes.readUInt32LE(60) || bytes.readDoubleLE(8) !== base)
    return undefined
  const previous = bytes.readDoubleLE(24)
  return {
    base,
    createdAt: bytes.readDoubleLE(16),
    previous:
      previous < 0
        ? undefined
        : { base: previous, end: bytes.readDoubleLE(32), events: bytes.readDoubleLE(40) },
  }
}

/** The version that a segment says it has; undefined when it is no segment of this program. */
export const segmentVersion = (bytes: Buffer): number | undefined =>
  bytes.length > SEGMENT_MAGIC.length && bytes.subarray(0, SEGMENT_MAGIC.length).equals(SEGMENT_MAGIC)
    ? bytes.readUInt8(SEGMENT_MAGIC.length)
    : undefined

export interface FrameFacts {
  /** Lines of the payload. */
  readonly count: number
  readonly firstSequence: number
  readonly lastSequence: number
  /** Epoch milliseconds of the write. */
  readonly writtenAt: number
}

export interface Frame extends FrameFacts {
  /** Bytes of the payload, which begins FRAME_HEADER_BYTES after the frame. */
  readonly length: number
}

/**
 * The checksum starts from the frame's place, so that a stale or misplaced block of another segment, or of another
 * offset, is not taken for a frame of this one.
 */
const seed = (base: number, offset: number): number => ((base % 0x1_0000_0000) ^ offset) >>> 0

/**
 * Completes a frame whose payload of `length` bytes already stands in `buffer` at `at + FRAME_HEADER_BYTES`, and that
 * goes to `offset` of the segment `base`.
 */
export const sealFrame = (
  buffer: Buffer,
  at: number,
  length: number,
  facts: FrameFacts,
  base: number,
  offset: number,
): void => {
  buffer.writeUInt32LE(FRAME_MAGIC_NUMBER, at)
  buffer.writeUInt32LE(length, at + 8)
  buffer.writeUInt32LE(facts.count, at + 12)
  buffer.writeDoubleLE(facts.firstSequence, at + 16)
  buffer.writeDoubleLE(facts.lastSequence, at + 24)
  buffer.writeDoubleLE(facts.writtenAt, at + 32)
  buffer.writeUInt32LE(
    crc32(buffer.subarray(at + 8, at + FRAME_HEADER_BYTES + length), seed(base, offset)),
    at + 4,
  )
}

/**
 * Reads the frame at `at` of a window of the segment `base`.
 * @param end where the window's bytes end
 * @param offset the place of `at` in the segment
 * @param limit where the segment ends: no frame reaches beyond
 * @returns the verified frame; a number when the window is too short to validate the frame, namely the bytes needed from
 * `at`; undefined when there is no frame here
 */
export const parseFrame = (
  window: Buffer,
  at: number,
  end: number,
  base: number,
  offset: number,
  limit: number,
): Frame | number | undefined => {
  if (offset + FRAME_HEADER_BYTES > limit) return undefined
  if (at + FRAME_HEADER_BYTES > end) return FRAME_HEADER_BYTES
  if (window.readUInt32LE(at) !== FRAME_MAGIC_NUMBER) return undefined
  const length = window.readUInt32LE(at + 8)
  const whole = FRAME_HEADER_BYTES + length
  if (offset + whole > limit) return undefined
  if (at + whole > end) return whole
  if (crc32(window.subarray(at + 8, at + whole), seed(base, offset)) !== window.readUInt32LE(at + 4))
    return undefined
  return {
    length,
    count: window.readUInt32LE(at + 12),
    firstSequence: window.readDoubleLE(at + 16),
    lastSequence: window.readDoubleLE(at + 24),
    writtenAt: window.readDoubleLE(at + 32),
  }
}

/** The next place from `at` on where a frame may begin, or -1. The last three bytes of a window cannot tell. */
export const findFrameMagic = (window: Buffer, at: number, end: number): number => {
  const found = window.subarray(at, end).indexOf(FRAME_MAGIC)
  return found < 0 ? -1 : at + found
}
