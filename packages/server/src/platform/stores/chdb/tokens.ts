/** A token of ClickHouse SQL, as far as a statement's shape needs it. */
export interface Token {
  /** `word`: bare identifier or keyword; `quoted`: identifier in quotes; `literal`: string, heredoc or number. */
  readonly kind: 'word' | 'quoted' | 'literal' | 'symbol'
  /** A word as it stands, a quoted identifier without quotes and escapes, a symbol's single character. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/** The text cannot be cut into tokens with certainty, so nothing may be concluded from it. */
export class Untokenizable extends Error {}

const word = /[A-Za-z_][A-Za-z0-9_$]*/y
const number = /[0-9][A-Za-z0-9_.]*/y
const heredoc = /\$[A-Za-z0-9_]*\$/y
/**
 * The engine takes many characters of Unicode for spaces and refuses a statement with any other outside of quotes:
 * so none of them parts two tokens here.
 */
const space = /(?:\s|[^\0-\x7f\u2018\u201c])+/y

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** Offset after the closing quote; a quote is escaped by a backslash or by doubling it. */
function endOfQuoted(text: string, start: number): number {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === quote) {
      if (text[at + 1] !== quote) return at + 1
      at++
    }
  }
  throw new Untokenizable(`the quote at position ${start + 1} is not closed`)
}

/** Typographic quotes have no escapes. */
const typographic: Readonly<Record<string, { close: string; kind: Token['kind'] }>> = {
  '\u2018': { close: '\u2019', kind: 'literal' },
  '\u201c': { close: '\u201d', kind: 'quoted' },
}

function endOf(text: string, closing: string, from: number, what: string): number {
  const at = text.indexOf(closing, from)
  if (at < 0) throw new Untokenizable(`${what} is not closed`)
  return at + closing.length
}

/**
 * Cuts a statement into tokens, without comments, by the rules of ClickHouse's lexer (src/Parsers/Lexer.cpp).
 * Lazy, so that data after `INSERT ... FORMAT` is not looked at.
 * @throws {Untokenizable}
 */
export function* tokens(text: string, from = 0): Generator<Token, void> {
  let at = from
  while (at < text.length) {
    const character = text.charAt(at)
    const spaces = match(space, text, at)
    if (spaces !== undefined) {
      at += spaces.length
      continue
    }
    if (/^(--|\/\/|#[ !])/.test(text.slice(at, at + 2))) {
      const end = text.indexOf('\n', at)
      at = end < 0 ? text.length : end + 1
      continue
    }
    if (text.startsWith('/*', at)) {
      at = endOf(text, '*/', at + 2, 'a comment')
      continue
    }
    const token = next(text, at, character)
    yield token
    at = token.end
  }
}

function next(text: string, start: number, character: string): Token {
  if (character === '\0') throw new Untokenizable('it holds a NUL character')
  const bare = match(word, text, start)
  if (bare !== undefined) return { kind: 'word', text: bare, start, end: start + bare.length }
  const digits = match(number, text, start)
  if (digits !== undefined) return { kind: 'literal', text: digits, start, end: start + digits.length }
  if (character === "'") {
    return { kind: 'literal', text: '', start, end: endOfQuoted(text, start) }
  }
  if (character === '`' || character === '"') {
    const end = endOfQuoted(text, start)
    return { kind: 'quoted', text: plainName(text.slice(start + 1, end - 1), character), start, end }
  }
  const curly = typographic[character]
  if (curly !== undefined) {
    const end = endOf(text, curly.close, start + 1, 'a typographic quote')
    return { kind: curly.kind, text: text.slice(start + 1, end - 1), start, end }
  }
  const tag = match(heredoc, text, start)
  if (tag !== undefined) {
    return { kind: 'literal', text: '', start, end: endOf(text, tag, start + tag.length, 'a heredoc') }
  }
  return { kind: 'symbol', text: character, start, end: start + 1 }
}

/** Enough to compare names: `\x66ile` and the like come out as the engine reads them. */
function plainName(text: string, quote: string): string {
  return text
    .replaceAll(quote + quote, quote)
    .replace(/\\(?:x([0-9A-Fa-f]{2})|([\s\S]))/g, (_, hex: string | undefined, plain: string | undefined) =>
      hex === undefined ? (plain ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
    )
}
