export interface SqlStatement {
  /** Without the semicolon that ends it and without white space around it; comments inside are kept. */
  readonly text: string
  /** In the file, from 1: where the first word of the statement is. */
  readonly line: number
}

/**
 * Everything in ClickHouse's SQL inside which a semicolon means nothing (ClickHouse, Syntax). PostgreSQL's differs in
 * corners: a backslash in its strings escapes nothing.
 */
const opaque =
  /--[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\$(\w*)\$[\s\S]*?\$\1\$|'(?:\\[\s\S]|''|[^'\\])*'|"(?:\\[\s\S]|""|[^"\\])*"|`(?:\\[\s\S]|``|[^`\\])*`/y

const isComment = (text: string): boolean => /^(?:--|#[ !]|\/\*)/.test(text)

/** Splits a file of ClickHouse's SQL into its statements; one that is only comments is left out. */
export function splitStatements(sql: string): SqlStatement[] {
  const statements: SqlStatement[] = []
  let start = 0
  let firstWord = -1
  const end = (at: number): void => {
    if (firstWord >= 0) {
      const line = sql.slice(0, firstWord).split('\n').length
      statements.push({ text: sql.slice(start, at).trim(), line })
    }
    start = at + 1
    firstWord = -1
  }
  let at = 0
  while (at < sql.length) {
    opaque.lastIndex = at
    const found = opaque.exec(sql)?.[0]
    if (found !== undefined) {
      if (firstWord < 0 && !isComment(found)) firstWord = at
      at += found.length
      continue
    }
    const character = sql.charAt(at)
    if (character === ';') end(at)
    else if (firstWord < 0 && character.trim() !== '') firstWord = at
    at += 1
  }
  end(sql.length)
  return statements
}

/** The words of a statement in upper case, with its comments taken out and its literals emptied. */
export function skeleton(text: string): string {
  let words = ''
  let at = 0
  while (at < text.length) {
    opaque.lastIndex = at
    const found = opaque.exec(text)?.[0]
    if (found === undefined) words += text.charAt(at)
    else words += isComment(found) ? ' ' : `${found.charAt(0)}${found.charAt(0)}`
    at += found?.length ?? 1
  }
  return words.replace(/\s+/g, ' ').trim().toUpperCase()
}

/** What makes a statement safe to run again, by its first word; absent words are not safe at all. */
const repeatable: Readonly<Record<string, (words: string) => string | undefined>> = {
  CREATE: (words) =>
    /^CREATE OR REPLACE |\bIF NOT EXISTS\b/.test(words) ? undefined : 'write CREATE ... IF NOT EXISTS',
  DROP: (words) => (/\bIF EXISTS\b/.test(words) ? undefined : 'write DROP ... IF EXISTS'),
  ALTER(words) {
    if (/\bADD (?:COLUMN|INDEX|PROJECTION|CONSTRAINT|STATISTICS) (?!IF NOT EXISTS\b)/.test(words))
      return 'write ADD ... IF NOT EXISTS'
    if (
      /\b(?:DROP|RENAME|CLEAR) (?:COLUMN|INDEX|PROJECTION|CONSTRAINT|STATISTICS) (?!IF EXISTS\b)/.test(words)
    )
      return 'write DROP ... IF EXISTS, RENAME ... IF EXISTS'
    return undefined
  },
  TRUNCATE: () => undefined,
  OPTIMIZE: () => undefined,
  SYSTEM: () => undefined,
}

/**
 * Why a statement of ClickHouse cannot safely run a second time, and what to write instead. The engine has no
 * transactions: after an interruption the last statement may or may not have happened. A comment
 * `-- repeatable: reason` inside the statement vouches for one that this function does not understand.
 * @returns undefined for a statement that can
 */
export function whyNotRepeatable(text: string): string | undefined {
  if (/^\s*-- repeatable: \S/m.test(text)) return undefined
  const words = skeleton(text)
  const first = words.split(' ', 1)[0] ?? ''
  const check = Object.hasOwn(repeatable, first) ? repeatable[first] : undefined
  if (check === undefined) return `${first} may do its work twice; say why not in "-- repeatable: reason"`
  return check(words)
}
