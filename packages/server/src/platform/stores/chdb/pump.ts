import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'

/** Max bytes that are gathered while the reader is busy with earlier ones. */
const gatheredBytes = 4 * 1024 * 1024

/** More buffers at once are no gain, and the system takes 1024. */
const maxBuffers = 512

/** The reader has closed the pipe. */
export class ReaderClosed extends Error {}

/**
 * Writes to a pipe while the next bytes arrive. The writes block a thread and not the event loop, so that the
 * reader wakes the writer by itself, whatever else this process does.
 * @throws what broke the source off, or ReaderClosed
 */
export async function pump(source: Readable, writer: FileHandle): Promise<void> {
  let gathered: Buffer[] = []
  let size = 0
  let writing: Promise<void> | undefined
  let failure: unknown

  async function write(): Promise<void> {
    while (gathered.length > 0) {
      const now = gathered.slice(0, maxBuffers)
      gathered = gathered.slice(maxBuffers)
      size -= now.reduce((sum, each) => sum + each.length, 0)
      await writeAll(writer, now)
    }
  }

  function startWriting(): void {
    writing = write()
      .catch((error) => {
        failure = error
      })
      .finally(() => {
        writing = undefined
      })
  }

  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      gathered.push(chunk)
      size += chunk.length
      if (writing === undefined) startWriting()
      while (size > gatheredBytes && writing !== undefined) await writing
      if (failure !== undefined) throw failure
    }
  } finally {
    while (writing !== undefined) await writing
  }
  if (failure !== undefined) throw failure
}

/** @throws {ReaderClosed} */
export async function writeAll(writer: FileHandle, buffers: Buffer[]): Promise<void> {
  let rest = buffers
  while (rest.length > 0) {
    try {
      const { bytesWritten } = await writer.writev(rest)
      rest = after(rest, bytesWritten)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') throw new ReaderClosed()
      throw error
    }
  }
}

/** The rest of the buffers after so many bytes. */
function after(buffers: readonly Buffer[], bytes: number): Buffer[] {
  let skip = bytes
  return buffers.flatMap((buffer) => {
    const from = Math.min(skip, buffer.length)
    skip -= from
    return from === buffer.length ? [] : [buffer.subarray(from)]
  })
}
