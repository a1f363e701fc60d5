import { mkdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { type Engine, openEngine } from './engine.ts'
import { yieldToOthers } from './priority.ts'
import { sendException, sendReply } from './replies.ts'
import { readRequest } from './requests.ts'

/**
 * The process of the embedded columnar store: chDB behind the part of ClickHouse's HTTP interface that
 * columnar-request.ts uses, on a Unix socket. Lives as long as its standard input is open, so that it goes with
 * the process that started it.
 *
 *   node server.ts --directory <chDB's own> --socket <path> --memory <bytes> --nice <0 to 19>
 *
 * The socket's directory must be private; named pipes are made beside it. Needs UV_THREADPOOL_SIZE above the number
 * of lanes: every running statement holds a thread.
 */

const lanes = { readers: 8, quickReaders: 2, writers: 4 }

/** Parameters stand in the address, of which a server of ClickHouse takes 1 MiB. */
const maxHeadBytes = 1024 * 1024 + 64 * 1024

/** A second or so before the parent process kills this one. */
const graceMs = 4000
const hardStopMs = 9000

const { values } = parseArgs({
  options: {
    directory: { type: 'string' },
    socket: { type: 'string' },
    memory: { type: 'string' },
    nice: { type: 'string' },
  },
})
const startedAt = Date.now()

function required(name: keyof typeof values): string {
  const value = values[name]
  if (value === undefined) throw new Error(`--${name} is missing`)
  return value
}

async function statusOf(engine: Engine): Promise<object> {
  const numbers = await engine.ask(
    `SELECT concat(toString((SELECT value FROM system.metrics WHERE metric = 'MemoryTracking')), ' ',
       (SELECT value FROM system.server_settings WHERE name = 'max_server_memory_usage'))`,
  )
  const memory = await engine.ask(
    `SELECT Settings['log_comment'], memory_usage FROM system.processes WHERE Settings['log_comment'] != ''`,
  )
  const [tracked, engineLimitBytes] = numbers.trim().split(' ').map(Number)
  const memoryOf = new Map(
    memory
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t') as [string, string]),
  )
  return {
    version: engine.version,
    uptimeSeconds: Math.round((Date.now() - startedAt) / 1000),
    residentBytes: process.memoryUsage.rss(),
    // The engine also counts what it frees of memory that it did not count, and can fall below zero.
    engineBytes: Math.max(0, tracked ?? 0),
    engineLimitBytes,
    running: engine.running().map(({ queryId, startedAt: since, readonly }) => ({
      queryId,
      seconds: (Date.now() - since) / 1000,
      readonly,
      memoryBytes: Number(memoryOf.get(queryId) ?? 0),
    })),
    waiting: engine.waiting(),
  }
}

async function answer(engine: Engine, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://engine')
  const left = new AbortController()
  response.once('close', () => left.abort(new Error('The client has left.')))
  const context = { response, queryId: '', version: engine.version, left: left.signal }
  if (pathname === '/ping') {
    response.writeHead(200, { 'Content-Type': 'text/plain' }).end('Ok.\n')
    return
  }
  try {
    if (pathname === '/alive') {
      await engine.ping()
      response.writeHead(200, { 'Content-Type': 'text/plain' }).end('Ok.\n')
      return
    }
    if (pathname === '/status') {
      const body = JSON.stringify(await statusOf(engine))
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
      return
    }
    if (pathname !== '/' || !['GET', 'POST'].includes(request.method ?? '')) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('There is no such resource.\n')
      return
    }
    const statement = await readRequest(request)
    context.queryId = statement.queryId
    await sendReply(context, await engine.run({ ...statement, signal: left.signal }))
  } catch (error) {
    request.resume()
    if (!response.headersSent && !response.destroyed) sendException(context, error)
    else response.destroy()
  }
}

function stopWith(engine: Engine, server: Server): (graceMs: number) => Promise<never> {
  let stopping: Promise<never> | undefined
  return (grace) => {
    stopping ??= (async () => {
      setTimeout(() => process.exit(1), hardStopMs).unref()
      server.close()
      server.closeIdleConnections()
      await engine.stop(grace)
      return process.exit(0)
    })()
    return stopping
  }
}

async function main(): Promise<void> {
  const socket = required('socket')
  const directory = required('directory')
  for (const each of [directory, dirname(socket)]) mkdirSync(each, { recursive: true, mode: 0o700 })
  // A terminal's signals reach the whole group; the parent process decides in which order things stop.
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => {})
  yieldToOthers(Number(required('nice')))
  const engine = await openEngine({
    directory,
    pipesDirectory: dirname(socket),
    memoryBytes: Number(required('memory')),
    ...lanes,
    onStuck(queryId) {
      console.error(`The engine does not come back from statement ${queryId}; giving up this process`)
      process.exit(70)
    },
  })
  // Its only client closes connections: one that was closed here while a request is on its way fails that request.
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, maxHeaderSize: maxHeadBytes })
  server.on('request', (request, response) => void answer(engine, request, response))
  const stop = stopWith(engine, server)
  process.on('SIGTERM', () => void stop(graceMs))
  process.stdin.on('end', () => void stop(0)).on('error', () => void stop(0))
  process.stdin.resume()
  // Left by a run that was killed: the engine's lock is ours, so no process serves there.
  rmSync(socket, { force: true })
  server.listen(socket, () => console.log(`ready: chDB ${engine.version}`))
}

await main()
