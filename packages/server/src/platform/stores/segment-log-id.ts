import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isId, newId } from '../ids.ts'

/** The id of logs that were created before logs had ids. */
const idOfUnnamed = 'events'

/**
 * The id of the log in a directory, created once and kept in a file there. A checkpoint belongs to one log: a loader
 * that applied the position of one log to another would delete events that it never read.
 * @param hasSegments whether the log holds segments already
 */
export function loadOrCreateLogId(directory: string, hasSegments: boolean): string {
  const path = join(directory, 'id')
  try {
    const known = readFileSync(path, 'utf8').trim()
    if (isId(known) || known === idOfUnnamed) return known
    throw new Error(`${path} holds no id of an event log; remove it to have the log read from its beginning`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const id = hasSegments ? idOfUnnamed : newId()
  const draft = `${path}.new`
  const fd = openSync(draft, 'w', 0o600)
  try {
    writeSync(fd, `${id}\n`)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  // The id is on disk with the directory's next sync, which comes before the first segment is acknowledged.
  renameSync(draft, path)
  return id
}
