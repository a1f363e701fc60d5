import type { Unit } from './lexicon.ts'
import type { Compared } from './read-times.ts'
import type { Span } from './span-periods.ts'
import type { Terms } from './terms.ts'
import type { DimensionSense, MeasureSense } from './vocabulary.ts'
import type { Word } from './words.ts'

/** Where something stands in the question, to name it when it turns out to be of no use. */
export interface Place {
  readonly start: number
  readonly end: number
}

export interface AskedGroup extends Place {
  readonly dimension: DimensionSense
}

export interface AskedFilter extends Place {
  readonly dimension: DimensionSense
  readonly values: readonly string[]
  readonly negated: boolean
  /** For a country its names, since labels hold names where dimensions hold codes. */
  readonly names?: readonly string[]
}

/** Words that no rule reads: they may be a value of some dimension. */
export interface LooseValue extends Place {
  readonly text: string
  /** Each word of it. */
  readonly words: readonly Word[]
  readonly negated: boolean
}

export interface AskedMeasure extends Place {
  readonly measure: MeasureSense
}

/** What a question asks for, before it is known which members of the statistics it means. */
export type Slots = ReturnType<SlotCollector['finish']>

/** More of each than this is not read. */
const max = { measures: 6, groups: 3, filters: 10, loose: 6 } as const
export const defaultTop = 10

export type SlotCollector = ReturnType<typeof createSlotCollector>

/** Collects what the rules read, each of a kind up to its maximum. */
export function createSlotCollector(terms: Terms) {
  const measures: AskedMeasure[] = []
  const weak: AskedMeasure[] = []
  /** Words that name a measure and a dimension, as "products" does; read as the measure. */
  const dual: { readonly measure: AskedMeasure; readonly dimension: DimensionSense }[] = []
  const groups: AskedGroup[] = []
  const filters: AskedFilter[] = []
  const loose: LooseValue[] = []
  const spans: (Place & { readonly span: Span })[] = []
  const compared: (Place & { readonly with: Compared })[] = []
  /** What no rule reads and what cannot be a value either. */
  const unread: Place[] = []
  const asked: {
    granularity: Unit | 'auto' | undefined
    order: 'asc' | 'desc' | undefined
    limit: number | undefined
    comparesValues: boolean
    /** A negation in front of what comes next. */
    negated: boolean
  } = {
    granularity: undefined,
    order: undefined,
    limit: undefined,
    comparesValues: false,
    negated: false,
  }

  const placeOf = (from: number, to: number): Place => ({
    start: terms.at(from)?.words[0]?.start ?? 0,
    end: terms.at(to - 1)?.words.at(-1)?.end ?? 0,
  })

  /** Adds to a list that is not full; what it has no place for is unread. */
  function add<T extends Place>(list: T[], kind: keyof typeof max, found: T): void {
    if (list.length < max[kind]) list.push(found)
    else unread.push({ start: found.start, end: found.end })
  }

  function addGroup(dimension: DimensionSense, place: number): void {
    if (groups.some((each) => each.dimension.name === dimension.name)) return
    add(groups, 'groups', { dimension, ...placeOf(place, place + 1) })
  }

  function addFilter(filter: AskedFilter): void {
    const same = filters.findIndex(
      ({ dimension, negated }) => dimension.name === filter.dimension.name && negated === filter.negated,
    )
    const known = filters[same]
    if (!known) {
      add(filters, 'filters', filter)
      return
    }
    const names = [...(known.names ?? []), ...(filter.names ?? [])]
    filters[same] = {
      ...known,
      values: [...new Set([...known.values, ...filter.values])],
      ...(names.length > 0 ? { names: [...new Set(names)] } : {}),
      start: Math.min(known.start, filter.start),
      end: Math.max(known.end, filter.end),
    }
  }

  function addMeasure(place: number): void {
    const measure = terms.meaning(place, 'measure')
    if (!measure) return
    const found = { measure, ...placeOf(place, place + 1) }
    if (measure.weak) {
      weak.push(found)
      return
    }
    const isRepeated = measures.some(
      (each) => each.measure.ids.join() === measure.ids.join() && !measure.events,
    )
    if (isRepeated) return
    add(measures, 'measures', found)
    const dimension = terms.meaning(place, 'dimension')
    if (dimension) dual.push({ measure: found, dimension })
  }

  /** "top products": a word that is both groups where another measure is asked. */
  function groupByRanked(): void {
    const [first] = dual
    if (!asked.order || groups.length > 0 || asked.granularity !== undefined || !first) return
    if (measures.length < 2 && weak.length === 0) return
    groups.push({ dimension: first.dimension, start: first.measure.start, end: first.measure.end })
    measures.splice(measures.indexOf(first.measure), 1)
    asked.limit ??= defaultTop
  }

  /** "mobile vs desktop": rows for each of them. */
  function groupByCompared(): void {
    for (const { dimension, values, start, end } of filters) {
      if (values.length > 1 && groups.every((each) => each.dimension.name !== dimension.name)) {
        groups.push({ dimension, start, end })
      }
    }
  }

  return {
    asked,
    groups,
    placeOf,
    addGroup,
    addFilter,
    addMeasure,
    addLoose: (found: LooseValue) => add(loose, 'loose', found),
    spans,
    compared,
    unread,

    /** What was read, where the sentence as a whole decides what its words mean. */
    finish() {
      groupByRanked()
      if (asked.comparesValues) groupByCompared()
      // People who buy are buyers.
      const buys = weak.some(({ measure }) => measure.ids.includes('purchases.count'))
      const named = measures.map((each) =>
        buys && each.measure.ids.includes('events.people')
          ? { ...each, measure: { ids: ['purchases.buyers'] } }
          : each,
      )
      const explicit = compared.filter((each) => each.with.kind !== 'previous' || !each.with.implied)
      const { granularity, order, limit } = asked
      return {
        ...{ groups, granularity, filters, loose, spans, order, limit, unread },
        measures: named.length > 0 ? named : weak.slice(0, 1),
        compared: explicit.length > 0 ? explicit : compared.slice(0, 1),
      }
    },
  }
}
