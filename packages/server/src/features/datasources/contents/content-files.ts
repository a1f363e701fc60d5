import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { DomainError } from '../../../platform/errors.ts'
import type { DiskRoom } from '../../../platform/files/disk-reserve.ts'
import { type WrittenFile, writeWhole } from '../../../platform/files/file-writer.ts'
import { newId } from '../../../platform/ids.ts'

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
      const path = pathOf(name)
      const written = await writeWhole({ path, draft: `${path}${partEnding}`, room }, async (writer) => {
        for await (const piece of body as AsyncIterable<Buffer>) {
          const withPiece = writer.bytes() + piece.length
          if (withPiece > limitBytes)
            throw new DomainError('contentTooLarge', { limit: limitBytes, unit: 'bytes' })
          await onBytes(withPiece)
          await writer.write(piece)
        }
      })
      return { ...written, name }
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
