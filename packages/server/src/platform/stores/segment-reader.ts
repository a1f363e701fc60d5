import type { SegmentFiles } from './segment-files.ts'
import { FRAME_HEADER_BYTES, findFrameMagic, parseFrame } from './segment-frame.ts'

/** Bytes read and verified at a time: a fraction of a millisecond of work before the event loop turns again. */
const CHUNK_BYTES = 1024 * 1024

interface ByteRange {
  readonly from: number
  readonly to: number
}

export interface FrameRun {
  /** Payloads of the frames, one after the other. */
  readonly payload: Buffer
  readonly count: number
  readonly firstSequence: number
  readonly lastSequence: number
  readonly writtenAt: number
  /** Where the next run begins; the limit when the segment is read to its end. */
  readonly next: number
  /** Ranges without a valid frame, ascending. One that reaches `next` may go on there. */
  readonly damaged: readonly ByteRange[]
}

/**
 * Reads frames of one segment from an offset on, until their payloads would exceed `maxBytes` or the segment ends;
 * at least one frame if there is one. Where no valid frame stands, the next place that holds one is looked for.
 * @param limit where the bytes of the segment that count end
 * @param memory is used when it is large enough
 */
export const readFrames = async (
  files: SegmentFiles,
  segment: { readonly fd: number; readonly base: number; readonly limit: number },
  from: number,
  maxBytes: number,
  memory?: Buffer,
): Promise<FrameRun> => {
  const { fd, base } = segment
  let limit = segment.limit
  const room = Math.max(0, Math.min(limit - from, Math.max(maxBytes, 0) + FRAME_HEADER_BYTES))
  let window = memory && memory.length >= room ? memory.subarray(0, room) : Buffer.allocUnsafeSlow(room)
  let filled = 0 // bytes of the file in the window; window[i] is the segment's byte from + i until compacted over
  let at = 0
  let payloadEnd = 0 // payloads are moved down over the headers, to the window's beginning
  let count = 0
  let firstSequence = Number.MAX_SAFE_INTEGER
  let lastSequence = 0
  let writtenAt = 0
  let gap: number | undefined
  const damaged: ByteRange[] = []

  const readMore = async (wanted: number): Promise<void> => {
    const bytes = Math.min(Math.max(wanted - filled, CHUNK_BYTES), window.length - filled)
    const got = await files.read(fd, window, filled, bytes, from + filled)
    filled += got
    if (got === 0) limit = from + filled // the file is shorter than it should be
  }

  while (from + at < limit) {
    const frame = parseFrame(window, at, filled, base, from + at, limit)
    if (typeof frame === 'number') {
      if (at + frame > window.length) {
        if (count > 0) break
        const larger = Buffer.allocUnsafeSlow(at + frame)
        window.copy(larger, 0, 0, filled)
        window = larger
      }
      await readMore(at + frame)
    } else if (frame === undefined) {
      gap ??= from + at
      const candidate = findFrameMagic(window, at + 1, filled)
      if (candidate >= 0) at = candidate
      else if (from + filled >= limit) at = limit - from
      else {
        at = Math.max(at + 1, filled - 3)
        if (filled === window.length) break
        await readMore(filled)
      }
    } else {
      if (gap !== undefined) damaged.push({ from: gap, to: from + at })
      gap = undefined
      if (count > 0 && payloadEnd + frame.length > maxBytes) break
      const start = at + FRAME_HEADER_BYTES
      window.copyWithin(payloadEnd, start, start + frame.length)
      payloadEnd += frame.length
      if (count === 0) writtenAt = frame.writtenAt
      count += frame.count
      firstSequence = Math.min(firstSequence, frame.firstSequence)
      lastSequence = Math.max(lastSequence, frame.lastSequence)
      at = start + frame.length
    }
  }
  const next = from + at >= limit ? segment.limit : from + at
  if (limit < segment.limit && next === segment.limit) gap ??= limit
  if (gap !== undefined) damaged.push({ from: gap, to: next })
  if (count === 0) firstSequence = 0
  return {
    payload: window.subarray(0, payloadEnd),
    count,
    firstSequence,
    lastSequence,
    writtenAt,
    next,
    damaged,
  }
}
