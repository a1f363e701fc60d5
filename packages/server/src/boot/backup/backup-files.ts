import {
  createCipheriv,
  createDecipheriv,
  createHash,
  type DecipherGCM,
  type Hash,
  randomBytes,
} from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { link, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { type Readable, Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readFreeBytes } from '../../platform/files/disk-reserve.ts'
import { StartRefused } from '../../platform/start-refused.ts'

/** Of backups that this version makes; it reads those of format 1 too, in which each file of a part lies by itself. */
const format = 2

/** One file of a backup. */
export interface BackupFile {
  /** Relative to the backup, with `/`. */
  readonly path: string
  /** As it lies there, encrypted if the backup is. */
  readonly bytes: number
  readonly sha256: string
}

/** What a backup says of itself; it is written last. */
export interface Manifest {
  readonly format: 1 | typeof format
  readonly id: string
  /** Of the program that made it. */
  readonly version: string
  /** ISO 8601: what was acknowledged before is in it. */
  readonly at: string
  readonly encrypted: boolean
  readonly relationalMigration: number
  readonly columnarMigration: number
  /** Rows by table. */
  readonly relationalRows: Readonly<Record<string, number>>
  readonly columnarRows: Readonly<Record<string, number>>
  /** Where the packs of each part of a table lie; absent in format 1. */
  readonly columnarParts?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly files: readonly BackupFile[]
}

/** A backup cannot be made or used; the message is for the operator. */
export class BackupRefused extends StartRefused {
  override readonly name = 'BackupRefused'

  constructor(message: string, cause?: unknown) {
    super('unsuitable', message, cause)
  }
}

const [nonceBytes, tagBytes] = [12, 16]
export const manifestName = 'manifest.json'
/** To the millisecond, so that their order is that of their making; earlier ones to the second. */
const idPattern = /^\d{8}T\d{6}(?:\d{3})?Z-[0-9a-f]{6}$/

export const newBackupId = (now: Date): string =>
  `${now.toISOString().replaceAll(/[-:.]/g, '')}-${randomBytes(3).toString('hex')}`

/** Every file is sealed for its place, so that none stands for another. */
const contextOf = (place: string): Buffer => Buffer.from(`millrace backup\0${place}`)

const sha256 = (): Hash => createHash('sha256')

/** Passes bytes on and counts them. */
class Counted extends Transform {
  bytes = 0
  readonly #hash = sha256()

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.bytes += chunk.length
    this.#hash.update(chunk)
    done(null, chunk)
  }

  digest(): string {
    return this.#hash.digest('hex')
  }
}

/** AES-256-GCM: a nonce, the text, the tag. */
function sealing(key: Buffer, context: Buffer): Transform {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(context)
  let began = false
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!began) this.push(nonce)
      began = true
      done(null, cipher.update(chunk))
    },
    flush(done) {
      if (!began) this.push(nonce)
      this.push(cipher.final())
      done(null, cipher.getAuthTag())
    },
  })
}

/** The other way round. @throws {BackupRefused} at its end when the key is another one or a byte was changed */
function opening(key: Buffer, context: Buffer, what: string): Transform {
  let held: Buffer = Buffer.alloc(0)
  let decipher: DecipherGCM | undefined
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      held = Buffer.concat([held, chunk])
      if (!decipher && held.length >= nonceBytes) {
        decipher = createDecipheriv('aes-256-gcm', key, held.subarray(0, nonceBytes)).setAAD(context)
        held = held.subarray(nonceBytes)
      }
      if (!decipher || held.length <= tagBytes) return done()
      const text = held.subarray(0, held.length - tagBytes)
      held = held.subarray(held.length - tagBytes)
      done(null, decipher.update(text))
    },
    flush(done) {
      try {
        if (!decipher || held.length !== tagBytes) throw new Error('it is too short')
        decipher.setAuthTag(held)
        done(null, decipher.final())
      } catch (cause) {
        done(new BackupRefused(`${what} cannot be opened: the key is another one, or it was changed`, cause))
      }
    },
  })
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export interface BeginBackupOptions {
  readonly directory: string
  readonly id: string
  /** Undefined for one that is not encrypted. */
  readonly key: Buffer | undefined
  /** A backup in the same directory whose files need not be written again. */
  readonly former: Manifest | undefined
  /** Bytes of the disk that stay free. */
  readonly keepsFree: number
}

