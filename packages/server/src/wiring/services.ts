import { createAuditService } from '../features/audit/audit-service.ts'
import { createAuditStore } from '../features/audit/audit-store.ts'
import { createRowsOfPersons } from '../features/datasources/rows/rows-of-persons.ts'
import { createSampleDataService } from '../features/datasources/sample/sample-data-service.ts'
import { createActivityService } from '../features/events/activity/activity-service.ts'
import { createExpiryStore } from '../features/events/loading/removals/expiry-store.ts'
import { createPurgeLedger, requestPurges } from '../features/events/loading/removals/purge-ledger-store.ts'
import { createPersonDataService } from '../features/events/persons/person-data-service.ts'
import { createPersonRowsStore } from '../features/events/persons/person-rows-store.ts'
import { createRetentionService } from '../features/events/retention/retention-service.ts'
import { createCompanyRemoval } from '../features/identity/people/company/company-removal.ts'
import { wireAnalytics } from './analytics.ts'
import { wireDashboards } from './dashboards.ts'
import { wireDatasources } from './datasources.ts'
import { wireEvents } from './events.ts'
import { wireExperiments } from './experiments.ts'
import { wireExports } from './exports.ts'
import { wireIdentity } from './identity.ts'
import { wirePersonalisation } from './personalisation.ts'
import { wireReports } from './reports.ts'
import { wireSavedQueries } from './saved-queries.ts'
import { type ServiceParts, shareParts } from './shared.ts'
import { wireWorkflowReaders } from './workflow-readers.ts'

/** The rules of every feature, over one set of stores. */
export type Services = ReturnType<typeof createServices>

/** Wires the features together: what one needs of another it gets here, each of those above it. */
export function createServices(parts: ServiceParts) {
  const { isIngesting, activityFeed, ...events } = wireEvents(parts)
  const shared = shareParts(parts, isIngesting)
  const readers = wireWorkflowReaders(shared)
  const analytics = wireAnalytics(shared, readers)
  const datasources = wireDatasources(shared, readers)
  const { exportFiles, ...exports } = wireExports(shared, analytics.statistics)
  return {
    ...wireIdentity(shared),
    ...events,
    ...analytics,
    ...datasources,
    sampleData: createSampleDataService({ ...shared, ...events, ...datasources }),
    activity: createActivityService({
      ...shared,
      feed: activityFeed,
      readDatasource: datasources.datasources.read,
    }),
    persons: createPersonDataService({
      ...shared,
      rows: createPersonRowsStore(shared),
      otherRows: createRowsOfPersons(shared.relational),
      enter: shared.limiter.enter,
    }),
    retention: createRetentionService({
      ...shared,
      planFor: createExpiryStore(shared.relational.db).planFor,
      readDatasource: datasources.datasources.read,
      enter: shared.limiter.enter,
    }),
    ...wireExperiments(shared, readers, analytics),
    ...wirePersonalisation(shared, readers, { ...events, ...analytics, ...datasources }),
    ...wireSavedQueries(shared, analytics.statistics),
    ...exports,
    companyRemoval: createCompanyRemoval({
      ...shared,
      logger: shared.log,
      requestPurges,
      hasOpenPurges: createPurgeLedger(shared.relational.db).hasOpen,
      removeFiles: exportFiles.removeOfCompany,
    }),
    ...wireDashboards(shared, analytics.statistics),
    reports: wireReports(shared, analytics.statistics),
    audit: createAuditService({ store: createAuditStore(parts.relational.db) }),
  }
}
