import type { Marker } from './lexicon.ts'
import type { TimeReader } from './read-times.ts'
import { createValueRules } from './read-values.ts'
import { createSlotCollector, defaultTop, type SlotCollector, type Slots } from './slots.ts'
import type { Terms } from './terms.ts'
import type { Vocabulary } from './vocabulary.ts'

const maxLimit = 1_000

/** Reads what begins at a place; the place behind it, or nothing where it is something else. */
type Rule = (place: number) => number | undefined

/** Words that stand between what counts without a meaning of their own. */
const weightless: readonly Marker[] = [
  ...(['in', 'and', 'to', 'from', 'between', 'which', 'equals', 'same', 'startOf', 'this'] as const),
  ...(['since', 'by'] as const),
]

/** Rules for groups, orders and limits. */
function createGroupRules(
  terms: Terms,
  slots: SlotCollector,
  readValueBehind: ReturnType<typeof createValueRules>['readValueBehind'],
) {
  const { meaning, is, at, skip } = terms
  const { asked } = slots
  const measureAt = (place: number) => meaning(place, 'measure')
  const dimensionAt = (place: number) => meaning(place, 'dimension')
  const isRanking = (place: number) => is(place, 'top', 'most', 'bottom', 'least')
  const limitAt = (place: number) => {
    const number = meaning(place, 'number')
    return number !== undefined && number >= 1 && number <= maxLimit ? number : undefined
  }

  /** The place behind what stands between a marker and its dimension. */
  const fillersFrom = (place: number): number => {
    let next = skip(place)
    for (;;) {
      const meanings = at(next)?.meanings ?? []
      const isFiller = meanings.every(
        ({ kind, sense }) => kind === 'ignored' || (kind === 'marker' && sense === 'in'),
      )
      if (meanings.length === 0 || !isFiller) return next
      next = skip(next + 1)
    }
  }

  /** Whether a range is all that follows: "by country and customer" and not "by country and customers by month". */
  const endsAfter = (place: number) => !is(fillersFrom(place) + 1, 'by', 'top', 'most')

  /** "by country and device", "per month". */
  const readGrouping: Rule = (place) => {
    if (!is(place, 'by')) return undefined
    let next = place + 1
    let found: number | undefined
    for (;;) {
      const here = fillersFrom(next)
      const unit = meaning(here, 'unit')
      const dimension = dimensionAt(here)
      if (unit !== undefined && !asked.granularity) asked.granularity = unit
      else if (dimension) slots.addGroup(dimension, here)
      else return found
      found = here + 1
      if (!is(found, 'and') && at(found)?.words[0]?.text !== ',') return found
      next = found + 1
      // "by country and by device", "by country, per month"
      if (is(next, 'by')) next++
      else if (dimensionAt(fillersFrom(next)) && measureAt(fillersFrom(next)) && !endsAfter(next))
        return found
    }
  }

  /** "day by day", behind what is no range: "last 7 days by day" ends a range with its first word. */
  const readRepeatedUnit: Rule = (place) => {
    const unit = meaning(place, 'unit')
    if (unit === undefined || !is(place + 1, 'by') || meaning(place + 2, 'unit') !== unit) return undefined
    asked.granularity ??= unit
    return place + 3
  }

  /** "top 10 products", "les 5 meilleurs pays", "highest revenue", "le plus de commandes". */
  const readRanking: Rule = (place) => {
    if (!isRanking(place)) return undefined
    const direction = is(place, 'top', 'most') ? 'desc' : 'asc'
    let next = skip(place + 1)
    const limit = limitAt(next)
    if (limit !== undefined) next = skip(next + 1)
    for (; isRanking(next) || measureAt(next)?.weak; next++) {
      if (measureAt(next)?.weak) slots.addMeasure(next)
    }
    const dimension = dimensionAt(next)
    const unit = meaning(next, 'unit')
    const measure = measureAt(next)
    asked.order = direction
    asked.limit = limit ?? asked.limit
    if (dimension && (is(place, 'top', 'bottom') || !measure || limit !== undefined)) {
      asked.limit ??= defaultTop
      slots.addGroup(dimension, next)
      return readValueBehind(next, dimension) ?? next + 1
    }
    if (unit !== undefined) {
      asked.granularity ??= unit
      return next + 1
    }
    return limit !== undefined && !measure ? next : place + 1
  }

  /** "10 best products", "5 countries with the most orders". */
  const readCountOf: Rule = (place) => {
    const limit = limitAt(place)
    if (limit === undefined) return undefined
    const next = skip(place + 1)
    const after = readRanking(next)
    if (after !== undefined && (slots.groups.length > 0 || asked.granularity)) {
      asked.limit = limit
      return after
    }
    const dimension = dimensionAt(next)
    if (!dimension || measureAt(next)) return undefined
    asked.limit = limit
    asked.order ??= 'desc'
    slots.addGroup(dimension, next)
    return next + 1
  }

  /** "which countries", "quels produits". */
  const readWhich: Rule = (place) => {
    if (!is(place, 'which')) return undefined
    const isOneWord = at(place)?.words.length === 1
    const next = isOneWord ? skip(place + 1) : fillersFrom(place + 1)
    const dimension = dimensionAt(next)
    const unit = meaning(next, 'unit')
    if (unit === undefined && (!dimension || (measureAt(next) && !isOneWord))) return undefined
    asked.order ??= 'desc'
    if (unit !== undefined) asked.granularity ??= unit
    else if (dimension) {
      asked.limit ??= defaultTop
      slots.addGroup(dimension, next)
    }
    return next + 1
  }

  /** "daily", "over time". */
  const readGranularity: Rule = (place) => {
    const unit = meaning(place, 'granularity')
    if (unit === undefined) return undefined
    if (asked.granularity === undefined || asked.granularity === 'auto') asked.granularity = unit
    return place + 1
  }

  return { readGrouping, readRepeatedUnit, readRanking, readCountOf, readWhich, readGranularity }
}

