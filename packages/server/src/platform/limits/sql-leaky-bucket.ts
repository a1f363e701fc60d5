import { createHash } from 'node:crypto'
import { type SQL, sql } from '../stores/postgres/drizzle.ts'
import type { Queries } from '../stores/relational.ts'

/** A bucket that everything counted fills by as much as drains in `drainSeconds`. */
export interface SqlBucket {
  /** SHA-256 of what is counted and for whom (`bucketKey`). */
  readonly key: Buffer
  readonly drainSeconds: number
}

export interface BoundedSqlBucket extends SqlBucket {
  /** How many are free at once. */
  readonly free: number
}

/** A bucket that is not empty. */
export interface SqlBucketState {
  readonly key: Buffer
  /** How long the bucket needed to drain when it was last filled. */
  readonly filledSeconds: number
  readonly sinceLastFillSeconds: number
}

/** @param kind what is counted @param parts for whom, such as an address: it cannot be read from the key */
export function bucketKey(kind: string, ...parts: readonly string[]): Buffer {
  const digest = createHash('sha256').update(kind)
  for (const part of parts) digest.update(`\0${part.length}\0${part}`)
  return digest.digest()
}

const sweepSize = 50

/**
 * Leaky buckets in the table `leaky_buckets`, shared by all processes and kept across restarts. The present is that of
 * the database.
 */
export function createSqlLeakyBuckets(db: Pick<Queries, 'execute'>) {
  const list = (parts: SQL[]): SQL => sql.join(parts, sql`, `)

  /** Fills every bucket, with a bound only those with room. @returns how many it filled */
  async function fill(buckets: readonly SqlBucket[], free?: number): Promise<number> {
    // Rows are locked in the order of their keys, so that no two statements wait for each other.
    const rows = buckets
      .toSorted((a, b) => Buffer.compare(a.key, b.key))
      .map(
        ({ key, drainSeconds }) =>
          sql`(${key}::bytea, now() + make_interval(secs => ${drainSeconds}), now())`,
      )
    const one = sql`(excluded.drained_at - excluded.filled_at)`
    const filled = sql`greatest(known.drained_at, excluded.filled_at) + ${one}`
    const room =
      free === undefined ? sql`true` : sql`${filled} <= excluded.filled_at + ${one} * ${free}::float8`
    const { rowCount } = await db.execute(
      sql`insert into leaky_buckets as known (key, drained_at, filled_at) values ${list(rows)}
        on conflict (key) do update set
          drained_at = ${filled}, filled_at = greatest(known.filled_at, excluded.filled_at)
        where ${room}`,
    )
    return rowCount ?? 0
  }

  async function sweep(): Promise<void> {
    await db.execute(
      sql`delete from leaky_buckets where key in (
        select key from leaky_buckets where drained_at < now() - interval '1 minute'
        limit ${sweepSize} for update skip locked)`,
    )
  }

  return {
    /** Counts one if there is room. @returns seconds until the next one is free; 0 when this one was */
    async take(bucket: BoundedSqlBucket): Promise<number> {
      const { key, free, drainSeconds } = bucket
      if ((await fill([bucket], free)) > 0) {
        await sweep()
        return 0
      }
      const { rows } = await db.execute<{ wait: number }>(
        sql`select extract(epoch from drained_at - now())::float8 - ${(free - 1) * drainSeconds}::float8 as wait
          from leaky_buckets where key = ${key}`,
      )
      return Math.max(1, Math.ceil(rows[0]?.wait ?? 1))
    },

    /** Counts one in every bucket, however full. */
    async fill(buckets: readonly SqlBucket[]): Promise<void> {
      await fill(buckets)
      await sweep()
    },

    /** Those of the buckets that are not empty. */
    async listStates(buckets: readonly SqlBucket[]): Promise<SqlBucketState[]> {
      const { rows } = await db.execute<{ key: Buffer; filled: number; since: number }>(
        sql`select key, extract(epoch from drained_at - filled_at)::float8 as filled,
            greatest(0, extract(epoch from now() - filled_at))::float8 as since
          from leaky_buckets
          where key in (${list(buckets.map(({ key }) => sql`${key}`))}) and drained_at > now()`,
      )
      return rows.map(({ key, filled, since }) => ({
        key,
        filledSeconds: filled,
        sinceLastFillSeconds: since,
      }))
    },

    /** Empties the bucket. */
    async forget(key: Buffer): Promise<void> {
      await db.execute(sql`delete from leaky_buckets where key = ${key}`)
    },
  }
}

export type SqlLeakyBuckets = ReturnType<typeof createSqlLeakyBuckets>
