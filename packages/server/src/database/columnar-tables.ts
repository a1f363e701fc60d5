import type { Columnar } from '../platform/stores/columnar.ts'
import { unboundedResult } from '../platform/stores/columnar-settings.ts'
import { quoteIdentifier } from '../platform/stores/identifiers.ts'

/** Of tables that a backup of a server makes. */
const clonePrefix = 'backup_'

/** What a backup must know of the columnar store. */
export interface ColumnarFigures {
  /** Directory of the engine, as it says. */
  readonly root: string
  /** The last migration that was applied. */
  readonly migration: number
  /** Tables with parts on disk, but for the list of migrations, and the directory of each. */
  readonly tables: readonly { readonly name: string; readonly path: string; readonly parts: number }[]
}

export async function columnarFigures({ query }: Pick<Columnar, 'query'>): Promise<ColumnarFigures> {
  const tables = await query<{ name: string; path: string; parts: number }>({
    sql: `SELECT name, data_paths[1] AS path, parts FROM system.tables
          WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'
            AND NOT startsWith(name, {clone: String}) ORDER BY name`,
    params: { clone: clonePrefix },
  })
  const [disk] = await query<{ path: string }>({
    sql: `SELECT path FROM system.disks WHERE name = 'default'`,
  })
  const [last] = await query<{ number: number }>({
    sql: 'SELECT max(number) AS number FROM schema_migrations',
  })
  return { root: disk?.path ?? '', migration: last?.number ?? 0, tables }
}

/** Attaches what lies in the detached directory of a table. */
export async function attachParts(
  { command }: Pick<Columnar, 'command'>,
  table: string,
  parts: readonly string[],
): Promise<void> {
  for (const part of parts) {
    await command({ sql: `ALTER TABLE ${table} ATTACH PART {part: String}`, params: { part } })
  }
}

/** Rows of the parts of a table, those too that were removed and not rewritten yet: a part says how many these are. */
export async function countRows({ query }: Pick<Columnar, 'query'>, table: string): Promise<number> {
  const [row] = await query<{ rows: number }>({
    sql: `SELECT count() AS rows FROM ${table}`,
    settings: { apply_deleted_mask: 0 },
  })
  return row?.rows ?? 0
}

/** Without an end that anyone waits for. */
const copyingSeconds = 24 * 3_600

export interface CopyOptions {
  /** The table that is read, where its name is another. */
  readonly source?: string
  /** Called before each partition; what it throws ends the copy. */
  readonly onPartition?: () => Promise<void>
}

/**
 * Copies the rows of a table to one of the same form, in another engine or server. Rows that were removed and not
 * rewritten yet stay behind.
 * @throws Error the copy has other rows than the source
 */
export async function copyTable(
  from: Pick<Columnar, 'query' | 'stream'>,
  to: Pick<Columnar, 'query' | 'insert'>,
  table: string,
  { source = table, onPartition }: CopyOptions = {},
): Promise<void> {
  const settings = { max_execution_time: copyingSeconds }
  for (const partition of await partitionsOf(from, source)) {
    await onPartition?.()
    const body = await from.stream({
      sql: `SELECT * FROM ${quoteIdentifier(source)} WHERE _partition_id = {partition: String}`,
      params: { partition },
      format: 'Native',
      // One thread reads parts in their order, so that of two rows of one key the same is the last.
      settings: { ...settings, ...unboundedResult, max_threads: 1 },
    })
    await to.insert({ table, format: 'Native', body, settings })
  }
  const [read, written] = await Promise.all([countKeys(from, source), countKeys(to, table)])
  if (read !== written) throw new Error(`${table} has ${written} rows after the copy, and ${read} before`)
}

/** A table is copied by partitions, since an insert takes no more than a hundred at once. */
async function partitionsOf({ query }: Pick<Columnar, 'query'>, table: string): Promise<string[]> {
  const rows = await query<{ partition: string }>({
    sql: `SELECT DISTINCT partition_id AS partition FROM system.parts
          WHERE active AND database = currentDatabase() AND table = {table: String} ORDER BY partition`,
    params: { table },
  })
  return rows.map(({ partition }) => partition)
}

/** Visible rows of a table, those that a merge will replace left out. */
async function countKeys({ query }: Pick<Columnar, 'query'>, table: string): Promise<number> {
  const [row] = await query<{ replaces: number }>({
    sql: `SELECT engine LIKE 'Replacing%' AS replaces FROM system.tables
          WHERE database = currentDatabase() AND name = {table: String}`,
    params: { table },
  })
  const [counted] = await query<{ rows: number }>({
    sql: `SELECT count() AS rows FROM ${quoteIdentifier(table)}${row?.replaces ? ' FINAL' : ''}`,
    settings: { max_execution_time: 600 },
  })
  return counted?.rows ?? 0
}

/** A table of a server as it is now, under another name: it shares the parts, so it takes neither time nor room. */
export async function cloneTable({ command }: Pick<Columnar, 'command'>, table: string): Promise<string> {
  const clone = `${clonePrefix}${table}`
  await command({ sql: `CREATE TABLE ${clone} CLONE AS ${table}` })
  return clone
}

/** Clones that a backup makes, or has left. */
export async function listClones(columnar: Pick<Columnar, 'query'>): Promise<string[]> {
  return (await tableNames(columnar)).filter((name) => name.startsWith(clonePrefix))
}

export async function dropClones(columnar: Pick<Columnar, 'query' | 'command'>): Promise<void> {
  for (const name of await listClones(columnar)) {
    await columnar.command({
      sql: `DROP TABLE ${quoteIdentifier(name)} SYNC`,
      // A server refuses to drop more than 50 GB by default.
      settings: { max_table_size_to_drop: 0 },
    })
  }
}

/** Names of all tables of the database. */
export async function tableNames({ query }: Pick<Columnar, 'query'>): Promise<string[]> {
  const tables = await query<{ name: string }>({
    sql: 'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  })
  return tables.map(({ name }) => name)
}
