import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventLog, LogDamage } from './event-log.ts'
import { nodeFiles } from './segment-files.ts'
import { SEGMENT_HEADER_BYTES } from './segment-frame.ts'
import { openSegmentLog, type SegmentLogOptions } from './segment-log.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'event-log-recovery-'))
})

afterEach(() => rmSync(root, { recursive: true }))

const openIn = (directory: string, options: Partial<SegmentLogOptions> = {}): Promise<EventLog> =>
  openSegmentLog({ directory, ...options })

/** Appends texts one by one, each durable, so each in a frame of its own. */
const appendEach = async (log: EventLog, texts: string[]): Promise<void> => {
  for (const text of texts) await log.append(`${text}\n`, 1, log.reserve(1))
}

const readLines = async (
  log: EventLog,
  maxBytes = 10_000,
): Promise<{ lines: string[]; damaged: LogDamage[] }> => {
  const lines: string[] = []
  const damaged: LogDamage[] = []
  for (let position = log.start(); ; ) {
    const batch = await log.read(position, maxBytes)
    if (!batch) return { lines, damaged }
    if (batch.count > 0) lines.push(...batch.payload.toString().trimEnd().split('\n'))
    damaged.push(...batch.damaged)
    position = batch.next
  }
}

const segmentsOf = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .sort()

/** A closed log of these texts in `<root>/<name>`; returns its directory. */
const logOf = async (
  name: string,
  texts: string[],
  options: Partial<SegmentLogOptions> = {},
): Promise<string> => {
  const directory = join(root, name)
  const log = await openIn(directory, options)
  await appendEach(log, texts)
  await log.close()
  return directory
}

/** The log's only segment with other bytes, in a directory of its own. */
const withBytes = (original: string, name: string, bytes: Buffer): string => {
  const directory = join(root, name)
  mkdirSync(directory)
  writeFileSync(join(directory, segmentsOf(original)[0] ?? ''), bytes)
  return directory
}

const bytesOf = (directory: string, index = 0): Buffer =>
  readFileSync(join(directory, segmentsOf(directory)[index] ?? ''))

describe('the end of the last segment', () => {
  it('cut at every byte of the last frame leaves all frames before it, and appends go on', async () => {
    const original = await logOf('original', ['first', 'second', 'the last one, é€😀'])
    const before = (await logOf('before', ['first', 'second']).then((directory) => bytesOf(directory))).length
    const whole = bytesOf(original)
    for (let length = before; length < whole.length; length++) {
      const directory = withBytes(original, `cut-${length}`, whole.subarray(0, length))
      const log = await openIn(directory)
      expect((await readLines(log)).lines).toEqual(['first', 'second'])
      expect(log.state().damage.map(({ kind }) => kind)).toEqual(length === before ? [] : ['tail'])
      await appendEach(log, ['after'])
      await log.close()
      const again = await openIn(directory)
      expect(await readLines(again)).toEqual({ lines: ['first', 'second', 'after'], damaged: [] })
      expect(again.state().damage).toEqual([])
      await again.close()
    }
  })

  it('cut at every byte of the header opens as an empty log', async () => {
    const original = await logOf('original', ['first'])
    for (let length = 0; length < SEGMENT_HEADER_BYTES; length++) {
      const directory = withBytes(original, `cut-${length}`, bytesOf(original).subarray(0, length))
      const log = await openIn(directory)
      await appendEach(log, ['after'])
      expect(await readLines(log)).toEqual({ lines: ['after'], damaged: [] })
      await log.close()
    }
  })

  it('filled with zeros, as a prepared segment is, is no damage; appends go on', async () => {
    const original = await logOf('original', ['first', 'second'])
    const whole = bytesOf(original)
    const directory = withBytes(original, 'zeros', Buffer.concat([whole, Buffer.alloc(1_000_000)]))
    const log = await openIn(directory)
    expect(await readLines(log)).toEqual({ lines: ['first', 'second'], damaged: [] })
    expect(log.state().damage).toEqual([])
    await appendEach(log, ['third'])
    await log.close()
    const again = await openIn(directory)
    expect(await readLines(again)).toEqual({ lines: ['first', 'second', 'third'], damaged: [] })
    await again.close()
  })

  it('with a part of a write before zeros is cut and reported up to the last byte of that part', async () => {
    const whole = bytesOf(await logOf('whole', ['first', 'second']))
    const before = bytesOf(await logOf('before', ['first'])).length
    const original = await logOf('original', ['first'])
    for (const length of [before + 1, before + 30, whole.length - 1]) {
      const bytes = Buffer.alloc(100_000)
      whole.copy(bytes, 0, 0, length)
      const base = segmentsOf(original)[0] ?? ''
      const directory = join(root, `torn-${length}`)
      mkdirSync(directory)
      writeFileSync(join(directory, segmentsOf(join(root, 'whole'))[0] ?? base), bytes)
      const log = await openIn(directory)
      expect((await readLines(log)).lines).toEqual(['first'])
      const [damage] = log.state().damage
      expect(damage).toMatchObject({ kind: 'tail', from: before })
      // The last bytes of the part may be zeros themselves.
      expect(damage?.to).toBeLessThanOrEqual(length)
      await log.close()
    }
  })

  it('with a part of a header and zeros opens as an empty log', async () => {
    const original = await logOf('original', ['first'])
    for (let length = 0; length < SEGMENT_HEADER_BYTES; length++) {
      const bytes = Buffer.alloc(10_000)
      bytesOf(original).copy(bytes, 0, 0, length)
      const log = await openIn(withBytes(original, `cut-${length}`, bytes))
      await appendEach(log, ['after'])
      expect(await readLines(log)).toEqual({ lines: ['after'], damaged: [] })
      expect(log.state().damage).toEqual([])
      await log.close()
    }
  })

  it('filled with stale bytes of the same log, or with noise, is cut', async () => {
    const original = await logOf('original', ['first', 'second'])
    const whole = bytesOf(original)
    const tails = {
      stale: whole.subarray(SEGMENT_HEADER_BYTES),
      noise: Buffer.alloc(999, 0xff),
    }
    for (const [name, tail] of Object.entries(tails)) {
      const log = await openIn(withBytes(original, name, Buffer.concat([whole, tail])))
      expect(await readLines(log)).toEqual({ lines: ['first', 'second'], damaged: [] })
      expect(log.state().damage).toMatchObject([
        { kind: 'tail', from: whole.length, to: whole.length + tail.length },
      ])
      await log.close()
    }
  })

  it('is cut for good: what was cut does not come back behind later segments', async () => {
    const original = await logOf('original', ['first', 'second'])
    const path = join(original, segmentsOf(original)[0] ?? '')
    const whole = readFileSync(path)
    truncateSync(path, whole.length - 1)
    const log = await openIn(original)
    await appendEach(log, ['after'])
    await log.close()
    writeFileSync(path, whole)
    const again = await openIn(original)
    expect((await readLines(again)).lines).toEqual(['first', 'after'])
    await again.close()
  })
})

