import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isId, newId } from '../ids.ts'

/** Of logs that were made before logs had names. */
const unnamed = 'events'

/**
 * The name of the log in a directory, given once and kept in a file of it. A checkpoint belongs to one log: whoever
 * took the position of one log for that of another would give away what was never read.
 * @param isOld whether the log holds segments already
 */
export function nameLog(directory: string, isOld: boolean): string {
  const path = join(directory, 'id')
  try {
    const known = readFileSync(path, 'utf8').trim()
    if (isId(known) || known === unnamed) return known
    throw new Error(
      `${path} holds no name of an event log; remove it to have the log read from its beginning`,
    )
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const name = isOld ? unnamed : newId()
  const draft = `${path}.new`
  const fd = openSync(draft, 'w', 0o600)
  try {
    writeSync(fd, `${name}\n`)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  // The name is on disk with the directory's next sync, which comes before the first segment is acknowledged.
  renameSync(draft, path)
  return name
}
