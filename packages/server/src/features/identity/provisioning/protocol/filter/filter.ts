import { ScimRefusal, shown } from '../refusal.ts'
import { enterpriseSchema } from '../schema/schemas.ts'
import { type RefusedAs, type Token, tokenize } from './tokens.ts'

const operators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
export type Operator = (typeof operators)[number]
const known: ReadonlySet<string> = new Set(operators)

/** What an attribute is compared with. */
export type Literal = string | boolean | null

/** A filter of RFC 7644 3.4.2.2; names are lower case, with their part behind a dot. */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'present'; readonly name: string }
  | {
      readonly kind: 'compare'
      readonly name: string
      readonly operator: Operator
      readonly value: Literal
    }
  /** Some value of an attribute that has several; the names inside are those of its parts. */
  | { readonly kind: 'values'; readonly name: string; readonly filter: Filter }

/** An attribute path of RFC 7644 3.5.2: `name.givenName`, `emails[type eq "work"].value`; names are lower case. */
export interface AttributePath {
  /** With its sub-attribute behind a dot; that of an extension with the extension's URN. */
  readonly name: string
  /** Which of several values is meant. */
  readonly where?: Filter
  /** Sub-attribute of the values meant. */
  readonly sub?: string
}

/** Parentheses and brackets within each other, and comparisons of one filter: far more than clients send. */
const deepest = 16
const maxComparisons = 32

/** Attributes of the core schemas may be named with the schema in front (RFC 7644 3.10). */
const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/

const extensionPrefix = `${enterpriseSchema.toLowerCase()}:`

export const withoutCoreSchema = (name: string): string => name.replace(coreSchema, '')

/** The name of an attribute by which lists are filtered and sorted: with no schema in front. */
export function withoutSchema(name: string): string {
  const plain = name.trim().toLowerCase()
  return plain.startsWith(extensionPrefix) ? plain.slice(extensionPrefix.length) : withoutCoreSchema(plain)
}

/** Whether a name is that of a core schema itself, under which some senders put all attributes of it. */
export const isCoreSchema = (name: string): boolean => withoutCoreSchema(`${name.toLowerCase()}:`) === ''

const readable =
  'A filter compares attributes by eq, ne, co, sw, ew, gt, ge, lt, le or pr, as in userName eq "ada@example.com", ' +
  'joined by and, or, not (...) and parentheses, and in brackets for one of several values, as in emails[type eq "work"]'

/** Reads filters and paths token by token, in time that grows with their length alone. */
class Reader {
  readonly #text: string
  readonly #kind: RefusedAs
  readonly #tokens: readonly Token[]
  #next = 0
  #depth = 0
  #comparisons = 0

  constructor(text: string, kind: RefusedAs) {
    this.#text = text
    this.#kind = kind
    this.#tokens = tokenize(text, kind)
  }

  #refusal(detail: string): ScimRefusal {
    return new ScimRefusal(this.#kind, this.#kind === 'invalidFilter' ? `${detail}. ${readable}` : detail)
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { kind: 'end', value: '' }
  }

  take(wanted: Token['kind'], meaning: string): string {
    const token = this.#peek()
    if (token.kind !== wanted) throw this.#refusal(`${shown(this.#text)} cannot be read: it needs ${meaning}`)
    this.#next++
    return token.value
  }

