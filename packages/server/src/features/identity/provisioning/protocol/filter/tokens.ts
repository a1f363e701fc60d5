import { faultOfText } from '../../../../../platform/text/stored-text.ts'
import { ScimRefusal, shown } from '../refusal.ts'

/** The `scimType` of the refusal of a text that cannot be parsed. */
export type RefusedAs = 'invalidFilter' | 'invalidPath'

type Mark = '[' | ']' | '(' | ')'
export type Token =
  | { readonly kind: 'word' | 'text'; readonly value: string }
  | { readonly kind: Mark | 'end'; readonly value: '' }

const maxTextLength = 2_000
const wordCharacter = /[A-Za-z0-9_.:$-]/
const marks: ReadonlySet<string> = new Set<Mark>(['[', ']', '(', ')'])

/** Where the string that begins at `start` ends, behind its quotation mark; -1 when it does not. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i + 1
  }
  return -1
}

/** Escapes can name characters that no store keeps, and that the check of a body does not see in them. */
function readString(literal: string, kind: RefusedAs, where: string): string {
  let value: string
  try {
    value = JSON.parse(literal) as string
  } catch {
    throw new ScimRefusal(kind, `${where} is not a JSON string`)
  }
  const fault = faultOfText(value)
  if (fault !== undefined) throw new ScimRefusal(kind, `${where} ${fault}`)
  return value
}

/** Reads each character once. @throws ScimRefusal of the given kind */
export function tokenize(text: string, kind: RefusedAs): Token[] {
  if (text.length > maxTextLength)
    throw new ScimRefusal(kind, `It is ${text.length} characters long; at most ${maxTextLength} are read`)
  const tokens: Token[] = []
  let i = 0
  while (i < text.length) {
    const character = text[i] ?? ''
    if (character === ' ') i++
    else if (marks.has(character)) {
      tokens.push({ kind: character as Mark, value: '' })
      i++
    } else if (character === '"') {
      const where = `The text that begins at character ${i + 1}`
      const end = endOfString(text, i)
      if (end < 0) throw new ScimRefusal(kind, `${where} is not a JSON string: it does not end`)
      tokens.push({ kind: 'text', value: readString(text.slice(i, end), kind, where) })
      i = end
    } else if (wordCharacter.test(character)) {
      const start = i
      while (i < text.length && wordCharacter.test(text[i] ?? '')) i++
      tokens.push({ kind: 'word', value: text.slice(start, i) })
    } else {
      throw new ScimRefusal(kind, `${shown(character)} at character ${i + 1} is not read here`)
    }
  }
  tokens.push({ kind: 'end', value: '' })
  return tokens
}
