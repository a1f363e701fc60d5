import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'

/** A table with the columns that are stored. */
export interface CopiedTable {
  /** Quoted, with its schema. */
  readonly name: string
  readonly columns: string
}

type Client = Pick<pg.Client, 'query'>

/** What migrations write themselves. */
const migrations = 'schema_migrations'

/** Every table of the database, but for the list of migrations. */
export async function listTables(client: Client): Promise<CopiedTable[]> {
  const { rows } = await client.query<CopiedTable>(
    `select format('%I.%I', n.nspname, c.relname) as name,
       string_agg(format('%I', a.attname), ', ' order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') and c.relname <> $1
     group by 1 order by 1`,
    [migrations],
  )
  return rows
}

export async function lastMigration(client: Client): Promise<number> {
  const { rows } = await client.query<{ number: number }>(`select max(number) as number from ${migrations}`)
  return rows[0]?.number ?? 0
}

/** The rows of a table as text of COPY, in the transaction of the connection. `rowCount` counts them at its end. */
export function copyOut(client: pg.Client, { name, columns }: CopiedTable): Readable & { rowCount: number } {
  return client.query(copyTo(`copy ${name} (${columns}) to stdout`))
}

/** Values of all sequences. */
export async function readSequences(client: Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; value: string | null }>(
    `select format('%I.%I', schemaname, sequencename) as name, last_value::text as value from pg_sequences`,
  )
  return Object.fromEntries(rows.flatMap(({ name, value }) => (value === null ? [] : [[name, value]])))
}

/** Begins to fill a database that has the tables and nothing else of value: one transaction, without triggers. */
export async function beginFilling(client: Client, tables: readonly CopiedTable[]): Promise<void> {
  await client.query('begin')
  await client.query('set local session_replication_role = replica')
  await client.query(`truncate ${tables.map(({ name }) => name).join(', ')} cascade`)
}

/** @returns how many rows there were */
export async function copyIn(
  client: pg.Client,
  { name, columns }: CopiedTable,
  rows: Readable,
): Promise<number> {
  const target = client.query(copyFrom(`copy ${name} (${columns}) from stdin`))
  await pipeline(rows, target)
  return target.rowCount
}

export async function writeSequences(
  client: Client,
  sequences: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, value] of Object.entries(sequences)) {
    await client.query('select setval($1::regclass, $2::bigint)', [name, value])
  }
}
