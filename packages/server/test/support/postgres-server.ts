import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { silentLogger } from '../../src/platform/logger.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/stores/embedded-postgres.ts'
import { isShort, seed } from './long.ts'

/** Names the socket at which a test asks for the PostgreSQL of its run. */
export const serverVariable = 'MILLRACE_TEST_POSTGRES'

/** Quick and forgetful: nothing in it outlives the run. */
async function startServer(directory: string): Promise<EmbeddedPostgres> {
  const runPath = join(directory, 'run')
  mkdirSync(runPath)
  return await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    runPath,
    logger: silentLogger,
    initArguments: ['--no-sync'],
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      synchronous_commit: 'off',
      max_connections: '100',
      autovacuum: 'off',
      deadlock_timeout: '100ms',
    },
  })
}

/**
 * Answers at the socket with the address of a PostgreSQL that is started when it is first asked for. Ends, and leaves
 * nothing, when standard input ends: the process that launched this holds it, so that a kill -9 of a test run ends it too.
 */
async function serve(socket: string): Promise<void> {
  const directory = dirname(socket)
  let starting: Promise<EmbeddedPostgres> | undefined
  const server = createServer((connection) => {
    connection.on('error', () => {})
    starting ??= startServer(directory)
    starting.then(
      ({ superuser }) => connection.end(JSON.stringify({ socketDirectory: superuser.socketDirectory })),
      (error: Error) => connection.end(JSON.stringify({ error: error.message })),
    )
  })
  server.listen(socket)
  process.stdin.resume()
  await new Promise((resolve) => process.stdin.once('end', resolve).once('error', resolve))
  server.close()
  const postgres = await starting?.catch(() => undefined)
  // Nothing of it is kept: there is no need to write it out first.
  const pid = postgres?.child.status().pid
  if (pid !== undefined) process.kill(pid, 'SIGQUIT')
  await postgres?.stop()
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}

/** Launches the process above; it lives as long as this one, or until the returned function ends it. */
export function launchServer(parent = tmpdir()): { socket: string; stop: () => Promise<void> } {
  const socket = join(mkdtempSync(join(parent, 'millrace-test-')), 'ask')
  const child = spawn(process.execPath, [import.meta.filename, socket], {
    stdio: ['pipe', 'inherit', 'inherit'],
    // Ctrl-C in a terminal reaches the run, which then ends this.
    detached: true,
  })
  child.unref()
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    socket,
    async stop() {
      child.stdin.end()
      child.ref()
      await exit
    },
  }
}

const memoryDirectory = '/dev/shm'
/** Several times what a short run holds at once. */
const memoryDirectoryBytes = 2 * 1024 ** 3
/** Beside the files, for services, browser and workers. */
const freeBytes = memoryDirectoryBytes + 4 * 1024 ** 3

/** @throws programs cannot be run there, as in most containers; a service may have to copy those of PostgreSQL */
function runProgramIn(parent: string): void {
  const directory = mkdtempSync(join(parent, 'millrace-run-'))
  try {
    const program = join(directory, 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    execFileSync(program)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/**
 * A directory whose files are in memory, where there is one with room to spare. No process that a test kills loses
 * there what it would keep on a disk, and nothing waits for the disk.
 */
function findMemoryDirectory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(memoryDirectory)
    if (bavail * bsize < memoryDirectoryBytes || process.availableMemory() < freeBytes) return undefined
    runProgramIn(memoryDirectory)
    return memoryDirectory
  } catch {
    return undefined
  }
}

/** Where `npm start` keeps what Node.js compiles. */
const compiled = new URL('../../../../node_modules/.cache/node', import.meta.url).pathname

/**
 * Vitest's global set-up: one PostgreSQL for the whole run, if any test asks for it, and one place for what Node.js
 * compiles, so that no process that tests start compiles a module anew. In the short form temporary files are in
 * memory; longer ones write to the disk, as services do.
 */
export default function setup(): () => Promise<void> {
  const memory = isShort ? findMemoryDirectory() : undefined
  // The same for the whole run, also where it goes on past midnight.
  process.env.MILLRACE_TEST_SEED ??= String(seed)
  const { socket, stop } = launchServer(memory)
  process.env[serverVariable] = socket
  process.env.NODE_COMPILE_CACHE ??= compiled
  const directory = join(dirname(socket), 'tmp')
  mkdirSync(directory)
  // As below /tmp, the account of PostgreSQL can go where a test lets it.
  chmodSync(dirname(socket), 0o711)
  // What workers leave behind goes with it.
  process.env.TMPDIR = directory
  return stop
}

if (import.meta.main) await serve(process.argv[2] ?? '')
