import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * A named pipe between this process and its engine: rows go in and results come out while they are made, without
 * a file in between and without a copy in JavaScript's heap. The kernel holds back the faster side.
 */
export interface Pipe {
  readonly path: string
  /**
   * The side that reads what the engine writes. It ends after `close` has been called and everything was read.
   */
  openReader(): { readonly source: Socket; close(): void }
  /** Lets an engine that waits for a reader open its side: what it writes then fails. Does nothing else. */
  wake(): void
  /**
   * The side that writes what the engine reads, once the engine has opened its own.
   * @returns undefined when the engine's statement ended before it opened the pipe
   */
  openWriter(ended: AbortSignal): Promise<FileHandle | undefined>
}

/** Node has no call for it. POSIX has the program; it is in the base of Debian and of macOS, here. */
const program = '/usr/bin/mkfifo'

/**
 * Makes pipes in a directory that no other user may enter, in place of those an earlier run has left.
 * @throws when there is no such program
 */
export function createPipes(directory: string, names: readonly string[]): Pipe[] {
  const paths = names.map((name) => join(directory, name))
  for (const name of readdirSync(directory)) {
    if (/^(pipe|rows)-/.test(name)) rmSync(join(directory, name))
  }
  execFileSync(program, ['-m', '600', ...paths], { stdio: ['ignore', 'ignore', 'pipe'] })
  return paths.map(createPipe)
}

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants

function createPipe(path: string): Pipe {
  return {
    path,
    openReader() {
      const reader = openSync(path, O_RDONLY | O_NONBLOCK)
      // Held open, so that the reader ends neither before the engine has opened the pipe nor between two of its writes.
      const writer = openSync(path, O_WRONLY | O_NONBLOCK)
      return {
        source: new Socket({ fd: reader, readable: true, writable: false }),
        close: () => closeSync(writer),
      }
    },
    wake() {
      closeSync(openSync(path, O_RDONLY | O_NONBLOCK))
    },
    async openWriter(ended) {
      while (!ended.aborted) {
        const probe = await open(path, O_WRONLY | O_NONBLOCK).catch((error) => {
          // There is no reader yet (fifo(7)).
          if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error
        })
        if (probe !== undefined) {
          try {
            return await openForWriting(path)
          } finally {
            await probe.close()
          }
        }
        await sleep(1)
      }
      return undefined
    },
  }
}

/**
 * Opens a pipe for writes that wait for the reader. Opening waits for one too, unless another process has it open for
 * reading: this itself does for a moment, so that a reader that has just gone is noticed by the first write instead.
 */
export async function openForWriting(path: string): Promise<FileHandle> {
  const both = await open(path, O_RDWR | O_NONBLOCK)
  try {
    return await open(path, O_WRONLY)
  } finally {
    await both.close()
  }
}
