import type { Filter } from '@millrace/contract/resources/query.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'

/** One measure over another: a rate, or a mean. */
export interface Rate {
  /** Names it in texts: the id of a virtual measure, or `conversion`. */
  readonly id: string
  readonly numerator: string
  readonly denominator: string
}

/** What a report is about: a measure, what it is divided by, and the dimensions in which its causes are looked for. */
export interface Subject {
  /** `purchases`, `events` or `sessions`. */
  readonly source: string
  /** Whose total, course, change and drivers are told. */
  readonly measure: string
  /** Names it in texts where its filters make another thing of the measure. */
  readonly name?: 'returningSessions'
  /** Facts of the source, for the minimum sample. */
  readonly sample: string
  /** Totals that are told beside it. */
  readonly totals: readonly string[]
  /** Rates that the measures of the same rows give. */
  readonly rates: readonly Rate[]
  readonly filters: readonly Filter[]
  readonly dimensions: readonly string[]
}

/** The virtual measures that are one measure over another, by id. */
export const rates: Readonly<Record<string, Rate>> = Object.fromEntries(
  [
    ['purchases.averageOrderValue', 'purchases.revenue', 'purchases.count'],
    ['purchases.revenuePerBuyer', 'purchases.revenue', 'purchases.buyers'],
    ['purchases.perBuyer', 'purchases.count', 'purchases.buyers'],
    ['purchases.referencesPerPurchase', 'purchases.references', 'purchases.count'],
    ['sessions.bounceRate', 'sessions.bounces', 'sessions.count'],
    ['sessions.eventsPerSession', 'sessions.events', 'sessions.count'],
    ['sessions.perPerson', 'sessions.count', 'sessions.people'],
    ['events.perPerson', 'events.count', 'events.people'],
  ].map(([id = '', numerator = '', denominator = '']) => [id, { id, numerator, denominator }]),
)

/** Facts below which a percentage of them misleads. */
export const minBase = 30

/** Measures whose values of members and of buckets add up to those of all. */
const additive: ReadonlySet<string> = new Set([
  ...['purchases.count', 'purchases.revenue', 'purchases.references', 'purchases.afterClick'],
  ...['purchases.influencedRevenue', 'purchases.directRevenue', 'purchases.influencedCount'],
  ...['events.count', 'events.items', 'sessions.count', 'sessions.events', 'sessions.bounces'],
])

export function isAdditive(measure: string): boolean {
  return additive.has(measure)
}

/** Dimensions of which one row may have several values: their members do not add up to the total. */
const multiValued: ReadonlySet<string> = new Set(['purchases.item', 'events.item'])

export function isMultiValued(dimension: string): boolean {
  return multiValued.has(dimension)
}

export function sourceOf(member: string): string {
  return member.slice(0, member.indexOf('.'))
}

/** Dimensions of each source that may tell a cause, the likeliest first; labels of the company come before them. */
const ordinary: Readonly<Record<string, string>> = {
  purchases: 'deviceType os item',
  events: 'name country deviceType referrerHost utmSource path os browser item',
  sessions: 'channel country deviceType isNew referrerHost utmSource utmCampaign entryPath browser os',
}

const maxLabels = 5
const maxDimensions = 9

/** Labels that name one thing each tell nothing in common. */
const identifying =
  /(^|[a-z_.-])(id|uuid|guid|email|phone|url|token|hash|ip|timestamp|session|cart|order)s?$/i

/** Names of labels that tell causes, the likeliest first, without case and signs. */
const likely = (
  'country countrycode region state city language locale market channel store storename shop category ' +
  'productcategory brand customergroup segment customersegment plan plantype tier gender paymentmethod currency'
).split(' ')

/** Labels come from events, which anybody can send: what few of them carry must not crowd out what all do. */
function rankOf(id: string): number {
  const name = id.slice(id.indexOf('.label.') + '.label.'.length)
  const place = likely.indexOf(name.toLowerCase().replace(/[^a-z]/g, ''))
  return place < 0 ? likely.length : place
}

/** The dimensions of a source in which causes are looked for: labels of the company, then those of every company. */
export function dimensionsOf(source: string, meta: StatisticsMeta): string[] {
  const labels = Object.keys(meta.dimensions)
    .filter((id) => id.startsWith(`${source}.label.`) && !identifying.test(id))
    .sort((a, b) => rankOf(a) - rankOf(b))
    .slice(0, maxLabels)
  const others = (ordinary[source]?.split(' ') ?? []).map((name) => `${source}.${name}`)
  return [...labels, ...others.filter((id) => Object.hasOwn(meta.dimensions, id))].slice(0, maxDimensions)
}

/** The dimension of events that says of visits what this one says of purchases, where there is one. */
export function visitDimension(dimension: string, meta: StatisticsMeta): string | undefined {
  if (!dimension.startsWith('purchases.') || isMultiValued(dimension)) return undefined
  const twin = dimension.replace(/^purchases\./, 'events.')
  return Object.hasOwn(meta.dimensions, twin) ? twin : undefined
}

/** What a measure of any query is asked about: its rate, its source's sample and its dimensions. */
export function subjectOf(
  measure: string,
  filters: readonly Filter[],
  dimensions: readonly string[],
): Subject | undefined {
  const source = sourceOf(measure)
  if (!Object.hasOwn(ordinary, source)) return undefined
  const rate = rates[measure]
  return {
    source,
    measure: rate ? rate.numerator : measure,
    sample: `${source}.count`,
    totals: [...new Set([measure, rate?.numerator ?? measure, rate?.denominator ?? measure])],
    rates: rate ? [rate] : [],
    filters,
    dimensions,
  }
}
