import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { StartRefused } from '../start-refused.ts'
import { encryptionKeyBytes } from './secret-box.ts'

const fileName = 'encryption.key'

/** 32 random bytes have fewer different ones about once in 10^16; a word in their place mostly does. */
const fewestDifferentBytes = 16

/**
 * A key as it is written: base64 of 32 random bytes; undefined when it is something else, or plainly not random.
 */
export function parseEncryptionKey(text: string): Buffer | undefined {
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== encryptionKeyBytes || key.toString('base64') !== text.trim()) return undefined
  return new Set(key).size < fewestDifferentBytes ? undefined : key
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/** Whole or not at all, and never over one that is there: another process may make it at the same moment. */
function writeKeyFile(directory: string, path: string): void {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.part`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${randomBytes(encryptionKeyBytes).toString('base64')}\n`)
    fsyncSync(file)
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    closeSync(file)
    rmSync(draft, { force: true })
  }
  syncDirectory(directory)
}

/** Checks and reads the file through one descriptor. Undefined when there is no such file. */
function readPrivately(path: string): string | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StartRefused('unsuitable', `${path} cannot be read: ${(error as Error).message}`, error)
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile())
      throw new StartRefused('damaged', `${path} is no file: it must hold the encryption key`)
    if ((stat.mode & 0o077) !== 0)
      throw new StartRefused(
        'unsuitable',
        `${path} can be read by others: it must have mode 0600 (chmod 600)`,
      )
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/**
 * The key of the data directory's own file, made at the first start and readable by its owner only.
 * @param mayMake false where secrets are sealed already, for which a new key is of no use
 * @throws StartRefused when it is missing and may not be made, when others can read it, or when it holds no key
 */
export function readKeyFile(directory: string, mayMake: boolean): Buffer {
  const path = join(directory, fileName)
  let text = readPrivately(path)
  if (text === undefined && mayMake) {
    writeKeyFile(directory, path)
    text = readPrivately(path)
  }
  if (text === undefined)
    throw new StartRefused(
      'unsuitable',
      `${path} is missing, and this database is used with an encryption key: restore the file from a backup, or give the key in MILLRACE_ENCRYPTION_KEY. If nothing is sealed under it yet, npm run millrace -- key forget lets a new one be made`,
    )
  const key = parseEncryptionKey(text)
  if (!key)
    throw new StartRefused('damaged', `${path} does not hold an encryption key: restore it from a backup`)
  return key
}
