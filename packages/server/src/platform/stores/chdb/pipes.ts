import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * A named pipe between this process and its engine: rows go in and results come out while they are made, without
 * a file in between and without a copy in JavaScript's heap. The kernel holds back whoever is faster.
 */
export interface Pipe {
  readonly path: string
  /**
   * The side that reads what the engine writes. It ends after `close` has been called and everything was read.
   */
  openReader(): { readonly source: Socket; close(): void }
  /**
   * The side that writes what the engine reads, once the engine has opened its own.
   * @returns undefined when the engine's statement ended before it opened the pipe
   */
  openWriter(ended: AbortSignal): Promise<Socket | undefined>
}

/**
 * Makes pipes in a directory that nobody else may enter, in place of those an earlier run has left.
 * @throws when there is no program `mkfifo` (POSIX; coreutils)
 */
export function createPipes(directory: string, names: readonly string[]): Pipe[] {
  const paths = names.map((name) => join(directory, name))
  for (const path of paths) rmSync(path, { force: true })
  execFileSync('mkfifo', ['-m', '600', ...paths], { stdio: ['ignore', 'ignore', 'pipe'] })
  return paths.map(createPipe)
}

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

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
    async openWriter(ended) {
      while (!ended.aborted) {
        try {
          return new Socket({
            fd: openSync(path, O_WRONLY | O_NONBLOCK),
            readable: false,
            writable: true,
          })
        } catch (error) {
          // Nobody reads yet (fifo(7)).
          if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error
        }
        await sleep(1)
      }
      return undefined
    },
  }
}
