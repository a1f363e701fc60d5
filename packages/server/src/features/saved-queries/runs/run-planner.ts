import { createHash } from 'node:crypto'
import { newId } from '../../../platform/ids.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import type { Work } from '../../../platform/work/background.ts'
import type { Zone } from '../../analytics/query/time/zone.ts'
import { createSavedQueryStore, type StoredSavedQuery } from '../saved-query-store.ts'
import { type DueTimes, dueTimes } from '../schedule/planned-times.ts'
import { readSchedule } from '../schedule/read-schedule.ts'
import type { PauseSchedule } from './pause-schedule.ts'
import { createRunStore, type NewRun } from './run-store.ts'

export interface RunPlannerDependencies extends Pick<ServiceContext, 'relational' | 'log'> {
  readonly readSettings: (companyId: string) => Promise<{ readonly timezone: string }>
  readonly openZone: (name: string) => Zone
  readonly pause: PauseSchedule
}

/** Saved queries of one transaction. */
const batch = 100
/** Runs of the same minute begin spread over so many milliseconds, each saved query's always at the same place. */
const spreadMs = 9_000

const placeOf = (id: string): number => createHash('sha256').update(id).digest().readUInt32BE() % spreadMs

/**
 * Turns planned times that have come into runs. The saved query is locked meanwhile and its next planned time moves on
 * in the same transaction, so each planned time becomes one entry of the ledger, however many processes look.
 */
export function createRunPlanner(dependencies: RunPlannerDependencies) {
  const { relational, readSettings, openZone, pause, log } = dependencies

  function entriesOf(
    due: StoredSavedQuery,
    latest: number,
    missed: readonly number[],
    now: number,
  ): NewRun[] {
    const entry = (at: number) => ({
      id: newId(),
      companyId: due.companyId,
      savedQueryId: due.id,
      trigger: 'schedule' as const,
      plannedFor: new Date(at),
    })
    const reason = `run as planned for ${new Date(latest).toISOString()} instead: the service was down, or an earlier run had not ended`
    return [
      ...missed.map((at) => ({ ...entry(at), state: 'missed' as const, endedAt: new Date(now), reason })),
      { ...entry(latest), state: 'queued' as const, dueAt: new Date(now + placeOf(due.id)) },
    ]
  }

  /** A schedule that cannot be planned must not hold up the others of its transaction: it is paused with a reason. */
  function timesOf(due: StoredSavedQuery, timezone: string, now: number): DueTimes | string {
    try {
      const { plan, faults } = readSchedule(due.schedule, timezone, openZone)
      const { recipients = [], linkedAccounts = [] } = due.schedule
      if (recipients.length + linkedAccounts.length === 0) return 'no receiver of its results is left'
      if (plan) return dueTimes(plan.recurrence, plan.zone, due.plannedTo.getTime(), now)
      return `the schedule is no longer valid: ${faults[0]?.path} ${faults[0]?.message}`
    } catch (error) {
      log.error({ savedQueryId: due.id, err: error }, 'a schedule cannot be planned')
      return 'the schedule is no longer valid'
    }
  }

  /** @returns whether there may be more to plan */
  async function plan(): Promise<boolean> {
    return relational.transaction(async (tx) => {
      const savedQueries = createSavedQueryStore(tx)
      const runs = createRunStore(tx)
      const { now, rows } = await savedQueries.lockDue(batch)
      for (const due of rows) {
        const { companyId, id } = due
        const times = timesOf(due, (await readSettings(companyId)).timezone, now)
        if (typeof times === 'string') {
          await pause(tx, due, times)
          continue
        }
        const { latest, missed, next } = times
        if (latest !== undefined) await runs.insert(entriesOf(due, latest, missed, now))
        await savedQueries.note(companyId, id, {
          nextRunAt: next === undefined ? null : new Date(next),
          plannedTo: new Date(now),
        })
      }
      return rows.length === batch
    })
  }

  const work: Work = { name: 'schedules', dueAt: createSavedQueryStore(relational.db).dueAt, run: plan }
  return { ...work, plan }
}
