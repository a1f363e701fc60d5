import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeSegmentHeader,
  encodeSegmentHeader,
  FRAME_HEADER_BYTES,
  findFrameMagic,
  parseFrame,
  sealFrame,
  segmentVersion,
} from './segment-frame.ts'

const BASE = 1_790_000_000_000_123
const OFFSET = 64
const facts = {
  count: 2,
  firstSequence: 2 ** 52 + 1,
  lastSequence: 2 ** 52 + 2,
  writtenAt: 1_790_000_000_123,
}

const frameOf = (text: string, base = BASE, offset = OFFSET): Buffer => {
  const buffer = Buffer.alloc(FRAME_HEADER_BYTES + Buffer.byteLength(text))
  buffer.write(text, FRAME_HEADER_BYTES)
  sealFrame(buffer, 0, Buffer.byteLength(text), facts, base, offset)
  return buffer
}

const parse = (bytes: Buffer, base = BASE, offset = OFFSET) =>
  parseFrame(bytes, 0, bytes.length, base, offset, offset + bytes.length)

describe('a frame', () => {
  it('is read as it was sealed, with sequence numbers beyond 2^52', () => {
    const text = '{"q":1}\n{"q":"é€😀"}\n'
    expect(parse(frameOf(text))).toEqual({ ...facts, length: Buffer.byteLength(text) })
  })

  it('is refused with any one bit changed', () => {
    const frame = frameOf('{"q":1}\n')
    for (let bit = 0; bit < frame.length * 8; bit++) {
      const flipped = Buffer.from(frame)
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      const parsed = parse(flipped)
      expect(typeof parsed === 'object', `bit ${bit}`).toBe(false)
    }
  })

  it('is refused at another offset and in another segment', () => {
    const frame = frameOf('{"q":1}\n')
    expect(parse(frame, BASE, OFFSET + 1)).toBeUndefined()
    expect(parse(frame, BASE + 1, OFFSET)).toBeUndefined()
  })

  it('says how many bytes it takes when the window is too short, and is refused beyond the limit', () => {
    const frame = frameOf('{"q":1}\n')
    expect(parseFrame(frame, 0, 10, BASE, OFFSET, OFFSET + frame.length)).toBe(FRAME_HEADER_BYTES)
    expect(parseFrame(frame, 0, frame.length - 1, BASE, OFFSET, OFFSET + frame.length)).toBe(frame.length)
    expect(parseFrame(frame, 0, frame.length, BASE, OFFSET, OFFSET + frame.length - 1)).toBeUndefined()
  })

  it('is never found inside the text of a payload', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const bytes = Buffer.from(text)
        expect(findFrameMagic(bytes, 0, bytes.length)).toBe(-1)
      }),
    )
  })
})

describe('a segment header', () => {
  const header = { base: BASE, createdAt: 1_790_000_000_000, previous: { base: 7, end: 64, events: 0 } }

  it('is read as it was written', () => {
    expect(decodeSegmentHeader(encodeSegmentHeader(header), BASE)).toEqual(header)
    const first = { ...header, previous: undefined }
    expect(decodeSegmentHeader(encodeSegmentHeader(first), BASE)).toEqual(first)
  })

  it('is refused with any one bit changed, under another name, and in another version', () => {
    const bytes = encodeSegmentHeader(header)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes)
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(decodeSegmentHeader(flipped, BASE), `bit ${bit}`).toBeUndefined()
    }
    expect(decodeSegmentHeader(bytes, BASE + 1)).toBeUndefined()
    expect(segmentVersion(bytes)).toBe(1)
    expect(segmentVersion(Buffer.from('{"an":"older log"}\n'))).toBeUndefined()
  })
})
