import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { readStatFields } from './proc-stat.ts'

/**
 * Puts all threads of a process, and those that they start, into the scheduler's idle class: they compute while no
 * other process of their session wants the core, and give it back at once, where a low priority (nice) keeps it for up
 * to 4 ms. There is no way back for a process without privileges.
 * @returns false where there is no such class or no `chrt` (of util-linux)
 */
export async function enterIdleTime(pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return false
  try {
    // Twice: a thread that is started meanwhile by one not reached yet is not in the first list.
    for (let round = 0; round < 2; round++) {
      await promisify(execFile)('chrt', ['--idle', '--all-tasks', '--pid', '0', String(pid)])
    }
    return true
  } catch {
    return false
  }
}

/** USER_HZ of proc(5), the same on every architecture of Node.js. */
const tickMs = 10

/** Less of one core than this, with work to do, is nothing. */
const minShare = 0.02

interface Sample {
  readonly pid: number
  readonly at: number
  readonly computedMs: number
  readonly wantsCore: boolean
}

function sample(pid: number): Sample | undefined {
  try {
    const fields = readStatFields(`/proc/${pid}/stat`)
    const tasks = `/proc/${pid}/task`
    const wantsCore = readdirSync(tasks).some((task) => readStatFields(`${tasks}/${task}/stat`)[0] === 'R')
    const computedMs = (Number(fields[11]) + Number(fields[12])) * tickMs
    return { pid, at: performance.now(), computedMs, wantsCore }
  } catch {
    return undefined
  }
}

/** Tells at each call whether the process has wanted a core since the call before and got next to nothing. */
export function createStarvationWatch(): (pid: number) => boolean {
  let before: Sample | undefined
  return (pid) => {
    const last = before
    const now = sample(pid)
    before = now
    if (now === undefined || last?.pid !== pid) return false
    if (!last.wantsCore || !now.wantsCore) return false
    return now.computedMs - last.computedMs < minShare * (now.at - last.at)
  }
}
