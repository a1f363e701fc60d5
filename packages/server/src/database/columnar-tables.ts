import type { Columnar } from '../platform/stores/columnar.ts'

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
          WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations' ORDER BY name`,
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
