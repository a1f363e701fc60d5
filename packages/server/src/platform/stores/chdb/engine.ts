import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineException } from './exceptions.ts'
import { defaultFormat } from './formats.ts'
import { type InspectionRules, inspect, type Shape } from './inspect.ts'
import { createLanes, type Lanes } from './lanes.ts'
import { loadNativeEngine, type NativeResult } from './native.ts'
import { createPipes, type Pipe } from './pipes.ts'
import { feedRows, type RowSource } from './rows.ts'
import { settingsFor } from './settings.ts'
import { quoteString, type RunningStatement, startStatement } from './statement.ts'

export interface EngineOptions {
  /** chDB's own directory; one process at a time can open it. */
  readonly directory: string
  /** A private directory for named pipes. */
  readonly pipesDirectory: string
  /** Most bytes that the engine may allocate in all. */
  readonly memoryBytes: number
  readonly readers: number
  /** Lanes for statements that promise to take 5 seconds at most, so that they never wait behind long ones. */
  readonly quickReaders: number
  readonly writers: number
  /** Called when a statement is still running two minutes after it had to end. */
  readonly onStuck: (queryId: string) => void
}

export interface EngineRequest {
  readonly sql: string
  /** In the escaped form of the HTTP interface. */
  readonly params: Readonly<Record<string, string>>
  readonly settings: ReadonlyMap<string, string>
  readonly queryId: string
  readonly database?: string
  readonly readonly: boolean
  /** When the statement has no FORMAT clause. */
  readonly format?: string
  /** The result only as a whole, so that a failure is known before the first byte. */
  readonly whole: boolean
  /** Rows of `INSERT ... FORMAT`. */
  readonly rows?: RowSource
  /** Aborts when the client has left. */
  readonly signal: AbortSignal
}

export type EngineReply =
  | { readonly kind: 'whole'; readonly format: string; readonly result: NativeResult }
  | {
      readonly kind: 'stream'
      readonly format: string
      /** Ends when everything was read; whether it is everything, `answer` says. */
      readonly source: Socket
      readonly answer: Promise<NativeResult>
      cancel(): void
    }

export interface RunningInfo {
  readonly queryId: string
  readonly startedAt: number
  readonly readonly: boolean
}

export interface Engine {
  readonly version: string
  /** @throws {EngineException} and the engine's own exceptions, as Error with ClickHouse's text */
  run(request: EngineRequest): Promise<EngineReply>
  running(): RunningInfo[]
  waiting(): number
  /** A statement of this process itself. */
  ask(sql: string): Promise<string>
  /** Runs the smallest statement that there is. */
  ping(): Promise<void>
  /** Refuses new statements, waits for running ones for a while, ends the others and closes the directory. */
  stop(graceMs: number): Promise<void>
}

const quickSeconds = 5

/** So often a statement whose result is no longer read is let past its pipe. */
const wakeEveryMs = 50

/** Table functions that stay inside the store and the statement. */
const insideFunctions = new Set(
  `numbers numbers_mt zeros zeros_mt generateSeries generate_series generateRandom primes values
  SQLStandardValues view viewIfPermitted viewExplain null format merge dictionary input`
    .split(/\s+/)
    .map((name) => name.toLowerCase()),
)

/** What the engine has, asked for at once: each statement is a part of the start. */
const namesOfEngine = `SELECT 'version', version()
  UNION ALL SELECT 'setting', name FROM system.settings
  UNION ALL SELECT 'function', lower(name) FROM system.table_functions
  UNION ALL SELECT 'format', lower(name) FROM system.formats WHERE is_output`

