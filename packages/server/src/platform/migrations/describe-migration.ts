import type { Migration } from './migrations.ts'
import { skeleton, splitStatements } from './sql-statements.ts'

export interface MigrationDescription {
  readonly file: string
  /** What it says of itself. */
  readonly about: string
  /** Tables whose rows it reads or writes: it takes as long as they are large. All else takes a moment. */
  readonly tables: readonly string[]
}

/** Statements, in upper case, that go through the rows of a table, which is the group. */
const overRows = [
  /^UPDATE (?:ONLY )?(\w+)/,
  /^DELETE FROM (\w+)/,
  /^CREATE (?:UNIQUE )?INDEX .*? ON (?:ONLY )?(\w+)/,
  /^ALTER TABLE (?:IF EXISTS )?(\w+)(?= .*\b(?:TYPE|ADD (?:CONSTRAINT|CHECK|PRIMARY|FOREIGN)|DELETE WHERE|UPDATE|MATERIALIZE)\b)/,
] as const

function tablesOf(words: string): string[] {
  if (words.startsWith('INSERT ')) {
    return Array.from(words.matchAll(/\b(?:FROM|JOIN) (\w+)/g), ([, table = '']) => table)
  }
  return overRows.flatMap((pattern) => pattern.exec(words)?.[1] ?? [])
}

/** The first sentence of the comment at the top of a file, or the words of its name. */
function aboutOf({ file, sql }: Migration): string {
  const [comment = ''] = /^(?:--.*\n)+/.exec(sql) ?? []
  const text = comment.replaceAll(/^-- ?/gm, '').replaceAll('\n', ' ').trim()
  return /^.*?[.:](?= |$)/.exec(text)?.[0].slice(0, -1) ?? (text || file.replace(/^\d+-|\.sql$/g, ''))
}

/** Says what a migration does, without a store. */
export function describeMigration(migration: Migration): MigrationDescription {
  const statements = splitStatements(migration.sql).map(({ text }) => skeleton(text))
  const made = new Set(
    statements.map((words) => /^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/.exec(words)?.[1] ?? ''),
  )
  const tables = statements.flatMap(tablesOf).filter((table) => !made.has(table))
  return {
    file: migration.file,
    about: aboutOf(migration),
    tables: [...new Set(tables.map((table) => table.toLowerCase()))],
  }
}
