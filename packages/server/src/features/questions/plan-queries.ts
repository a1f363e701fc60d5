import type { DateRange, Filter, Granularity, Query } from '@millrace/contract/resources/query.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import type { AskedFilter, AskedGroup, AskedMeasure, Place } from './slots.ts'
import type { MeasureSense } from './vocabulary.ts'

/** What a plan's queries have in common. */
export interface Asked {
  readonly measures: readonly AskedMeasure[]
  readonly groups: readonly AskedGroup[]
  readonly filters: readonly AskedFilter[]
  readonly granularity: Granularity | undefined
  readonly order: 'asc' | 'desc' | undefined
  readonly limit: number | undefined
  /** The range of the question, then those that it is compared with. */
  readonly ranges: readonly DateRange[]
  /** IANA name of the zone in which the ranges are read. */
  readonly timezone: string
}

export interface Planned {
  readonly queries: readonly Query[]
  /** What of the question no query could take. */
  readonly unused: readonly Place[]
}

/** Rows of a grouping that asks for no number of them. */
const defaultLimit = 100

/** A query in the making: measures of one kind, with the members that the groups and filters mean for them. */
interface Draft {
  measures: string[]
  readonly events: readonly string[]
  members: Resolved
}

interface Resolved {
  /** By group, in their order; undefined where none fits. */
  readonly groups: readonly (string | undefined)[]
  readonly filters: readonly (string | undefined)[]
  readonly missing: number
}

/** Chooses the members that a question means so that they fit together, and writes the queries. */
export function planQueries(meta: StatisticsMeta, asked: Asked): Planned {
  const fits = createFit(meta)
  const drafts: Draft[] = []
  const unused: Place[] = []

  function resolve(measures: readonly string[], isOfEvents: boolean): Resolved {
    const chosen = [
      ...measures,
      ...measures.map((id) => `${sourceOf(id)}.time`).filter((id) => id in meta.dimensions),
    ]
    if (isOfEvents) chosen.push('events.name')
    const choose = ({ dimension }: AskedGroup, canBe: (id: string) => boolean = () => true) => {
      const found = ownFirst(dimension.ids, measures).find((id) => fits([...chosen, id]) && canBe(id))
      if (found !== undefined) chosen.push(found)
      return found
    }
    const groups = asked.groups.map((group) => choose(group))
    const filters = asked.filters.map((filter) => choose(filter, (id) => canHave(id, filter)))
    const missing = [...groups, ...filters].filter((each) => each === undefined).length
    return { groups, filters, missing }
  }

  /** Any text may stand behind "is": few of them are values of a dimension that holds no text. */
  function canHave(id: string, filter: AskedFilter): boolean {
    const type = meta.dimensions[id]?.type
    if (type === 'string') return true
    const form = type === 'boolean' ? /^(?:true|false)$/ : type === 'number' ? /^\d{1,18}$/ : undefined
    return form !== undefined && valuesOf(id, filter).every((value) => form.test(value))
  }

  function place({ measure, ...where }: AskedMeasure): void {
    const ids = measure.ids.length > 0 ? candidatesOf(measure, asked) : []
    const events = measure.events ?? []
    const several = ids.length === 0 ? (measure.beside ?? []) : []
    if (several.length > 0) {
      for (const id of several) place({ measure: { ids: [id] }, ...where })
      return
    }
    for (const draft of drafts) {
      if (draft.events.join() !== events.join() || draft.measures.length === 0) continue
      const joined = best(ownFirst(ids, draft.measures), (id) => [...draft.measures, id], events.length > 0)
      if (joined && joined.members.missing <= draft.members.missing) {
        if (!draft.measures.includes(joined.id)) draft.measures.push(joined.id)
        draft.members = joined.members
        return
      }
    }
    const own = best(ids, (id) => [id], events.length > 0)
    if (own) drafts.push({ measures: [own.id], events, members: own.members })
    else unused.push(where)
  }

  /** The first of the candidates with which fewest groups and filters are lost. */
  function best(ids: readonly string[], together: (id: string) => readonly string[], isOfEvents: boolean) {
    let found: { readonly id: string; readonly members: Resolved } | undefined
    for (const id of ids) {
      if (!fits([...together(id)])) continue
      const members = resolve(together(id), isOfEvents)
      if (!found || members.missing < found.members.missing) found = { id, members }
    }
    return found
  }

  for (const measure of asked.measures) place(measure)
  for (const [i, group] of asked.groups.entries()) {
    if (drafts.every(({ members }) => members.groups[i] === undefined)) unused.push(group)
  }
  for (const [i, filter] of asked.filters.entries()) {
    // A filter that one of several queries cannot take would make their rows about different things.
    if (drafts.some(({ members }) => members.filters[i] === undefined)) unused.push(filter)
  }
  return { queries: drafts.map((draft) => write(draft, asked)), unused }
}