describe('damage in the middle', () => {
  it('of any bit costs one frame, is reported with its place, and the rest is read', async () => {
    const texts = ['first', 'second', 'third', 'fourth']
    const original = await logOf('original', texts)
    const whole = bytesOf(original)
    const frame = (whole.length - SEGMENT_HEADER_BYTES - 'firstsecondthirdfourth'.length - 4) / 4
    const from = SEGMENT_HEADER_BYTES + frame + 'first\n'.length
    const to = from + frame + 'second\n'.length
    for (let bit = from * 8; bit < to * 8; bit += 3) {
      const flipped = Buffer.from(whole)
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      const log = await openIn(withBytes(original, `bit-${bit}`, flipped))
      const read = await readLines(log)
      expect(read.lines).toEqual(['first', 'third', 'fourth'])
      expect(read.damaged).toMatchObject([{ kind: 'damaged', from, to }])
      expect(log.state().damage).toMatchObject([{ kind: 'damaged', from, to }])
      await log.close()
    }
  })

  it('is skipped in small reads too, and reported as one stretch', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `${'y'.repeat(index * 40)} ${index}`)
    const original = await logOf('original', texts)
    const whole = Buffer.from(bytesOf(original))
    whole.fill(0x55, 1_000, 3_000)
    const log = await openIn(withBytes(original, 'damaged', whole))
    for (const maxBytes of [0, 100, 1_000, 100_000]) {
      const { lines } = await readLines(log, maxBytes)
      expect(lines.length).toBeGreaterThan(5)
      expect(texts.filter((text) => lines.includes(text))).toEqual(lines)
    }
    expect(log.state().damage).toHaveLength(1)
    await log.close()
  })

  it('of a segment that is not the last one is found while reading and not by opening; the file is kept', async () => {
    const directory = await logOf('log', ['first', 'second', 'third'], { segmentBytes: 100 })
    const [first] = segmentsOf(directory)
    const path = join(directory, first ?? '')
    const bytes = readFileSync(path)
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
    writeFileSync(path, bytes)
    const seen: LogDamage[] = []
    const log = await openIn(directory, { onDamage: (damage) => seen.push(damage) })
    expect(seen).toEqual([])
    expect((await readLines(log)).lines).toEqual(['second', 'third'])
    await readLines(log)
    expect(seen).toMatchObject([{ kind: 'damaged', segment: Number(first?.slice(0, 16)) }])
    await log.release(log.end())
    expect(readdirSync(directory)).toContain(`${first}.damaged`)
    await log.close()
  })

  it('of a segment header loses no event', async () => {
    for (const index of [0, 1, 2]) {
      const directory = await logOf(`log-${index}`, ['first', 'second', 'third'], { segmentBytes: 100 })
      const path = join(directory, segmentsOf(directory)[index] ?? '')
      const bytes = readFileSync(path)
      bytes.writeUInt8(bytes.readUInt8(20) ^ 4, 20)
      writeFileSync(path, bytes)
      const log = await openIn(directory)
      expect((await readLines(log)).lines).toEqual(['first', 'second', 'third'])
      expect(log.state().damage).toMatchObject([{ kind: 'damaged', from: 0, to: SEGMENT_HEADER_BYTES }])
      await log.close()
    }
  })

  it('that shortened a segment is reported', async () => {
    const directory = await logOf('log', ['first', 'second', 'third'], { segmentBytes: 100 })
    const path = join(directory, segmentsOf(directory)[1] ?? '')
    const { length } = readFileSync(path)
    truncateSync(path, length - 3)
    const log = await openIn(directory)
    const read = await readLines(log)
    expect(read.lines).toEqual(['first', 'third'])
    expect(read.damaged).toMatchObject([{ kind: 'damaged', from: SEGMENT_HEADER_BYTES, to: length }])
    await log.close()
  })
})

