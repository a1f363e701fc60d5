import { expect, test } from 'vitest'
import { createComputingLimits } from './computing-limits.ts'

function open() {
  let now = 0
  const limits = createComputingLimits({ perRunMs: 100, clock: { now: () => now } })
  /** Runs of a company that compute for so long, one after the other: how many of them may. */
  function allowed(companyId: string, runs: number, milliseconds: number): number {
    let count = 0
    for (let run = 0; run < runs; run++) {
      try {
        limits.assert(companyId, milliseconds)
      } catch {
        limits.count(companyId, 0, 5)
        continue
      }
      limits.count(companyId, 0, milliseconds)
      count++
    }
    return count
  }
  return { allowed, move: (milliseconds: number) => (now += milliseconds) }
}

test('W21: runs that compute little are never refused, and no run computes for longer than one may', () => {
  const { allowed } = open()
  expect(allowed('a', 1_000, 5)).toBe(1_000)
  expect(allowed('a', 3, 101)).toBe(0)
})

test('W21: costly runs of a company share an allowance, which leaves other companies as they are', () => {
  const { allowed, move } = open()
  expect(allowed('a', 20, 55)).toBe(10)
  expect(allowed('b', 1, 55)).toBe(1)
  expect(allowed('a', 20, 5)).toBe(20)
  move(1_000)
  expect(allowed('a', 20, 55)).toBe(1)
})
