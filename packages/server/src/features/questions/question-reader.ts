import type { Filter, Granularity, Query } from '@millrace/contract/resources/query.ts'
import type { ComparisonWindows, Window } from '@millrace/contract/resources/report.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import type { Language } from '../../platform/i18n/language.ts'
import type { Interval } from '../analytics/query/time/interval.ts'
import { plannedQuery, titleOf } from './describe-query.ts'
import { createPeriods, type Period, type Periods, windowOf } from './periods.ts'
import { createFit, planQueries } from './plan-queries.ts'
import type { PlannedQuery } from './planned-query.ts'
import { readSlots } from './read-slots.ts'
import { type Compared, createTimeReader } from './read-times.ts'
import type { AskedFilter, AskedGroup, AskedMeasure, LooseValue, Place, Slots } from './slots.ts'
import { createSpanPeriods, type SpanPeriods } from './span-periods.ts'
import { termsAt } from './terms.ts'
import type { TimeRules } from './time-rules.ts'
import { textsOf, unreadable } from './unread-question.ts'
import { type Vocabulary, vocabularyOf } from './vocabulary.ts'
import { foldedOf, maxQuestionLength, type Word, wordsOf } from './words.ts'

export interface ReadQuestion {
  readonly title: string
  readonly queries: PlannedQuery[]
  readonly period: Window
  readonly comparisonWindows: ComparisonWindows
  /** Parts of the question that no rule reads, as they were written. */
  readonly unread: string[]
}

/** What a follow-up takes from the report that it belongs to. */
export interface QuestionBase {
  readonly queries: readonly Query[]
  readonly period: Window
}

/** A value that a dimension has, as it is stored. */
export interface FoundValue {
  readonly member: string
  readonly value: string
}

/** Finds values among which those are that equal one of the texts, whatever their case and accents. */
export type FindValues = (asked: {
  readonly texts: readonly string[]
  /** Ids of text dimensions. */
  readonly members: readonly string[]
  /** The time in which facts have had them. */
  readonly range: [string, string]
  readonly timezone: string
}) => Promise<readonly FoundValue[]>

export interface QuestionContext {
  readonly meta: StatisticsMeta
  /** Milliseconds since 1970. */
  readonly now: number
  /** IANA name. */
  readonly timezone: string
  readonly locale: Language
  /** Without it a value is only known where the question names its dimension. */
  readonly findValues?: FindValues
  readonly base?: QuestionBase
}

/** Dimensions of which values are looked for. */
const maxSearched = 12
/** Texts that are looked for. */
const maxTexts = 20
const defaultDays = 28
const maxRanges = 3

export type QuestionReader = ReturnType<typeof createQuestionReader>

export function createQuestionReader(calendar: TimeRules) {
  return {
    /**
     * Reads a question in English or French into queries, by the grammar of docs/reports.md (Questions that are
     * understood). The same question in the same context gives the same queries.
     * @throws {DomainError} `questionUnreadable` when it names nothing that can be measured
     */
    async readQuestion(question: string, context: QuestionContext): Promise<ReadQuestion> {
      const text = question.slice(0, maxQuestionLength)
      const { meta, timezone, locale } = context
      const periods = createPeriods(calendar, context.now, timezone)
      const vocabulary = vocabularyOf(meta)
      const terms = termsAt(vocabulary.termsOf(wordsOf(text)))
      const times = createTimeReader(terms, periods, { dayFirst: locale === 'fr' })
      const slots = readSlots(terms, times, vocabulary, context.base !== undefined)
      const unread: Place[] = [...slots.unread]
      const { ranges, compared, period } = resolveRanges(slots, periods, context.base, unread)
      const base = context.base && baseOf(context.base, vocabulary)
      const measures = measuresOf(slots, base, meta)
      if (measures.length === 0) throw unreadable(text, slots, meta, locale)
      const found = await findLoose(slots.loose, measures, vocabulary, context, { ranges, periods })
      unread.push(...found.unread)
      const granularity = granularityOf(slots, base, ranges, periods)
      const { order, limit } = slots
      const groups = groupsOf(slots, base, found.filters)
      const planned = planQueries(meta, {
        measures,
        groups,
        filters: filtersOf([...slots.filters, ...found.filters], base),
        ...{ granularity, order, limit },
        ranges: ranges.map(periods.rangeOf),
        timezone,
      })
      if (planned.queries.length === 0) throw unreadable(text, slots, meta, locale)
      unread.push(...planned.unused)
      return {
        title: titleOf(planned.queries, meta, locale),
        queries: planned.queries.map((query) => plannedQuery(query, meta, locale)),
        period: windowOf(period),
        comparisonWindows: periods.comparisonsOf(period, compared),
        unread: textsOf(unread, text),
      }
    },
  }
}

