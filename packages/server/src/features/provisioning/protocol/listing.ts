import { type EqualityFilter, parseFilter } from './path.ts'
import { ScimRefusal, shown } from './refusal.ts'
import type { ScimResource } from './resources.ts'
import { listSchema } from './schemas.ts'

/** Query parameters as they came. */
export type ScimQuery = Readonly<Record<string, unknown>>

/** Which part of a list: from `offset` (0 is the first), at most `limit`. */
export interface Range {
  readonly offset: number
  readonly limit: number
}

export interface Listed {
  readonly resources: readonly ScimResource[]
  /** All matches. */
  readonly total: number
}

/** Most resources of one reply, as ServiceProviderConfig says. */
export const mostResults = 200
const usualResults = 100

function readText(query: ScimQuery, name: string): string | undefined {
  const value = query[name]
  if (value === undefined || typeof value === 'string') return value
  throw new ScimRefusal('invalidValue', `${name} may be given once`)
}

function readInteger(query: ScimQuery, name: string, fallback: number): number {
  const text = readText(query, name)
  if (text === undefined) return fallback
  if (!/^[+-]?\d{1,15}$/.test(text))
    throw new ScimRefusal('invalidValue', `${name} must be a whole number, it is ${shown(text)}`)
  return Number(text)
}

/** RFC 7644 3.4.2.4: less than 1 is read as 1, a negative count as 0. @throws ScimRefusal `invalidValue` */
export function readRange(query: ScimQuery): Range {
  const start = Math.max(readInteger(query, 'startIndex', 1), 1)
  const count = Math.min(Math.max(readInteger(query, 'count', usualResults), 0), mostResults)
  return { offset: start - 1, limit: count }
}

/** @throws ScimRefusal `invalidFilter` */
export function readFilter(query: ScimQuery): EqualityFilter | undefined {
  const text = readText(query, 'filter')
  return text === undefined ? undefined : parseFilter(text)
}

/** RFC 7644 3.4.2. */
export function listResponse({ resources, total }: Listed, { offset }: Range): ScimResource {
  return {
    schemas: [listSchema],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: resources.length,
    Resources: resources,
  }
}

/** Which attributes of a resource a reply has (RFC 7644 3.9), by the attribute and not by its parts. */
export interface Projection {
  has(attribute: string): boolean
  apply(resource: ScimResource): ScimResource
}

const always: ReadonlySet<string> = new Set(['id', 'schemas'])

function readNames(query: ScimQuery, name: string): Set<string> | undefined {
  const text = readText(query, name)
  if (text === undefined || text === '') return undefined
  const names = text.split(',').map((each) => each.trim().toLowerCase())
  return new Set(names.map((each) => each.replace(/^urn:.*:(?=[^:]*$)/, '').split('.', 1)[0] ?? each))
}

export function readProjection(query: ScimQuery): Projection {
  const wanted = readNames(query, 'attributes')
  const unwanted = readNames(query, 'excludedAttributes')
  const has = (attribute: string): boolean => {
    const name = attribute.toLowerCase()
    if (always.has(name)) return true
    return (wanted === undefined || wanted.has(name)) && !unwanted?.has(name)
  }
  return {
    has,
    apply: (resource) => Object.fromEntries(Object.entries(resource).filter(([name]) => has(name))),
  }
}