/** @throws Error when the directory cannot be opened; the engine has then written why to standard error */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const native = loadNativeEngine()
  const home = { native, directory: options.directory }
  const own = native.connect(options.directory, [
    `--max_server_memory_usage=${options.memoryBytes}`,
    // How often its own account of memory is held against the system's: some 20 times a second by default, which was
    // half of what an idle engine did.
    '--memory_worker_period_ms=1000',
    '--mark_cache_size=268435456',
    '--uncompressed_cache_size=0',
    // A table that cannot be loaded is known at the start, not at some later statement.
    '--async_load_databases=0',
    // While all background threads are busy it sleeps before it looks for the next part to merge or to change: up to 1.1 s
    // by default, and a table of 50 parts took 8 s for a change of one. Without any work the pauses still grow.
    '--background_processing_pool_thread_sleep_seconds_if_nothing_to_do=0.02',
    '--background_processing_pool_task_sleep_seconds_when_no_work_random_part=0.02',
  ])
  // A connection of its own for each: what a failed statement has already written stands before the next result.
  const ask = async (sql: string): Promise<string> => {
    const connection = native.connect(options.directory, [])
    try {
      return (await connection.query(sql, 'TSVRaw')).bytes.toString()
    } finally {
      connection.close()
    }
  }
  const named = Map.groupBy(
    (await ask(namesOfEngine))
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t') as [kind: string, name: string]),
    ([kind]) => kind,
  )
  const namesOf = (kind: string): string[] => (named.get(kind) ?? []).map(([, name]) => name)
  const [version = ''] = namesOf('version')
  const known = new Set(namesOf('setting'))
  const outside = namesOf('function')
  const formats = new Set(namesOf('format'))
  const rules = (readonly: boolean): InspectionRules => ({
    readonly,
    outside: new Set(['file', 'hascolumnintable', ...outside.filter((name) => !insideFunctions.has(name))]),
    formats,
  })
  const readingRules = rules(true)
  const writingRules = rules(false)

  const readers = createLanes(options.readers)
  const quickReaders = createLanes(options.quickReaders)
  const writers = createLanes(options.writers)
  const lanesInAll = options.readers + options.quickReaders + options.writers
  const pipes = createPipes(
    options.pipesDirectory,
    Array.from({ length: lanesInAll }, (_, index) => `pipe-${index}`),
  )
  const running = new Map<string, RunningInfo & { statement?: RunningStatement }>()
  let pinged: Promise<unknown> = Promise.resolve()
  let stopping = false

  async function take(lanes: readonly Lanes[], waitMs: number, signal: AbortSignal): Promise<() => void> {
    for (const each of lanes) {
      const free = each.takeNow()
      if (free !== undefined) return free
    }
    const last = lanes.at(-1) ?? readers
    return last.take(waitMs, signal)
  }

  async function run(request: EngineRequest): Promise<EngineReply> {
    if (stopping) throw new EngineException('ABORTED', 'The server is shutting down.')
    const shape = inspect(request.sql, request.readonly ? readingRules : writingRules)
    const kind = !request.readonly ? 'writing' : request.whole ? 'reading' : 'streaming'
    const { queryId, signal } = request
    const settings = settingsFor(request.settings, kind, queryId, {
      known,
      memoryBytes: options.memoryBytes,
    })
    if (running.has(queryId)) {
      throw new EngineException(
        'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING',
        `Query with id = ${queryId} is already running.`,
      )
    }
    const info = { queryId, startedAt: Date.now(), readonly: request.readonly }
    running.set(queryId, info)
    let release: (() => void) | undefined
    const leave = (): void => {
      running.delete(queryId)
      release?.()
    }
    try {
      if (shape.verb !== 'KILL') {
        const quick = settings.seconds <= quickSeconds ? [readers, quickReaders] : [readers]
        release = await take(request.readonly ? quick : [writers], settings.seconds * 1000, signal)
      }
      signal.throwIfAborted()
      if (stopping) throw new EngineException('ABORTED', 'The server is shutting down.')
      const start = (sql: string, format: string): RunningStatement => {
        const statement = startStatement(
          home,
          {
            sql,
            format,
            params: request.params,
            ...(request.database !== undefined && { database: request.database }),
          },
          {
            key: queryId,
            arguments: settings.arguments,
            seconds: settings.seconds,
            onStuck: () => options.onStuck(queryId),
          },
        )
        running.set(queryId, { ...info, statement })
        void statement.gone.then(leave)
        return statement
      }
      return await answer(request, shape, start)
    } finally {
      if (running.get(queryId)?.statement === undefined) leave()
    }
  }

  async function answer(
    request: EngineRequest,
    shape: Shape,
    start: (sql: string, format: string) => RunningStatement,
  ): Promise<EngineReply> {
    const format = shape.format?.name ?? request.format ?? defaultFormat
    if (request.rows !== undefined && shape.rows !== undefined) {
      if (request.sql.slice(shape.rows.start).trim() !== '') {
        throw new EngineException(
          'NOT_IMPLEMENTED',
          'Rows stand in the body or in the statement, not in both.',
        )
      }
      return { kind: 'whole', format, result: await insert(request.rows, shape.rows, start, request.signal) }
    }
    if (request.readonly && !request.whole) return stream(request, shape, format, start)
    const sql = shape.queryIds === undefined ? request.sql : byComment(request.sql, shape.queryIds)
    const statement = start(sql, format)
    const stop = (): void => void statement.cancel()
    request.signal.addEventListener('abort', stop, { once: true })
    return { kind: 'whole', format, result: await statement.answer }
  }

  /** `file()` parses in parallel, 2.4 times faster than rows inside the statement (ARCHITECTURE.md). */
  async function insert(
    rows: RowSource,
    into: { readonly head: string; readonly format: string },
    start: (sql: string, format: string) => RunningStatement,
    signal: AbortSignal,
  ): Promise<NativeResult> {
    const pipe = takePipe()
    const source = `file(${quoteString(pipe.path)}, ${quoteString(into.format)})`
    const statement = start(`${into.head} SELECT * FROM ${source}`, 'Null')
    signal.addEventListener('abort', () => void statement.cancel(), { once: true })
    const fed = feedRows(rows, pipe, statement)
    const giveBack = (): void => void statement.gone.then(() => pipes.push(pipe))
    fed.then(giveBack, giveBack)
    return fed
  }

  function stream(
    request: EngineRequest,
    shape: Shape,
    format: string,
    start: (sql: string, format: string) => RunningStatement,
  ): EngineReply {
    const pipe = takePipe()
    const { source, close } = pipe.openReader()
    const before = request.sql.slice(0, shape.format?.start ?? shape.end)
    const settings = shape.format === undefined ? '' : request.sql.slice(shape.format.start, shape.end)
    const into = `\nINTO OUTFILE ${quoteString(pipe.path)} APPEND ${settings || `FORMAT ${format}`}`
    const statement = start(`${before}${into}`, format)
    const closed = new Promise<void>((resolve) => source.once('close', () => resolve()))
    // No longer read: what the engine still writes fails instead of waiting for a reader.
    source.on('error', () => {})
    void statement.gone.then(close)
    statement.answer.catch(() => source.destroy())
    void closed.then(async () => {
      // One that was told to end before it opened its pipe would wait there for a reader, and keep its place, for ever.
      while (!statement.isGone()) {
        pipe.wake()
        await Promise.race([statement.gone, sleep(wakeEveryMs)])
      }
    })
    void Promise.all([statement.gone, closed]).then(() => pipes.push(pipe))
    const cancel = (): void => void statement.cancel().then(() => source.destroy())
    request.signal.addEventListener('abort', cancel, { once: true })
    return { kind: 'stream', format, source, answer: statement.answer, cancel }
  }

  function takePipe(): Pipe {
    const pipe = pipes.pop()
    // One for every lane: more can be missing only while a reader is slow to close.
    if (pipe === undefined) {
      throw new EngineException('TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many simultaneous results are read.')
    }
    return pipe
  }

  return {
    version,
    run,
    ask,
    async ping() {
      const answer = own.query('SELECT 1', 'Null')
      pinged = answer.catch(() => {})
      await answer
    },
    running: () => [...running.values()],
    waiting: () => readers.waiting() + quickReaders.waiting() + writers.waiting(),
    async stop(graceMs) {
      stopping = true
      const gone = (): Promise<unknown> =>
        Promise.all([...running.values()].map((each) => each.statement?.gone))
      const timer = setTimeout(() => {
        for (const each of running.values()) void each.statement?.cancel()
      }, graceMs)
      await gone()
      clearTimeout(timer)
      await pinged
      // The last connection: this shuts the engine down and gives the directory free.
      own.close()
    },
  }
}

/** chDB makes up its own query ids; the ids of requests are in this setting. */
function byComment(sql: string, places: readonly { readonly start: number; readonly end: number }[]): string {
  let text = sql
  for (const { start, end } of [...places].reverse()) {
    text = `${text.slice(0, start)}Settings['log_comment']${text.slice(end)}`
  }
  return text
}
