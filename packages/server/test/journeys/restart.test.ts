import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findRunningService, openDataDirectory } from '../../src/platform/data-directory.ts'
import { openSegmentLog } from '../../src/platform/stores/segment-log.ts'

const holderScript = join(import.meta.dirname, '../support/lock-holder.ts')

function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'millrace-restart-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Parents of a process, by what they do with it once it has ended. */
const parents = {
  'a parent that collects it': (command: string[]) => spawnOwn(command),
  // `sleep` takes the place of the shell and never waits for a child.
  'a parent that never collects it': (command: string[]) =>
    spawnOwn(['sh', '-c', '"$@" & exec sleep 600', 'sh', ...command]),
} as const

function spawnOwn([command = '', ...args]: string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

test.each(Object.keys(parents) as (keyof typeof parents)[])(
  'a data directory and its event log are taken in the moment of a kill -9, below %s',
  { timeout: 120_000 },
  async (parent) => {
    const path = temporaryDirectory()
    for (let round = 0; round < 15; round++) {
      const holder = parents[parent]([process.execPath, holderScript, path])
      const [chunk] = (await once(holder.stdout ?? holder, 'data')) as [Buffer]
      expect(findRunningService(path)).toBeDefined()
      process.kill(Number(chunk), 'SIGKILL')
      expect(findRunningService(path)).toBeUndefined()
      // The lock of the one alone every other time: the killed process has given up neither yet.
      const directory = round % 2 === 0 ? undefined : await openDataDirectory(path, 0)
      const log = await openSegmentLog({ directory: join(path, 'log'), reserveBytes: 0 })
      await log.release(log.end())
      await log.close()
      directory?.release()
      holder.kill('SIGKILL')
    }
  },
)
