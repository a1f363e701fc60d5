import { statisticsTables } from '../../../../database/event-tables.ts'
import type { Logger } from '../../../../platform/logger.ts'
import type { ChannelWatchOptions } from '../../../../platform/stores/channel-watch.ts'
import type { Columnar, Statement } from '../../../../platform/stores/columnar.ts'
import { watchValue } from '../../../../platform/stores/watched-value.ts'
import type { PurgeLedger } from './purge-ledger-store.ts'

/** Datasources that no query may read, although something of them may be on disk. */
export type HiddenDatasources = Awaited<ReturnType<typeof watchHiddenDatasources>>

export interface HiddenDatasourcesOptions {
  readonly ledger: Pick<PurgeLedger, 'listOpen'>
  readonly pool: ChannelWatchOptions['pool']
  readonly log: Pick<Logger, 'debug' | 'warn'>
}

/** Keeps the list in memory, as the database tells of its changes; resolves once it is known. */
export async function watchHiddenDatasources({ ledger, ...options }: HiddenDatasourcesOptions) {
  const { value: ids, ...watched } = await watchValue<readonly string[]>({
    ...options,
    channel: 'event_purges',
    what: 'the list of deleted datasources',
    read: async () => (await ledger.listOpen()).map(({ datasourceId }) => datasourceId).sort(),
  })
  return {
    ...watched,
    /** Sorted; empty unless a datasource was deleted and can be restored, or is being removed. */
    ids,
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
