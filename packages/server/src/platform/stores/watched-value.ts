import type { Logger } from '../logger.ts'
import { type ChannelWatchOptions, watchChannel } from './channel-watch.ts'

/** What a process keeps in memory of the database. */
export interface WatchedValue<T> {
  readonly value: () => T
  /** Reads it now. */
  refresh(): Promise<void>
  /** Resolves at the next change, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export interface WatchedValueOptions<T> extends Pick<ChannelWatchOptions, 'pool' | 'channel'> {
  readonly read: () => Promise<T>
  /** For the log: what is read. */
  readonly what: string
  readonly log: Pick<Logger, 'debug' | 'warn'>
}

/** Keeps a value in memory, as the database tells of its changes; resolves once it is known. */
export async function watchValue<T>(options: WatchedValueOptions<T>): Promise<WatchedValue<T>> {
  const { read, what, pool, channel, log } = options
  let value = await read()
  let change = Promise.withResolvers<void>()
  /** Readings end in the order in which they begin, so that an older one never replaces a newer one. */
  let reading = Promise.resolve()

  function refresh(): Promise<void> {
    const next = reading.then(async () => {
      value = await read()
      change.resolve()
      change = Promise.withResolvers<void>()
    })
    reading = next.catch(() => {})
    return next
  }

  const watch = watchChannel({
    pool,
    channel,
    onNotice: () => {
      refresh().catch((error: unknown) => log.warn({ err: error }, `${what} cannot be read`))
    },
    log,
  })
  return {
    value: () => value,
    refresh,
    async changed(signal) {
      const { promise: ended, resolve } = Promise.withResolvers<void>()
      const onAbort = (): void => resolve()
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) resolve()
      await Promise.race([change.promise, ended])
      signal.removeEventListener('abort', onAbort)
    },
    close: watch.close,
  }
}
