import { type SQL, sql } from 'drizzle-orm'

/**
 * The present as SQL. What begins and ends is decided by the clock of the database, the one clock that all
 * processes share; tests hand in an instant of their own.
 */
export type SqlNow = () => SQL

export const databaseNow: SqlNow = () => sql`now()`
