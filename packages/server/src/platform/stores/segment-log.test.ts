import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventLog, LogBatch, Position } from './event-log.ts'
import { openSegmentLog, type SegmentLogOptions } from './segment-log.ts'

let directory: string
let opened: EventLog[]

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'event-log-')), 'log')
  opened = []
})

afterEach(async () => {
  await Promise.all(opened.map((log) => log.close()))
  rmSync(join(directory, '..'), { recursive: true })
})

const open = async (options: Partial<SegmentLogOptions> = {}): Promise<EventLog> => {
  const log = await openSegmentLog({ directory, ...options })
  opened.push(log)
  return log
}

const append = async (log: EventLog, text = 'x', count = 1): Promise<number> => {
  const first = log.reserve(count)
  const lines = Array.from(
    { length: count },
    (_, index) => `{"q":${first + index},"t":${JSON.stringify(text)}}\n`,
  )
  await log.append(lines.join(''), count, first)
  return first
}

const readAll = async (
  log: EventLog,
  from: Position = log.start(),
  maxBytes = 1_000,
): Promise<LogBatch[]> => {
  const batches: LogBatch[] = []
  for (let position = from; ; ) {
    const batch = await log.read(position, maxBytes)
    if (!batch) return batches
    batches.push(batch)
    position = batch.next
  }
}

const textOf = (batches: LogBatch[]): string =>
  Buffer.concat(batches.map(({ payload }) => payload)).toString()

describe('appending and reading', () => {
  it('takes lines as text and as bytes beside each other', async () => {
    const log = await open()
    const lines = Array.from({ length: 30 }, (_, i) => `{"q":${log.reserve(1)},"t":"é€😀 ${i}"}\n`)
    const from = (JSON.parse(lines[0] ?? '') as { q: number }).q
    await Promise.all(lines.map((line, i) => log.append(i % 3 === 0 ? Buffer.from(line) : line, 1, from + i)))
    const batches = await readAll(log, log.start(), 100_000)
    expect(textOf(batches)).toBe(lines.join(''))
    expect(batches).toMatchObject([{ count: 30, firstSequence: from, lastSequence: from + 29, damaged: [] }])
    await expect(log.append(Buffer.from('{}'), 1, log.reserve(1))).rejects.toThrow(RangeError)
  })

  it('returns the bytes of all appends in order, with their counts and sequence numbers', async () => {
    const log = await open({ segmentBytes: 2_000 })
    let expected = ''
    for (let round = 0; round < 40; round++) {
      const first = await append(log, `é€😀${'y'.repeat(round)}`, 3)
      for (let index = 0; index < 3; index++) {
        expected += `{"q":${first + index},"t":"é€😀${'y'.repeat(round)}"}\n`
      }
    }
    const batches = await readAll(log)
    expect(textOf(batches)).toBe(expected)
    expect(batches.length).toBeGreaterThan(5)
    for (const batch of batches) {
      const lines = batch.payload.toString().trimEnd().split('\n')
      const sequences = lines.map((line) => (JSON.parse(line) as { q: number }).q)
      expect(batch).toMatchObject({ count: lines.length, damaged: [] })
      expect([batch.firstSequence, batch.lastSequence]).toEqual([sequences.at(0), sequences.at(-1)])
      expect(Math.abs(batch.writtenAt - Date.now())).toBeLessThan(60_000)
    }
  })

  it('returns one append whole even when it alone exceeds the bytes asked for', async () => {
    const log = await open()
    await append(log, 'z'.repeat(50_000))
    await append(log, 'small')
    const [first, second] = await readAll(log, log.start(), 100)
    expect(first?.payload.length).toBeGreaterThan(50_000)
    expect(second?.count).toBe(1)
  })

  it('gives what a reader of the end has not seen, and nothing at the end', async () => {
    const log = await open()
    await append(log)
    const end = log.end()
    expect(await log.read(end, 1_000)).toBeUndefined()
    const first = await append(log)
    expect(await log.read(end, 1_000)).toMatchObject({ count: 1, firstSequence: first, next: log.end() })
  })

  it('shares one sync among the appends that arrive while another one runs', async () => {
    const log = await open()
    await Promise.all(Array.from({ length: 64 }, () => append(log)))
    for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 64 }, () => append(log)))
    const { totals } = log.state()
    expect(totals.appends).toBe(64 * 11)
    expect(totals.appends / totals.groups).toBeGreaterThan(20)
  })

  it('has a name of its own, also after a restart; one that was made before names were given has the old one', async () => {
    const first = await open()
    await append(first)
    await first.close()
    expect((await open()).id).toBe(first.id)
    await Promise.all(opened.map((log) => log.close()))
    rmSync(join(directory, 'id'))
    expect((await open()).id).toBe('events')
    await Promise.all(opened.map((log) => log.close()))
    rmSync(directory, { recursive: true })
    expect((await open()).id).not.toBe(first.id)
  })

  it('keeps files to their owner and tells nothing of the content in their names', async () => {
    const log = await open()
    await append(log)
    const names = readdirSync(directory).sort()
    expect(names).toEqual([expect.stringMatching(/^\d{16}\.log$/), 'id', 'writer.lock'])
    for (const name of names) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
  })

  it('refuses text that is not whole lines', async () => {
    const log = await open()
    await expect(log.append('{"q":1}', 1, 1)).rejects.toThrow(RangeError)
    await expect(log.append('', 0, 1)).rejects.toThrow(RangeError)
  })
})

