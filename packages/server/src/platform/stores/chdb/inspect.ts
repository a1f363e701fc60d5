import { EngineException } from './exceptions.ts'
import { type Token, tokens, Untokenizable } from './tokens.ts'

/** The shape of a statement: what must be known before it may run, and where it can be completed. */
export interface Shape {
  /** The first keyword in upper case. */
  readonly verb: string
  /** Offset after the last token, a closing semicolon left out. */
  readonly end: number
  /** Where the top-level FORMAT clause begins, and its name as written. */
  readonly format?: { readonly name: string; readonly start: number }
  /** Set for `INSERT ... FORMAT Name`: everything up to FORMAT, and where the rows begin. */
  readonly rows?: { readonly head: string; readonly format: string; readonly start: number }
  /** Where `query_id` stands as a name in KILL QUERY. */
  readonly queryIds?: readonly { readonly start: number; readonly end: number }[]
}

export interface InspectionRules {
  /** Whether the statement may only read the store's own tables. */
  readonly readonly: boolean
  /** Names in lower case of functions that reach outside the store, as `file` and `url`. */
  readonly outside: ReadonlySet<string>
  /** Output formats in lower case. */
  readonly formats: ReadonlySet<string>
}

const reading = new Set(['SELECT', 'WITH', 'FROM', 'SHOW', 'DESCRIBE', 'DESC', 'EXISTS', 'EXPLAIN'])

const writing = new Set(
  `ALTER ATTACH BACKUP CHECK COPY CREATE DELETE DETACH DROP EXCHANGE EXECUTE GRANT INSERT KILL MOVE OPTIMIZE RENAME
  REPLACE RESTORE REVOKE SET SYSTEM TRUNCATE UNDROP UPDATE USE WATCH BEGIN COMMIT ROLLBACK PARALLEL`.split(
    /\s+/,
  ),
)

const is = (token: Token | undefined, keyword: string): boolean =>
  token?.kind === 'word' && token.text.toUpperCase() === keyword

const isSymbol = (token: Token | undefined, text: string): boolean =>
  token?.kind === 'symbol' && token.text === text

/**
 * Looks at a statement before the engine does. Refuses what a ClickHouse server refuses over HTTP but chDB, a
 * client and a server in one, would do: several statements at once, reading and writing files of the client. For
 * reading lanes it is the second wall beside `readonly = 1`, which lets the function `file` and DESCRIBE reach the
 * disk and the network.
 * @throws {EngineException}
 */
export function inspect(sql: string, rules: InspectionRules): Shape {
  try {
    return inspectTokens(sql, rules)
  } catch (error) {
    if (error instanceof Untokenizable) {
      throw new EngineException('SYNTAX_ERROR', `Syntax error: ${error.message}.`)
    }
    throw error
  }
}

function inspectTokens(sql: string, rules: InspectionRules): Shape {
  const all: Token[] = []
  for (const token of tokens(sql)) {
    all.push(token)
    // What follows is rows in some format, not SQL.
    if (all.length >= 2 && is(all[0], 'INSERT') && is(all.at(-2), 'FORMAT')) {
      if (all.at(-1)?.kind === 'word' && depthOf(all) === 0) break
    }
  }
  while (isSymbol(all.at(-1), ';')) all.pop()
  const last = all.at(-1)
  if (last === undefined) throw new EngineException('SYNTAX_ERROR', 'Syntax error: the statement is empty.')
  const verb = all.find((token) => !isSymbol(token, '('))?.text.toUpperCase() ?? ''
  all.forEach((token, index) => {
    refuseOne(all, token, index, rules)
  })
  if (rules.readonly && !reading.has(verb)) {
    if (writing.has(verb)) {
      throw new EngineException('READONLY', `Cannot execute ${verb} query in readonly mode.`)
    }
    throw new EngineException('SYNTAX_ERROR', `Syntax error: a statement does not begin with ${verb}.`)
  }
  const clause = formatClause(all, rules.formats)
  return {
    verb,
    end: last.end,
    ...(verb === 'INSERT' ? insertedRows(sql, all) : clause && { format: clause }),
    ...(verb === 'KILL' && { queryIds: all.filter((token) => token.text === 'query_id') }),
  }
}

function depthOf(all: readonly Token[]): number {
  let depth = 0
  for (const token of all) {
    if (isSymbol(token, '(')) depth++
    else if (isSymbol(token, ')')) depth--
  }
  return depth
}

function refuseOne(all: readonly Token[], token: Token, index: number, rules: InspectionRules): void {
  if (isSymbol(token, ';')) {
    throw new EngineException('SYNTAX_ERROR', 'Syntax error: Multi-statements are not allowed.')
  }
  const following = all[index + 1]
  if ((is(token, 'INTO') && is(following, 'OUTFILE')) || (is(token, 'FROM') && is(following, 'INFILE'))) {
    throw new EngineException(
      'NOT_IMPLEMENTED',
      `${token.text} ${following?.text} is for clients with files of their own.`,
    )
  }
  if (!rules.readonly || (token.kind !== 'word' && token.kind !== 'quoted')) return
  if (isSymbol(following, '(') && rules.outside.has(token.text.toLowerCase())) {
    throw new EngineException('READONLY', `Cannot use function ${token.text} in readonly mode.`)
  }
}

/** FORMAT with a known name, at the end or before a closing SETTINGS; anything else is a column of that name. */
function formatClause(
  all: readonly Token[],
  formats: ReadonlySet<string>,
): { name: string; start: number } | undefined {
  for (let index = all.length - 2; index > 0; index--) {
    const [format, name, after] = [all[index], all[index + 1], all[index + 2]]
    if (format === undefined || name === undefined || !is(format, 'FORMAT')) continue
    if (name.kind !== 'word' || !formats.has(name.text.toLowerCase())) continue
    if (after !== undefined && !is(after, 'SETTINGS')) continue
    return { name: name.text, start: format.start }
  }
  return undefined
}

function insertedRows(sql: string, all: readonly Token[]): Pick<Shape, 'rows'> {
  const [format, name] = all.slice(-2)
  if (format === undefined || name === undefined || !is(format, 'FORMAT') || name.kind !== 'word') return {}
  // INSERT ... SELECT may have a FORMAT clause too, without a meaning.
  if (all.some((token, index) => is(token, 'SELECT') && depthOf(all.slice(0, index)) === 0)) return {}
  return { rows: { head: sql.slice(0, format.start), format: name.text, start: name.end } }
}
