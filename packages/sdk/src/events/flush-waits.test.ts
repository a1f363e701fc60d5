import { expect, test } from 'vitest'
import { FlushWaits } from './flush-waits.ts'

test('keeps nothing of a caller whose time is over', async () => {
  const waits = new FlushWaits()
  const all = Array.from({ length: 50 }, (_, i) => waits.wait(i, 1))
  expect(waits.size).toBe(50)
  expect(new Set(await Promise.all(all))).toEqual(new Set([false]))
  expect(waits.size).toBe(0)
})

test('answers those whose events are settled, and the others at the end', async () => {
  const waits = new FlushWaits()
  const [first, second] = [waits.wait(3, 600_000), waits.wait(4, 600_000)]
  waits.settle(() => 4)
  expect(await first).toBe(true)
  expect(waits.size).toBe(1)
  waits.end()
  expect(await second).toBe(false)
  expect(waits.size).toBe(0)
})
