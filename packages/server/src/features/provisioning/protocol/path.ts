import { ScimRefusal, shown } from './refusal.ts'

/** `name eq value`; names are lower case. */
export interface Comparison {
  readonly name: string
  readonly value: string | boolean
}

/** An attribute path of RFC 7644 3.5.2: `name.givenName`, `emails[type eq "work"].value`; names are lower case. */
export interface AttributePath {
  /** With its sub-attribute behind a dot; that of an extension with the extension's URN. */
  readonly name: string
  /** Which of several values is meant. */
  readonly where?: Comparison
  /** Sub-attribute of the values meant. */
  readonly sub?: string
}

/** A whole filter: one attribute equals one text. */
export interface EqualityFilter extends AttributePath {
  readonly value: string
}

type Kind = 'invalidFilter' | 'invalidPath'
type Token =
  | { readonly kind: 'word' | 'text'; readonly value: string }
  | { readonly kind: '[' | ']' | 'end'; readonly value: '' }

const longestText = 2_000
const wordCharacter = /[A-Za-z0-9_.:$-]/
/** Attributes of the core schemas may be named with the schema in front (RFC 7644 3.10). */
const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/

export const withoutCoreSchema = (name: string): string => name.replace(coreSchema, '')

/** Whether a name is that of a core schema itself, under which some senders put all attributes of it. */
export const isCoreSchema = (name: string): boolean => withoutCoreSchema(`${name.toLowerCase()}:`) === ''

/** Where the string that begins at `start` ends, behind its quotation mark; -1 when it does not. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i + 1
  }
  return -1
}

function readString(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string
  } catch {
    return undefined
  }
}

/** Reads each character once. */
function tokenize(text: string, kind: Kind): Token[] {
  if (text.length > longestText)
    throw new ScimRefusal(kind, `It is ${text.length} characters long; at most ${longestText} are read`)
  const tokens: Token[] = []
  let i = 0
  while (i < text.length) {
    const character = text[i] ?? ''
    if (character === ' ') i++
    else if (character === '[' || character === ']') {
      tokens.push({ kind: character, value: '' })
      i++
    } else if (character === '"') {
      const end = endOfString(text, i)
      const value = end < 0 ? undefined : readString(text.slice(i, end))
      if (value === undefined)
        throw new ScimRefusal(kind, `The text that begins at character ${i + 1} is not a JSON string`)
      tokens.push({ kind: 'text', value })
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

/** The tokens one after the other, with a refusal where another is needed. */
function createReader(text: string, kind: Kind) {
  const tokens = tokenize(text, kind)
  let next = 0
  const peek = (): Token => tokens[next] ?? { kind: 'end', value: '' }

  function take(wanted: Token['kind'], meaning: string): string {
    const token = peek()
    if (token.kind !== wanted)
      throw new ScimRefusal(kind, `${shown(text)} is not read here: it needs ${meaning}`)
    next++
    return token.value
  }

  function comparedValue(): string | boolean {
    const token = peek()
    if (token.kind === 'word' && /^(true|false)$/i.test(token.value)) {
      next++
      return token.value.toLowerCase() === 'true'
    }
    return take('text', 'a text in quotation marks after eq')
  }

  function equals(): void {
    const operator = take('word', 'the operator eq')
    if (operator.toLowerCase() !== 'eq')
      throw new ScimRefusal(kind, `The operator ${shown(operator)} is not supported: only eq is`)
  }

  return {
    peek,
    take,
    equals,
    comparedValue,

    path(): AttributePath {
      const name = withoutCoreSchema(take('word', 'the name of an attribute').toLowerCase())
      if (peek().kind !== '[') return { name }
      next++
      const attribute = take('word', 'the name of an attribute after [').toLowerCase()
      equals()
      const where = { name: attribute, value: comparedValue() }
      take(']', '] after one comparison')
      const behind = peek()
      if (behind.kind !== 'word' || !behind.value.startsWith('.')) return { name, where }
      next++
      return { name, where, sub: behind.value.slice(1).toLowerCase() }
    },
  }
}

/**
 * A filter of one equality, in time that grows with its length alone.
 * @throws ScimRefusal `invalidFilter` for every other filter: it is never taken for none
 */
export function parseFilter(text: string): EqualityFilter {
  const reader = createReader(text, 'invalidFilter')
  const path = reader.path()
  reader.equals()
  const value = reader.comparedValue()
  reader.take('end', 'to end after one comparison: attribute eq "value"')
  if (typeof value !== 'string')
    throw new ScimRefusal('invalidFilter', 'Only texts are compared: attribute eq "value"')
  return { ...path, value }
}

/** @throws ScimRefusal `invalidPath` */
export function parsePath(text: string): AttributePath {
  const reader = createReader(text, 'invalidPath')
  const path = reader.path()
  reader.take('end', 'to end after one attribute')
  return path
}
