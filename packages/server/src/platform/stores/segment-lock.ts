import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A process is told from a later one of the same number by the moment it started, in the kernel's ticks since this
 * boot; where the kernel does not tell (no /proc), the number alone must do.
 */
const identity = (pid: number): string => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return `${pid} ${started} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}`
  } catch {
    return String(pid)
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Takes a directory for this process: the lock file names its owner. The lock of an owner that no longer runs is
 * taken over. This is a second line behind the lock of the whole data directory.
 * @returns gives the lock back
 * @throws when another log, in this process or another one that runs, has the directory
 */
export const lockDirectory = (directory: string): (() => void) => {
  const path = join(directory, 'lock')
  const own = identity(process.pid)
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(path, own, { flag: 'wx', mode: 0o600 })
      held.add(path)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const owner = readOwner(path)
    const pid = Number.parseInt(owner, 10)
    const taken = owner === own ? held.has(path) : isAlive(pid) && identity(pid) === owner
    if (taken || attempt > 3)
      throw new Error(`The event log in ${directory} is in use by process ${pid || owner}`)
    unlinkSync(path)
  }
  return () => {
    held.delete(path)
    try {
      if (readOwner(path) === own) unlinkSync(path)
    } catch {
      // A lock that stays behind is taken over by the next start.
    }
  }
}

/** Lock files of this process: a file that names it but is not here was left by an earlier process of its number. */
const held = new Set<string>()

const readOwner = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
