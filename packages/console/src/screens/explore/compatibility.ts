import { sourceOf } from '../../data/filters.ts'
import { isDimension, isMeasure, type Meta } from '../../data/format.ts'

/** Why a member cannot be chosen. */
export type Obstacle =
  | { readonly kind: 'chosen' }
  | { readonly kind: 'filterOnly' }
  | { readonly kind: 'virtual' }
  | { readonly kind: 'time' }
  /** Each of the others alone would do. */
  | { readonly kind: 'together' }
  | { readonly kind: 'kind' }
  /** It does not meet this one, of this source. */
  | { readonly kind: 'member'; readonly member: string; readonly source: string }

const setsOf = new WeakMap<Meta, readonly ReadonlySet<string>[]>()

function componentsOf(meta: Meta): readonly ReadonlySet<string>[] {
  const known = setsOf.get(meta) ?? meta.queryCompatibility.components.map((each) => new Set(each))
  setsOf.set(meta, known)
  return known
}

/** A label that the model does not list meets what a listed one of its source meets; with none, what its time meets. */
function standsFor(meta: Meta, member: string): string {
  if (isMeasure(meta, member) || Object.hasOwn(meta.dimensions, member)) return member
  const source = sourceOf(member)
  const label = Object.keys(meta.dimensions).find((id) => id.startsWith(`${source}.label.`))
  return label ?? (source === 'events' ? 'events.name' : `${source}.time`)
}

/** Whether one set of the model holds them all. */
export function fitTogether(meta: Meta, members: readonly string[]): boolean {
  const asked = members.map((each) => standsFor(meta, each))
  return componentsOf(meta).some((set) => asked.every((each) => set.has(each)))
}

/** What keeps a member out of a query that names others, said before it is chosen. */
export function obstacleTo(meta: Meta, member: string, chosen: readonly string[]): Obstacle | undefined {
  const others = chosen.filter((each) => each !== member)
  if (fitTogether(meta, [...others, member])) return undefined
  const other = others.find((each) => !fitTogether(meta, [each, member]))
  if (other === undefined) return { kind: 'together' }
  return { kind: 'member', member: other, source: meta.measures[other]?.source ?? sourceOf(other) }
}

export type Purpose = 'measure' | 'dimension' | 'filter'

/** Dimensions that every source has, by the part of their ids behind it: they mean the same in each. */
const shared = ['time', 'person', 'deviceType', 'os', 'datasource']

/**
 * Members that can be chosen for a purpose at all, those of the query's sources first. What every source has is offered
 * once, as the first source of the query has it.
 */
export function candidatesFor(meta: Meta, purpose: Purpose, members: readonly string[]): string[] {
  const named = [...new Set(members.map((each) => meta.measures[each]?.source ?? sourceOf(each)))]
  const rankOf = (id: string) => (named.includes(sourceOf(id)) ? named.indexOf(sourceOf(id)) : named.length)
  const inOrder = (ids: string[]) => ids.sort((a, b) => rankOf(a) - rankOf(b))
  const offered = new Set<string>()
  const dimensions = inOrder(Object.keys(meta.dimensions)).filter((id) => {
    const name = id.slice(sourceOf(id).length + 1)
    if (!shared.includes(name)) return true
    if (offered.has(name)) return false
    offered.add(name)
    return true
  })
  switch (purpose) {
    case 'measure':
      return inOrder(Object.keys(meta.measures))
    case 'dimension':
      return dimensions.filter((id) => meta.dimensions[id]?.type !== 'time')
    case 'filter':
      return [...dimensions, ...inOrder(Object.keys(meta.measures))]
  }
}

/** What keeps a member from being chosen for a purpose in a query that names others. */
export function obstacleFor(
  meta: Meta,
  purpose: Purpose,
  member: string,
  chosen: readonly string[],
  taken: readonly string[],
): Obstacle | undefined {
  if (purpose !== 'filter' && taken.includes(member)) return { kind: 'chosen' }
  if (purpose === 'dimension' && meta.dimensions[member]?.filterOnly) return { kind: 'filterOnly' }
  if (purpose === 'filter' && meta.measures[member]?.virtual) return { kind: 'virtual' }
  return obstacleTo(meta, member, chosen)
}

/** The kind of what a filter asks of: an `or` joins one kind. */
export function kindOf(meta: Meta, member: string): 'measure' | 'time' | 'dimension' {
  if (isMeasure(meta, member)) return 'measure'
  return isDimension(meta, member) && meta.dimensions[member]?.type === 'time' ? 'time' : 'dimension'
}

/** Whether the words of a search stand in its title, its id or its description, in this order of merit. */
export function matchOf(
  words: readonly string[],
  id: string,
  { title, description }: { readonly title: string; readonly description: string },
): number {
  if (words.length === 0) return 1
  const name = title.toLowerCase()
  const key = id.toLowerCase()
  const text = description.toLowerCase()
  if (!words.every((each) => name.includes(each) || key.includes(each) || text.includes(each))) return 0
  const whole = words.join(' ')
  if (name.startsWith(whole)) return 4
  if (words.every((each) => name.includes(each))) return 3
  return words.every((each) => name.includes(each) || key.includes(each)) ? 2 : 1
}
