import { recordAudit } from '../features/audit/audit-store.ts'
import { createDatasourceStore } from '../features/datasources/datasource-store.ts'
import { createRowsOfPersons } from '../features/datasources/rows/rows-of-persons.ts'
import { createActivityFeed } from '../features/events/activity/activity-feed.ts'
import { createCollectorService } from '../features/events/collector/collector-service.ts'
import { watchIngest } from '../features/events/collector/ingest-watch.ts'
import { createCountryDatabase } from '../features/events/collector/senders/country-database.ts'
import { createValidationThreads } from '../features/events/collector/threads/validation-threads.ts'
import { createCheckpointStore } from '../features/events/loading/checkpoint-store.ts'
import {
  createLoaderService,
  type LoaderDependencies,
  type LoaderService,
} from '../features/events/loading/loader-service.ts'
import { createLoaderStore } from '../features/events/loading/loader-store.ts'
import { createErasure, type ErasureDependencies } from '../features/events/loading/removals/erasure.ts'
import { createExpiry } from '../features/events/loading/removals/expiry.ts'
import { createExpiryStore } from '../features/events/loading/removals/expiry-store.ts'
import type { HiddenDatasources } from '../features/events/loading/removals/hidden-datasource-store.ts'
import { createPurge } from '../features/events/loading/removals/purge.ts'
import { createPurgeLedger } from '../features/events/loading/removals/purge-ledger-store.ts'
import { createRemovalStore } from '../features/events/loading/removals/removal-store.ts'
import { createRemover } from '../features/events/loading/removals/remover.ts'
import type { ErasedPersons } from '../features/events/persons/erased-persons.ts'
import { createErasureStore } from '../features/events/persons/erasure-store.ts'
import { createPersonRowsStore } from '../features/events/persons/person-rows-store.ts'
import { createPersonsInReports } from '../features/reports/persons-in-reports-store.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Columnar } from '../platform/stores/columnar.ts'
import type { EventLog } from '../platform/stores/event-log.ts'
import type { Relational } from '../platform/stores/relational.ts'
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
    threads: createValidationThreads({ count: parts.collectorThreads, logger }),
    async findDatasource(id) {
      const found = await datasources.findState(id)
      // Displays and clicks of workflows are written by the service alone, and rows come another way.
      if (found?.kind !== 'tracking') return undefined
      return { ...found, active: found.status === 'active', requiresConsent: found.consent === 'require' }
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

/** What loads the accepted events, and removes those of deleted datasources. */
export function wireLoader({
  relational,
  columnar,
  ...given
}: Partial<LoaderDependencies> &
  Pick<LoaderDependencies, 'clock' | 'logger'> & {
    readonly relational: Relational
    readonly columnar: Columnar
    readonly hidden: HiddenDatasources
    readonly erased: ErasedPersons
    readonly box: SecretBox
    readonly log: EventLog
    readonly recordErasure: ErasureDependencies['recordErasure']
  }): LoaderService {
  const ledger = createPurgeLedger(relational.db)
  const store = createRemovalStore({ columnar })
  const removals = { ...given, ledger, store }
  const expiry = createExpiry({
    ...removals,
    listDue: createExpiryStore(relational.db).listDue,
    record: (events) => recordAudit(relational.db, events),
  })
  const erasure = createErasure({
    ...removals,
    erasures: createErasureStore(relational.db),
    persons: createPersonRowsStore({ columnar }),
    others: [createRowsOfPersons(relational), createPersonsInReports(relational)],
  })
  return createLoaderService({
    store: createLoaderStore({ columnar, threads: 2 }),
    checkpoints: createCheckpointStore({ relational, log: given.log.id }),
    ledger,
    remover: createRemover({
      removals: [
        createPurge(removals),
        erasure,
        expiry,
        { name: 'the bytes of removed rows', run: (_hooks, signal) => store.rewrite(signal) },
      ],
      changed: (signal) => Promise.race([given.hidden.changed(signal), given.erased.changed(signal)]),
      logger: given.logger,
    }),
    ...given,
  })
}
