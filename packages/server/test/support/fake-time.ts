import type { Clock } from '../../src/platform/clock.ts'

/** Time that stands still until it is moved. */
export interface FakeTime {
  readonly clock: Clock
  advance(ms: number): void
}

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

export function createFakeTime(start: number = Date.now()): FakeTime {
  let now = start
  return {
    clock: { now: () => now },
    advance(ms) {
      now += ms
    },
  }
}
