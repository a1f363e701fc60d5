import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Gives the present thread a priority. Linux keeps one for each thread; elsewhere it has that of the service. */
export function yieldToOthers(niceness: number): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (thread > 0) setPriority(thread, niceness)
  } catch {
    // No such file outside Linux.
  }
}