describe('sequence numbers', () => {
  it('grow across restarts, also past those that were never written and when everything was released', async () => {
    let last = 0
    for (let round = 0; round < 6; round++) {
      const log = await open({ segmentBytes: 200 })
      const first = log.reserve(1_000)
      expect(first).toBeGreaterThan(last)
      last = first + 999
      for (let i = 0; i < 5; i++) last = Math.max(last, await append(log))
      last = log.reserve(100_000) + 99_999
      await log.release(log.end())
      await log.close()
    }
  })

  it('grow when the clock goes back or is far in the future', async () => {
    let last = 0
    for (const now of [Date.UTC(9999, 1), Date.UTC(2026, 1), 0, Date.UTC(2026, 2)]) {
      const log = await open({ clock: { now: () => now } })
      const first = await append(log)
      expect(first).toBeGreaterThan(last)
      expect(Number.isSafeInteger(first + 1e9)).toBe(true)
      last = first
      await log.close()
    }
  })

  it('of a new log lie above those of one that was deleted', async () => {
    const now = Date.UTC(2026, 1)
    const log = await open({ clock: { now: () => now } })
    const before = await append(log, 'x', 100)
    await log.close()
    rmSync(directory, { recursive: true })
    expect(await append(await open({ clock: { now: () => now + 1 } }))).toBeGreaterThan(before + 100)
  })
})

