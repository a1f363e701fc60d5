import { type Filter, parseFilter, withoutCoreSchema, withoutSchema } from './filter/filter.ts'
import { ScimRefusal, shown } from './refusal.ts'
import type { ScimResource } from './resources.ts'
import { enterpriseSchema, listSchema } from './schema/schemas.ts'

/** Query parameters as they came. */
export type ScimQuery = Readonly<Record<string, unknown>>

/** Which part of a list: from `offset` (0 is the first), at most `limit`. */
export interface Range {
  readonly offset: number
  readonly limit: number
}

/** By which attribute a list is sorted; the name is lower case. */
export interface Sort {
  readonly name: string
  readonly isDescending: boolean
}

/** Which resources of a list, and in which order. */
export interface ListQuery extends Range {
  readonly filter: Filter | undefined
  readonly sort: Sort | undefined
}

export interface Listed {
  readonly resources: readonly ScimResource[]
  /** All matches. */
  readonly total: number
}

/** Resources of one reply at most, as ServiceProviderConfig says. */
export const maxResults = 200
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
function readRange(query: ScimQuery): Range {
  const start = Math.max(readInteger(query, 'startIndex', 1), 1)
  const count = Math.min(Math.max(readInteger(query, 'count', usualResults), 0), maxResults)
  return { offset: start - 1, limit: count }
}

/** RFC 7644 3.4.2.3. @throws ScimRefusal `invalidValue` */
function readSort(query: ScimQuery): Sort | undefined {
  const order = (readText(query, 'sortOrder') ?? 'ascending').toLowerCase()
  if (order !== 'ascending' && order !== 'descending')
    throw new ScimRefusal('invalidValue', `sortOrder must be ascending or descending, it is ${shown(order)}`)
  const text = readText(query, 'sortBy')
  if (text === undefined) return undefined
  return { name: withoutSchema(text), isDescending: order === 'descending' }
}

/** @throws ScimRefusal `invalidFilter` or `invalidValue` */
export function readListQuery(query: ScimQuery): ListQuery {
  const text = readText(query, 'filter')
  const filter = text === undefined ? undefined : parseFilter(text)
  return { ...readRange(query), filter, sort: readSort(query) }
}

/** All matches, of which a page is known: counted only where there may be more of them. */
export async function totalOf(
  { offset, limit }: Range,
  found: number,
  count: () => Promise<number>,
): Promise<number> {
  const isEnd = found < limit && (found > 0 || offset === 0)
  return isEnd ? offset + found : count()
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
export type Projection = ReturnType<typeof readProjection>

const always: ReadonlySet<string> = new Set(['id', 'schemas'])
const extension = enterpriseSchema.toLowerCase()

/** The attribute of a resource that a name is of; what the extension holds is that of its URN. */
function attributeOf(name: string): string {
  if (`${name}:`.startsWith(`${extension}:`)) return extension
  return withoutCoreSchema(name).split('.', 1)[0] ?? name
}

function readNames(query: ScimQuery, name: string): Set<string> | undefined {
  const text = readText(query, name)
  if (text === undefined || text === '') return undefined
  return new Set(text.split(',').map((each) => attributeOf(each.trim().toLowerCase())))
}

export function readProjection(query: ScimQuery) {
  const wanted = readNames(query, 'attributes')
  const unwanted = readNames(query, 'excludedAttributes')
  const has = (attribute: string): boolean => {
    const name = attribute.toLowerCase()
    if (always.has(name)) return true
    return (wanted === undefined || wanted.has(name)) && !unwanted?.has(name)
  }
  return {
    has,
    apply: (resource: ScimResource): ScimResource =>
      Object.fromEntries(Object.entries(resource).filter(([name]) => has(name))),
  }
}
