import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { identify } from '../processes/identity.ts'
import { exitCodes, StartRefused } from '../start-refused.ts'
import { findRunningService, openDataDirectory } from './data-directory.ts'

let parent: string
let path: string

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'millrace-data-'))
  path = join(parent, 'a', 'data')
})

afterEach(() => rmSync(parent, { recursive: true, force: true }))

const modeOf = (file: string): number => statSync(file).mode & 0o7777

/** A process that tries to take the directory, says `held` or the message, and then waits. */
function holder(): { pid: number; said: Promise<string>; kill(): Promise<void> } {
  const script = `
    import { openDataDirectory } from ${JSON.stringify(join(import.meta.dirname, 'data-directory.ts'))}
    try {
      const directory = await openDataDirectory(${JSON.stringify(path)}, 100)
      directory.publish('http://127.0.0.1:8080')
      console.log('held')
    } catch (error) {
      console.log(error.name, error.message)
    }
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return {
    pid: child.pid ?? 0,
    said: once(child.stdout, 'data').then(([chunk]) => String(chunk)),
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

test('creates the directory for its owner alone', async () => {
  const directory = await openDataDirectory(path)
  expect(modeOf(path)).toBe(0o700)
  expect(modeOf(directory.runPath)).toBe(0o700)
  directory.release()
})

test('tightens an empty directory and one used before, never one that holds other things', async () => {
  mkdirSync(path, { recursive: true, mode: 0o755 })
  ;(await openDataDirectory(path)).release()
  expect(modeOf(path)).toBe(0o700)
  chmodSync(path, 0o755)
  ;(await openDataDirectory(path)).release()
  expect(modeOf(path)).toBe(0o700)

  const home = join(parent, 'home')
  mkdirSync(home, { mode: 0o755 })
  writeFileSync(join(home, 'letter.txt'), 'dear')
  ;(await openDataDirectory(home)).release()
  expect(modeOf(home)).toBe(0o755)
})

test('refuses a second holder, in this process and in another, naming the first one', async () => {
  const first = holder()
  expect(await first.said).toBe('held\n')
  const error = (await openDataDirectory(path, 0).catch((reason: unknown) => reason)) as StartRefused
  expect(error).toBeInstanceOf(StartRefused)
  expect(error.exitCode).toBe(exitCodes.inUse)
  expect(error.message).toContain(`The data directory ${path} is in use by process ${first.pid}`)
  expect(error.message).toContain('http://127.0.0.1:8080')
  await first.kill()

  const own = await openDataDirectory(path)
  await expect(openDataDirectory(path, 0)).rejects.toThrow(`in use by process ${process.pid}`)
  own.release()
  ;(await openDataDirectory(path, 0)).release()
})

test('of several that start at once exactly one holds it', async () => {
  const all = Array.from({ length: 5 }, holder)
  const said = await Promise.all(all.map((each) => each.said))
  expect(said.filter((each) => each === 'held\n')).toHaveLength(1)
  expect(said.filter((each) => each.startsWith('StartRefused'))).toHaveLength(4)
  await Promise.all(all.map((each) => each.kill()))
})

test('is free again when its holder was killed, whatever has its pid now', async () => {
  const first = holder()
  await first.said
  expect(findRunningService(path)).toMatchObject({
    baseUrl: 'http://127.0.0.1:8080',
    process: identify(first.pid),
  })
  await first.kill()
  expect(readdirSync(path)).toContain('service.json')
  expect(findRunningService(path)).toBeUndefined()
  writeFileSync(
    join(path, 'service.json'),
    JSON.stringify({ pid: process.pid, started: 'earlier', baseUrl: 'http://127.0.0.1:1' }),
  )
  expect(findRunningService(path)).toBeUndefined()
  ;(await openDataDirectory(path, 0)).release()
})

test('is found by operator commands only while the service answers', async () => {
  expect(findRunningService(path)).toBeUndefined()
  const directory = await openDataDirectory(path)
  expect(findRunningService(path)).toBeUndefined()
  directory.publish('http://127.0.0.1:18080')
  expect(findRunningService(path)?.baseUrl).toBe('http://127.0.0.1:18080')
  directory.release()
  expect(findRunningService(path)).toBeUndefined()
  expect(existsSync(join(path, 'service.json'))).toBe(false)
})

test('says what is wrong with a path that cannot be a data directory', async () => {
  const file = join(parent, 'file')
  writeFileSync(file, '')
  const error = (await openDataDirectory(file).catch((reason: unknown) => reason)) as StartRefused
  expect(error.exitCode).toBe(exitCodes.unsuitable)
  expect(error.message).toMatch(/file cannot be used: EEXIST.*MILLRACE_DATA_DIR names another one/s)
})
