import { setTimeout as sleep } from 'node:timers/promises'
import type { StopStep } from './child.ts'
import { isAlive, type ProcessIdentity } from './identity.ts'

/** How long a killed process may take to disappear; longer means that the kernel holds it, as a dead disk does. */
const killWaitMs = 10_000
const pollMs = 20

/** Sends a signal to exactly this process; one that has ended is no error. */
export function signalProcess(process_: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(process_)) return
  try {
    process.kill(process_.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * Ends a process: each step's signal and wait in turn, then SIGKILL.
 * @param gone asked while waiting, `isAlive` by default; resolves sooner where the caller knows sooner
 * @returns the signal that was sent last
 * @throws when the process survives SIGKILL
 */
export async function terminate(
  process_: ProcessIdentity,
  steps: readonly StopStep[],
  gone: () => boolean = () => !isAlive(process_),
): Promise<NodeJS.Signals> {
  let last: NodeJS.Signals = 'SIGKILL'
  for (const { signal, waitMs } of [...steps, { signal: 'SIGKILL', waitMs: killWaitMs } as const]) {
    signalProcess(process_, signal)
    last = signal
    const end = performance.now() + waitMs
    while (!gone()) {
      if (performance.now() >= end) break
      await sleep(pollMs)
    }
    if (gone()) return last
  }
  throw new Error(`Process ${process_.pid} does not end although it was killed`)
}