describe('release', () => {
  it('removes what was appended before a line that begins a segment, and waits behind all of it', async () => {
    const log = await open({ preparesSegments: true })
    const before = Array.from({ length: 50 }, () => append(log, 'before'))
    const first = log.reserve(1)
    let pending = before.length
    for (const each of before) each.then(() => pending--)
    await log.append(`{"q":${first},"t":"note"}\n`, 1, first, 'newSegment')
    expect(pending).toBe(0)
    const after = await append(log, 'after')
    const batches = await readAll(log)
    const lines = textOf(batches).trimEnd().split('\n')
    expect(lines).toHaveLength(52)
    expect(lines.slice(-2)).toEqual([`{"q":${first},"t":"note"}`, `{"q":${after},"t":"after"}`])
    await log.release(log.end())
    expect(textOf(await readAll(log))).toBe(`${lines.slice(-2).join('\n')}\n`)
  })

  it('removes segments that lie wholly before the position, and never the last one', async () => {
    const log = await open({ segmentBytes: 300 })
    for (let round = 0; round < 20; round++) await append(log, 'y'.repeat(60))
    const { segments } = log.state()
    expect(segments).toBeGreaterThan(4)
    const [first] = await readAll(log, log.start(), 100)
    await log.release(first?.next ?? log.start())
    expect(log.state().segments).toBeGreaterThan(segments - 2)
    await log.release(log.end())
    expect(log.state()).toMatchObject({ segments: 1, events: 0, bytes: 0, oldestAt: undefined })
    expect(readdirSync(directory).filter((name) => name.endsWith('.log'))).toHaveLength(1)
    await append(log)
    expect(log.state()).toMatchObject({ events: 1 })
  })

  it('lets a reader go on from its checkpoint after a restart', async () => {
    const log = await open({ segmentBytes: 300 })
    for (let round = 0; round < 10; round++) await append(log, `before ${round}`)
    let checkpoint = log.start()
    for (const batch of await readAll(log)) {
      checkpoint = batch.next
      await log.release(checkpoint)
    }
    await log.close()
    const again = await open()
    await again.release(checkpoint)
    expect(again.state()).toMatchObject({ events: 0, bytes: 0 })
    await append(again, 'after')
    const batches = await readAll(again, checkpoint)
    expect(textOf(batches)).toContain('after')
    expect(batches.flatMap(({ damaged }) => damaged)).toEqual([])
    expect(batches).toHaveLength(1)
  })

  it('counts what waits after a restart', async () => {
    const log = await open({ segmentBytes: 300 })
    for (let round = 0; round < 10; round++) await append(log, 'y', 7)
    const { bytes } = log.state()
    await log.close()
    expect((await open()).state()).toMatchObject({ events: 70, bytes })
  })
})

describe('changed', () => {
  it('resolves on the next durable append, at once when there is one already, and on abort', async () => {
    const log = await open()
    const start = log.end()
    const resolved: string[] = []
    const change = log.changed(start).then(() => resolved.push('on the append'))
    await setImmediate()
    expect(resolved).toEqual([])
    await append(log)
    await change
    await log.changed(start).then(() => resolved.push('at once'))
    const abort = new AbortController()
    const waiting = log.changed(log.end(), abort.signal).then(() => resolved.push('on abort'))
    await setImmediate()
    expect(resolved).toEqual(['on the append', 'at once'])
    abort.abort()
    await waiting
    await log.changed(log.end(), abort.signal).then(() => resolved.push('aborted before'))
    expect(resolved.slice(2)).toEqual(['on abort', 'aborted before'])
  })
})

describe('bounds', () => {
  it('refuses appends beyond the backlog, keeps those it took, and goes on', async () => {
    const log = await open({ backlogBytes: 10_000 })
    const results = await Promise.allSettled(Array.from({ length: 200 }, () => append(log, 'w'.repeat(100))))
    const taken = results.filter(({ status }) => status === 'fulfilled').length
    expect(taken).toBeGreaterThan(50)
    expect(taken).toBeLessThan(120)
    expect(results.at(-1)).toMatchObject({ status: 'rejected', reason: { reason: 'backlog' } })
    await append(log)
    expect((await readAll(log)).reduce((sum, { count }) => sum + count, 0)).toBe(taken + 1)
    expect(log.state()).toMatchObject({ waitingBytes: 0, refusing: undefined })
  })

  it('refuses appends after close, which makes waiting ones durable first', async () => {
    const log = await open()
    const waiting = Promise.all(Array.from({ length: 10 }, () => append(log)))
    await log.close()
    await waiting
    await expect(append(log)).rejects.toMatchObject({ reason: 'closed' })
    expect((await readAll(await open())).reduce((sum, { count }) => sum + count, 0)).toBe(10)
  })

  it('refuses a second log on its directory until the first is closed', async () => {
    const log = await open()
    await expect(open({ lockWaitMs: 0 })).rejects.toThrow('is in use by another process or log')
    await log.close()
    expect(await append(await open())).toBeGreaterThan(0)
  })
})