describe('the set of segments', () => {
  it('with one missing in the middle is read around it, and the gap is reported', async () => {
    const directory = await logOf('log', ['first', 'second', 'third', 'fourth'], { segmentBytes: 100 })
    const [, second, third] = segmentsOf(directory)
    rmSync(join(directory, third ?? ''))
    const log = await openIn(directory)
    expect(log.state().damage).toMatchObject([{ kind: 'missing', segment: Number(third?.slice(0, 16)) }])
    const read = await readLines(log)
    expect(read.lines).toEqual(['first', 'second', 'fourth'])
    expect(read.damaged).toMatchObject([{ kind: 'missing', message: expect.stringContaining(`${third}`) }])
    const inSecond = await log.read({ segment: Number(second?.slice(0, 16)), offset: 1e9 }, 1_000)
    expect(inSecond?.payload.toString()).toBe('fourth\n')
    await log.close()
  })

  it("without the segment of the reader's checkpoint reports it and goes on with the next one", async () => {
    const directory = await logOf('log', ['first', 'second', 'third'], { segmentBytes: 100 })
    const [first, second] = segmentsOf(directory)
    rmSync(join(directory, first ?? ''))
    const log = await openIn(directory)
    expect(log.state().damage).toEqual([])
    const batch = await log.read({ segment: Number(first?.slice(0, 16)), offset: 64 }, 1_000)
    expect(batch?.payload.toString()).toBe('second\n')
    expect(batch?.damaged).toMatchObject([{ kind: 'missing', segment: Number(first?.slice(0, 16)) }])
    expect(second).toBeDefined()
    await log.close()
  })

  it('with a segment of another format refuses and keeps that one, with a clear message, and reads the rest', async () => {
    const directory = await logOf('log', ['first', 'second', 'third'], { segmentBytes: 100 })
    const name = '0000000000000001.log'
    const old = Buffer.from(
      '{"an":"older log","of":"plain lines, longer than one segment header would be"}\n',
    )
    writeFileSync(join(directory, name), old)
    const log = await openIn(directory)
    const read = await readLines(log)
    expect(read.lines).toEqual(['first', 'second', 'third'])
    expect(read.damaged).toMatchObject([{ kind: 'format', segment: 1 }])
    expect(log.state().damage[0]?.message).toMatch(
      /0000000000000001\.log is no event log segment of this version.*kept/,
    )
    await log.release(log.end())
    expect(readFileSync(join(directory, name))).toEqual(old)
    await log.close()
  })

  it('of another version at the end is kept too, and appends go on behind it', async () => {
    const directory = await logOf('log', ['first'])
    const name = '4000000000000000.log'
    const newer = Buffer.from(bytesOf(directory))
    newer.writeUInt8(9, 7)
    newer.fill(0x20, SEGMENT_HEADER_BYTES)
    writeFileSync(join(directory, name), newer)
    const log = await openIn(directory)
    await appendEach(log, ['after'])
    expect((await readLines(log)).lines).toEqual(['first', 'after'])
    expect(log.reserve(1)).toBeGreaterThan(4_000_000_000_000_000)
    await log.close()
    expect(readFileSync(join(directory, name))).toEqual(newer)
  })

  it('is opened without reading any but the last one', async () => {
    const directory = await logOf(
      'log',
      Array.from({ length: 50 }, () => 'y'.repeat(20_000)),
      { segmentBytes: 30_000 },
    )
    expect(segmentsOf(directory).length).toBe(25)
    let bytes = 0
    const files: typeof nodeFiles = {
      ...nodeFiles,
      read: async (...args) => {
        const got = await nodeFiles.read(...args)
        bytes += got
        return got
      },
    }
    const log = await openIn(directory, { files })
    expect(bytes).toBeLessThan(50_000)
    expect(log.state()).toMatchObject({ events: 50, segments: 25, damage: [] })
    await log.close()
  })

  it('ignores other files', async () => {
    const directory = await logOf('log', ['first'])
    const [name] = segmentsOf(directory)
    copyFileSync(join(directory, name ?? ''), join(directory, `${name}.damaged`))
    writeFileSync(join(directory, 'notes.txt'), 'mine')
    const log = await openIn(directory)
    expect(await readLines(log)).toEqual({ lines: ['first'], damaged: [] })
    await log.close()
  })
})