/** @throws {BackupRefused} fewer bytes of the disk are free */
export async function requireFreeBytes(directory: string, keepsFree: number): Promise<void> {
  if ((await readFreeBytes(directory)) <= keepsFree)
    throw new BackupRefused(`The disk of ${directory} is nearly full: nothing of this backup is left there`)
}

/** Begins a backup in a directory of its own, which has another name until it is whole. */
export async function beginBackup({ directory, id, key, former, keepsFree }: BeginBackupOptions) {
  const draft = join(directory, `${id}.partial`)
  await mkdir(draft, { recursive: true, mode: 0o700 })
  const files: BackupFile[] = []
  const known = new Map(
    former && former.encrypted === (key !== undefined) ? former.files.map((file) => [file.path, file]) : [],
  )

  return {
    /** Bytes that were written, those of the former backup left out. */
    written: 0,

    /** Writes a file. @throws {BackupRefused} the disk is nearly full */
    async write(path: string, content: Readable): Promise<void> {
      // A source that is given up fails once more when its connection ends.
      content.on('error', () => {})
      try {
        await requireFreeBytes(directory, keepsFree)
      } catch (error) {
        content.destroy()
        throw error
      }
      const to = join(draft, path)
      await mkdir(dirname(to), { recursive: true, mode: 0o700 })
      const counted = new Counted()
      const target = createWriteStream(to, { mode: 0o600, flags: 'wx', flush: true })
      if (key) await pipeline(content, sealing(key, contextOf(path)), counted, target)
      else await pipeline(content, counted, target)
      files.push({ path, bytes: counted.bytes, sha256: counted.digest() })
      this.written += counted.bytes
    },

    /** Takes a file that never changes under its name from the former backup. @returns false when it has none */
    async reuse(path: string): Promise<boolean> {
      const file = known.get(path)
      if (!file || !former) return false
      const to = join(draft, path)
      await mkdir(dirname(to), { recursive: true, mode: 0o700 })
      await link(join(directory, former.id, path), to)
      files.push(file)
      return true
    },

    /** From here on it is a backup. */
    async finish(rest: Omit<Manifest, 'format' | 'id' | 'encrypted' | 'files'>): Promise<Manifest> {
      const manifest: Manifest = { format, id, encrypted: key !== undefined, ...rest, files }
      await writeFile(join(draft, manifestName), sealManifest(manifest, key), { mode: 0o600, flush: true })
      for (const each of new Set(files.map(({ path }) => dirname(join(draft, path))))) await syncPath(each)
      await syncPath(draft)
      await rename(draft, join(directory, id))
      await syncPath(directory)
      return manifest
    },

    /** Leaves nothing. */
    abandon: (): Promise<void> => rm(draft, { recursive: true, force: true }),
  }
}

/** Of which nothing is believed that its digest, or the key, does not confirm. */
function sealManifest(manifest: Manifest, key: Buffer | undefined): string {
  const text = JSON.stringify(manifest)
  if (!key) {
    return `${JSON.stringify({ format, encrypted: false, sha256: sha256().update(text).digest('hex'), manifest: text })}\n`
  }
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(contextOf(`${manifest.id}/${manifestName}`))
  const sealed = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()])
  return `${JSON.stringify({ format, encrypted: true, manifest: sealed.toString('base64') })}\n`
}

