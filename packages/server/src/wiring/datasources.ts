import { createDatasourceLogStore } from '../features/datasources/datasource-log-store.ts'
import { createDatasources } from '../features/datasources/datasources.ts'
import { requestPurge, undoPurge } from '../features/events/loading/removals/purge-ledger-store.ts'
import { createPeopleStore } from '../features/identity/people/people-store.ts'
import { nextTimes } from '../features/saved-queries/schedule/planned-times.ts'
import { readCron } from '../features/saved-queries/schedule/read-cron.ts'
import type { Shared } from './shared.ts'
import type { WorkflowReaders } from './workflow-readers.ts'

export type Datasources = ReturnType<typeof wireDatasources>

export function wireDatasources(shared: Shared, { uses }: Pick<WorkflowReaders, 'uses'>) {
  const { relational, knowsTimezone, readSettings, openZone, overrides } = shared
  const { loops: datasourceImports, ...services } = createDatasources({
    ...shared,
    listTeams: createPeopleStore(relational.db).listTeams,
    datasourceLog: createDatasourceLogStore(shared),
    listUsesOfDatasource:
      overrides.listUsesOfDatasource ??
      ((tx, { datasourceId: resourceId, ...reader }, outsideTeams) =>
        uses.listPublished(tx, reader, { kind: 'datasource', resourceId }, outsideTeams)),
    enter: shared.limiter.enter,
    requestPurge,
    undoPurge,
    refreshHidden: shared.hidden.refresh,
    times: {
      read(cron, timezone) {
        const reading = readCron(cron)
        if ('fault' in reading) return reading
        const zone = openZone(timezone)
        return { next: (after) => nextTimes(reading.recurrence, zone, after, 1)[0] }
      },
      knowsTimezone,
      readSettings,
    },
    processes: overrides.contentProcesses,
  })
  return { storage: shared.storage, datasourceImports, ...services }
}
