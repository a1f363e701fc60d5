import type pg from 'pg'
import type { Logger } from '../logger.ts'

const maxPauseMs = 30_000
const defaultHeartbeatMs = 1_000
/** Of a socket on this machine the kernel says at once that the other end is gone. */
const socketHeartbeatMs = 30_000

export interface ChannelWatchOptions {
  readonly pool: Pick<pg.Pool, 'connect'>
  /** Named by `notify`, in triggers or statements. */
  readonly channel: string
  /** With the text that came with it; undefined after every time in which one could have been missed. */
  readonly onNotice: (text: string | undefined) => void
  /** Whether notices arrive, each time that this changes. */
  readonly onListening?: (isListening: boolean) => void
  readonly log: Pick<Logger, 'debug' | 'warn'>
  /** Milliseconds between two looks whether a connection over a network still answers; default 1 s. */
  readonly heartbeatMs?: number
}

type Watch = Omit<ChannelWatchOptions, 'pool' | 'log'>

type Listener = ReturnType<typeof createListener>

/** One for each pool, so that all that a process watches takes one of its connections. */
const listeners = new WeakMap<ChannelWatchOptions['pool'], Listener>()

/** Listens on a channel of the database until `close`, and again whenever the connection is lost. */
export function watchChannel({ pool, log, ...watch }: ChannelWatchOptions): { close(): Promise<void> } {
  const listener = listeners.get(pool) ?? createListener(pool, log)
  listeners.set(pool, listener)
  listener.add(watch)
  return { close: () => listener.remove(watch) }
}

function createListener(pool: ChannelWatchOptions['pool'], log: ChannelWatchOptions['log']) {
  const watches = new Set<Watch>()
  const stop = new AbortController()
  const { promise: stopped, resolve: stopping } = Promise.withResolvers<void>()
  stop.signal.addEventListener('abort', () => stopping(), { once: true })
  let connection: { listen(watch: Watch): void } | undefined

  async function pause(ms: number, ended: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms).unref()
    await Promise.race([promise, ended])
    clearTimeout(timer)
  }

  /** Returns when the last watch is closed. @throws when the connection is lost */
  async function listen(onReady: () => void): Promise<void> {
    const client = await pool.connect()
    const isSocket = (client as pg.PoolClient & pg.Client).host.startsWith('/')
    const lost = Promise.withResolvers<never>()
    lost.promise.catch(() => {})
    // The pool's own handler goes when the connection is handed out: an error without one ends the process.
    client.on('error', lost.reject)
    client.on('end', () => lost.reject(new Error('the connection was closed')))
    // Those that have begun: an earlier notice that is still on its way is none of theirs.
    const listening = new Set<Watch>()
    client.on('notification', ({ channel, payload }) => {
      for (const watch of listening) {
        if (watch.channel === channel && watches.has(watch)) watch.onNotice(payload || undefined)
      }
    })
    const isOver = Promise.race([lost.promise, stopped])
    isOver.catch(() => {})

    let asked: Promise<unknown> = Promise.resolve()
    /** One statement after the other. */
    function ask({ channel }: Watch): Promise<unknown> {
      asked = asked.then(() => client.query(`listen ${channel}`))
      return asked
    }

    async function begin(watch: Watch): Promise<void> {
      await ask(watch)
      if (!watches.has(watch)) return
      onReady()
      listening.add(watch)
      watch.onListening?.(true)
      watch.onNotice(undefined)
    }

    /** As often as the watch that asks for it most often; a connection that does not answer until the next is lost. */
    async function beat(): Promise<void> {
      while (watches.size > 0) {
        const wanted = [...watches].map(({ heartbeatMs = defaultHeartbeatMs }) => heartbeatMs)
        const ms = isSocket ? socketHeartbeatMs : Math.min(...wanted)
        await pause(ms, isOver)
        const late = new Error(`the connection has not answered for ${ms} ms`)
        const timer = setTimeout(() => lost.reject(late), ms).unref()
        const [watch] = watches
        if (watch) await ask(watch)
        clearTimeout(timer)
      }
    }

    try {
      const add = (watch: Watch) => void begin(watch).catch(lost.reject)
      for (const watch of watches) add(watch)
      connection = { listen: add }
      beat().catch(lost.reject)
      await isOver
    } finally {
      connection = undefined
      for (const watch of listening) watch.onListening?.(false)
      client.release(true)
    }
  }

  async function run(): Promise<void> {
    let failures = 0
    while (!stop.signal.aborted) {
      try {
        await listen(() => {
          failures = 0
        })
      } catch (error) {
        if (stop.signal.aborted) return
        failures++
        log.debug({ err: error, failures }, 'not listening for changes')
        await pause(Math.min(100 * 2 ** failures, maxPauseMs), stopped)
      }
    }
  }

  let running: Promise<void> | undefined
  return {
    add(watch: Watch): void {
      watches.add(watch)
      connection?.listen(watch)
      running ??= run()
    },
    /** Ends with the last one. */
    async remove(watch: Watch): Promise<void> {
      watches.delete(watch)
      if (watches.size > 0) return
      listeners.delete(pool)
      stop.abort()
      await running
    },
  }
}
