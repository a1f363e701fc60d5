import { sql } from 'drizzle-orm'
import { loginFailures } from '../../../../database/tables/login-failure.ts'
import type { Relational } from '../../../../platform/stores/relational.ts'
import type { Bucket, BucketState } from './login-throttle.ts'

const sweepSize = 50

export type ThrottleStore = ReturnType<typeof createThrottleStore>

/** Failed sign-ins, shared by all processes and kept across restarts. */
export function createThrottleStore(relational: Pick<Relational, 'db'>) {
  const { db } = relational
  return {
    async listStates(buckets: readonly Bucket[]): Promise<BucketState[]> {
      const keys = sql.join(
        buckets.map(({ key }) => sql`${key}`),
        sql`, `,
      )
      const { rows } = await db.execute<{ key: Buffer; filled: number; since: number }>(
        sql`select key, extract(epoch from drained_at - failed_at)::float8 as filled,
            greatest(0, extract(epoch from now() - failed_at))::float8 as since
          from ${loginFailures} where key in (${keys}) and drained_at > now()`,
      )
      return rows.map(({ key, filled, since }) => ({
        key,
        filledSeconds: filled,
        sinceLastFailureSeconds: since,
      }))
    },

    /** Counts one failure in every bucket. Rows are locked in the order of their keys, so that none deadlocks. */
    async countFailure(buckets: readonly Bucket[]): Promise<void> {
      const sorted = buckets.toSorted((a, b) => Buffer.compare(a.key, b.key))
      const rows = sql.join(
        sorted.map(
          ({ key, allowance }) =>
            sql`(${key}::bytea, now() + make_interval(secs => ${allowance.drainSeconds}), now())`,
        ),
        sql`, `,
      )
      await db.execute(
        sql`insert into ${loginFailures} as known (key, drained_at, failed_at) values ${rows}
          on conflict (key) do update set
            drained_at = greatest(known.drained_at, excluded.failed_at) + (excluded.drained_at - excluded.failed_at),
            failed_at = greatest(known.failed_at, excluded.failed_at)`,
      )
      await db.execute(
        sql`delete from ${loginFailures} where key in (
          select key from ${loginFailures} where drained_at < now() - interval '1 minute'
          limit ${sweepSize} for update skip locked)`,
      )
    },

    async forget({ key }: Bucket): Promise<void> {
      await db.execute(sql`delete from ${loginFailures} where key = ${key}`)
    },
  }
}
