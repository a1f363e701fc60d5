import { type PgColumn, type SQL, sql } from './drizzle.ts'

/** Whether a column holds a text, whatever the case of both; no letter of the text is a wildcard. */
export function containsText(column: PgColumn | SQL, text: string): SQL {
  return sql`${column} ilike ${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`}`
}
