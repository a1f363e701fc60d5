import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../../platform/logger.ts'
import { createKnownKeys } from './known-keys.ts'

/** Keys that look random; the same number gives the same key. */
const keyOf = (number: number): bigint =>
  BigInt.asUintN(64, BigInt(number + 1) * 0x9e37_79b9_7f4a_7c15n * 0xbf58_476d_1ce4_e5b9n)

const range = (from: number, to: number): bigint[] =>
  Array.from({ length: to - from }, (_, index) => keyOf(from + index))

async function* bytesOf(keys: readonly bigint[]): AsyncGenerator<Buffer> {
  yield Buffer.from(BigUint64Array.from(keys).buffer)
}

/** A store whose reading continues when the test releases it. */
const createGround = () => {
  const stored: bigint[] = []
  const readings: { go: () => void; fail: (error: Error) => void; signal: AbortSignal }[] = []
  let now = 1_000_000
  const known = createKnownKeys({
    store: {
      countKeys: async () => stored.length,
      identifyKeys: async () => ({ keys: stored.length, last: 7 }),
      async *streamKeys(signal) {
        const seen = [...stored]
        await new Promise<void>((resolve, reject) => {
          readings.push({ go: resolve, fail: reject, signal })
          signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        })
        yield* bytesOf(seen)
      },
    },
    clock: { now: () => now },
    logger: silentLogger,
  })
  return {
    known,
    stored,
    readings,
    later: (milliseconds: number) => {
      now += milliseconds
    },
    /** Takes a batch and stores it; tells which of its keys are candidates. */
    async take(keys: readonly bigint[]) {
      const { candidates } = await known.takeBatch(bytesOf(keys), stored.length)
      stored.push(...keys)
      known.stored(keys.length)
      return candidates
    },
    /** Lets the last reading go on to its end. */
    async read() {
      readings.at(-1)?.go()
      await sleep(10)
    },
  }
}

describe('known keys', () => {
  it('says nothing until all that is stored was read, and then what may be stored', async () => {
    const { known, stored, take, read } = createGround()
    stored.push(...range(0, 1_000))
    await known.begin()
    expect(await take(range(2_000, 2_010))).toBeUndefined()
    await read()
    expect(await take([keyOf(5), ...range(3_000, 3_100), keyOf(999)])).toEqual([keyOf(5), keyOf(999)])
    expect(await take(range(4_000, 4_100))).toEqual([])
    await known.stop()
  })

  it('has the batches that came while it was reading, and those of later', async () => {
    const { known, take, read } = createGround()
    await known.begin()
    await take(range(0, 10))
    await read()
    expect(await take(range(8, 12))).toEqual([keyOf(8), keyOf(9)])
    expect(await take(range(10, 13))).toEqual([keyOf(10), keyOf(11)])
    await known.stop()
  })

  it('has the whole of a batch during which the reading comes to its end', async () => {
    const { known, take, read } = createGround()
    await known.begin()
    async function* slowly(): AsyncGenerator<Buffer> {
      yield* bytesOf([keyOf(1)])
      await read()
      yield* bytesOf([keyOf(2)])
    }
    expect(await known.takeBatch(slowly(), 0)).toEqual({ keys: 2, candidates: undefined })
    known.stored(2)
    expect(await take(range(0, 4))).toEqual([keyOf(1), keyOf(2)])
    await known.stop()
  })

  it('forgets at a new beginning, and ends the reading before', async () => {
    const { known, stored, readings, take, read } = createGround()
    await known.begin()
    await read()
    await known.begin()
    expect(await take(range(0, 1))).toBeUndefined()
    stored.push(keyOf(7))
    await known.begin()
    expect(readings[1]?.signal.aborted).toBe(true)
    await read()
    expect(await take([keyOf(7)])).toEqual([keyOf(7)])
    await known.stop()
  })

  it('uses the old keys while it reads again, and then forgets what was removed', async () => {
    const { known, stored, take, read } = createGround()
    stored.push(...range(0, 10))
    await known.begin()
    await read()
    stored.splice(0, 5)
    await known.renew()
    expect(await take(range(3, 20))).toEqual(range(3, 10))
    await read()
    expect(await take([keyOf(0), keyOf(9), keyOf(15), keyOf(30)])).toEqual([keyOf(9), keyOf(15)])
    await known.stop()
  })

  it('reads again some time after a reading failed, and says nothing until then', async () => {
    const { known, readings, later, take, read } = createGround()
    await known.begin()
    readings[0]?.fail(new Error('the engine is away'))
    await sleep(10)
    expect(await take(range(0, 1))).toBeUndefined()
    expect(readings).toHaveLength(1)
    later(10_000)
    expect(await take(range(1, 2))).toBeUndefined()
    expect(readings).toHaveLength(2)
    await read()
    expect(await take(range(1, 3))).toEqual([keyOf(1)])
    await known.stop()
  })

  it('gives no candidates once another process has stored keys, until they are read', async () => {
    const { known, stored, take, read } = createGround()
    await known.begin()
    await read()
    expect(await take([keyOf(1)])).toEqual([])
    stored.push(keyOf(2))
    expect(await take([keyOf(3)])).toBeUndefined()
    await read()
    expect(await take([keyOf(1), keyOf(2), keyOf(3), keyOf(4)])).toEqual([keyOf(1), keyOf(2), keyOf(3)])
    await known.stop()
  })

  it('does not take a reading for whole that lacks keys', async () => {
    const { known, stored, later, take, read } = createGround()
    stored.push(...range(0, 10))
    const before = known.begin()
    stored.pop()
    await before
    stored.pop()
    await read()
    expect(await take([])).toBeUndefined()
    later(10_000)
    await take([])
    await read()
    expect(await take([keyOf(3), keyOf(9)])).toEqual([keyOf(3)])
    await known.stop()
  })

  it('never takes up a reading of before its beginning', async () => {
    const { known, stored, readings, take, read } = createGround()
    await known.begin()
    const first = readings[0]
    stored.push(keyOf(1))
    const beginning = known.begin()
    first?.go()
    await beginning
    await sleep(10)
    expect(await take([keyOf(1)])).toBeUndefined()
    await read()
    expect(await take([keyOf(1)])).toEqual([keyOf(1)])
    await known.stop()
  })

  it('says nothing of a batch that is nearly all known', async () => {
    const { known, take, read } = createGround()
    await known.begin()
    await take(range(0, 12_000))
    await read()
    expect(await take(range(0, 12_000))).toBeUndefined()
    await known.stop()
  })

  it('reads what is stored into more memory when it is full, and knows the batch that made it so', async () => {
    const { known, stored, readings, take, read } = createGround()
    await known.begin()
    await read()
    const small = known.bytes()
    for (let from = 0; from < 2_000_000; from += 100_000) {
      const batch = range(from, from + 100_000)
      expect((await take(batch))?.length).toBeLessThan(4_000)
      if (readings.length > 1) break
    }
    expect(readings).toHaveLength(2)
    expect(stored).toHaveLength(1_200_000)
    await read()
    expect(known.bytes()).toBeGreaterThan(small)
    expect(await take([keyOf(0), keyOf(1_150_000), keyOf(3_000_000)])).toEqual([keyOf(0), keyOf(1_150_000)])
    await known.stop()
  })

  it('stops in the middle of a reading', async () => {
    const { known, readings } = createGround()
    await known.begin()
    await known.stop()
    expect(readings[0]?.signal.aborted).toBe(true)
  })
})
