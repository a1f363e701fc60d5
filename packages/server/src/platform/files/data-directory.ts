import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { identify, isAlive, isRunning, type ProcessIdentity } from '../processes/identity.ts'
import { StartRefused } from '../start-refused.ts'
import { type FileLock, lockFile } from './file-lock.ts'

/** What `service.json` says about the process that holds the directory. */
export interface RunningService {
  readonly process: ProcessIdentity
  readonly host: string
  /** ISO 8601: when it took the directory. */
  readonly since: string
  /** Where the interface answers, without a trailing slash; undefined until it listens, and for operator commands. */
  readonly baseUrl: string | undefined
}

/** The directory that holds the embedded stores, the event log and the outbox, held by this process alone. */
export type DataDirectory = Awaited<ReturnType<typeof openDataDirectory>>

const lockName = 'lock'
const serviceName = 'service.json'

function readService(path: string): RunningService | undefined {
  try {
    const text = JSON.parse(readFileSync(join(path, serviceName), 'utf8')) as Record<string, unknown>
    const { pid, started, host, since, baseUrl } = text
    if (typeof pid !== 'number' || typeof started !== 'string') return undefined
    return {
      process: { pid, started },
      host: typeof host === 'string' ? host : '',
      since: typeof since === 'string' ? since : '',
      baseUrl: typeof baseUrl === 'string' ? baseUrl : undefined,
    }
  } catch {
    return undefined
  }
}

/** Replaces the file as a whole: an operator command never reads half of it. */
function writeService(path: string, service: RunningService): void {
  const { process: holder, ...rest } = service
  const draft = join(path, `${serviceName}.new`)
  // Created again, so that it is never a link that another user has put there.
  rmSync(draft, { force: true })
  writeFileSync(draft, `${JSON.stringify({ ...holder, ...rest }, undefined, 2)}\n`, {
    mode: 0o600,
    flag: 'wx',
  })
  renameSync(draft, join(path, serviceName))
}

/**
 * The service that holds a data directory and answers requests.
 * @returns undefined when none does, also when one was killed and left its `service.json`
 */
export function findRunningService(directory: string): (RunningService & { baseUrl: string }) | undefined {
  const service = readService(resolve(directory))
  if (service?.baseUrl === undefined || !isRunning(service.process)) return undefined
  return { ...service, baseUrl: service.baseUrl }
}

function inUse(path: string): StartRefused {
  const found = readService(path)
  // What a killed process has written says nothing about who came after it.
  const holder = found?.host === hostname() && !isRunning(found.process) ? undefined : found
  const who =
    holder === undefined
      ? 'another process'
      : `process ${holder.process.pid}${holder.host === hostname() ? '' : ` on ${holder.host}`}`
  const where = holder?.baseUrl === undefined ? '' : `, which answers at ${holder.baseUrl}`
  return new StartRefused(
    'inUse',
    `The data directory ${path} is in use by ${who}${where}.\n` +
      'Stop that one first, or give this one a directory of its own with MILLRACE_DATA_DIR.',
  )
}

/**
 * Creates the directory so that only its owner sees it. One that exists is tightened only where it is surely ours,
 * that is empty or used before: a mistyped MILLRACE_DATA_DIR must not close a user's home or /tmp.
 */
function prepare(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const { mode, uid } = statSync(path)
  const entries = readdirSync(path)
  const ours = entries.length === 0 || entries.includes(lockName)
  if (ours && (mode & 0o077) !== 0 && (mode & 0o1000) === 0 && uid === process.getuid?.())
    chmodSync(path, 0o700)
  mkdirSync(join(path, 'run'), { recursive: true, mode: 0o700 })
}

/** How long the kernel may take to end a process that was killed: its threads wait for a slow disk, its memory is large. */
const endingWaitMs = 10_000

async function lockWithin(path: string, waitMs: number): Promise<FileLock | undefined> {
  const lock = await lockFile(join(path, lockName), waitMs)
  const holder = readService(path)
  if (lock !== undefined || holder === undefined || isRunning(holder.process)) return lock
  // Killed: the lock is free already, or will be once the kernel has closed its files.
  return lockFile(join(path, lockName), isAlive(holder.process) ? endingWaitMs : 0)
}

/**
 * Takes a data directory for this process, creating it (0700) where there is none.
 * @param waitMs how long a process that is just stopping may take to give it back
 * @throws {StartRefused} it is in use (the message names the process) or cannot be used
 */
export async function openDataDirectory(directory: string, waitMs = 2000) {
  const path = resolve(directory)
  let lock: FileLock | undefined
  try {
    prepare(path)
    lock = await lockWithin(path, waitMs)
  } catch (error) {
    throw new StartRefused(
      'unsuitable',
      `The data directory ${path} cannot be used: ${(error as Error).message}.\n` +
        'It must be a directory that this user may write to, on a file system that can lock files; ' +
        'MILLRACE_DATA_DIR names another one.',
      error,
    )
  }
  if (lock === undefined) throw inUse(path)
  const held = lock
  const self = identify(process.pid)
  const service: RunningService = {
    process: self ?? { pid: process.pid, started: '' },
    host: hostname(),
    since: new Date().toISOString(),
    baseUrl: undefined,
  }
  writeService(path, service)
  return {
    /** Absolute. */
    path,
    /** Small files about running processes: pids and sockets. It exists. */
    runPath: join(path, 'run'),
    /** Tells operator commands where this service answers. */
    publish: (baseUrl: string): void => writeService(path, { ...service, baseUrl }),
    /** Gives the directory back; the last thing that a process does with it. */
    release(): void {
      rmSync(join(path, serviceName), { force: true })
      held.release()
    },
  }
}
