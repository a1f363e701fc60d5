import { mkdirSync } from 'node:fs'
import { get } from 'node:http'
import { getCompileCacheDir } from 'node:module'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programFile } from '../files/package-files.ts'
import type { Logger } from '../logger.ts'
import type { ChildSpec, ChildStatus, SupervisedChild } from '../processes/child.ts'
import { superviseChild } from '../processes/supervisor.ts'
import { engineSocketPath, makeEngineDirectory } from './chdb/socket.ts'
import type { Columnar, Statement } from './columnar.ts'
import { openColumnar } from './columnar-client.ts'
import { ColumnarUnavailable } from './columnar-errors.ts'

export interface EmbeddedColumnarOptions {
  /** The service's data directory; the engine's files live in `<dataDirectory>/columnar`. */
  readonly dataDirectory: string
  /** For pid and socket; `<dataDirectory>/run` by default. */
  readonly runPath?: string
  readonly logger: Logger
  /** Most bytes that the engine may allocate in all; half of the machine's memory by default. */
  readonly memoryBytes?: number
  /**
   * Whether the engine takes only the time that this process and others leave, as beside a collector (the default).
   * Otherwise it has an ordinary share.
   */
  readonly yields?: boolean
}

/** What the engine's process says about itself. */
export interface EngineStatus {
  readonly version: string
  readonly uptimeSeconds: number
  readonly residentBytes: number
  /** Allocated by the engine, by its own account, and the most it may. */
  readonly engineBytes: number
  readonly engineLimitBytes: number
  readonly running: readonly {
    readonly queryId: string
    readonly seconds: number
    readonly readonly: boolean
    readonly memoryBytes: number
  }[]
  /** Statements that wait for a lane. */
  readonly waiting: number
}

/** The columnar store's home on one machine: chDB in a supervised child, reached by a Unix socket only. */
export type EmbeddedColumnar = ReturnType<typeof embeddedColumnar>

const minMemory = 1024 * 1024 * 1024
const statusWithinMs = 5000

/**
 * Events are accepted by another process on the same cores, and the engine takes what that leaves. This counts where
 * there is no idle class, and for an engine that got no time in it. Measured on two cores, the collector keeps beside
 * 8 heavy queries: 0.4 of its rate at 0, 0.50 at this value, 0.54 at 19, 0.75 in the idle class.
 */
const nice = 10

/** Every running statement holds one of libuv's threads; files and the pipes' ends need a few more. */
const threads = 24

/** Another one serves about two seconds after one has died. */
const againWithinMs = 10_000
/** The connection is cut before the end of the process is noticed. */
const noticedWithinMs = 1_000

/** Starts nothing yet: `child.start()` does, and `child.stop()` after `columnar.close()` ends it. */
export function embeddedColumnar(options: EmbeddedColumnarOptions) {
  const { dataDirectory, logger, runPath = join(dataDirectory, 'run'), yields = true } = options
  const memoryBytes = options.memoryBytes ?? Math.max(minMemory, Math.floor(totalmem() / 2))
  const socketPath = engineSocketPath(runPath)
  const client = openColumnar({ address: { socketPath } })
  const compiled = getCompileCacheDir()
  const spec: ChildSpec = {
    name: 'columnar',
    command: process.execPath,
    args: [
      fileURLToPath(programFile('platform/stores/chdb/server')),
      '--directory',
      join(dataDirectory, 'columnar'),
      '--socket',
      socketPath,
      '--memory',
      String(memoryBytes),
      '--nice',
      String(yields ? nice : 0),
    ],
    environment: {
      UV_THREADPOOL_SIZE: String(threads),
      // Times without a zone are read as UTC by the engine, whatever the machine's zone is.
      TZ: 'UTC',
      PATH: '/usr/bin:/bin',
      // As this process, which compiles no module anew that an earlier one has: most of the start is that.
      ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
    },
    pidFile: join(runPath, 'columnar.pid'),
    lifeline: true,
    yields,
    async prepare() {
      mkdirSync(runPath, { recursive: true, mode: 0o700 })
      makeEngineDirectory(dirname(socketPath))
    },
    async ready(child) {
      await child.line(/^ready: /)
      await client.ping()
    },
    // Tables are loaded and parts checked first; after a crash of a large store that takes a while.
    readyWithinMs: 120_000,
    probe: {
      // Any answer shows that it is alive, one that reports full memory too.
      run: (signal) => ask(socketPath, '/alive', signal).then(() => {}),
      everyMs: 10_000,
      againMs: 5_000,
      withinMs: 10_000,
      failures: 3,
    },
    stop: [{ signal: 'SIGTERM', waitMs: 12_000 }],
    log: (line, stream) => ({ level: stream === 'stdout' ? 'debug' : 'warn', message: line }),
  }
  const child = superviseChild(spec, { logger })

  /**
   * What only reads is sent once more where its connection was cut: by the end of the engine, whose library fails now
   * and then, or without one. Who asked need not know. One that kills the engine itself does so twice and fails then.
   */
  async function query<R>(statement: Statement): Promise<R[]> {
    const { pid } = child.status()
    try {
      return await client.query<R>(statement)
    } catch (error) {
      const { readonly = true, signal } = statement
      if (!readonly || pid === undefined || !isCut(error)) throw error
      if (!(await servesAgain(child, pid, signal))) throw error
      logger.warn({ err: error, pid }, 'a statement is sent again: its connection was cut')
      return await client.query<R>(statement)
    }
  }

  return {
    columnar: { ...client, query } satisfies Columnar,
    child,
    /** @throws {ColumnarUnavailable} while the child does not serve */
    async status(): Promise<EngineStatus> {
      const signal = AbortSignal.timeout(statusWithinMs)
      const { ok, text } = await ask(socketPath, '/status', signal)
      if (!ok) throw new ColumnarUnavailable(new Error(text))
      return JSON.parse(text) as EngineStatus
    },
  }
}

/** Whether the connection ended before the answer did. */
function isCut(error: unknown): boolean {
  if (!(error instanceof ColumnarUnavailable)) return false
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
  return code === 'ECONNRESET' || code === 'EPIPE'
}

/** Resolves with whether `pid` goes on or another process serves, soon enough to wait for it. */
function servesAgain(child: SupervisedChild, pid: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const decide = (answer: boolean): void => {
      stopListening()
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
      resolve(answer)
    }
    const giveUp = (): void => decide(false)
    let timer = setTimeout(() => decide(child.status().state === 'ready'), noticedWithinMs)
    let isNoticed = false
    const look = (status: ChildStatus): void => {
      if (status.state === 'stopping' || status.state === 'stopped') decide(false)
      else if (status.pid !== pid && !isNoticed) {
        isNoticed = true
        clearTimeout(timer)
        timer = setTimeout(giveUp, againWithinMs)
      }
      if (status.state === 'ready' && status.pid !== pid) decide(true)
    }
    const stopListening = child.onChange(look)
    signal?.addEventListener('abort', giveUp, { once: true })
    look(child.status())
  })
}

/** @throws {ColumnarUnavailable} */
function ask(socketPath: string, path: string, signal: AbortSignal): Promise<{ ok: boolean; text: string }> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(new ColumnarUnavailable(error))
    const request = get({ socketPath, path, signal, agent: false }, (response) => {
      response.setEncoding('utf8').on('error', fail)
      let text = ''
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => {
        resolve({ ok: response.statusCode === 200, text })
      })
    })
    request.on('error', fail)
  })
}
