import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lowers the priority of this process, so that other processes of the machine come first. On Linux each thread
 * has its own, given on to the threads that it starts; elsewhere the process has one.
 * @param nice 0 to 19, as of nice(1); raising the priority again would need a privilege
 */
export function yieldToOthers(nice: number): void {
  setPriority(nice)
  if (process.platform !== 'linux') return
  yieldToOtherSessions(nice)
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      setPriority(Number(thread), nice)
    } catch {
      // It has ended meanwhile.
    }
  }
}

/**
 * Where Linux groups processes by session (autogroup; not in containers and units), a priority counts inside the
 * session alone, and sessions share the cores equally. A child that does not yield has a session of its own.
 */
function yieldToOtherSessions(nice: number): void {
  try {
    const [, , , session] = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)?.split(' ') ?? []
    if (session === String(process.pid)) writeFileSync('/proc/self/autogroup', String(nice))
  } catch {
    // This kernel groups nothing.
  }
}
