import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { DomainError } from '../../../platform/errors.ts'
import type { DiskRoom } from '../../../platform/files/disk-reserve.ts'
import { newId } from '../../../platform/ids.ts'

/** A file that was written whole. */
export interface WrittenFile {
  readonly path: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** A file of the directory of contents. */
export interface StoredFile extends WrittenFile {
  readonly name: string
}

export interface ContentFilesOptions {
  /** Of contents that stay; processes that share a database share it too. */
  readonly directory: string
  /** Of this process alone: what is there ends with it. */
  readonly downloads: string
  /** Of the disk of contents that stay. */
  readonly room: DiskRoom
}

export interface StoreOptions {
  readonly limitBytes: number
  /** Called before a piece is written, with the bytes that there are with it. */
  readonly onBytes: (bytes: number) => Promise<void>
}

const partEnding = '.part'
/** A file on its way to which nothing was written for so long belongs to a process that has ended. */
const abandonedMs = 3_600_000
const storedName = /^[0-9a-f]{24}$/

/**
 * Writes pieces to a new file, with their hash.
 * @throws DomainError `unavailable` where the disk has no room, also while it writes
 */
export async function createFileWriter(path: string, room: DiskRoom) {
  await room.take(0)
  const file: FileHandle = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  let bytes = 0
  return {
    bytes: () => bytes,
    async write(piece: Buffer): Promise<void> {
      await room.take(piece.length)
      hash.update(piece)
      bytes += piece.length
      for (let from = 0; from < piece.length; ) {
        from += (await file.write(piece, from, piece.length - from)).bytesWritten
      }
    },
    /** The file is durable then. */
    async end(): Promise<WrittenFile> {
      await file.sync()
      await file.close()
      return { path, bytes, sha256: hash.digest('hex') }
    },
    /** Gives the file up. */
    async discard(): Promise<void> {
      await file.close().catch(() => {})
      await rm(path, { force: true })
    },
  }
}

/** Files with the content of datasources. */
export function createContentFiles({ directory, downloads, room }: ContentFilesOptions) {
  const pathOf = (name: string): string => {
    if (!storedName.test(name)) throw new Error('no name of a content')
    return join(directory, name)
  }

  return {
    pathOf,

    /** Removes what an ended process of the same data directory has left. */
    async prepare(): Promise<void> {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      await rm(downloads, { recursive: true, force: true })
      await mkdir(downloads, { recursive: true, mode: 0o700 })
    },

    /**
     * Stores a body as it comes; nothing is left of one that breaks off.
     * @returns the name of the file, which nothing knows yet
     * @throws DomainError `contentTooLarge`, `unavailable`, what `onBytes` throws
     */
    async store(body: Readable, { limitBytes, onBytes }: StoreOptions): Promise<StoredFile> {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const name = newId()
      const writer = await createFileWriter(`${pathOf(name)}${partEnding}`, room)
      try {
        for await (const piece of body as AsyncIterable<Buffer>) {
          const withPiece = writer.bytes() + piece.length
          if (withPiece > limitBytes)
            throw new DomainError('contentTooLarge', { limit: limitBytes, unit: 'bytes' })
          await onBytes(withPiece)
          await writer.write(piece)
        }
        const written = await writer.end()
        await rename(written.path, pathOf(name))
        return { ...written, path: pathOf(name), name }
      } catch (error) {
        await writer.discard()
        throw error
      }
    },

    remove: (name: string): Promise<void> => rm(pathOf(name), { force: true }),

    /** A file that is there while the work runs. */
    async withDownload<T>(work: (path: string) => Promise<T>): Promise<T> {
      await mkdir(downloads, { recursive: true, mode: 0o700 })
      const path = join(downloads, newId())
      try {
        return await work(path)
      } finally {
        await rm(path, { force: true })
      }
    },

    /**
     * Removes files that belong to no datasource, once they are old enough that none is about to know them.
     * @param isKnown those of the names that datasources have
     */
    async sweep(
      listKnown: (names: readonly string[]) => Promise<readonly string[]>,
      now: number,
    ): Promise<number> {
      const old: string[] = []
      for (const name of await readdir(directory).catch(() => [])) {
        if (!storedName.test(name.replace(partEnding, ''))) continue
        const { mtimeMs } = await stat(join(directory, name)).catch(() => ({ mtimeMs: now }))
        if (now - mtimeMs > abandonedMs) old.push(name)
      }
      const stored = old.filter((name) => !name.endsWith(partEnding))
      const known = new Set(stored.length === 0 ? [] : await listKnown(stored))
      const orphans = old.filter((name) => !known.has(name))
      for (const name of orphans) await rm(join(directory, name), { force: true })
      return orphans.length
    },
  }
}

export type ContentFiles = ReturnType<typeof createContentFiles>
