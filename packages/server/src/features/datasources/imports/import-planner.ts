import { newId } from '../../../platform/ids.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import type { Work } from '../../../platform/work/background.ts'
import { createWorkerStore, type StoredWorker } from '../refreshes/worker-store.ts'
import { createImportStore } from './import-store.ts'
import { type CronTimes, planRefresh } from './refresh-plan.ts'

export interface ImportPlannerDependencies extends Pick<ServiceContext, 'relational' | 'log'> {
  readonly times: CronTimes
}

/** Datasources of one transaction. */
const batch = 100

/**
 * Turns planned times that have come into imports. The datasource is locked meanwhile and its next planned time moves on
 * in the same transaction, so that one import stands for all times that have passed, however many processes look.
 */
export function createImportPlanner({ relational, times, log }: ImportPlannerDependencies) {
  async function nextOf(
    { datasourceId, companyId, schedule }: StoredWorker,
    now: number,
  ): Promise<Date | null> {
    if (schedule === null) return null
    const planned = await planRefresh(schedule, companyId, now, times)
    if ('next' in planned) return planned.next === undefined ? null : new Date(planned.next)
    log.error({ datasourceId, faults: planned.faults }, 'the schedule of a datasource cannot be planned')
    return null
  }

  /** @returns whether there may be more to plan */
  async function plan(): Promise<boolean> {
    return relational.transaction(async (tx) => {
      const [within, imports] = [createWorkerStore(tx), createImportStore(tx)]
      const { now, rows } = await within.lockDue(batch)
      for (const worker of rows) {
        const { companyId, datasourceId } = worker
        // Where an import is under way, it stands for this time too.
        if (await within.findLive(companyId, datasourceId)) {
          await imports.insert({ id: newId(), companyId, datasourceId, trigger: 'schedule' })
        }
        await within.update(companyId, datasourceId, {
          nextRefreshAt: await nextOf(worker, now),
          plannedTo: new Date(now),
        })
      }
      return rows.length === batch
    })
  }

  const work: Work = { name: 'plans of imports', dueAt: createWorkerStore(relational.db).dueAt, run: plan }
  return { ...work, plan }
}