/** The range, those that it is compared with, and how the question says so. */
function resolveRanges(
  { spans, compared }: Slots,
  periods: Periods,
  base: QuestionBase | undefined,
  unread: Place[],
) {
  const times = createSpanPeriods(periods)
  const years = [...spans.map(({ span }) => span), ...compared.flatMap(spanOf)].map(times.yearOf)
  const year = years.findLast((each) => each !== undefined)
  const resolved = spans.flatMap(({ span, ...place }) => {
    const period = times.periodOf(span, year)
    if (!period) unread.push(place)
    return period ?? []
  })
  const [first, ...others] = resolved
  const ofBase =
    base && periods.periodOf({ from: Date.parse(base.period.start), to: Date.parse(base.period.end) })
  const moved = compared.find((each) => each.with.kind === 'shift')?.with
  const period: Period =
    first ??
    ofBase ??
    (moved?.kind === 'shift' && moved.unit !== 'hour'
      ? periods.toDate(moved.unit)
      : periods.whole('day', -defaultDays, defaultDays))
  // A day that is not over is not set against whole ones.
  const isCompared = others.length + compared.length > 0
  const told = isCompared ? periods.ofWholeDays(period) : period
  const against: Interval[] = others.map(periods.ofWholeDays)
  for (const { with: what, ...place } of compared) {
    const interval = intervalOf(what, told, times, periods, year)
    if (interval && periods.isWithin(interval)) against.push(interval)
    else unread.push(place)
  }
  const known = [told, ...against].slice(0, maxRanges)
  return { period, ranges: known, compared: known[1] }
}

const spanOf = ({ with: what }: { readonly with: Compared }) => (what.kind === 'span' ? [what.span] : [])

function intervalOf(
  what: Compared,
  period: Period,
  times: SpanPeriods,
  periods: Periods,
  year: number | undefined,
): Interval | undefined {
  switch (what.kind) {
    case 'previous':
      return periods.before(period)
    case 'shift':
      return what.unit === 'year' && what.count === 1
        ? periods.yearBefore(period)
        : periods.shift(period, -what.count, what.unit)
    case 'span':
      return times.periodOf(what.span, year)
  }
}

interface Base {
  readonly measures: readonly AskedMeasure[]
  readonly groups: readonly AskedGroup[]
  readonly filters: readonly AskedFilter[]
  readonly granularity?: Granularity
}

const nowhere: Place = { start: 0, end: 0 }

/** The first query of the report that has measures, in the terms of a question. */
function baseOf({ queries }: QuestionBase, vocabulary: Vocabulary): Base {
  const query = queries.find(({ measures }) => measures.length > 0)
  const own = (id: string) => ownSense(id, vocabulary)
  const granularity = query?.timeDimensions.find((each) => each.granularity)?.granularity
  return {
    measures: (query?.measures ?? []).map((id) => ({ measure: { ids: [id] }, ...nowhere })),
    groups: (query?.dimensions ?? []).map((id) => ({ dimension: own(id), ...nowhere })),
    filters: (query?.filters ?? []).flatMap((filter) => filterOfBase(filter, own)),
    ...(granularity ? { granularity } : {}),
  }
}

/** What a member means, itself before others of the same meaning. */
function ownSense(id: string, vocabulary: Vocabulary): AskedFilter['dimension'] {
  const sense = vocabulary.dimensionOf(id) ?? { name: id, ids: [id], counts: [] }
  return { ...sense, ids: [id, ...sense.ids.filter((each) => each !== id)] }
}

function filterOfBase(filter: Filter, own: (id: string) => AskedFilter['dimension']): AskedFilter[] {
  if (!('operator' in filter)) return []
  const { operator, values } = filter
  const member = filter.member ?? filter.dimension
  if (!member || !values || (operator !== 'equals' && operator !== 'notEquals')) return []
  return [{ dimension: own(member), values, names: values, negated: operator === 'notEquals', ...nowhere }]
}

function measuresOf({ measures, groups, filters }: Slots, base: Base | undefined, meta: StatisticsMeta) {
  if (measures.length > 0) return measures
  if (base && base.measures.length > 0) return base.measures
  const [first] = [...groups, ...filters.filter(({ dimension }) => dimension.name === 'event')]
  const ids = first?.dimension.counts.filter((id) => Object.hasOwn(meta.measures, id)) ?? []
  return ids.length > 0 ? [{ measure: { ids }, ...nowhere }] : []
}

/** Groups of the question; those of the base stay where the question only changes measure, range or filter. */
function groupsOf(
  { groups, granularity, measures, filters, spans, compared }: Slots,
  base: Base | undefined,
  found: readonly AskedFilter[],
): readonly AskedGroup[] {
  if (groups.length > 0 || granularity !== undefined || !base) return groups
  const changes = measures.length + filters.length + spans.length + compared.length + found.length
  return changes > 0 ? base.groups : groups
}