  /** Takes the next token when it is this word, whatever its case. */
  #skip(word: string): boolean {
    const token = this.#peek()
    if (token.kind !== 'word' || token.value.toLowerCase() !== word) return false
    this.#next++
    return true
  }

  #within<T>(closing: ']' | ')', read: () => T): T {
    this.#next++
    if (++this.#depth > deepest) throw this.#refusal(`It nests deeper than ${deepest} levels`)
    const found = read()
    this.take(closing, `${closing} at the end of what it opens`)
    this.#depth--
    return found
  }

  #literal(): Literal {
    const token = this.#peek()
    if (token.kind === 'word' && /^(true|false|null)$/i.test(token.value)) {
      this.#next++
      const word = token.value.toLowerCase()
      return word === 'null' ? null : word === 'true'
    }
    return this.take('text', 'a text in quotation marks, true, false or null after the operator')
  }

  #comparison(name: string): Filter {
    if (++this.#comparisons > maxComparisons)
      throw this.#refusal(`It compares more than ${maxComparisons} times`)
    const operator = this.take('word', 'an operator after the attribute').toLowerCase()
    if (operator === 'pr') return { kind: 'present', name }
    if (!known.has(operator)) throw this.#refusal(`There is no operator ${shown(operator)}`)
    return { kind: 'compare', name, operator: operator as Operator, value: this.#literal() }
  }

  /** The part behind the brackets, if there is one. */
  #part(): string | undefined {
    const token = this.#peek()
    if (token.kind !== 'word' || !token.value.startsWith('.')) return undefined
    this.#next++
    return token.value.slice(1).toLowerCase()
  }

  #ofAttribute(canHaveValues: boolean): Filter {
    const name = withoutSchema(this.take('word', 'the name of an attribute'))
    if (this.#peek().kind !== '[') return this.#comparison(name)
    if (!canHaveValues) throw this.#refusal('There are brackets within brackets')
    const where = this.#within(']', () => this.#alternatives(false))
    const part = this.#part()
    if (part === undefined) return { kind: 'values', name, filter: where }
    const filter: Filter = { kind: 'and', filters: [where, this.#comparison(part)] }
    return { kind: 'values', name, filter }
  }

  #single(canHaveValues: boolean): Filter {
    if (this.#peek().kind === '(') return this.#within(')', () => this.#alternatives(canHaveValues))
    if (!this.#skip('not')) return this.#ofAttribute(canHaveValues)
    if (this.#peek().kind !== '(') throw this.#refusal('not is followed by parentheses')
    return { kind: 'not', filter: this.#within(')', () => this.#alternatives(canHaveValues)) }
  }

  #joined(word: 'and' | 'or', read: () => Filter): Filter {
    const first = read()
    const filters = [first]
    while (this.#skip(word)) filters.push(read())
    return filters.length === 1 ? first : { kind: word, filters }
  }

  /** `and` binds closer than `or`. */
  #alternatives(canHaveValues: boolean): Filter {
    return this.#joined('or', () => this.#joined('and', () => this.#single(canHaveValues)))
  }

  filter(): Filter {
    return this.#alternatives(true)
  }

  path(): AttributePath {
    const name = withoutCoreSchema(this.take('word', 'the name of an attribute').toLowerCase())
    if (this.#peek().kind !== '[') return { name }
    const where = this.#within(']', () => this.#alternatives(false))
    const sub = this.#part()
    return { name, where, ...(sub !== undefined && { sub }) }
  }
}

/** @throws ScimRefusal `invalidFilter` for what is no filter: it is never taken for none */
export function parseFilter(text: string): Filter {
  const reader = new Reader(text, 'invalidFilter')
  const filter = reader.filter()
  reader.take('end', 'to end after a whole filter')
  return filter
}

/** @throws ScimRefusal `invalidPath` */
export function parsePath(text: string): AttributePath {
  const reader = new Reader(text, 'invalidPath')
  const path = reader.path()
  reader.take('end', 'to end after one attribute')
  return path
}

/** What a value must have to be the one meant, where the filter says that and nothing else. */
export function equalitiesOf(filter: Filter): ReadonlyMap<string, Literal> | undefined {
  if (filter.kind === 'compare' && filter.operator === 'eq') return new Map([[filter.name, filter.value]])
  if (filter.kind !== 'and') return undefined
  const parts = filter.filters.map(equalitiesOf)
  if (parts.some((each) => each === undefined)) return undefined
  return new Map(parts.flatMap((each) => [...(each ?? [])]))
}