/** Rules for ranges and for what they are compared with. */
function createRangeRules(terms: Terms, times: TimeReader, slots: SlotCollector, isFollowUp: boolean) {
  const { meaning, is, at, skip } = terms
  const { spans, compared, placeOf } = slots

  const joinsComparison = (place: number) =>
    is(place, 'and', 'compare', 'to') || ['with', 'avec'].includes(at(place)?.words[0]?.form ?? '')

  /** Whether a unit with "before" or "previous" stands without a range in front: then it is relative to the base. */
  const isAlone = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => from + i).some((place) => is(place, 'before', 'same'))

  const readComparison: Rule = (place) => {
    const shift = meaning(place, 'shift')
    if (!is(place, 'compare') && !shift) return undefined
    const from = shift ? place : place + 1
    const found =
      times.readCompared(from) ??
      (is(skip(from), 'to', 'and') ? times.readCompared(skip(from) + 1) : undefined)
    if (!found) {
      slots.asked.comparesValues = true
      return place + 1
    }
    // "compare May with June": the first is the range, the second what it is compared with.
    const isFirst = place === 0 && spans.length === 0 && joinsComparison(found.next)
    const second = isFirst && found.value.kind === 'span' ? times.readCompared(found.next + 1) : undefined
    if (second && found.value.kind === 'span') {
      spans.push({ span: found.value.span, ...placeOf(from, found.next) })
      compared.push({ with: second.value, ...placeOf(found.next, second.next) })
      return second.next
    }
    compared.push({ with: found.value, ...placeOf(place, found.next) })
    return found.next
  }

  const readRange: Rule = (place) => {
    const base = times.readMoveOfBase(place)
    if (base && (isFollowUp || isAlone(place, base.next))) {
      compared.push({ with: base.value, ...placeOf(place, base.next) })
      return base.next
    }
    const found = times.readSpan(place)
    if (found) spans.push({ span: found.value, ...placeOf(place, found.next) })
    return found?.next
  }

  return { readComparison, readRange }
}

/** @param isFollowUp whether "the previous year" is that before the range of the report */
export function readSlots(
  terms: Terms,
  times: TimeReader,
  vocabulary: Vocabulary,
  isFollowUp: boolean,
): Slots {
  const { meaning, is, at } = terms
  const slots = createSlotCollector(terms)
  const values = createValueRules(terms, vocabulary, slots)
  const groups = createGroupRules(terms, slots, values.readValueBehind)
  const ranges = createRangeRules(terms, times, slots, isFollowUp)
  const isBreak = (place: number) => at(place)?.words[0]?.kind === 'break'
  /** Whether a word has a task in the sentence as well. */
  const isOther = (place: number) =>
    at(place)?.meanings.some(({ kind }) => kind === 'marker' || kind === 'ignored') ?? false

  /** "event page_view": a dimension with its value. */
  const readNamedValue: Rule = (place) => {
    const dimension = meaning(place, 'dimension')
    const next = dimension && values.readValueBehind(place, dimension, false)
    if (next !== undefined && dimension?.name === 'event') slots.addMeasure(place)
    return next
  }
  const readMeasure: Rule = (place) => {
    if (!meaning(place, 'measure') || (isOther(place) && meaning(place, 'dimension'))) return undefined
    slots.addMeasure(place)
    return place + 1
  }
  const readDimension: Rule = (place) => {
    const dimension = meaning(place, 'dimension')
    if (!dimension || isOther(place)) return undefined
    slots.addGroup(dimension, place)
    return place + 1
  }

  /** The first that reads something at a place takes it. */
  const rules: readonly Rule[] = [
    ranges.readComparison,
    groups.readGrouping,
    ranges.readRange,
    groups.readCountOf,
    groups.readRanking,
    groups.readRepeatedUnit,
    groups.readWhich,
    groups.readGranularity,
    readNamedValue,
    readMeasure,
    values.readKnownValue,
    values.readPath,
    readDimension,
  ]
  const readAt: Rule = (place) => {
    for (const rule of rules) {
      const next = rule(place)
      if (next !== undefined) return next
    }
    return undefined
  }
  const isWeightless = (place: number) =>
    meaning(place, 'ignored') !== undefined || is(place, ...weightless) || isBreak(place)

  for (let place = 0; place < terms.length; ) {
    const next = readAt(place)
    if (next !== undefined) {
      slots.asked.negated = false
      place = next
    } else if (is(place, 'not')) {
      slots.asked.negated = true
      place++
    } else if (at(place)?.meanings.length === 0 && !isBreak(place)) {
      place = values.readLoose(place)
      slots.asked.negated = false
    } else {
      // A preposition keeps a negation in front of it.
      if (isBreak(place)) slots.asked.negated = false
      if (!isWeightless(place)) slots.unread.push(slots.placeOf(place, place + 1))
      place++
    }
  }
  return slots.finish()
}
