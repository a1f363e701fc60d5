import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lowers the priority of this process, so that whoever shares the machine's cores comes first. On Linux each thread
 * has its own, given on to the threads that it starts; elsewhere the process has one.
 * @param nice 0 to 19, as of nice(1); raising the priority again would need a privilege
 */
export function yieldToOthers(nice: number): void {
  setPriority(nice)
  if (process.platform !== 'linux') return
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      setPriority(Number(thread), nice)
    } catch {
      // It has ended meanwhile.
    }
  }
}
