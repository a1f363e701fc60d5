import { expect, test } from 'vitest'
import { createLeakyBuckets } from './leaky-bucket.ts'

function openBuckets(options: { free: number; drainMs: number; maxKeys?: number }) {
  let now = 0
  const { take } = createLeakyBuckets({ ...options, clock: { now: () => now } })
  return { take, move: (ms: number) => (now += ms) }
}

test('so many are free at once, then one more after each pause', () => {
  const { take, move } = openBuckets({ free: 2, drainMs: 5_000 })
  expect([take('a'), take('a'), take('a'), take('b')]).toEqual([0, 0, 5, 0])
  move(5_000)
  expect([take('a'), take('a')]).toEqual([0, 5])
})

test('what is refused keeps the bucket full', () => {
  const { take, move } = openBuckets({ free: 1, drainMs: 10_000 })
  expect(take('a')).toBe(0)
  move(6_000)
  expect(take('a')).toBe(4)
  move(6_000)
  expect(take('a')).toBe(4)
  move(10_000)
  expect(take('a')).toBe(0)
})

test('beyond its keys it forgets the one that was idle longest', () => {
  const { take } = openBuckets({ free: 1, drainMs: 1_000, maxKeys: 2 })
  for (const key of ['a', 'b', 'a', 'c']) take(key)
  expect(['a', 'c', 'b'].map((key) => take(key))).toEqual([1, 1, 0])
})
