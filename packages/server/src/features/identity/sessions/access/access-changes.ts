import type pg from 'pg'
import type { Logger } from '../../../../platform/logger.ts'

/** Named by the triggers of the migrations. */
const channel = 'millrace_access_changed'

const maxPauseMs = 30_000

export interface AccessChangesOptions {
  readonly pool: Pick<pg.Pool, 'connect'>
  readonly onChange: () => void
  readonly log: Pick<Logger, 'debug' | 'warn'>
}

/**
 * Calls `onChange` whenever any process changes what tokens give, and after every time in which a change could
 * have been missed. Keeps one connection of the pool until `close`. Without a connection nothing is wrong: what
 * is remembered is short-lived (`createAccessCache`).
 */
export function watchAccessChanges({ pool, onChange, log }: AccessChangesOptions): {
  close(): Promise<void>
} {
  const stop = new AbortController()
  const { promise: stopped, resolve: stopping } = Promise.withResolvers<void>()
  stop.signal.addEventListener('abort', () => stopping(), { once: true })

  /** Returns when the connection is lost or the watch is closed. */
  async function listen(onReady: () => void): Promise<void> {
    const client = await pool.connect()
    const lost = Promise.withResolvers<never>()
    // The pool's own handler goes when the connection is handed out: an error without one ends the process.
    client.on('error', lost.reject)
    client.on('end', () => lost.reject(new Error('the connection was closed')))
    client.on('notification', onChange)
    try {
      await client.query(`listen ${channel}`)
      onReady()
      await Promise.race([lost.promise, stopped])
    } finally {
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
          onChange()
        })
      } catch (error) {
        if (stop.signal.aborted) return
        failures++
        log.debug({ err: error, failures }, 'not listening for changes of access')
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
