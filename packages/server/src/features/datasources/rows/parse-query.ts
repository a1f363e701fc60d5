import type { Fault } from '@millrace/contract/failure-data.ts'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import {
  type FilterFamily as Family,
  familyOf,
  operatorsOf,
  type FilterOperator as QueryOperator,
} from '@millrace/contract/resources/filter-operators.ts'
import { unknownField } from '../unknown-field.ts'

/** A condition over one row. Instants are milliseconds since 1970. */
export type Condition = { readonly kind: 'and' | 'or'; readonly conditions: readonly Condition[] } | Leaf

export type Leaf = {
  readonly kind: 'leaf'
  readonly field: string
  readonly family: Family
  /** How an instant is kept: a number, or a text. */
  readonly isText: boolean
} & (
  | { readonly test: 'empty'; readonly value: boolean }
  | {
      readonly test: 'in'
      readonly values: readonly (string | number | boolean)[]
      readonly negated: boolean
    }
  | {
      readonly test: 'contains' | 'startswith' | 'endswith'
      readonly value: string
      readonly negated: boolean
    }
  | { readonly test: 'lt' | 'lte' | 'gt' | 'gte'; readonly value: number }
  | { readonly test: 'between'; readonly from: number; readonly to: number; readonly negated: boolean }
)

export type ParsedQuery = { readonly condition: Condition } | { readonly faults: readonly Fault[] }

export const maxDepth = 5
export const maxLeaves = 50
const maxValues = 1_000
const maxTextLength = 10_000

const units = { minutes: 60_000, hours: 3_600_000, days: 86_400_000, weeks: 604_800_000 } as const
type Unit = keyof typeof units
const maxWindowMs = 20 * 366 * units.days

