import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../../platform/logger.ts'
import { createFilterFile, type StoredKeys } from './filter-file.ts'
import { createKnownKeys } from './known-keys.ts'

let directory: string
let path: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-keys-'))
  path = join(directory, 'known-keys')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** Keys that look random; the same number gives the same key. */
const keyOf = (number: number): bigint =>
  BigInt.asUintN(64, BigInt(number + 1) * 0x9e37_79b9_7f4a_7c15n * 0xbf58_476d_1ce4_e5b9n)
const range = (from: number, to: number): BigUint64Array =>
  BigUint64Array.from({ length: to - from }, (_, index) => keyOf(from + index))
const bytesOf = (keys: BigUint64Array) =>
  (async function* () {
    yield Buffer.from(keys.buffer)
  })()

const many = 1_100_000
const stored: StoredKeys = { keys: many, last: 1_795_946_559_821_030 }

/** The known keys of one process after the other; counts how often what is stored is read. */
function process(now: StoredKeys = stored) {
  const world = { reads: 0 }
  const known = createKnownKeys({
    store: {
      countKeys: async () => now.keys,
      identifyKeys: async () => now,
      async *streamKeys() {
        world.reads++
        yield Buffer.from(range(0, now.keys).buffer)
      },
    },
    file: createFilterFile(path),
    clock: { now: () => 0 },
    logger: silentLogger,
  })
  const candidates = async (...numbers: number[]) =>
    (await known.takeBatch(bytesOf(BigUint64Array.from(numbers, keyOf)), now.keys)).candidates
  return { ...known, candidates, world }
}

async function saved(): Promise<void> {
  const first = process()
  await first.begin()
  await first.stop()
  // The reading was abandoned: nothing is known, so nothing is saved.
  await first.save()
  expect(existsSync(path)).toBe(false)
  await first.begin()
  await expect.poll(() => first.candidates(0)).toEqual([keyOf(0)])
  await first.stop()
  await first.save()
  expect(existsSync(path)).toBe(true)
}

describe('the known keys of a process that ended', () => {
  it('are those of the next one, which reads none', async () => {
    await saved()
    const next = process()
    await next.begin()
    expect(next.world.reads).toBe(0)
    expect(await next.candidates(5, many + 5, many - 1)).toEqual([keyOf(5), keyOf(many - 1)])
    // What it stores itself is not in the file, so no later process may take it.
    expect(existsSync(path)).toBe(false)
    await next.stop()
  })

  it.each([
    ['more keys', { ...stored, keys: many + 1 }],
    ['fewer keys', { ...stored, keys: many - 1 }],
    ['other keys', { ...stored, last: stored.last + 1 }],
  ])('are read again where the store has %s', async (_, now) => {
    await saved()
    const next = process(now)
    await next.begin()
    await next.stop()
    expect(next.world.reads).toBe(1)
    expect(existsSync(path)).toBe(false)
  })

  it.each([
    ['cut', () => truncateSync(path, 100_000)],
    ['empty', () => truncateSync(path, 0)],
    [
      'altered by one bit',
      () => {
        const bytes = readFileSync(path)
        bytes[1_000_000] = (bytes[1_000_000] ?? 0) ^ 1
        writeFileSync(path, bytes)
      },
    ],
  ])('are read again where the file is %s', async (_, damage) => {
    await saved()
    damage()
    const next = process()
    await next.begin()
    await next.stop()
    expect(next.world.reads).toBe(1)
  })

  it('are not saved where there are few: reading them takes no time', async () => {
    const few = process({ keys: 1_000, last: 1 })
    await few.begin()
    await expect.poll(() => few.candidates(0)).toEqual([keyOf(0)])
    await few.save()
    expect(existsSync(path)).toBe(false)
    await few.stop()
  })

  it('that cannot be saved are no reason to fail', async () => {
    rmSync(directory, { recursive: true })
    const last = process()
    await last.begin()
    await expect.poll(() => last.candidates(0)).toEqual([keyOf(0)])
    await expect(last.save()).resolves.toBeUndefined()
    await last.stop()
  })
})
