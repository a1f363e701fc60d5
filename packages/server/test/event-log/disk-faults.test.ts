import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { DiskReserve } from '../../src/platform/files/disk-reserve.ts'
import type { EventLog } from '../../src/platform/stores/event-log.ts'
import { LogUnavailable } from '../../src/platform/stores/event-log.ts'
import { openSegmentLog, type SegmentLogOptions } from '../../src/platform/stores/segment-log.ts'
import { readLog } from '../support/log-lines.ts'
import { type DiskCall, SimulatedDisk } from '../support/simulated-disk.ts'
import { until } from '../support/until.ts'

const openOn = (disk: SimulatedDisk, options: Partial<SegmentLogOptions> = {}): Promise<EventLog> =>
  openSegmentLog({ directory: '/log', files: disk.files, ...options })

let serial = 0
const append = async (log: EventLog): Promise<string> => {
  const first = log.reserve(1)
  const line = `{"q":${first},"serial":${serial++}}`
  await log.append(`${line}\n`, 1, first)
  return line
}

/** Appends 64 at a time; returns the lines that were acknowledged, and fails on any error but LogUnavailable. */
const appendMany = async (log: EventLog): Promise<string[]> => {
  const results = await Promise.allSettled(Array.from({ length: 64 }, () => append(log)))
  return results.flatMap((result) => {
    if (result.status === 'fulfilled') return [result.value]
    expect(result.reason).toBeInstanceOf(LogUnavailable)
    return []
  })
}

const SITES: DiskCall[] = ['create', 'write', 'datasync', 'syncDirectory']

describe.each(['prepare', 'openForWriting', 'rename'] as const)('EIO on %s', (site) => {
  it('costs nothing but the prepared segment: appends go to a new file, and later ones are prepared again', async () => {
    const disk = new SimulatedDisk()
    let now = 0
    const clock = { now: () => now }
    const log = await openOn(disk, { segmentBytes: 4_000, preparesSegments: true, clock })
    const prepared: string[] = []
    let calls = 0
    disk.fault = (call, name) => {
      if (call === 'openForWriting') prepared.push(name)
      return call === site && ++calls <= 2 ? { code: 'EIO' } : undefined
    }
    const acknowledged: string[] = []
    for (let round = 0; round < 16; round++) {
      acknowledged.push(...(await appendMany(log)))
      now += 5_000
    }
    expect(calls).toBeGreaterThan(2)
    expect(acknowledged).toHaveLength(64 * 16)
    expect(log.state().totals.failures).toBe(0)
    expect(prepared.length).toBeGreaterThan(2)
    expect((await readLog(log)).lines).toEqual(acknowledged)
    disk.losePower(() => 0.99)
    const again = await openOn(disk)
    expect((await readLog(again)).lines).toEqual(acknowledged)
    expect(again.state().damage).toEqual([])
  })
})

describe('a prepared segment', () => {
  it('is gone after a close, and what a killed process left is not taken', async () => {
    const disk = new SimulatedDisk()
    const options = { segmentBytes: 4_000, preparesSegments: true }
    const log = await openOn(disk, options)
    const acknowledged = await appendMany(log)
    while (!disk.names.includes('next-segment')) acknowledged.push(...(await appendMany(log)))
    const killed = new SimulatedDisk()
    const stale = await killed.files.create('/log/next-segment')
    await killed.files.write(stale, Buffer.from('not zeros at all'), 0, 16, 200)
    await log.close()
    expect(disk.names).not.toContain('next-segment')
    const after = await openOn(killed, options)
    const lines: string[] = []
    for (let round = 0; round < 8; round++) lines.push(...(await appendMany(after)))
    await after.close()
    const again = await openOn(killed)
    expect((await readLog(again)).lines).toEqual(lines)
    expect(again.state().damage).toEqual([])
  })
})

describe.each(['EIO', 'ENOSPC'])('%s', (code) => {
  it.each(SITES)(
    'on %s, the nth time it is called, acknowledges nothing that is not on disk',
    async (site) => {
      for (let nth = 1; nth <= 8; nth++) {
        const disk = new SimulatedDisk()
        const log = await openOn(disk, { segmentBytes: 4_000 })
        let calls = 0
        disk.fault = (call) => (call === site && ++calls === nth ? { code } : undefined)
        const acknowledged: string[] = []
        for (let round = 0; round < 16; round++) acknowledged.push(...(await appendMany(log)))
        expect(calls).toBeGreaterThanOrEqual(nth)
        expect(log.state().totals.failures).toBe(1)
        // One group is refused, the next one is on a new segment.
        expect(acknowledged.length).toBeGreaterThanOrEqual(64 * 14)
        expect((await readLog(log)).lines).toEqual(acknowledged)
        disk.losePower(() => 0.99)
        const again = await openOn(disk)
        const { lines } = await readLog(again)
        expect(lines).toEqual(acknowledged)
      }
    },
  )

  it.each(SITES)('on every %s refuses appends, and takes them by itself when it ends', async (site) => {
    const disk = new SimulatedDisk()
    const log = await openOn(disk, { segmentBytes: 4_000 })
    const acknowledged = await appendMany(log)
    disk.fault = (call) => (call === site ? { code } : undefined)
    const refused = async (): Promise<boolean> => {
      const lines = await appendMany(log)
      acknowledged.push(...lines)
      return lines.length === 0
    }
    await until(refused)
    await until(() => log.state().refusing === 'failed')
    for (let round = 0; round < 5; round++) await refused()
    expect((await readLog(log)).lines).toEqual(acknowledged)
    disk.fault = () => undefined
    // No append asks for it: the state must turn on its own.
    await until(() => log.state().refusing === undefined)
    acknowledged.push(...(await appendMany(log)))
    acknowledged.push(...(await appendMany(log)))
    expect((await readLog(log)).lines).toEqual(acknowledged)
    expect(disk.names.length).toBeLessThan(6)
    disk.losePower(() => 0.99)
    expect((await readLog(await openOn(disk))).lines).toEqual(acknowledged)
  })

  it('after a part of a write never yields that part, nor writes or syncs its segment again', async () => {
    for (const partial of [0, 1, 39, 40, 100, 1_000]) {
      const disk = new SimulatedDisk()
      const log = await openOn(disk)
      const acknowledged = await appendMany(log)
      let failed: string | undefined
      const touched: string[] = []
      disk.fault = (call, name) => {
        if (call === 'write' || call === 'datasync') touched.push(name)
        if (call !== 'write') return undefined
        failed ??= name
        if (name !== failed) return undefined
        return touched.length === 1 ? { code, partial } : { code }
      }
      expect(await appendMany(log)).toEqual([])
      touched.length = 0
      acknowledged.push(...(await appendMany(log)))
      expect(touched.length).toBeGreaterThan(0)
      expect(touched).not.toContain(failed)
      disk.fault = () => undefined
      expect((await readLog(log)).lines).toEqual(acknowledged)
      disk.losePower(() => 0.1)
      const again = await openOn(disk)
      const read = await readLog(again)
      expect(read.lines).toEqual(acknowledged)
      expect(again.state().damage).toEqual([])
    }
  })
})

