import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'

/** Bytes that are gathered before any of them is sent: few in memory, more in a file. */
export interface Spool {
  /** @throws what the file system says, as when there is no room, and what `onFile` throws */
  write(bytes: Buffer): Promise<void>
  /** Of all bytes written. */
  readonly size: number
  /** Everything between two texts, once; the file is gone when the stream is. */
  read(before: string, after: string): Readable
  /** Gives the file up; may be called again. */
  discard(): Promise<void>
}

export interface SpoolOptions {
  /** Where files are. They have no name there after their first moment, so that none outlives the process. */
  readonly directory: string
  /** Kept in memory until so many are written at once. */
  readonly heldBytes?: number
  /** Called before a file is made. */
  readonly onFile?: () => Promise<void>
}

const readBytes = 64 * 1024

export function createSpool({ directory, heldBytes = 256 * 1024, onFile }: SpoolOptions): Spool {
  let held: Buffer[] = []
  let heldSize = 0
  let size = 0
  let file: FileHandle | undefined

  async function openFile(): Promise<FileHandle> {
    await onFile?.()
    const path = join(directory, `spool-${randomUUID()}`)
    const opened = await open(path, 'wx+', 0o600)
    await unlink(path)
    return opened
  }

  async function flush(): Promise<void> {
    file ??= await openFile()
    const bytes = Buffer.concat(held, heldSize)
    held = []
    heldSize = 0
    for (let from = 0; from < bytes.length; ) from += (await file.write(bytes, from)).bytesWritten
  }

  async function* stored(): AsyncGenerator<Buffer> {
    for (let at = 0, bytesRead = 0; file; at += bytesRead) {
      const buffer = Buffer.allocUnsafe(readBytes)
      bytesRead = (await file.read(buffer, 0, readBytes, at)).bytesRead
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  }

  async function discard(): Promise<void> {
    const opened = file
    file = undefined
    held = []
    await opened?.close()
  }

  return {
    get size() {
      return size
    },
    async write(bytes) {
      held.push(bytes)
      heldSize += bytes.length
      size += bytes.length
      if (heldSize > heldBytes) await flush()
    },
    read(before, after) {
      async function* all(): AsyncGenerator<Buffer> {
        yield Buffer.from(before)
        yield* stored()
        yield* held
        yield Buffer.from(after)
      }
      // A stream that is destroyed before it is read ends no generator.
      return Readable.from(all(), { objectMode: false }).once('close', () => void discard())
    },
    discard,
  }
}
