import { removeOldEntries } from '../features/audit/audit-retention.ts'
import { createAuditStore } from '../features/audit/audit-store.ts'
import type { createCertificateWatch } from '../features/identity/single-sign-on/certificates/certificate-watch.ts'
import type { createMailStore } from '../features/mail/mail-store.ts'
import type { Logger } from '../platform/logger.ts'
import type { Relational } from '../platform/stores/relational.ts'
import type { Periodic } from '../platform/work/periodic-work.ts'
import type { Services } from '../wiring/services.ts'

export interface PeriodicWorksDependencies {
  readonly relational: Pick<Relational, 'db'>
  readonly services: Pick<
    Services,
    'companyRemoval' | 'datasourceImports' | 'experimentStarter' | 'exports' | 'savedQueries' | 'singleSignOn'
  >
  readonly mails: Pick<ReturnType<typeof createMailStore>, 'sweep'>
  readonly certificates: Pick<ReturnType<typeof createCertificateWatch>, 'work'>
  readonly logger: Logger
}

const hour = 3_600

/** What the service does at regular times, spread over the hour. */
export function periodicWorks({
  relational,
  services,
  mails,
  certificates,
  logger,
}: PeriodicWorksDependencies): Periodic[] {
  const { companyRemoval, datasourceImports, experimentStarter, exports, savedQueries, singleSignOn } =
    services
  const entries = createAuditStore(relational.db)
  return [
    { name: 'starts of experiments', everySeconds: 60, run: experimentStarter.startDue },
    {
      name: 'removals of old rows',
      everySeconds: 60,
      async run(signal) {
        while (!signal.aborted && (await datasourceImports.dropRows()));
      },
    },
    { name: 'removals of closed companies', everySeconds: 60, run: companyRemoval.removeDue },
    { name: 'readings of metadata', everySeconds: 600, run: singleSignOn.readMetadata },
    {
      name: 'removals of old audit entries',
      ...{ everySeconds: hour, atSeconds: 420 },
      run: (signal) => removeOldEntries({ store: entries, log: logger }, signal),
    },
    { name: 'removals of old mails', everySeconds: hour, atSeconds: 900, run: () => mails.sweep() },
    { name: 'looks at certificates', everySeconds: hour, atSeconds: 1_380, run: certificates.work },
    { name: 'removals of old imports', everySeconds: hour, atSeconds: 1_980, run: datasourceImports.sweep },
    { name: 'removals of old runs', everySeconds: hour, atSeconds: 2_460, run: savedQueries.loops.sweep },
    { name: 'removals of old exports', everySeconds: hour, atSeconds: 2_700, run: exports.sweep },
  ]
}