describe('a sync that fails and would succeed the second time', () => {
  it('is not asked a second time', async () => {
    const disk = new SimulatedDisk()
    const log = await openOn(disk)
    const acknowledged = await appendMany(log)
    const synced: string[] = []
    let failing = true
    disk.fault = (call, name) => {
      if (call !== 'datasync') return undefined
      synced.push(name)
      if (!failing) return undefined
      failing = false
      return { code: 'EIO' }
    }
    expect(await appendMany(log)).toEqual([])
    acknowledged.push(...(await appendMany(log)))
    expect(synced.filter((name) => name === synced[0])).toHaveLength(1)
    disk.losePower(() => 0.99)
    const { lines } = await readLog(await openOn(disk))
    expect(lines).toEqual(acknowledged)
  })
})

describe('release', () => {
  it.each(['unlink', 'syncDirectory'] as const)(
    'that fails on %s loses nothing and is done by the next one',
    async (site) => {
      const disk = new SimulatedDisk()
      const log = await openOn(disk, { segmentBytes: 1_000 })
      for (let round = 0; round < 5; round++) await appendMany(log)
      disk.fault = (call) => (call === site ? { code: 'EIO' } : undefined)
      await expect(log.release(log.end())).rejects.toThrow(/EIO/)
      disk.fault = () => undefined
      const later = await appendMany(log)
      await log.release({ ...log.end(), offset: 64 })
      const { lines } = await readLog(log, { ...log.end(), offset: 64 })
      expect(lines.slice(-64)).toEqual(later)
      expect(disk.names.length).toBeLessThan(3)
    },
  )

  it('that cannot set a damaged segment aside keeps it until it can', async () => {
    const disk = new SimulatedDisk()
    const log = await openOn(disk, { segmentBytes: 1_000 })
    await appendMany(log)
    await appendMany(log)
    disk.flipBit(0.2)
    const { lines, next } = await readLog(log)
    expect(lines.length).toBeLessThan(128)
    disk.fault = (call) => (call === 'rename' ? { code: 'EIO' } : undefined)
    await expect(log.release(next)).rejects.toThrow(/EIO/)
    const kept = disk.names
    disk.fault = () => undefined
    await log.release(next)
    expect(disk.names).toEqual([kept.at(0)?.concat('.damaged'), ...kept.slice(1)])
  })
})

const reserveOn = (disk: SimulatedDisk, reserveBytes: number): DiskReserve =>
  new DiskReserve({ directory: '/log', reserveBytes, clock: systemClock, freeBytes: disk.freeBytes })

describe('the reserve of free space', () => {
  it('refuses appends before the disk is full, says so, and takes them again when space returns', async () => {
    const disk = new SimulatedDisk()
    const mebibyte = 1024 * 1024
    disk.free = 512 * mebibyte + 5_000
    const log = await openOn(disk, { reserve: reserveOn(disk, 512 * mebibyte) })
    const acknowledged = await appendMany(log)
    for (let round = 0; round < 5; round++) acknowledged.push(...(await appendMany(log)))
    expect(acknowledged.length).toBeLessThan(64 * 5)
    expect(log.state().refusing).toBe('disk')
    await expect(append(log)).rejects.toMatchObject({
      reason: 'disk',
      message: expect.stringContaining('512 MiB'),
    })
    disk.free = 600 * mebibyte
    await until(() => log.state().refusing === undefined)
    acknowledged.push(...(await appendMany(log)))
    expect((await readLog(log)).lines).toEqual(acknowledged)
    expect(log.state().freeBytes).toBeGreaterThan(590 * mebibyte)
    await log.close()
  })

  it('is known when the log is opened, and a file system that cannot tell is written to', async () => {
    const disk = new SimulatedDisk()
    disk.free = 1_000
    const full = await openOn(disk, { reserve: reserveOn(disk, 5_000) })
    expect(await appendMany(full)).toEqual([])
    await full.close()
    disk.fault = (call) => (call === 'freeBytes' ? { code: 'ENOSYS' } : undefined)
    const log = await openOn(disk, { reserve: reserveOn(disk, 5_000) })
    expect(await appendMany(log)).toHaveLength(64)
    await log.close()
  })
})
