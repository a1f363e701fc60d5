import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> {
    /**
     * The work computes at most so many times as long as the yardstick beside it does. Waiting, and what other
     * programs do to the machine, do not count: both are measured in the processor time of this process.
     */
    toCostAtMost: (times: number, yardstick: () => unknown) => Promise<void>
  }
}

/** The least that the clock of /proc tells, in milliseconds. */
const tickMs = 10

/** Milliseconds that another process has computed since it began; undefined where the system does not tell. */
export function processorTimeOf(pid: number): number | undefined {
  if (!existsSync('/proc/self/stat')) return undefined
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}

const rounds = 5

/** Milliseconds of processor time. */
async function costOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

expect.extend({
  async toCostAtMost(work: () => unknown, times: number, yardstick: () => unknown) {
    let cost = Number.POSITIVE_INFINITY
    let measure = 0
    for (let round = 0; round < rounds && cost > times * measure; round++) {
      measure = Math.max(measure, await costOf(yardstick))
      cost = Math.min(cost, await costOf(work))
    }
    return {
      pass: cost <= times * measure,
      message: () => `it computes for ${cost} ms, beside ${measure} ms of the yardstick`,
    }
  },
})
