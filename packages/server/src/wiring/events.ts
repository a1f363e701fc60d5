import { createDatasourceStore } from '../features/datasources/datasource-store.ts'
import { createActivityFeed } from '../features/events/activity/activity-feed.ts'
import { createCollectorService } from '../features/events/collector/collector-service.ts'
import { watchIngest } from '../features/events/collector/ingest-watch.ts'
import { createCountryDatabase } from '../features/events/collector/senders/country-database.ts'
import type { ServiceParts } from './shared.ts'

export type Events = ReturnType<typeof wireEvents>

export function wireEvents(parts: ServiceParts) {
  const { eventLog, log: logger } = parts
  const datasources = createDatasourceStore(parts.relational.db)
  const activityFeed = createActivityFeed(parts)
  const collector = createCollectorService({
    ...parts,
    activity: activityFeed,
    log: eventLog,
    logger,
    async findDatasource(id) {
      const found = await datasources.findState(id)
      // Displays and clicks of workflows are written by the service alone, and rows come another way.
      return found?.kind === 'tracking' ? { ...found, active: found.status === 'active' } : undefined
    },
    countries: createCountryDatabase({ file: parts.countryDatabase, logger }),
  })
  return {
    activityFeed,
    collector,
    trackerFiles: {
      findCompany: async (datasourceId: string, address: string) =>
        (await collector.find(datasourceId, address))?.companyId,
    },
    isIngesting: watchIngest(collector, parts.ending),
  }
}
