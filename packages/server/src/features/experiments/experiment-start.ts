import type { Key } from '../../platform/resources/company-rows.ts'
import type { ServiceContext } from '../../platform/service-context.ts'
import { fieldsOf } from './experiment-states.ts'
import { createExperimentStore } from './experiment-store.ts'

/** Looked for at once. */
const batch = 100

export type ExperimentStarterDependencies = Pick<
  ServiceContext,
  'relational' | 'recordAudit' | 'clock' | 'log'
>

/** Starts what is scheduled; several processes may do it at once, each experiment starts once. */
export function createExperimentStarter(dependencies: ExperimentStarterDependencies) {
  const { relational, recordAudit, clock, log } = dependencies

  /** @returns whether it was this call that started it */
  async function start(key: Key): Promise<boolean> {
    return relational.transaction(async (tx) => {
      const store = createExperimentStore(tx)
      const held = await store.findForUpdate(key)
      const now = clock.now()
      // Another process has started it, or a user has changed its schedule, since it was listed.
      if (held?.status !== 'scheduled' || held.scheduledAt === null || held.scheduledAt.getTime() > now)
        return false
      await store.update(key, fieldsOf('start', now))
      await recordAudit(tx, {
        companyId: held.companyId,
        action: 'experiment-start',
        actor: { kind: 'platform' },
        target: { kind: 'experiment', id: held.id, name: held.name },
        details: { from: held.status, scheduledAt: held.scheduledAt.toISOString() },
      })
      return true
    })
  }

  return {
    /** @returns how many this call has started */
    async startDue(signal?: AbortSignal): Promise<number> {
      let started = 0
      const failed = new Set<string>()
      for (;;) {
        // Those that failed stay due: they are tried again by the next run, and hold up none behind them.
        const due = await createExperimentStore(relational.db).listDue(
          new Date(clock.now()),
          batch + failed.size,
        )
        const next = due.filter(({ id }) => !failed.has(id))
        if (next.length === 0) return started
        for (const key of next) {
          if (signal?.aborted) return started
          try {
            if (await start(key)) started++
          } catch (error) {
            failed.add(key.id)
            log.error({ err: error, experimentId: key.id }, 'a scheduled experiment could not be started')
          }
        }
      }
    },
  }
}
