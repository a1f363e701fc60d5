import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { StartRefused } from '../start-refused.ts'
import { encryptionKeyBytes } from './secret-box.ts'

const fileName = 'encryption.key'

/** A key as it is written: base64 of 32 bytes; undefined when it is something else. */
export function parseEncryptionKey(text: string): Buffer | undefined {
  const key = Buffer.from(text.trim(), 'base64')
  return key.length === encryptionKeyBytes && key.toString('base64') === text.trim() ? key : undefined
}

/** Whole or not at all, and never over one that is there: another process may make it at the same moment. */
function writeKeyFile(path: string): void {
  const draft = `${path}.${process.pid}.part`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${randomBytes(encryptionKeyBytes).toString('base64')}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * The key of the data directory's own file, made at the first start and readable by its owner only.
 * @throws StartRefused when others can read it or it holds no key
 */
export function readKeyFile(directory: string): Buffer {
  const path = join(directory, fileName)
  if (statSync(path, { throwIfNoEntry: false }) === undefined) writeKeyFile(path)
  const { mode } = statSync(path)
  if ((mode & 0o077) !== 0)
    throw new StartRefused('unsuitable', `${path} can be read by others: it must have mode 0600 (chmod 600)`)
  const key = parseEncryptionKey(readFileSync(path, 'utf8'))
  if (!key)
    throw new StartRefused('damaged', `${path} does not hold an encryption key: restore it from a backup`)
  return key
}
