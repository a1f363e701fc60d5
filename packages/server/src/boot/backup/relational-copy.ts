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

/** Every table of the service, but for the list of migrations. A server may have those of others in other schemas. */
export async function listTables(client: Client): Promise<CopiedTable[]> {
  const { rows } = await client.query<CopiedTable>(
    `select format('%I.%I', n.nspname, c.relname) as name,
       string_agg(format('%I', a.attname), ', ' order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relkind = 'r' and n.nspname in ('public', 'datasource_rows') and c.relname <> $1
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

/** The table of the rows of a version of a worker datasource, and its identifier. */
const rowsTable = /^datasource_rows\.v_([0-9a-f]{24})$/

/** Keeps the tables as they are while a backup reads them: those of former versions of datasources are dropped. */
export async function holdTables(client: Client, tables: readonly CopiedTable[]): Promise<void> {
  await client.query(`lock table ${tables.map(({ name }) => name).join(', ')} in access share mode`)
}

/** Statements that the owner of the tables may run, which a superuser would not need. */
async function listStatements(client: Client): Promise<{ before: string[]; after: string[] }> {
  const { rows } = await client.query<{ before: string; after: string }>(
    `select format('alter table %s alter constraint %I deferrable initially deferred', conrelid::regclass, conname)
         as before,
       format('alter table %s alter constraint %I %s', conrelid::regclass, conname, case
         when condeferred then 'deferrable initially deferred'
         when condeferrable then 'deferrable initially immediate' else 'not deferrable' end) as after
     from pg_constraint where contype = 'f' and conparentid = 0
     union all
     select distinct format('alter table %s disable trigger user', tgrelid::regclass),
       format('alter table %s enable trigger user', tgrelid::regclass)
     from pg_trigger where not tgisinternal and tgparentid = 0`,
  )
  return { before: rows.map(({ before }) => before), after: rows.map(({ after }) => after) }
}

/**
 * Fills a database that has the tables and nothing of value, in one transaction, as their owner: without triggers, and
 * with foreign keys compared at the end.
 * @param expected names of the tables that there are to be; those of rows of datasources are made
 * @param copy fills one
 */
export async function fillTables(
  client: Client,
  expected: readonly string[],
  copy: (tables: readonly CopiedTable[]) => Promise<void>,
): Promise<void> {
  await client.query('begin')
  const versions = expected.flatMap((name) => rowsTable.exec(name)?.[1] ?? [])
  for (const id of versions) await client.query('select datasource_rows.make($1)', [id])
  const { before, after } = await listStatements(client)
  for (const statement of before) await client.query(statement)
  const tables = await listTables(client)
  await client.query(`truncate ${tables.map(({ name }) => name).join(', ')} cascade`)
  await copy(tables)
  for (const id of versions) {
    await client.query(
      `select datasource_rows.finish($1, exists(
         select from datasource_versions where id = $1 and key_field is not null))`,
      [id],
    )
  }
  await client.query('set constraints all immediate')
  for (const statement of after) await client.query(statement)
  await client.query('commit')
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
