import type pg from 'pg'
import type { Logger } from '../logger.ts'

const maxPauseMs = 30_000

export interface ChannelWatchOptions {
  readonly pool: Pick<pg.Pool, 'connect'>
  /** Named by `notify`, in triggers or statements. */
  readonly channel: string
  /** With the text that came with it; undefined after every time in which one could have been missed. */
  readonly onNotice: (text: string | undefined) => void
  /** Whether notices arrive, each time that this changes. */
  readonly onListening?: (isListening: boolean) => void
  readonly log: Pick<Logger, 'debug' | 'warn'>
  /** Milliseconds between two looks whether the connection still answers; without it a lost one may go unnoticed. */
  readonly heartbeatMs?: number
}

/** Listens on a channel of the database on one connection of the pool until `close`, and again whenever it is lost. */
export function watchChannel(options: ChannelWatchOptions): { close(): Promise<void> } {
  const { pool, channel, onNotice, onListening, log, heartbeatMs } = options
  const stop = new AbortController()
  const { promise: stopped, resolve: stopping } = Promise.withResolvers<void>()
  stop.signal.addEventListener('abort', () => stopping(), { once: true })

  /** Rejects when the connection does not answer between two beats. */
  function beat(client: pg.PoolClient, lose: (error: Error) => void): NodeJS.Timeout | undefined {
    if (heartbeatMs === undefined) return undefined
    let answered = true
    return setInterval(() => {
      if (!answered) {
        lose(new Error(`the connection has not answered for ${heartbeatMs} ms`))
        return
      }
      answered = false
      client.query('select').then(
        () => {
          answered = true
        },
        (error: Error) => lose(error),
      )
    }, heartbeatMs).unref()
  }

  /** Returns when the watch is closed. @throws when the connection is lost */
  async function listen(onReady: () => void): Promise<void> {
    const client = await pool.connect()
    const lost = Promise.withResolvers<never>()
    // The pool's own handler goes when the connection is handed out: an error without one ends the process.
    client.on('error', lost.reject)
    client.on('end', () => lost.reject(new Error('the connection was closed')))
    client.on('notification', ({ payload }) => onNotice(payload || undefined))
    let beats: NodeJS.Timeout | undefined
    try {
      await client.query(`listen ${channel}`)
      onReady()
      beats = beat(client, lost.reject)
      await Promise.race([lost.promise, stopped])
    } finally {
      onListening?.(false)
      clearInterval(beats)
      lost.promise.catch(() => {})
      client.release(true)
    }
  }

  async function watch(): Promise<void> {
    let failures = 0
    while (!stop.signal.aborted) {
      try {
        await listen(() => {
          failures = 0
          onListening?.(true)
          onNotice(undefined)
        })
      } catch (error) {
        if (stop.signal.aborted) return
        failures++
        log.debug({ err: error, failures, channel }, 'not listening for changes')
        const pause = Promise.withResolvers<void>()
        const timer = setTimeout(pause.resolve, Math.min(100 * 2 ** failures, maxPauseMs)).unref()
        await Promise.race([pause.promise, stopped])
        clearTimeout(timer)
      }
    }
  }

  const watching = watch()
  return {
    async close() {
      stop.abort()
      await watching
    },
  }
}
