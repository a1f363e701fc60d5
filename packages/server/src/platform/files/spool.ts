import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { DiskRoom } from './disk-reserve.ts'

/** Text that is gathered as UTF-8 before any of it is sent: a little in memory, more in a file. */
export type Spool = ReturnType<typeof createSpool>

export interface SpoolOptions {
  /** Where files are. They have no name there after their first moment, so that none outlives the process. */
  readonly directory: string
  readonly room: DiskRoom
  /** Bytes in memory, which are written at once. */
  readonly heldBytes?: number
  /** Called before a file is made. */
  readonly onFile?: () => Promise<void>
}

/** The buffer begins as small as usual answers are. */
const firstBytes = 16 * 1024
const readBytes = 64 * 1024

const encoder = new TextEncoder()

export function createSpool({ directory, room, heldBytes = 256 * 1024, onFile }: SpoolOptions) {
  // Written again and again: a buffer for each piece would be garbage that is not counted as memory in time.
  let held = Buffer.allocUnsafeSlow(Math.min(firstBytes, heldBytes))
  let heldSize = 0
  let size = 0
  let file: FileHandle | undefined

  async function openFile(): Promise<FileHandle> {
    await onFile?.()
    await room.take(0)
    const path = join(directory, `spool-${randomUUID()}`)
    const opened = await open(path, 'wx+', 0o600)
    await unlink(path)
    return opened
  }

  function grow(): void {
    const larger = Buffer.allocUnsafeSlow(Math.min(held.length * 4, heldBytes))
    held.copy(larger, 0, 0, heldSize)
    held = larger
  }

  async function flush(): Promise<void> {
    file ??= await openFile()
    await room.take(heldSize)
    for (let from = 0; from < heldSize; ) {
      from += (await file.write(held, from, heldSize - from)).bytesWritten
    }
    heldSize = 0
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
    await opened?.close()
  }

  return {
    /** Bytes of all that was written. */
    get size() {
      return size
    },
    /** @throws DomainError `unavailable` where the disk has no room, what the file system says, what `onFile` throws */
    async write(text: string): Promise<void> {
      for (let rest = text; rest !== ''; ) {
        const { read, written } = encoder.encodeInto(rest, held.subarray(heldSize))
        heldSize += written
        size += written
        rest = rest.slice(read)
        if (rest === '') return
        if (held.length < heldBytes) grow()
        else await flush()
      }
    },
    /** Everything between two texts, once; the file is gone when the stream is. What is in memory alone is no stream. */
    read(before: string, after: string): Readable | Buffer {
      if (!file) return Buffer.concat([Buffer.from(before), held.subarray(0, heldSize), Buffer.from(after)])
      async function* all(): AsyncGenerator<Buffer> {
        yield Buffer.from(before)
        yield* stored()
        yield held.subarray(0, heldSize)
        yield Buffer.from(after)
      }
      // A stream that is destroyed before it is read ends no generator.
      return Readable.from(all(), { objectMode: false }).once('close', () => void discard())
    },
    /** Gives the file up; may be called again. */
    discard,
  }
}
