import { columnarDirectory, relationalDirectory } from '../../database/migrate.ts'
import { describeMigration, type MigrationDescription } from '../../platform/migrations/describe-migration.ts'
import { readMigrations } from '../../platform/migrations/migrations.ts'
import type { Columnar } from '../../platform/stores/columnar.ts'
import type { Relational } from '../../platform/stores/relational.ts'

/** A migration that the next start of this version applies. */
export interface PendingMigration extends Pick<MigrationDescription, 'file' | 'about'> {
  readonly store: string
  /** Tables of which every row counts, with how many they have. */
  readonly rows: ReadonlyMap<string, number>
  /** An estimate. */
  readonly seconds: number
}

export interface MigrationState {
  readonly pending: readonly PendingMigration[]
  /** Files that this version does not have: a newer one has set the stores up. */
  readonly unknown: readonly string[]
}

interface Store {
  /** That the slowest kind of statement goes through: an update of a table with a key in PostgreSQL, measured. */
  readonly rowsPerSecond: number
  readonly name: string
  readonly directory: string
  readonly applied: readonly { readonly number: number; readonly file: string }[]
  readonly rows: ReadonlyMap<string, number>
}

function stateOf({ name, directory, applied, rows, rowsPerSecond }: Store): MigrationState {
  const known = readMigrations(directory)
  const numbers = new Set(known.map(({ number }) => number))
  const done = new Set(applied.map(({ number }) => number))
  const pending = known
    .filter(({ number }) => !done.has(number))
    .map((migration): PendingMigration => {
      const { file, about, tables } = describeMigration(migration)
      // One that is not there yet has no row.
      const counted = new Map(
        tables.flatMap((table) => (rows.has(table) ? [[table, rows.get(table) ?? 0]] : [])),
      )
      const sum = [...counted.values()].reduce((all, count) => all + count, 0)
      return { store: name, file, about, rows: counted, seconds: Math.ceil(sum / rowsPerSecond) }
    })
  return { pending, unknown: applied.filter(({ number }) => !numbers.has(number)).map(({ file }) => file) }
}

/** What the stores lack of this version, or this version of the stores. Changes nothing. */
export async function readMigrationState({
  relational,
  columnar,
}: {
  readonly relational: Pick<Relational, 'pool'>
  readonly columnar: Pick<Columnar, 'query'>
}): Promise<MigrationState> {
  const ask = async <T>(sql: string): Promise<T[]> => (await relational.pool.query(sql)).rows as T[]
  const counted = (rows: readonly { table: string; rows: string | number }[]) =>
    new Map(rows.map((each) => [each.table, Number(each.rows)]))
  const states = [
    stateOf({
      name: 'relational store',
      rowsPerSecond: 50_000,
      directory: relationalDirectory,
      applied: await ask('select number, file from schema_migrations order by number'),
      rows: counted(
        await ask(
          `select relname as table, greatest(reltuples, 0)::bigint as rows from pg_class
           where relkind = 'r' and relnamespace = current_schema()::regnamespace`,
        ),
      ),
    }),
    stateOf({
      name: 'columnar store',
      rowsPerSecond: 500_000,
      directory: columnarDirectory,
      // The record of the last statement finishes a file.
      applied: await columnar.query({
        sql: `SELECT number, any(file) AS file FROM schema_migrations GROUP BY number
              HAVING max(statement) = any(statements) ORDER BY number`,
      }),
      rows: counted(
        await columnar.query({
          sql: `SELECT table, sum(rows) AS rows FROM system.parts
                WHERE active AND database = currentDatabase() GROUP BY table`,
        }),
      ),
    }),
  ]
  return {
    pending: states.flatMap(({ pending }) => pending),
    unknown: states.flatMap(({ unknown }) => unknown),
  }
}
