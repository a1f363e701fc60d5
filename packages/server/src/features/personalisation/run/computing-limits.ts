import type { Clock } from '../../../platform/clock.ts'
import { createLeakyBuckets } from '../../../platform/limits/leaky-bucket.ts'

/** Steps that functions announce take 40 ns each at most. */
export const stepsPerMs = 25_000

/** What a run may compute for however much others compute: far more than most need. */
const ownMs = 5
/** What all runs of a company may compute for beyond that, at once, and in how long a millisecond of it comes back. */
const sharedMs = 500
const recoveryMs = 20

export type ComputingLimits = ReturnType<typeof createComputingLimits>

/**
 * For how long runs may compute, in which the process answers no other request. Visitors choose what a run computes with
 * and how many there are: what is costly is bounded for all runs of a company together.
 */
export function createComputingLimits({ perRunMs, clock }: { perRunMs: number; clock: Clock }) {
  const shared = createLeakyBuckets({ free: sharedMs, drainMs: recoveryMs, clock })
  return {
    /** Throws where a run must not have computed for so long. */
    assert(companyId: string, milliseconds: number): void {
      if (milliseconds > perRunMs) throw new Error(`the run has computed for ${perRunMs} ms`)
      if (milliseconds > ownMs && milliseconds - ownMs > shared.room(companyId))
        throw new Error(`runs of the company have computed for ${sharedMs} ms beyond what each of them may`)
    },
    /** @param before what the same run had computed for until now */
    count(companyId: string, before: number, milliseconds: number): void {
      const beyond = Math.max(ownMs, milliseconds) - Math.max(ownMs, before)
      if (beyond > 0) shared.take(companyId, beyond)
    },
  }
}
