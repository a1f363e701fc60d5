/**
 * Speed of the event log against a bare write + fdatasync of the same bytes on the same disk, in one run.
 * Run: node bench/event-log.ts [seconds per case] [directory]
 */
import { close, fdatasync, mkdtempSync, open, rmSync, write } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { openSegmentLog } from '../packages/server/src/platform/stores/segment-log.ts'

const seconds = Number(process.argv[2] ?? 3)
const root = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'bench-event-log-'))
const ROW_BYTES = 314

/** A row as the collector makes it, `ROW_BYTES` long with its newline. */
const row = (sequence: number): string => {
  const head = `{"q":${sequence},"z":"e","k":"64b7f0a1c2d3e4f5a6b7c8d9","d":"65c8a1b2d3e4f5061728394a","t":1795168071711,`
  return `${head}"u":"${'x'.repeat(ROW_BYTES - head.length - 9)}"}\n`.padStart(ROW_BYTES)
}
const rows = (first: number, count: number): string => {
  let lines = ''
  for (let sequence = first; sequence < first + count; sequence++) lines += row(sequence)
  return lines
}

const results: Record<string, Record<string, number>> = {}
const round = (value: number): number => Math.round(value * 10) / 10

/** Writes and syncs `bytes` again and again, one after the other: the disk's own limit for groups of this size. */
const bare = async (bytes: number): Promise<number> => {
  const fd = await promisify(open)(join(root, 'bare'), 'w')
  const buffer = Buffer.alloc(bytes, 0x78)
  const sync = promisify(fdatasync)
  const end = performance.now() + seconds * 1_000
  let groups = 0
  for (; performance.now() < end; groups++) {
    await new Promise((resolve, reject) =>
      write(fd, buffer, 0, bytes, groups * bytes, (error, written) =>
        error ? reject(error) : resolve(written),
      ),
    )
    await sync(fd)
  }
  await promisify(close)(fd)
  return groups / seconds
}

const appending = async (name: string, writers: number, perAppend: number): Promise<void> => {
  const log = await openSegmentLog({ directory: join(root, name.replaceAll(' ', '-')) })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const latencies: number[] = []
  const before = process.cpuUsage()
  delay.enable()
  const end = performance.now() + seconds * 1_000
  const writer = async (): Promise<void> => {
    while (performance.now() < end) {
      const began = performance.now()
      const first = log.reserve(perAppend)
      await log.append(rows(first, perAppend), perAppend, first)
      latencies.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: writers }, writer))
  const cpu = process.cpuUsage(before)
  delay.disable()
  const { totals } = log.state()
  const groupBytes = Math.round(totals.bytes / totals.groups)
  latencies.sort((a, b) => a - b)
  const at = (share: number): number => round(latencies[Math.floor(latencies.length * share)] ?? 0)
  const groupsPerSecond = totals.groups / seconds
  const limit = await bare(groupBytes)
  results[name] = {
    'appends/s': Math.round(totals.appends / seconds),
    'events/s': Math.round(totals.events / seconds),
    'MB/s': round(totals.bytes / seconds / 1e6),
    'appends per sync': round(totals.appends / totals.groups),
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
    'CPU us/append': round((cpu.user + cpu.system) / totals.appends),
    'loop p99 ms': round(delay.percentile(99) / 1e6),
    'syncs/s': Math.round(groupsPerSecond),
    'of bare syncs/s': round(groupsPerSecond / limit),
  }
  await log.close()
}

const reading = async (): Promise<void> => {
  const log = await openSegmentLog({ directory: join(root, '64-x-100') })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const began = performance.now()
  let position = log.start()
  let events = 0
  let bytes = 0
  for (
    let batch = await log.read(position, 32_000_000);
    batch;
    batch = await log.read(position, 32_000_000)
  ) {
    events += batch.count
    bytes += batch.payload.length
    position = batch.next
  }
  const elapsed = (performance.now() - began) / 1_000
  delay.disable()
  results['read back'] = {
    'events/s': Math.round(events / elapsed),
    'MB/s': round(bytes / elapsed / 1e6),
    'loop p99 ms': round(delay.percentile(99) / 1e6),
  }
  const reopened = performance.now()
  await log.close()
  const again = await openSegmentLog({ directory: join(root, '64-x-100') })
  const { bytes: stored } = again.state()
  results[`reopen ${round(stored / 1e9)} GB`] = { 'p50 ms': round(performance.now() - reopened) }
  await again.close()
}

try {
  await appending('warm-up', 64, 1)
  delete results['warm-up']
  await appending('1 x 1', 1, 1)
  await appending('64 x 1', 64, 1)
  await appending('256 x 1', 256, 1)
  await appending('64 x 100', 64, 100)
  await reading()
  console.table(results)
} finally {
  rmSync(root, { recursive: true })
}
