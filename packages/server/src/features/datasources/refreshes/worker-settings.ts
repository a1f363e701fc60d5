import { isDeepStrictEqual } from 'node:util'
import type { Fault } from '@millrace/contract/failure-data.ts'
import type {
  Datasource,
  DatasourceCreation,
  DatasourceUpdate,
} from '@millrace/contract/resources/datasource.ts'
import { workerTypes } from '@millrace/contract/resources/datasource.ts'
import type { DatasourceSource } from '@millrace/contract/resources/datasource-source.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { SecretBox } from '../../../platform/crypto/secret-box.ts'
import { refuseFaults } from '../../../platform/invalid.ts'
import type { OutgoingClient } from '../../../platform/outgoing/outgoing-client.ts'
import { type CronTimes, planRefresh } from '../imports/refresh-plan.ts'
import { faultsOfSource, keptSource, sharesOrigin } from './worker-source.ts'
import { headersContext, type StoredWorker, type WorkerChange } from './worker-store.ts'

export interface WorkerSettingsDependencies {
  readonly box: Pick<SecretBox, 'seal'>
  readonly validateUrl: OutgoingClient['validate']
  readonly times: CronTimes
  readonly clock: Clock
}

type Wanted = Pick<DatasourceUpdate, 'source' | 'schedule' | 'updateStrategy' | 'maxRefusedShare'>

/** What of these settings is stored already. */
type Present = Pick<Datasource, 'source' | 'schedule'>

/** A file comes when it is uploaded: only an address is asked again. A schedule that stays as it is may be sent back. */
function faultsOfScheduledFile(wanted: Wanted, present: Present): Fault[] {
  const { source = present.source, schedule = present.schedule } = wanted
  if (!schedule || source?.type === 'url') return []
  const isKept = present.source?.type !== 'url' && isDeepStrictEqual(schedule, present.schedule)
  if (isKept) return []
  const message =
    source === undefined
      ? 'is for a source of type url: give the source too'
      : wanted.schedule === undefined
        ? 'is for a source of type url, and a file is imported when it is uploaded: set it to null too'
        : 'is for a source of type url, and a file is imported when it is uploaded: leave it out'
  return [{ path: 'schedule', message }]
}

/** Settings of worker datasources alone. */
const names = ['source', 'schedule', 'updateStrategy', 'maxRefusedShare'] as const

export type WorkerSettings = ReturnType<typeof createWorkerSettings>

/** Validates what is set of worker datasources, and brings it into the form that is kept. */
export function createWorkerSettings({ box, validateUrl, times, clock }: WorkerSettingsDependencies) {
  async function plan(
    schedule: Wanted['schedule'],
    companyId: string,
  ): Promise<{ readonly faults: readonly Fault[]; readonly change: WorkerChange }> {
    if (schedule === undefined) return { faults: [], change: {} }
    const now = clock.now()
    const plannedTo = new Date(now)
    if (schedule === null) return { faults: [], change: { schedule, nextRefreshAt: null, plannedTo } }
    const planned = await planRefresh(schedule, companyId, now, times)
    if ('faults' in planned) return { faults: planned.faults, change: {} }
    const { next } = planned
    return {
      faults: [],
      change: { schedule, nextRefreshAt: next === undefined ? null : new Date(next), plannedTo },
    }
  }

  function sourceChange(
    source: DatasourceSource,
    datasourceId: string,
    before: StoredWorker | undefined,
  ): WorkerChange {
    const { headers } = source
    const given = Object.keys(headers ?? {})
    // What was fetched from elsewhere says nothing about this source.
    const change: WorkerChange = { fetched: null, ...(source.type === 'url' && { content: null }) }
    if (source.type === 'file') return { ...change, source: keptSource(source, []), sealedHeaders: null }
    if (headers === undefined && before && sharesOrigin(before.source, source)) {
      return { ...change, source: keptSource(source, before.source?.headerNames ?? []) }
    }
    return {
      ...change,
      source: keptSource(source, given),
      sealedHeaders:
        given.length === 0 ? null : box.seal(JSON.stringify(headers), headersContext(datasourceId)),
    }
  }

  async function validate(
    companyId: string,
    wanted: Wanted,
    { present = {}, further = [] }: { present?: Present; further?: readonly Fault[] },
  ) {
    const { source, schedule, updateStrategy, maxRefusedShare } = wanted
    const planned = await plan(schedule, companyId)
    const faults = [
      ...further,
      ...(source ? faultsOfSource(source, validateUrl, present.source) : []),
      ...planned.faults,
      ...faultsOfScheduledFile(wanted, present),
    ]
    refuseFaults(faults, 'invalidDatasource')
    return (datasourceId: string, before?: StoredWorker): WorkerChange => ({
      ...(source && sourceChange(source, datasourceId, before)),
      ...planned.change,
      ...(updateStrategy !== undefined && { updateStrategy }),
      ...(maxRefusedShare !== undefined && { maxRefusedShare }),
    })
  }

  const namesOf = (wanted: Wanted): string[] => names.filter((name) => wanted[name] !== undefined)

  return {
    namesOf,
    isNamed: (wanted: Wanted): boolean => namesOf(wanted).length > 0,

    /** @throws DomainError `invalidDatasource` */
    async forCreation(companyId: string, wanted: DatasourceCreation) {
      const { mode = 'ingester', type = mode === 'worker' ? 'generic' : 'analytics' } = wanted
      const faults: Fault[] = []
      if (mode === 'worker' && type === 'analytics') {
        faults.push({
          path: 'type',
          message: `must be one of ${workerTypes.join(', ')} for a worker datasource`,
        })
      }
      if (mode === 'ingester') {
        if (type !== 'analytics')
          faults.push({ path: 'type', message: 'must be analytics unless mode is worker' })
        for (const name of namesOf(wanted)) {
          faults.push({
            path: name,
            message: 'is a setting of worker datasources: set mode to worker, or leave it out',
          })
        }
      }
      const change = await validate(companyId, mode === 'worker' ? wanted : {}, { further: faults })
      return (datasourceId: string) => ({
        ...change(datasourceId),
        type: type === 'analytics' ? 'generic' : type,
      })
    },

    /** @throws DomainError `invalidDatasource` */
    async forUpdate(companyId: string, wanted: Wanted, present: Present) {
      const change = await validate(companyId, wanted, { present })
      return (worker: StoredWorker) => change(worker.datasourceId, worker)
    },

    /** Times that have passed while it was paused are not made up for. */
    async forResume({ companyId, schedule }: StoredWorker): Promise<WorkerChange> {
      return (await plan(schedule ?? null, companyId)).change
    },
  }
}
