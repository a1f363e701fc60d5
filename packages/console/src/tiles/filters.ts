import { type Filter, isGroup, leavesOf, memberOf, sourceOf } from '../data/filters.ts'
import { isDimension, isMeasure, type Meta } from '../data/format.ts'

const setsOf = new WeakMap<Meta, readonly ReadonlySet<string>[]>()

export const isKnown = (meta: Meta, member: string): boolean =>
  isMeasure(meta, member) || isDimension(meta, member)

const isListed = (meta: Meta, member: string): boolean =>
  isMeasure(meta, member) || Object.hasOwn(meta.dimensions, member)

/** Whether one set of the model holds them all; a label that no event has had yet fits as its source does. */
export function fitTogether(meta: Meta, members: readonly string[]): boolean {
  if (!members.every((member) => isKnown(meta, member))) return false
  const sets = setsOf.get(meta) ?? meta.queryCompatibility.components.map((each) => new Set(each))
  setsOf.set(meta, sets)
  const listed = members.map((member) => (isListed(meta, member) ? member : `${sourceOf(member)}.time`))
  return sets.some((set) => listed.every((each) => set.has(each)))
}

/**
 * A filter as a question about a source takes it: as it is where its members fit, else with the members that are called
 * the same there. Undefined where neither does.
 */
export function fitted(
  filter: Filter,
  meta: Meta,
  source: string,
  chosen: readonly string[],
): Filter | undefined {
  if (!isGroup(filter)) {
    const member = memberOf(filter)
    const { dimension: _, ...rest } = filter
    const named = [member, `${source}${member.slice(member.indexOf('.'))}`]
    const fits = named.find(
      (each) =>
        (each === member || Object.hasOwn(meta.dimensions, each)) && fitTogether(meta, [...chosen, each]),
    )
    return fits === undefined ? undefined : { ...rest, member: fits }
  }
  const key = 'and' in filter ? 'and' : 'or'
  const inner = (filter[key] ?? []).map((each) => fitted(each, meta, source, chosen))
  return inner.every((each) => each !== undefined) ? ({ [key]: inner } as Filter) : undefined
}

function readFilter(value: unknown, depth: number): Filter | undefined {
  if (typeof value !== 'object' || value === null || depth > 5) return undefined
  const { member, operator, values, and, or } = value as Record<string, unknown>
  if (typeof member === 'string' && typeof operator === 'string') {
    const texts = Array.isArray(values) ? values.filter((each) => typeof each === 'string') : undefined
    return { member, operator, ...(texts && { values: texts }) } as Filter
  }
  const list = Array.isArray(and) ? and : Array.isArray(or) ? or : undefined
  const inner = list?.map((each) => readFilter(each, depth + 1)).filter((each) => each !== undefined)
  if (!inner || inner.length === 0) return undefined
  return (Array.isArray(and) ? { and: inner } : { or: inner }) as Filter
}

/** Filters of an address, with what is left out of them because the model no longer has it. */
export function readFilters(
  value: unknown,
  meta: Meta | undefined,
): { readonly filters: readonly Filter[]; readonly left: readonly string[] } | undefined {
  if (!Array.isArray(value)) return undefined
  const read = value.slice(0, 50).flatMap((each) => readFilter(each, 0) ?? [])
  const unknown = (filter: Filter) =>
    leavesOf([filter])
      .map(memberOf)
      .filter((each) => meta && !isKnown(meta, each))
  return {
    filters: read.filter((filter) => unknown(filter).length === 0),
    left: [...new Set(read.flatMap(unknown))],
  }
}
