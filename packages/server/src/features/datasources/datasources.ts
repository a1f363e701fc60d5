import type { Clock } from '../../platform/clock.ts'
import type { DiskRoom } from '../../platform/files/disk-reserve.ts'
import type { OutgoingClient } from '../../platform/outgoing/outgoing-client.ts'
import type { ServiceContext } from '../../platform/service-context.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import type { HoldStorage } from '../storage/storage-service.ts'
import { type ContentFilesOptions, createContentFiles } from './contents/content-files.ts'
import { createFetchContent } from './contents/fetch-content.ts'
import { createDatasourceService, type DatasourceServiceDependencies } from './datasource-service.ts'
import { type ContentProcesses, createContentProcesses } from './imports/content-processes.ts'
import { createImportLogStore } from './imports/import-log-store.ts'
import { createImportPlanner } from './imports/import-planner.ts'
import { createImportStore } from './imports/import-store.ts'
import { createImportSweep } from './imports/import-sweep.ts'
import { createImportWorker } from './imports/import-worker.ts'
import type { CronTimes } from './imports/refresh-plan.ts'
import { createSourceAnalysis } from './refreshes/source-analysis.ts'
import { createWorkerService } from './refreshes/worker-service.ts'
import { createWorkerSettings } from './refreshes/worker-settings.ts'
import { createWorkerStore } from './refreshes/worker-store.ts'
import { createRowReader, type RowReader } from './rows/row-reader.ts'

export interface DatasourceContents extends ContentFilesOptions {
  readonly limitBytes: number
  /** Of the disk of downloads, and of that of the rows. */
  readonly downloadsRoom: DiskRoom
  readonly rowsRoom: DiskRoom
}

export interface DatasourcesDependencies
  extends Pick<
      DatasourceServiceDependencies,
      | 'recordAudit'
      | 'listTeams'
      | 'datasourceLog'
      | 'listUsesOfDatasource'
      | 'enter'
      | 'requestPurge'
      | 'undoPurge'
      | 'refreshHidden'
    >,
    Pick<ServiceContext, 'box' | 'enqueueMail' | 'publicUrl' | 'clock' | 'log'> {
  readonly relational: Pick<Relational, 'db' | 'transaction' | 'pool'>
  readonly outgoing: Pick<OutgoingClient, 'download' | 'validate'>
  readonly times: CronTimes
  readonly contents: DatasourceContents
  readonly holdStorage: HoldStorage
  /** For ages. */
  readonly steadyClock: Clock
  /** What parses content; tests hand in their own. */
  readonly processes?: ContentProcesses | undefined
}

/** Datasources with their imports and rows, wired together. */
export function createDatasources(dependencies: DatasourcesDependencies) {
  const { relational, box, outgoing, times, enqueueMail, publicUrl, contents, clock, log } = dependencies
  const { recordAudit, steadyClock, holdStorage, processes = createContentProcesses() } = dependencies
  const { limitBytes, downloadsRoom, rowsRoom } = contents
  const files = createContentFiles(contents)
  const fetch = createFetchContent({ outgoing, box, room: downloadsRoom })
  const reader = createRowReader({
    relational,
    findLive: createWorkerStore(relational.db).findLive,
    now: () => clock.now(),
    steadyClock,
  })
  const datasources = createDatasourceService({
    ...dependencies,
    importLog: createImportLogStore(relational.db),
    settings: createWorkerSettings({ box, validateUrl: outgoing.validate, times, clock }),
    removeContent: files.remove,
  })
  const planner = createImportPlanner({ relational, times, log })
  const worker = createImportWorker({
    ...{ relational, files, fetch, processes, enqueueMail, publicUrl, limitBytes, holdStorage, rowsRoom },
    log,
  })
  return {
    datasources,
    workerDatasources: createWorkerService({
      relational,
      recordAudit,
      files,
      reader,
      analysis: createSourceAnalysis({ files, fetch, processes }),
      read: datasources.read,
      limitBytes,
      holdStorage,
    }),
    /** What nodes of workflows read. */
    datasourceRows: reader as Pick<RowReader, 'queryRows' | 'revisionOf'>,
    loops: {
      planner,
      worker,
      works: [planner, worker],
      ...createImportSweep({ relational, files, clock }),
      findDelay: createImportStore(relational.db).findDelay,
      /** Before the works: makes directories, and removes files of a process that was killed. */
      prepare: files.prepare,
    },
  }
}
