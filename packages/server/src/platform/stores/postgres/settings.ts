/** How the embedded PostgreSQL is set up: for a small machine that it shares, with nothing that could lose a commit. */
export const port = 5432
export const superuser = 'postgres'
/** Owns the tables and runs migrations. */
export const ownerRole = 'millrace_owner'
/** What the service works as: reads and writes rows, creates and drops nothing. */
export const applicationRole = 'millrace'
export const databaseName = 'millrace'

const maxConnections = 40

/** Written into `postgresql.conf` when the directory is made and given again at every start, so that they hold after an upgrade. */
const fixed: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: String(port),
  unix_socket_permissions: '0700',
  max_connections: String(maxConnections),
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: '64MB',
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
  effective_cache_size: '256MB',
  max_wal_size: '256MB',
  min_wal_size: '80MB',
  random_page_cost: '1.1',
  jit: 'off',
  // Reading through the kernel's cache needs no processes of its own.
  io_method: 'sync',
  max_worker_processes: '4',
  max_parallel_workers: '2',
  autovacuum_max_workers: '2',
  max_logical_replication_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // Statements and the rows in error details hold addresses and hashes of secrets.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_line_prefix: '',
  log_destination: 'stderr',
  logging_collector: 'off',
  // A query whose client is gone is cancelled.
  client_connection_check_interval: '2s',
}

/** `-c name=value` for `postgres` and `initdb`. */
export function settingArguments(changes: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries({ ...fixed, ...changes }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

export const initArguments: readonly string[] = [
  `--username=${superuser}`,
  // The socket's directory (0700) says who may connect; no password could be safer than that.
  '--auth=trust',
  '--encoding=UTF8',
  // Built in: sorting and case do not change with the libraries of the operating system.
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--data-checksums',
  '--no-instructions',
]
