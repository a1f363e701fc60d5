import type { Config } from '../../platform/config/config.ts'
import type { Reached } from './doctor-checks.ts'

/** What tells a helper how large everything is and how it goes, and nothing of anyone. */
export async function describeService(config: Config, { relational, columnar, baseUrl }: Reached) {
  const token = config.http.metricsToken
  const [tables, parts, metrics] = await Promise.all([
    relational.pool.query(
      `select relname as table, n_live_tup::float8 as rows, pg_total_relation_size(relid)::float8 as bytes
       from pg_stat_user_tables where schemaname = 'public' order by bytes desc`,
    ),
    columnar.query({
      sql: `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes, count() AS parts FROM system.parts
            WHERE active AND database = currentDatabase() GROUP BY table ORDER BY bytes DESC`,
    }),
    fetch(`${baseUrl.replace(/\/v2$/, '')}/metrics`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(5_000),
    }).then((reply) => reply.text()),
  ])
  return { relational: tables.rows, columnar: parts, metrics: metrics.split('\n') }
}

const ownVariable = /^(MILLRACE_|DATABASE_|CLICKHOUSE_|SMTP_|NODE_OPTIONS$|UV_THREADPOOL_SIZE$)/

/** Names alone, of those that are set. */
export const listVariables = (): string[] =>
  Object.keys(process.env)
    .filter((name) => ownVariable.test(name))
    .sort()
