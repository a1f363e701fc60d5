import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

/** A lock on a file that the kernel releases when this process ends, however it ends. */
export interface FileLock {
  release(): void
}

const busy = 5

/** SQLite's primary result code, without the extended part. */
const resultCode = (error: unknown): number => ((error as { errcode?: number }).errcode ?? 0) & 0xff

/** Creates the file for its owner alone. An existing one is not opened: closing it would release this process's lock. */
function make(path: string): void {
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function tryLock(path: string): FileLock | undefined {
  make(path)
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // Nothing is ever written, so the journal needs no second file.
    database.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    database.close()
    if (resultCode(error) === busy) return undefined
    throw error
  }
  return { release: () => database.close() }
}

/**
 * Takes the lock, waiting at most `waitMs` for another process to give it back.
 *
 * Node.js has no flock(2). SQLite, which it brings, locks its file with fcntl(2): exclusive among processes and
 * containers of a machine, race-free, and gone with the process that held it. An open exclusive transaction on an
 * empty file is such a lock and writes nothing. Opening and closing the file in the same process by other
 * means releases the lock: POSIX requires that.
 * @returns undefined while another holder, in this process or another one, holds it
 * @throws when the file system cannot lock or the file cannot be created
 */
export async function lockFile(path: string, waitMs: number): Promise<FileLock | undefined> {
  const end = performance.now() + waitMs
  for (;;) {
    const lock = tryLock(path)
    if (lock !== undefined || performance.now() >= end) return lock
    await sleep(50)
  }
}
