import { createHash } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import type { DiskRoom } from './disk-reserve.ts'

/** A file that was written whole. */
export interface WrittenFile {
  readonly path: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

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

export type FileWriter = Pick<Awaited<ReturnType<typeof createFileWriter>>, 'bytes' | 'write'>

/**
 * Writes a file that is there whole or not at all, in the place of a former one.
 * @param draft where it is written; what a process leaves there that ended meanwhile is for the caller to remove
 * @throws as `createFileWriter`, what `fill` throws
 */
export async function writeWhole(
  { path, draft, room }: { readonly path: string; readonly draft: string; readonly room: DiskRoom },
  fill: (writer: FileWriter) => Promise<void>,
): Promise<WrittenFile> {
  const writer = await createFileWriter(draft, room)
  try {
    await fill(writer)
    const written = await writer.end()
    await rename(draft, path)
    return { ...written, path }
  } catch (error) {
    await writer.discard()
    throw error
  }
}
