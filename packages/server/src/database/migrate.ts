import { fileURLToPath } from 'node:url'
import { packageFile } from '../platform/files/package-files.ts'
import type { Logger } from '../platform/logger.ts'
import { migrate, readMigrations } from '../platform/migrations/migrations.ts'
import type { PostgresAddress } from '../platform/stores/relational.ts'
import { columnarMigrations, type MigratableColumnar } from './columnar-migrations.ts'
import { relationalMigrations } from './relational-migrations.ts'

/** Numbered files of PostgreSQL's SQL. */
export const relationalDirectory = fileURLToPath(packageFile('src/database/migrations'))
/** Numbered files of ClickHouse's SQL. */
export const columnarDirectory = fileURLToPath(packageFile('src/database/columnar'))

/** All of a directory, or those up to a number, for a store that is filled with what an earlier version had. */
const migrationsOf = (directory: string, upTo = Number.POSITIVE_INFINITY) =>
  readMigrations(directory).filter(({ number }) => number <= upTo)

export interface RelationalMigrationOptions {
  /** Of a role that may create tables: the owner's where the application has another. */
  readonly address: PostgresAddress
  /** The role of the service, where that is another one. */
  readonly applicationRole?: string
  readonly logger: Logger
  /** The last migration that is applied; all by default. */
  readonly upTo?: number
}

/** Brings the relational store up to date; `migrate` says how and what it throws. */
export async function migrateRelational(options: RelationalMigrationOptions): Promise<string[]> {
  const { address, applicationRole, logger } = options
  const driver = relationalMigrations(address, applicationRole, logger)
  return await migrate(driver, migrationsOf(relationalDirectory, options.upTo), logger)
}

export interface ColumnarMigrationOptions {
  readonly columnar: MigratableColumnar
  /** The relational store, where processes that start at once wait for each other. */
  readonly lockAt: PostgresAddress
  readonly logger: Logger
  /** The last migration that is applied; all by default. */
  readonly upTo?: number
}

/** Brings the columnar store up to date; `migrate` says how and what it throws. */
export async function migrateColumnar(options: ColumnarMigrationOptions): Promise<string[]> {
  const { columnar, lockAt, logger } = options
  const driver = columnarMigrations(columnar, lockAt, logger)
  return await migrate(driver, migrationsOf(columnarDirectory, options.upTo), logger)
}
