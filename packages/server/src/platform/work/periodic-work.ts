import type { Logger } from '../logger.ts'
import { sql } from '../stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../stores/relational.ts'
import { logWorkFailure, type Work } from './background.ts'
import { holdLease, leaseSeconds } from './lease.ts'

/** Something that is done at regular times, each time by one process of all. */
export interface Periodic {
  /** For the log, in the plural; never changes, because its times are kept under it. */
  readonly name: string
  readonly everySeconds: number
  /** Seconds after the beginning of each period, so that not everything begins at once. */
  readonly atSeconds?: number
  readonly run: (signal: AbortSignal) => Promise<unknown>
}

/** After a failure it is done again this early. */
const retrySeconds = 60

/**
 * All that is done at regular times. Its next times are rows of `periodic_work`: what was missed during a stop is done
 * once after it, and what a process was killed at another one does again.
 */
export function createPeriodicWork(
  db: Queries,
  log: Pick<Logger, 'warn' | 'error'>,
  periodics: readonly Periodic[],
): Work {
  const names = sql.join(
    periodics.map(({ name }) => sql`(${name}::text)`),
    sql`, `,
  )
  const all = sql`(values ${names}) as wanted (name) left join periodic_work using (name)`
  const leased = (seconds: number) => sql`now() + make_interval(secs => ${seconds})`

  async function take(): Promise<{ name: string; turn: number } | undefined> {
    const rows = await sqlOn(db)<{ name: string; turn: number }>`
      insert into periodic_work as known (name, due_at)
      select name, ${leased(leaseSeconds)} from ${all}
      where coalesce(due_at <= now(), true) order by due_at nulls first limit 1
      on conflict (name) do update set due_at = excluded.due_at, turn = known.turn + 1 where known.due_at <= now()
      returning name, turn`
    return rows[0]
  }

  return {
    name: 'periodic work',
    dueAt: sql`(select min(coalesce(due_at, now())) from ${all})`,
    lanes: periodics.length,
    async run(stopping, onTaken) {
      const taken = await take()
      const periodic = periodics.find(({ name }) => name === taken?.name)
      if (!taken || !periodic) return false
      onTaken()
      const { name, everySeconds, atSeconds = 0 } = periodic
      const setDue = async (dueAt: ReturnType<typeof leased>): Promise<boolean> => {
        const { rowCount } = await db.execute(
          sql`update periodic_work set due_at = ${dueAt} where name = ${name} and turn = ${taken.turn}`,
        )
        return (rowCount ?? 0) > 0
      }
      const lease = holdLease({
        keep: (seconds) => setDue(leased(seconds)),
        onError: (error) => logWorkFailure(log, name, error),
        stopping,
      })
      let next = sql`to_timestamp(
        (floor((extract(epoch from now()) - ${atSeconds}) / ${everySeconds}) + 1) * ${everySeconds} + ${atSeconds})`
      try {
        await periodic.run(lease.signal)
      } catch (error) {
        if (lease.isLost()) return true
        if (!stopping.aborted) logWorkFailure(log, name, error)
        next = leased(stopping.aborted ? 0 : Math.min(retrySeconds, everySeconds))
      } finally {
        lease.end()
      }
      await setDue(next)
      return true
    },
  }
}
