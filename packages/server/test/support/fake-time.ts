import { sql } from 'drizzle-orm'
import type { SqlNow } from '../../src/database/now.ts'
import type { Clock } from '../../src/platform/clock.ts'

/** Time that stands still until it is moved: as a clock of the process and as the present of the database. */
export interface FakeTime {
  readonly clock: Clock
  readonly sqlNow: SqlNow
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
    sqlNow: () => sql`${new Date(now).toISOString()}::timestamptz`,
    advance(ms) {
      now += ms
    },
  }
}
