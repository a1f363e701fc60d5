import { createDatasourceStore } from '../../features/datasources/datasource-store.ts'
import type { Config } from '../../platform/config/config.ts'
import { normalizeId } from '../../platform/ids.ts'
import type { DatasourceCounters } from '../import/import-command.ts'
import { relationalOfRunningService } from './command-stores.ts'

const none: DatasourceCounters = { accepted: 0, dropped: 0, duplicate: 0 }

/** Counters of datasources from the service of the data directory; undefined where this process may not ask it. */
export function openCounters(config: Config): {
  read(datasourceId: string): Promise<DatasourceCounters | undefined>
  close(): Promise<void>
} {
  const relational = relationalOfRunningService(config)
  return {
    async read(datasourceId) {
      if (!relational) return undefined
      try {
        const store = createDatasourceStore(relational.db)
        const id = normalizeId(datasourceId)
        if ((await store.findState(id)) === undefined) return undefined
        return (await store.findCounters(id)) ?? none
      } catch {
        // The import itself does not depend on the service's database.
        return undefined
      }
    },
    close: async () => relational?.close(),
  }
}
