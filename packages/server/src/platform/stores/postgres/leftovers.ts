import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../logger.ts'
import type { StopStep } from '../../processes/child.ts'
import { identify, linuxStat, type ProcessIdentity } from '../../processes/identity.ts'
import { terminate } from '../../processes/termination.ts'

/** SIGINT: clients are cut off and everything is written; SIGQUIT: ends at once and recovers at the next start. */
export const stopSteps: readonly StopStep[] = [
  { signal: 'SIGINT', waitMs: 10_000 },
  { signal: 'SIGQUIT', waitMs: 3_000 },
]

/** A backend whose postmaster is dead notices that as soon as it waits for anything. */
const backendGraceMs = 1_000

interface Occupants {
  readonly postmaster: ProcessIdentity | undefined
  readonly backends: readonly ProcessIdentity[]
}

function linked(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** All processes of PostgreSQL work inside the data directory, which distinguishes them from any other one. */
function occupantsOnLinux(directory: string): Occupants {
  const place = realpathSync(directory)
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => linked(`/proc/${pid}/cwd`) === place)
    .filter((pid) => /\/postgres( \(deleted\))?$/.test(linked(`/proc/${pid}/exe`) ?? ''))
    .map(Number)
  const isChild = (pid: number): boolean => pids.includes(linuxStat(pid)?.parent ?? 0)
  const main = pids.find((pid) => !isChild(pid) && pidOfFile(directory) === pid)
  const identities = pids.filter((pid) => pid !== main).map(identify)
  return {
    postmaster: main === undefined ? undefined : identify(main),
    backends: identities.filter((each) => each !== undefined),
  }
}

/** The postmaster as it recorded itself. */
function pidOfFile(directory: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

function occupantsElsewhere(directory: string): Occupants {
  const pid = pidOfFile(directory)
  if (pid === undefined) return { postmaster: undefined, backends: [] }
  try {
    const command = execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' })
    return { postmaster: /postgres/.test(command) ? identify(pid) : undefined, backends: [] }
  } catch {
    return { postmaster: undefined, backends: [] }
  }
}

function occupants(directory: string): Occupants {
  return process.platform === 'linux' ? occupantsOnLinux(directory) : occupantsElsewhere(directory)
}

/**
 * Ends what an earlier postmaster left on a data directory. Two servers on one directory would ruin it, so nothing
 * starts before the last of them is gone. Only the holder of the lock on the surrounding directory may call this.
 */
export async function clearLeftovers(directory: string, logger: Logger): Promise<void> {
  const { postmaster, backends } = occupants(directory)
  if (postmaster !== undefined) {
    logger.warn({ pid: postmaster.pid }, 'stopping the PostgreSQL of an earlier run that was killed')
    await terminate(postmaster, stopSteps)
  }
  if (postmaster !== undefined || backends.length > 0) {
    const end = performance.now() + backendGraceMs
    while (occupants(directory).backends.length > 0 && performance.now() < end) await sleep(10)
    for (const backend of occupants(directory).backends) {
      logger.warn({ pid: backend.pid }, 'ending a process that PostgreSQL left behind')
      await terminate(backend, [{ signal: 'SIGQUIT', waitMs: 1000 }])
    }
  }
  // A pid that was given to another process of this user since then would keep PostgreSQL from starting. It is
  // certain here that nothing runs, but only where all processes could be looked at.
  if (process.platform === 'linux') rmSync(join(directory, 'postmaster.pid'), { force: true })
}