/** @throws {BackupRefused} there is none, it was changed, is of a newer version, or needs another key */
export async function readManifest(
  directory: string,
  id: string,
  key: Buffer | undefined,
): Promise<Manifest> {
  requireBackupId(id)
  let outer: { format?: unknown; encrypted?: unknown; sha256?: unknown; manifest?: unknown }
  try {
    outer = JSON.parse(await readFile(join(directory, id, manifestName), 'utf8')) as typeof outer
  } catch (cause) {
    throw new BackupRefused(
      (cause as NodeJS.ErrnoException).code === 'ENOENT'
        ? `There is no backup ${id} in ${directory}`
        : `The manifest of the backup ${id} was changed: it is no JSON`,
      cause,
    )
  }
  if (outer.format !== 1 && outer.format !== format)
    throw new BackupRefused(`The backup ${id} was made by a newer version`)
  const changed = new BackupRefused(`The manifest of the backup ${id} was changed`)
  if (typeof outer.manifest !== 'string') throw changed
  let text = outer.manifest
  if (outer.encrypted === true) {
    if (!key) throw new BackupRefused(`The backup ${id} is encrypted: set MILLRACE_BACKUP_KEY`)
    const sealed = Buffer.from(text, 'base64')
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes))
        .setAAD(contextOf(`${id}/${manifestName}`))
        .setAuthTag(sealed.subarray(-tagBytes))
      text = Buffer.concat([
        decipher.update(sealed.subarray(nonceBytes, -tagBytes)),
        decipher.final(),
      ]).toString()
    } catch (cause) {
      throw new BackupRefused(
        `The backup ${id} cannot be opened: MILLRACE_BACKUP_KEY is another key, or its manifest was changed`,
        cause,
      )
    }
  } else if (sha256().update(text).digest('hex') !== outer.sha256) throw changed
  const manifest = JSON.parse(text) as Manifest
  if (manifest.id !== id) throw changed
  return manifest
}

/** Backups that are whole, the newest first. */
export async function listBackups(directory: string): Promise<string[]> {
  const names = await unlessMissing(readdir(directory), [])
  return names
    .filter((name) => idPattern.test(name))
    .sort()
    .reverse()
}

/** Removes all but the newest. @returns those that are gone */
export async function removeBackups(directory: string, keep: number): Promise<string[]> {
  const old = (await listBackups(directory)).slice(keep)
  for (const id of old) {
    // One that is killed half-way leaves no backup, but a draft, which the next one removes.
    await rename(join(directory, id), join(directory, `${id}.partial`))
    await rm(join(directory, `${id}.partial`), { recursive: true, force: true })
  }
  return old
}

/** SHA-256 in hexadecimal digits. */
export async function digestOfFile(path: string): Promise<string> {
  const counted = new Counted()
  counted.resume()
  await pipeline(createReadStream(path), counted)
  return counted.digest()
}

/** Where a file of a backup lies. @throws {BackupRefused} outside of it */
export function pathWithin(directory: string, id: string, path: string): string {
  const root = resolve(directory, id)
  const found = resolve(root, path)
  if (!found.startsWith(root + sep) || path.split('/').includes('..'))
    throw new BackupRefused(`The backup ${id} names ${path}, outside of it`)
  return found
}

/** @throws {BackupRefused} */
export function requireBackupId(id: string): void {
  if (!idPattern.test(id)) throw new BackupRefused(`"${id}" is not the identifier of a backup`)
}

/** Compares every file with the manifest, before anything else is touched. @throws {BackupRefused} */
export async function checkFiles(directory: string, { id, files }: Manifest): Promise<void> {
  for (const { path, bytes, sha256: expected } of files) {
    const from = pathWithin(directory, id, path)
    const found = await stat(from).catch(() => undefined)
    if (found?.size !== bytes)
      throw new BackupRefused(`${path} of the backup ${id} is ${found ? `cut or longer` : 'missing'}`)
    if ((await digestOfFile(from)) !== expected)
      throw new BackupRefused(`${path} of the backup ${id} was changed`)
  }
}

/** What was written under a path. */
export function readBackupFile(
  directory: string,
  { id, encrypted }: Manifest,
  path: string,
  key: Buffer | undefined,
): Readable {
  const file = createReadStream(join(directory, id, path))
  if (!encrypted || !key) return file
  const open = opening(key, contextOf(path), `${path} of the backup ${id}`)
  file.on('error', (error) => open.destroy(error))
  return file.pipe(open)
}

/** Writes what is read to a file, whose directory is made. */
export async function extract(content: AsyncIterable<Buffer>, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await pipeline(content, createWriteStream(to, { mode: 0o600 }))
}

/** Removes what a backup that was killed has left. */
export async function removeFrom(directory: string, isLeft: (name: string) => boolean): Promise<void> {
  for (const name of await unlessMissing(readdir(directory), [])) {
    if (isLeft(name)) await rm(join(directory, name), { recursive: true, force: true })
  }
}

/** @returns what the work gives, or the other where its file or directory is not there */
export async function unlessMissing<T, N>(work: Promise<T>, otherwise: N): Promise<T | N> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise
    throw error
  }
}