class QueryFault extends Error {
  readonly path: string
  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

const isGroup = (name: string): name is '$and' | '$or' => name === '$and' || name === '$or'
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Operators whose names do not show that they ask for equality. */
const meanings: ReadonlyMap<string, string> = new Map([
  ['$neq', 'equal'],
  ['$nne', 'not equal'],
])

const listOf = (operators: readonly string[]): string =>
  operators.map((each) => (meanings.has(each) ? `${each} (${meanings.get(each)})` : each)).join(', ')

/**
 * Reads a tree of conditions over these fields.
 * @param now milliseconds since 1970, for relative windows
 */
export function parseQuery(query: unknown, fields: readonly WorkerField[], now: number): ParsedQuery {
  const byName = new Map(fields.map((field) => [field.name, field]))
  let leaves = 0

  function readNode(node: unknown, path: string, depth: number): Condition {
    if (!isPlain(node)) throw new QueryFault(path, 'must be an object: a group or a field with an operator')
    const entries = Object.entries(node)
    if (entries.length === 0 && depth === 1) return { kind: 'and', conditions: [] }
    const [entry] = entries
    if (!entry || entries.length > 1) {
      throw new QueryFault(
        path,
        `must have exactly one key, ${entries.length === 0 ? 'it has none' : `it has ${entries.length}: write them as $and`}`,
      )
    }
    const [name, value] = entry
    const below = path === '' ? name : `${path}.${name}`
    if (isGroup(name)) {
      if (!Array.isArray(value)) throw new QueryFault(below, 'must be a list of conditions')
      if (depth > maxDepth) throw new QueryFault(below, `must not nest groups deeper than ${maxDepth}`)
      const conditions = value.map((each, i) => readNode(each, `${below}.${i}`, depth + 1))
      return { kind: name === '$and' ? 'and' : 'or', conditions }
    }
    leaves++
    if (leaves > maxLeaves)
      throw new QueryFault(below, `must not have more conditions: a query has at most ${maxLeaves}`)
    return readLeaf(name, value, below)
  }

  function readLeaf(name: string, value: unknown, path: string): Leaf {
    const field = byName.get(name)
    if (!field) {
      throw new QueryFault(path, unknownField(name, byName.keys()))
    }
    const entries = isPlain(value) ? Object.entries(value) : []
    const [entry] = entries
    const family = familyOf[field.primitive]
    const allowed: readonly string[] = operatorsOf[family]
    if (!entry || entries.length > 1) {
      throw new QueryFault(path, `must be an object with one operator: ${listOf(allowed)}`)
    }
    const [given, operand] = entry
    // Both spellings are in use.
    const operator = given.startsWith('$') ? given : `$${given}`
    if (!allowed.includes(operator)) {
      throw new QueryFault(
        `${path}.${given}`,
        `must be one of ${listOf(allowed)} for a field of ${field.primitive}`,
      )
    }
    const head = { kind: 'leaf', field: name, family, isText: field.primitive === 'datetime_iso' } as const
    return { ...head, ...readOperand(operator as QueryOperator, operand, family, `${path}.${given}`) } as Leaf
  }

  function readOperand(operator: QueryOperator, value: unknown, family: Family, path: string) {
    switch (operator) {
      case '$empty':
        if (typeof value !== 'boolean') throw new QueryFault(path, 'must be true or false')
        return { test: 'empty', value }
      case '$eq':
      case '$ne':
      case '$neq':
      case '$nne': {
        const negated = operator === '$ne' || operator === '$nne'
        if (value === null) return { test: 'empty', value: !negated }
        return { test: 'in', values: readValues(value, family, path), negated }
      }
      case '$contains':
      case '$notcontains':
      case '$startswith':
      case '$endswith': {
        const test = operator === '$notcontains' ? 'contains' : operator.slice(1)
        return { test, value: readText(value, path), negated: operator === '$notcontains' }
      }
      case '$lt':
      case '$lte':
      case '$gt':
      case '$gte':
        return {
          test: operator.slice(1),
          value: family === 'instant' ? readInstant(value, path) : readNumber(value, path),
        }
      default: {
        const span = readWindow(value, path)
        const isFuture = operator.endsWith('future')
        return {
          test: 'between',
          from: isFuture ? now : now - span,
          to: isFuture ? now + span : now,
          negated: operator.startsWith('$n'),
        }
      }
    }
  }

  try {
    return { condition: readNode(query, '', 1) }
  } catch (error) {
    if (!(error instanceof QueryFault)) throw error
    return { faults: [{ path: error.path === '' ? 'query' : `query.${error.path}`, message: error.message }] }
  }
}

function readValues(value: unknown, family: Family, path: string): (string | number | boolean)[] {
  const values = Array.isArray(value) ? value : [value]
  if (values.length === 0 || values.length > maxValues) {
    throw new QueryFault(path, `must have 1 to ${maxValues} values`)
  }
  return values.map((each, i) => {
    const place = Array.isArray(value) ? `${path}.${i}` : path
    if (family === 'text' || family === 'texts') return readText(each, place)
    if (family === 'boolean') {
      if (typeof each === 'boolean') return each
      throw new QueryFault(place, 'must be true or false')
    }
    return readNumber(each, place)
  })
}

function readText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new QueryFault(path, 'must be a text')
  if (value.length > maxTextLength || value.includes('\0') || !value.isWellFormed()) {
    throw new QueryFault(path, `must be a text of at most ${maxTextLength} characters without NUL`)
  }
  return value
}

function readNumber(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new QueryFault(path, 'must be a number')
}

const isoDate = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/

function readInstant(value: unknown, path: string): number {
  const instant = typeof value === 'string' && isoDate.test(value) ? Date.parse(value) : value
  if (typeof instant === 'number' && Math.abs(instant) <= 8.64e15) return instant
  throw new QueryFault(
    path,
    'must be milliseconds since 1970, or ISO 8601 with a zone, as 2026-01-31T12:00:00Z',
  )
}

function readWindow(value: unknown, path: string): number {
  const entries = isPlain(value) ? Object.entries(value) : []
  const [entry] = entries
  const factor = entry && Object.hasOwn(units, entry[0]) ? units[entry[0] as Unit] : undefined
  const count = entry?.[1]
  if (
    factor === undefined ||
    entries.length !== 1 ||
    typeof count !== 'number' ||
    !(count > 0) ||
    count * factor > maxWindowMs
  ) {
    throw new QueryFault(
      path,
      `must be one of ${Object.keys(units).join(', ')} with a number above 0, as {"hours": 24}`,
    )
  }
  return count * factor
}
