import { createRequire } from 'node:module'
import type { GetColumnData, SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/**
 * What the service uses of Drizzle, from its CommonJS files. At each import between its hundreds of modules Node reads
 * and parses the package's long list of exports again, which was about a fifth of the work of a start; `require`
 * does not.
 */
const require = createRequire(import.meta.url)

export const {
  and,
  asc,
  count,
  desc,
  eq,
  exists,
  getTableColumns,
  getTableName,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  not,
  notInArray,
  or,
  sql,
} = require('drizzle-orm') as typeof import('drizzle-orm')

export const {
  PgDialect,
  alias,
  bigint,
  boolean,
  customType,
  date,
  doublePrecision,
  integer,
  json,
  jsonb,
  pgTable,
  primaryKey,
  real,
  smallint,
  text,
  timestamp,
} = require('drizzle-orm/pg-core') as typeof import('drizzle-orm/pg-core')

export const { NoopCache } = require('drizzle-orm/cache/core') as typeof import('drizzle-orm/cache/core')
export const { NoopLogger } = require('drizzle-orm/logger') as typeof import('drizzle-orm/logger')
export const { NodePgDatabase } =
  require('drizzle-orm/node-postgres') as typeof import('drizzle-orm/node-postgres')
export const { NodePgPreparedQuery, NodePgSession, NodePgTransaction } =
  require('drizzle-orm/node-postgres/session') as typeof import('drizzle-orm/node-postgres/session')

export type { SQL, SQLWrapper } from 'drizzle-orm'
export type { AnyPgColumn, PgColumn, PgTable, PgTransactionConfig } from 'drizzle-orm/pg-core'

/** A row of what is selected by these names. */
export type Row<C extends Readonly<Record<string, SQL | PgColumn>>> = {
  readonly [K in keyof C]: C[K] extends SQL<infer V> ? V : C[K] extends PgColumn ? GetColumnData<C[K]> : never
}

/** Some columns of a table, by their names. */
export function columnsOf<Table extends object, const Names extends readonly (keyof Table)[]>(
  table: Table,
  names: Names,
) {
  return Object.fromEntries(names.map((name) => [name, table[name]])) as Pick<Table, Names[number]>
}
