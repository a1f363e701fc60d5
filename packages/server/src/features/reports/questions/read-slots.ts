import type { Marker, Unit } from './lexicon.ts'
import type { Compared, TimeReader } from './read-times.ts'
import type { Span } from './span-periods.ts'
import type { Terms } from './terms.ts'
import type { DimensionSense, Meaning, MeasureSense, Vocabulary } from './vocabulary.ts'
import { formOf, type Word } from './words.ts'

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

// One file past 400 lines: the rules try each other at the place where one ends, over the same slots.

/** What a question asks for, before it is known which members of the statistics it means. */
export interface Slots {
  readonly measures: readonly AskedMeasure[]
  readonly groups: readonly AskedGroup[]
  readonly granularity?: Unit | 'auto'
  readonly filters: readonly AskedFilter[]
  readonly loose: readonly LooseValue[]
  readonly spans: readonly (Place & { readonly span: Span })[]
  readonly compared: readonly (Place & { readonly with: Compared })[]
  readonly order?: 'asc' | 'desc'
  readonly limit?: number
  /** What no rule reads and what cannot be a value either. */
  readonly unread: readonly Place[]
}

/** More of each than this is not read. */
const maximum = { measures: 6, groups: 3, filters: 10, loose: 6, valueWords: 6, limit: 1_000 } as const
export const defaultTop = 10

/** What stands between a marker and its dimension without a meaning of its own here. */
const isFiller = (meanings: readonly Meaning[]) =>
  meanings.length > 0 &&
  meanings.every(
    ({ kind, ...rest }) =>
      kind === 'ignored' || (kind === 'marker' && 'marker' in rest && rest.marker === 'in'),
  )