function granularityOf(
  { granularity, groups, order }: Slots,
  base: Base | undefined,
  ranges: readonly Interval[],
  periods: Periods,
): Granularity | undefined {
  const ofBase = groups.length === 0 && order === undefined ? base?.granularity : undefined
  const asked = granularity ?? ofBase
  if (asked === undefined) return undefined
  return asked !== 'auto' && periods.isCountable(ranges, asked) ? asked : periods.unitFor(ranges)
}

/** Filters of the base hold on, but for those of a dimension that the question filters anew. */
function filtersOf(filters: readonly AskedFilter[], base: Base | undefined): readonly AskedFilter[] {
  if (!base) return filters
  const names = new Set(filters.map(({ dimension }) => dimension.name))
  return [...base.filters.filter(({ dimension }) => !names.has(dimension.name)), ...filters]
}

/** Dimensions whose values a question may name alone: not identifiers, of which there are as many as facts. */
function searchedMembers(measures: readonly AskedMeasure[], meta: StatisticsMeta): string[] {
  const fits = createFit(meta)
  const isSearched = (id: string) => {
    const dimension = meta.dimensions[id]
    if (dimension?.type !== 'string' || dimension.values || dimension.filterOnly) return false
    if (/\.(?:person|device|transaction|url)$/.test(id) || dimension.format === 'id') return false
    return measures.some(({ measure }) => measure.ids.some((measureId) => fits([measureId, id])))
  }
  const order = '.label. .item .name .utmCampaign .path .entryPath .utmSource .referrerHost'.split(' ')
  const rank = (id: string) => {
    const place = order.findIndex((part) => id.includes(part))
    return place < 0 ? order.length : place
  }
  return Object.keys(meta.dimensions)
    .filter(isSearched)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, maxSearched)
}

/** The texts that words in a row may be: all of them first, then fewer. */
function* runsOf({
  text,
  words,
}: LooseValue): Generator<{ readonly text: string; readonly words: readonly Word[] }> {
  yield { text, words }
  for (let length = words.length - 1; length > 0; length--) {
    for (let from = 0; from + length <= words.length; from++) {
      const part = words.slice(from, from + length)
      yield { text: part.map((word) => word.text).join(' '), words: part }
    }
  }
}

/** Finds the dimensions of values that stand in a question without them. */
async function findLoose(
  loose: readonly LooseValue[],
  measures: readonly AskedMeasure[],
  vocabulary: Vocabulary,
  { findValues, meta, timezone }: QuestionContext,
  { ranges, periods }: { readonly ranges: readonly Interval[]; readonly periods: Periods },
): Promise<{ readonly filters: AskedFilter[]; readonly unread: readonly Place[] }> {
  const members = findValues ? searchedMembers(measures, meta) : []
  const texts = [...new Set(loose.flatMap((each) => [...runsOf(each)].map(({ text }) => text)))]
    .filter((text) => text.length > 1)
    .slice(0, maxTexts)
  if (!findValues || members.length === 0 || texts.length === 0) return { filters: [], unread: loose }
  const hull = {
    from: Math.min(...ranges.map(({ from }) => from)),
    to: Math.max(...ranges.map(({ to }) => to)),
  }
  const values = byMember(await findValues({ texts, members, range: periods.rangeOf(hull), timezone }))
  const filters: AskedFilter[] = []
  const unread: Place[] = []
  for (const each of loose) {
    const match = firstMatch(each, members, values)
    if (!match) {
      unread.push(each)
      continue
    }
    const { start, end, negated } = each
    const names = [match.value]
    const dimension = ownSense(match.member, vocabulary)
    filters.push({ dimension, values: names, names, negated, start, end })
    unread.push(...match.rest)
  }
  return { filters, unread }
}

/** Values of each member by their folded form, each folded once: there may be ten thousand. */
function byMember(values: readonly FoundValue[]): ReadonlyMap<string, ReadonlyMap<string, FoundValue>> {
  const found = new Map<string, Map<string, FoundValue>>()
  for (const each of values) {
    const own = found.get(each.member) ?? new Map<string, FoundValue>()
    found.set(each.member, own)
    const form = foldedOf(each.value)
    if (!own.has(form)) own.set(form, each)
  }
  return found
}

function firstMatch(loose: LooseValue, members: readonly string[], values: ReturnType<typeof byMember>) {
  for (const { text, words } of runsOf(loose)) {
    const form = foldedOf(text)
    for (const member of members) {
      const found = values.get(member)?.get(form)
      if (found) return { ...found, rest: loose.words.filter((word) => !words.includes(word)) }
    }
  }
  return undefined
}
