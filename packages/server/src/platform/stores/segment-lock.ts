import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../files/file-lock.ts'

/**
 * Takes a log's directory for this process. This is a second line behind the lock of the whole data directory, and
 * like that one the kernel's: it ends with its holder, whatever has its pid by then.
 * @param waitMs how long a process that is just ending may take to give it back
 * @returns gives the lock back
 * @throws when another log, in this process or another one, has the directory
 */
export async function lockDirectory(directory: string, waitMs: number): Promise<() => void> {
  const lock = await lockFile(join(directory, 'writer.lock'), waitMs)
  if (lock === undefined) throw new Error(`The event log in ${directory} is in use by another process or log`)
  // The lock of earlier versions: a pid, which says nothing about who holds the log.
  rmSync(join(directory, 'lock'), { force: true })
  return lock.release
}