function sourceOf(id: string): string {
  return id.slice(0, id.indexOf('.'))
}

/** Members of the sources that are asked already come first. */
function ownFirst(ids: readonly string[], beside: readonly string[]): readonly string[] {
  const sources = new Set(beside.map(sourceOf))
  return [...ids].sort((a, b) => Number(sources.has(sourceOf(b))) - Number(sources.has(sourceOf(a))))
}

/** People who are grouped by where they came from are counted as those of sessions. */
function candidatesOf({ ids }: MeasureSense, { groups, filters }: Asked): readonly string[] {
  const isOfSessions = [...groups, ...filters].some(({ dimension }) => dimension.ofSessions)
  return isOfSessions ? ownFirst(ids, ['sessions.count']) : ids
}

const fitsOf = new WeakMap<StatisticsMeta, readonly ReadonlySet<string>[]>()

/** Whether members may meet in one query, by the metadata. */
export function createFit(meta: StatisticsMeta): (ids: readonly string[]) => boolean {
  const components = fitsOf.get(meta) ?? meta.queryCompatibility.components.map((members) => new Set(members))
  fitsOf.set(meta, components)
  return (ids) => components.some((component) => ids.every((id) => component.has(id)))
}

function write({ measures, events, members }: Draft, asked: Asked): Query {
  const { granularity, ranges, order, limit, timezone } = asked
  const dimensions = [...new Set(members.groups.flatMap((each) => each ?? []))]
  const filters: Filter[] = asked.filters.flatMap((filter, i) => {
    const member = members.filters[i]
    return member === undefined ? [] : [filterOf(member, filter)]
  })
  if (events.length > 0) filters.push({ member: 'events.name', operator: 'equals', values: [...events] })
  const [first = '', ...others] = ranges
  const time = {
    dimension: `${sourceOf(measures[0] ?? 'events.count')}.time`,
    ...(granularity === undefined ? {} : { granularity }),
    ...(others.length > 0 ? { compareDateRange: [...ranges] } : { dateRange: first }),
  }
  const isByTime = granularity !== undefined
  const ofRows = dimensions.length > 0 && !isByTime
  const rows = limit ?? (ofRows ? defaultLimit : undefined)
  const isRanked = order !== undefined && (ofRows || isByTime)
  return {
    measures,
    dimensions,
    filters,
    timeDimensions: [time],
    timezone,
    ...(rows === undefined || !(ofRows || isRanked) ? {} : { limit: rows }),
    ...(ofRows || isRanked ? { order: [[measures[0] ?? '', order ?? 'desc']] } : {}),
    ...(isByTime && dimensions.length === 0 && !isRanked ? { fill: true } : {}),
  }
}

function filterOf(member: string, filter: AskedFilter): Filter {
  const values = [...new Set(valuesOf(member, filter))]
  return { member, operator: filter.negated ? 'notEquals' : 'equals', values }
}

/** Dimensions of countries hold codes; labels hold whatever names senders use. */
function valuesOf(member: string, { values, names, dimension }: AskedFilter): readonly string[] {
  const isNamed = names !== undefined && (dimension.name !== 'country' || member.includes('.label.'))
  return isNamed && names.length > 0 ? names : values
}
