import { expect, it } from 'vitest'
import { forEachAtOnce } from './at-once.ts'

it('works on each once, so many at a time', async () => {
  const seen: number[] = []
  let running = 0
  let max = 0
  await forEachAtOnce([1, 2, 3, 4, 5], 2, async (item) => {
    running++
    max = Math.max(max, running)
    await Promise.resolve()
    seen.push(item)
    running--
  })
  expect(seen.sort()).toEqual([1, 2, 3, 4, 5])
  expect(max).toBe(2)
})

it('begins nothing after a failure, and throws it when those under way have ended', async () => {
  const ended: number[] = []
  const failure = new Error('the second')
  const all = forEachAtOnce([1, 2, 3, 4], 2, async (item, signal) => {
    if (item === 2) throw failure
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve())
    })
    ended.push(item)
  })
  await expect(all).rejects.toBe(failure)
  expect(ended).toEqual([1])
})

it('does nothing without items', async () => {
  await expect(forEachAtOnce([], 2, () => Promise.reject(new Error('never')))).resolves.toBeUndefined()
})
