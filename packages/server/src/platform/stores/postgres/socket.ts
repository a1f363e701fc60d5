import { createHash } from 'node:crypto'
import { chownSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { StartRefused } from '../../start-refused.ts'
import type { SystemAccount } from './account.ts'
import { port } from './settings.ts'

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, with a zero at its end. */
const maxPathLength = 103

/**
 * Where the socket lies: beside the data where its path is short enough, else in a directory below /tmp that the
 * data's path decides, so that operator commands find it too (hence never TMPDIR, which differs among them).
 * @param runPath for small files of running processes; absolute
 */
export function socketDirectory(runPath: string): string {
  const near = join(runPath, 'postgres')
  if (Buffer.byteLength(join(near, `.s.PGSQL.${port}`)) <= maxPathLength) return near
  return join('/tmp', `millrace-${createHash('sha256').update(near).digest('hex').slice(0, 24)}`)
}

/**
 * Makes the socket's directory for the account alone: any process that can enter it may connect.
 * @throws {StartRefused} another user made it first
 */
export function makeSocketDirectory(path: string, account: SystemAccount | undefined): void {
  const self = process.getuid?.() ?? 0
  const owner = account?.uid ?? self
  try {
    mkdirSync(path, { mode: 0o700 })
    if (account !== undefined) chownSync(path, account.uid, account.gid)
    return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const found = lstatSync(path)
  const unfinished = found.uid === self && account !== undefined
  if (!found.isDirectory() || (found.mode & 0o077) !== 0 || (found.uid !== owner && !unfinished)) {
    throw new StartRefused(
      'unsuitable',
      `${path}, where PostgreSQL's socket goes, is not a directory of ours that is closed to others.\n` +
        'Look at who made it, and remove it.',
    )
  }
  if (unfinished) chownSync(path, account.uid, account.gid)
}

/**
 * Removes the socket of a server that is certainly gone: its lock file holds a pid that another process of the
 * account may have by now, and PostgreSQL would not start.
 */
export function clearSocket(path: string): void {
  const socket = join(path, `.s.PGSQL.${port}`)
  for (const file of [`${socket}.lock`, socket]) rmSync(file, { force: true })
}
