import { statisticsTables } from '../../../../database/event-tables.ts'
import type { Logger } from '../../../../platform/logger.ts'
import { type ChannelWatchOptions, watchChannel } from '../../../../platform/stores/channel-watch.ts'
import type { Columnar, Statement } from '../../../../platform/stores/columnar.ts'
import type { PurgeLedger } from './purge-ledger-store.ts'

/** Datasources that no query may read, although something of them may be on disk. */
export type HiddenDatasources = Awaited<ReturnType<typeof watchHiddenDatasources>>

export interface HiddenDatasourcesOptions {
  readonly ledger: Pick<PurgeLedger, 'listOpen'>
  readonly pool: ChannelWatchOptions['pool']
  readonly log: Pick<Logger, 'debug' | 'warn'>
}

/** Keeps the list in memory, as the database tells of its changes; resolves once it is known. */
export async function watchHiddenDatasources(options: HiddenDatasourcesOptions) {
  const { ledger, pool, log } = options
  let ids: readonly string[] = []
  let change = Promise.withResolvers<void>()
  /** Readings end in the order in which they begin, so that an older one never replaces a newer one. */
  let reading = Promise.resolve()

  function refresh(): Promise<void> {
    const next = reading.then(async () => {
      const open = await ledger.listOpen()
      ids = open.map(({ datasourceId }) => datasourceId).sort()
      change.resolve()
      change = Promise.withResolvers<void>()
    })
    reading = next.catch(() => {})
    return next
  }

  await refresh()
  const watch = watchChannel({
    pool,
    channel: 'event_purges',
    onNotice: () => {
      refresh().catch((error: unknown) =>
        log.warn({ err: error }, 'which datasources are deleted is not read'),
      )
    },
    log,
  })
  return {
    /** Sorted; empty but for the time of a purge. */
    ids: (): readonly string[] => ids,
    /** Reads them now. */
    refresh,
    /** Resolves at the next change of them, or when the signal aborts. */
    async changed(signal: AbortSignal): Promise<void> {
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

/** The engine's own filter of tables, which holds wherever a statement reads one. Identifiers are hexadecimal. */
function tableFilters(ids: readonly string[]): string {
  const others = `datasource NOT IN (${ids.map((id) => `''${id}''`).join(', ')})`
  return `{${statisticsTables.map((table) => `'${table}': '${others}'`).join(', ')}}`
}

/** The store without what hidden datasources have told, in every statement; while none is hidden it costs nothing. */
export function withoutDatasources(columnar: Columnar, hidden: Pick<HiddenDatasources, 'ids'>): Columnar {
  function filtered<S extends Statement>(statement: S): S {
    const ids = hidden.ids()
    if (ids.length === 0) return statement
    return {
      ...statement,
      settings: { ...statement.settings, additional_table_filters: tableFilters(ids) },
    }
  }
  return {
    ...columnar,
    query: (statement) => columnar.query(filtered(statement)),
    stream: (statement) => columnar.stream(filtered(statement)),
    command: (statement) => columnar.command(filtered(statement)),
  }
}