/** @param isFollowUp whether "the previous year" is that before the range of the report */
export function readSlots(
  terms: Terms,
  times: TimeReader,
  vocabulary: Vocabulary,
  isFollowUp: boolean,
): Slots {
  const measures: AskedMeasure[] = []
  const weak: AskedMeasure[] = []
  /** Words that name a measure and a dimension, as "products" does; read as the measure. */
  const dual: { readonly measure: AskedMeasure; readonly dimension: DimensionSense }[] = []
  const groups: AskedGroup[] = []
  const filters: AskedFilter[] = []
  const loose: LooseValue[] = []
  const spans: (Place & { span: Span })[] = []
  const compared: (Place & { with: Compared })[] = []
  const unread: Place[] = []
  let granularity: Unit | 'auto' | undefined
  let order: 'asc' | 'desc' | undefined
  let limit: number | undefined
  let comparesValues = false
  /** A preposition or a negation in front of what comes next. */
  let negated = false

  const { meaning, is } = terms
  const placeOf = (from: number, to: number): Place => ({
    start: terms.at(from)?.words[0]?.start ?? 0,
    end: terms.at(to - 1)?.words.at(-1)?.end ?? 0,
  })
  const dimensionAt = (place: number) => meaning(place, 'dimension')?.dimension
  const measureAt = (place: number) => meaning(place, 'measure')?.measure
  const fillersFrom = (place: number): number => {
    let next = terms.skip(place)
    for (;;) {
      const term = terms.at(next)
      if (!term || !isFiller(term.meanings)) return next
      next = terms.skip(next + 1)
    }
  }

  function addGroup(dimension: DimensionSense, from: number, to: number): void {
    if (groups.some((each) => each.dimension.name === dimension.name)) return
    if (groups.length < maximum.groups) groups.push({ dimension, ...placeOf(from, to) })
    else unread.push(placeOf(from, to))
  }

  function addFilter(filter: AskedFilter): void {
    const same = filters.findIndex(
      ({ dimension, negated: isNegated }) =>
        dimension.name === filter.dimension.name && isNegated === filter.negated,
    )
    const known = filters[same]
    if (known) {
      const join = (a: readonly string[] = [], b: readonly string[] = []) => [...new Set([...a, ...b])]
      const names = [...(known.names ?? []), ...(filter.names ?? [])]
      filters[same] = {
        ...known,
        values: join(known.values, filter.values),
        ...(names.length > 0 ? { names: join(names) } : {}),
        start: Math.min(known.start, filter.start),
        end: Math.max(known.end, filter.end),
      }
    } else if (filters.length < maximum.filters) filters.push(filter)
    else unread.push({ start: filter.start, end: filter.end })
  }

  /** "by country and device", "per month"; the place behind, or nothing when it names neither. */
  function readGrouping(place: number): number | undefined {
    let next = place + 1
    let found: number | undefined
    for (;;) {
      const at = fillersFrom(next)
      const unit = meaning(at, 'unit')?.unit
      const dimension = dimensionAt(at)
      if (unit !== undefined && !granularity) granularity = unit
      else if (dimension) addGroup(dimension, at, at + 1)
      else return found
      found = at + 1
      if (is(found, 'and') || terms.at(found)?.words[0]?.text === ',') {
        next = found + 1
        // "by country and by device", "by country, per month"
        if (is(next, 'by')) next++
        else if (dimensionAt(fillersFrom(next)) && measureAt(fillersFrom(next)) && !endsAfter(next))
          return found
      } else return found
    }
  }

  /** "day by day", behind what is no range: "last 7 days by day" ends a range with its first word. */
  function readRepeatedUnit(place: number): number | undefined {
    const unit = meaning(place, 'unit')?.unit
    if (unit === undefined || !is(place + 1, 'by') || meaning(place + 2, 'unit')?.unit !== unit)
      return undefined
    granularity ??= unit
    return place + 3
  }

  /** Whether nothing but a range follows: "by country and customer" and not "by country and customers by month". */
  const endsAfter = (place: number) => !is(fillersFrom(place) + 1, 'by', 'top', 'most')

  /** "top 10 products", "les 5 meilleurs pays", "highest revenue", "le plus de commandes". */
  function readRanking(place: number): number | undefined {
    const direction = is(place, 'top', 'most') ? 'desc' : 'asc'
    const prefersDimension = is(place, 'top', 'bottom')
    let next = terms.skip(place + 1)
    const number = meaning(next, 'number')?.value
    const isLimit = number !== undefined && number >= 1 && number <= maximum.limit
    if (isLimit) next = terms.skip(next + 1)
    while (is(next, 'top', 'most', 'bottom', 'least') || measureAt(next)?.weak) {
      if (measureAt(next)?.weak) pushMeasure(next)
      next++
    }
    const dimension = dimensionAt(next)
    const unit = meaning(next, 'unit')?.unit
    const measure = measureAt(next)
    if (dimension && (prefersDimension || !measure || isLimit)) {
      order = direction
      limit = isLimit ? number : (limit ?? defaultTop)
      addGroup(dimension, next, next + 1)
      return readValueBehind(next, dimension) ?? next + 1
    }
    if (unit !== undefined) {
      order = direction
      granularity ??= unit
      if (isLimit) limit = number
      return next + 1
    }
    if (isLimit) limit = number
    order = direction
    return isLimit && !measure ? next : place + 1
  }

  /** "10 best products", "5 countries with the most orders". */
  function readCountOf(place: number): number | undefined {
    const number = meaning(place, 'number')?.value
    if (number === undefined || number < 1 || number > maximum.limit) return undefined
    const next = terms.skip(place + 1)
    if (is(next, 'top', 'most', 'bottom', 'least')) {
      const after = readRanking(next)
      if (after !== undefined && (groups.length > 0 || granularity)) {
        limit = number
        return after
      }
    }
    const dimension = dimensionAt(next)
    if (!dimension || measureAt(next)) return undefined
    limit = number
    order ??= 'desc'
    addGroup(dimension, next, next + 1)
    return next + 1
  }

  /** "which countries", "quels produits". */
  function readWhich(place: number): number | undefined {
    const written = terms.at(place)?.words.length === 1
    const next = written ? terms.skip(place + 1) : fillersFrom(place + 1)
    const dimension = dimensionAt(next)
    const unit = meaning(next, 'unit')?.unit
    if (unit !== undefined) {
      granularity ??= unit
      order ??= 'desc'
      return next + 1
    }
    if (!dimension || (measureAt(next) && !written)) return undefined
    order ??= 'desc'
    limit ??= defaultTop
    addGroup(dimension, next, next + 1)
    return next + 1
  }

  interface ReadValues {
    readonly values: string[]
    readonly names: string[]
    readonly next: number
  }

  /** One value of a dimension that is named: quoted, a known one, or words that mean nothing else. */
  function readValue(place: number, dimension: DimensionSense, isNamed: boolean): ReadValues | undefined {
    const term = terms.at(place)
    if (!term) return undefined
    const [word] = term.words
    if (word?.kind === 'quoted') return { values: [word.text], names: [word.text], next: place + 1 }
    const known = term.meanings.find((each) => each.kind === 'value' && each.dimension === dimension.name)
    if (known?.kind === 'value') {
      const names = known.country ? [...known.country.names, known.country.code] : known.values
      return { values: [...known.values], names: [...names], next: place + 1 }
    }
    if (!isNamed) return undefined
    const words: Word[] = []
    let next = place
    for (; words.length < maximum.valueWords; next++) {
      const here = terms.at(next)
      const first = here?.words[0]
      if (!here || first?.kind !== 'word') break
      // A number may be a value, alone or as a part: "store 12", "SKU-12".
      const isFree = here.meanings.length === 0 || (words.length === 0 && isOnlyNumber(here.meanings))
      if (!isFree && !(first.joined && words.length > 0)) break
      words.push(...here.words)
    }
    const text = textOf(words)
    return text === '' ? undefined : { values: [text], names: [text], next }
  }

  const isOnlyNumber = (meanings: readonly Meaning[]) =>
    meanings.every(({ kind }) => kind === 'number' || kind === 'ordinal' || kind === 'date')

  /** "country is France or Germany", "product 'A B'", "device mobile". */
  function readValueBehind(place: number, dimension: DimensionSense, isGrouped = true): number | undefined {
    let next = place + 1
    let isNegated = negated
    let isNamed = false
    for (;;) {
      if (is(next, 'not')) isNegated = true
      else if (!is(next, 'equals')) break
      isNamed = true
      next++
    }
    const written = terms.at(place)?.words.at(-1)
    // Of a plural rows are asked for and not one value.
    const isSingular = written !== undefined && formOf(written.text) === plain(written.text)
    const first = readValue(next, dimension, isNamed || (!isGrouped && isSingular))
    if (!first) return undefined
    const values = [...first.values]
    const names = [...first.names]
    next = first.next
    while (is(next, 'and') || terms.at(next)?.words[0]?.text === ',') {
      const further = readValue(
        next + 1,
        dimension,
        isNamed && terms.at(next + 1)?.words[0]?.kind === 'quoted',
      )
      if (!further) break
      values.push(...further.values)
      names.push(...further.names)
      next = further.next
    }
    addFilter({ dimension, values, names, negated: isNegated, ...placeOf(place, next) })
    return next
  }

  const plain = (text: string) =>
    text
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()

  function textOf(words: readonly Word[]): string {
    let text = ''
    for (const [i, word] of words.entries()) {
      const before = words[i - 1]
      if (before) text += word.start > before.end ? (word.joined ? '-' : ' ') : ''
      text += word.text
    }
    return text
  }

  function pushMeasure(place: number): void {
    const measure = measureAt(place)
    if (!measure) return
    const asked = { measure, ...placeOf(place, place + 1) }
    if (measure.weak) {
      weak.push(asked)
      return
    }
    const isRepeated = measures.some(
      (each) => each.measure.ids.join() === measure.ids.join() && !measure.events,
    )
    if (isRepeated) return
    if (measures.length < maximum.measures) measures.push(asked)
    else unread.push(placeOf(place, place + 1))
    const dimension = dimensionAt(place)
    if (dimension) dual.push({ measure: asked, dimension })
  }

  /** A known value: "mobile", "France", "new". */
  function readKnownValue(place: number): number | undefined {
    const value = meaning(place, 'value')
    const dimension = value && vocabulary.findDimension(value.dimension)
    if (!value || !dimension || dimension.ids.length === 0) return undefined
    const names = value.country?.names
    addFilter({
      dimension,
      values: value.values,
      ...(names ? { names: [...names, value.country?.code ?? ''] } : {}),
      negated,
      ...placeOf(place, place + 1),
    })
    return place + 1
  }

  function readComparison(place: number): number | undefined {
    const shift = meaning(place, 'shift')
    if (!is(place, 'compare') && !shift) return undefined
    const at = shift ? place : place + 1
    const found =
      times.readCompared(at) ??
      (is(terms.skip(at), 'to', 'and') ? times.readCompared(terms.skip(at) + 1) : undefined)
    if (!found) {
      comparesValues = true
      return place + 1
    }
    const isFirst = place === 0 && spans.length === 0 && found.value.kind === 'span'
    // "compare May with June": the first is the range, the second what it is compared with.
    if (isFirst && found.value.kind === 'span' && joinsComparison(found.next)) {
      const second = times.readCompared(found.next + 1)
      if (second) {
        spans.push({ span: found.value.span, ...placeOf(at, found.next) })
        compared.push({ with: second.value, ...placeOf(found.next, second.next) })
        return second.next
      }
    }
    compared.push({ with: found.value, ...placeOf(place, found.next) })
    return found.next
  }

  const joinsComparison = (place: number) =>
    is(place, 'and', 'compare', 'to') || ['with', 'avec'].includes(terms.at(place)?.words[0]?.form ?? '')

  function readRange(place: number): number | undefined {
    const base = times.readMoveOfBase(place)
    if (base && (isFollowUp || isAlone(place, base.next))) {
      compared.push({ with: base.value, ...placeOf(place, base.next) })
      return base.next
    }
    const found = times.readSpan(place)
    if (!found) return undefined
    spans.push({ span: found.value, ...placeOf(place, found.next) })
    return found.next
  }

  /** Whether a unit with "before" or "previous" stands without a range in front: then it is relative to the base. */
  const isAlone = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => from + i).some((place) => is(place, 'before', 'same'))

  const startsRange = (place: number) => is(place, 'since', 'between', 'from', 'in')

  /** Reads what begins at a place; the place behind it. */
  function readAt(place: number): number | undefined {
    const comparison = readComparison(place)
    if (comparison !== undefined) return comparison
    if (is(place, 'by')) {
      const grouped = readGrouping(place)
      if (grouped !== undefined) return grouped
    }
    const range = readRange(place)
    if (range !== undefined) return range
    const counted = readCountOf(place)
    if (counted !== undefined) return counted
    if (is(place, 'top', 'most', 'bottom', 'least')) return readRanking(place)
    const repeated = readRepeatedUnit(place)
    if (repeated !== undefined) return repeated
    if (is(place, 'which')) {
      const asked = readWhich(place)
      if (asked !== undefined) return asked
    }
    const unit = meaning(place, 'granularity')?.unit
    if (unit !== undefined) {
      if (granularity === undefined || granularity === 'auto') granularity = unit
      return place + 1
    }
    return readMember(place)
  }

  function readMember(place: number): number | undefined {
    const dimension = dimensionAt(place)
    const isOther = terms.at(place)?.meanings.some(({ kind }) => kind === 'marker' || kind === 'ignored')
    if (dimension) {
      const filtered = readValueBehind(place, dimension, false)
      if (filtered !== undefined) {
        const counts = dimension.name === 'event' ? measureAt(place) : undefined
        if (counts) pushMeasure(place)
        return filtered
      }
    }
    if (measureAt(place) && !(isOther && dimension)) {
      pushMeasure(place)
      return place + 1
    }
    const value = readKnownValue(place) ?? readPath(place)
    if (value !== undefined) return value
    if (dimension && !isOther) {
      addGroup(dimension, place, place + 1)
      return place + 1
    }
    return undefined
  }

  /** "/checkout": no other dimension has such values. */
  function readPath(place: number): number | undefined {
    const [word] = terms.at(place)?.words ?? []
    const dimension = vocabulary.findDimension('page')
    if (word?.kind !== 'word' || !word.text.startsWith('/') || !dimension?.ids.length) return undefined
    addFilter({ dimension, values: [word.text], names: [word.text], negated, ...placeOf(place, place + 1) })
    return place + 1
  }

  function readLoose(place: number): number {
    const words: Word[] = []
    let next = place
    for (; next < terms.length && words.length < maximum.valueWords; next++) {
      const term = terms.at(next)
      const first = term?.words[0]
      if (!term || !first || first.kind === 'break') break
      if (first.kind === 'quoted' && words.length > 0) break
      const isFree = term.meanings.length === 0
      if (!isFree && !(first.joined && words.length > 0)) break
      words.push(...term.words)
      if (first.kind === 'quoted') {
        next++
        break
      }
    }
    const event = dimensionAt(next)?.name === 'event' ? dimensionAt(next) : undefined
    if (event && words.some(({ kind, text }) => kind === 'quoted' || text.includes('_'))) {
      const names = [textOf(words)]
      addFilter({ dimension: event, values: names, names, negated, ...placeOf(place, next) })
      return next
    }
    const found = { text: textOf(words), words, negated, ...placeOf(place, next) }
    if (loose.length < maximum.loose) loose.push(found)
    else unread.push(placeOf(place, next))
    return next
  }

  const weightless: readonly Marker[] = [
    'in',
    'and',
    'to',
    'from',
    'between',
    'which',
    'equals',
    'same',
    'startOf',
    'this',
    'since',
    'by',
  ]
  const isWeightless = (place: number) =>
    meaning(place, 'ignored') !== undefined ||
    is(place, ...weightless) ||
    (meaning(place, 'unanswered') === undefined && terms.at(place)?.words[0]?.kind === 'break')

  for (let place = 0; place < terms.length; ) {
    const next = readAt(place)
    if (next !== undefined && next > place) {
      negated = false
      place = next
    } else if (is(place, 'not')) {
      negated = true
      place++
    } else if (terms.at(place)?.meanings.length === 0 && terms.at(place)?.words[0]?.kind !== 'break') {
      place = readLoose(place)
      negated = false
    } else if (isWeightless(place)) {
      // A preposition keeps a negation in front of it.
      if (!startsRange(place) && terms.at(place)?.words[0]?.kind === 'break') negated = false
      place++
    } else {
      unread.push(placeOf(place, place + 1))
      place++
    }
  }

  if (order && groups.length === 0 && granularity === undefined) {
    const [first] = dual
    if (first && (measures.length > 1 || weak.length > 0)) {
      groups.push({ dimension: first.dimension, start: first.measure.start, end: first.measure.end })
      measures.splice(measures.indexOf(first.measure), 1)
      limit ??= defaultTop
    }
  }
  if (comparesValues) groupByCompared()
  // People who buy are buyers.
  const buys = weak.some(({ measure }) => measure.ids.includes('purchases.count'))
  for (const [i, asked] of measures.entries()) {
    if (!buys || !asked.measure.ids.includes('events.people')) continue
    measures[i] = { ...asked, measure: { ids: ['purchases.buyers'] } }
  }
  if (measures.length === 0) {
    const [first] = weak
    if (first) measures.push(first)
  }

  /** "mobile vs desktop": rows for each of them. */
  function groupByCompared(): void {
    for (const { dimension, values, start, end } of filters) {
      if (values.length > 1 && groups.every((each) => each.dimension.name !== dimension.name)) {
        groups.push({ dimension, start, end })
      }
    }
  }

  const explicit = compared.filter((each) => each.with.kind !== 'previous' || !each.with.implied)
  return {
    measures,
    groups,
    ...(granularity === undefined ? {} : { granularity }),
    filters,
    loose,
    spans,
    compared: explicit.length > 0 ? explicit : compared.slice(0, 1),
    ...(order === undefined ? {} : { order }),
    ...(limit === undefined ? {} : { limit }),
    unread,
  }
}
