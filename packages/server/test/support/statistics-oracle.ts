import type { BinaryFilter, Filter, Query } from '@millrace/contract/resources/query.ts'
import type { StoredEvent } from './statistics-events.ts'
import { eventFacts, type Fact, purchaseFacts } from './statistics-oracle-facts.ts'
import { sessionFacts } from './statistics-oracle-sessions.ts'
import { bucketOf, dateIn, dayBegins, daysLater, isoIn } from './statistics-oracle-time.ts'

/**
 * Answers queries by a plain computation over events in memory. It knows nothing of the service: neither its
 * catalogue nor its SQL. Ranges of dates are pairs of dates or instants; relative ones are tested elsewhere.
 */
export interface Oracle {
  rows(query: Query, zone: string): Row[]
}

export type Value = string | number | boolean | null
export type Row = Record<string, Value>

type SourceName = 'events' | 'purchases' | 'sessions'

export type Range = readonly [from: number, to: number]

export function createOracle(events: readonly StoredEvent[]): Oracle {
  const collected = eventFacts(events)
  const facts = {
    events: collected,
    purchases: purchaseFacts(events),
    sessions: sessionFacts(collected),
  }
  return {
    rows(query, ofCompany) {
      const zone = query.timezone ?? ofCompany
      const compared = query.timeDimensions.find(({ compareDateRange }) => compareDateRange)?.compareDateRange
      if (!compared) return pageOf(query, rowsWithin(query, zone, [-Infinity, Infinity], facts))
      return compared.flatMap((range) => {
        const [from, to] = rangeOf(range, zone)
        const compareDateRange = `${dateIn(from, zone)} - ${dateIn(to - 1, zone)}`
        return pageOf(query, rowsWithin(query, zone, [from, to], facts)).map((row) => ({
          compareDateRange,
          ...row,
        }))
      })
    },
  }
}

export function rangeOf(range: string | readonly (string | null)[], zone: string): Range {
  const [first, last = first] = typeof range === 'string' ? [range] : range
  return [
    first ? momentOf(first, zone)[0] : -Infinity,
    last ? (last.length === 10 ? momentOf(last, zone)[1] : Date.parse(last)) : Infinity,
  ]
}

/** A date is its day, an instant its millisecond. */
export function momentOf(text: string, zone: string): Range {
  if (text.length > 10) return [Date.parse(text), Date.parse(text) + 1]
  return [dayBegins(text, zone), dayBegins(daysLater(text, 1), zone)]
}

function rowsWithin(
  query: Query,
  zone: string,
  within: Range,
  facts: Readonly<Record<SourceName, readonly Fact[]>>,
): Row[] {
  const conditions = flattened(query.filters)
  const groups = new Map<string, { key: Value[]; measures: Map<string, Value | bigint> }>()
  const groupings = [
    ...query.timeDimensions.flatMap(({ dimension, granularity }) =>
      granularity ? [{ column: `${dimension}.${granularity}`, name: 'time', granularity }] : [],
    ),
    ...query.dimensions.map((id) => {
      const [source = '', name = '', ...rest] = id.split('.')
      const granularity = name === 'time' ? rest[0] : undefined
      return { column: id, name: id.slice(source.length + 1).replace(/^time\..*/, 'time'), granularity }
    }),
  ]
  const wanted = [...new Set([...query.measures, ...leaves(query.filters).map(nameOf)])]
  const plainOrRatio = wanted.filter((id) => id in measureReaders || id in ratios)
  const plain = wanted.flatMap((id) => ratios[id] ?? [id]).filter((id) => id in measureReaders)
  const sources = new Set(plain.map((id) => id.split('.')[0] as SourceName))
  if (sources.size === 0) {
    const named = [...query.dimensions, ...query.timeDimensions.map(({ dimension }) => dimension)]
    for (const id of named) sources.add(id.split('.')[0] as SourceName)
  }
  const inTime = (time: number) =>
    time >= within[0] &&
    time < within[1] &&
    query.timeDimensions.every(({ dateRange }) => {
      if (!dateRange) return true
      const [from, to] = rangeOf(dateRange, zone)
      return time >= from && time < to
    }) &&
    conditions.every(
      (each) => kindOf(each) !== 'time' || holds(each, (filter) => passesTime(filter, time, zone)),
    )

  const spans = [
    within,
    ...query.timeDimensions.flatMap(({ dateRange }) => (dateRange ? [rangeOf(dateRange, zone)] : [])),
  ]

  for (const source of sources) {
    const kept = facts[source].flatMap((fact) => passing(fact, conditions) ?? [])
    const perItem = groupings.some(({ name }) => name === 'item')
    const own = plain.filter((id) => id.startsWith(`${source}.`))
    const add = (fact: Fact, item: string | undefined, time: number): Map<string, Value | bigint> => {
      const key = groupings.map(({ name, granularity }): Value => {
        if (name === 'time') return granularity ? bucketOf(time, granularity, zone) : isoIn(time, zone)
        if (name === 'item') return item ?? null
        return dimensionValue(fact, name)
      })
      const text = JSON.stringify(key)
      const group = groups.get(text) ?? { key, measures: new Map() }
      groups.set(text, group)
      return group.measures
    }
    const members = new Map<Map<string, Value | bigint>, { fact: Fact; item: string | undefined }[]>()
    for (const fact of kept) {
      if (!inTime(fact.time)) continue
      if (own.length === 1 && own[0] === 'events.sessions') continue
      for (const item of perItem ? new Set(fact.items) : [undefined]) {
        const group = add(fact, item, fact.time)
        const list = members.get(group) ?? []
        list.push({ fact, item })
        members.set(group, list)
      }
    }
    for (const [group, list] of members) {
      for (const id of own) if (id !== 'events.sessions') group.set(id, measureReaders[id]?.(list) ?? null)
    }
    if (own.includes('events.sessions')) {
      for (const { fact, item, time } of sessionStarts(kept, groupings, perItem)) {
        if (!inTime(time)) continue
        const group = add(fact, item, time)
        group.set('events.sessions', Number(group.get('events.sessions') ?? 0) + 1)
      }
    }
  }
  if (query.fill) {
    const axis = groupings.findIndex(({ name }) => name === 'time')
    const others = [
      ...new Set([...groups.values()].map(({ key }) => JSON.stringify(key.toSpliced(axis, 1, null)))),
    ]
    for (const bucket of bucketsWithin(groupings[axis]?.granularity ?? 'day', spans, inTime, zone)) {
      for (const other of groupings.length === 1 ? ['[null]'] : others) {
        const key = (JSON.parse(other) as Value[]).toSpliced(axis, 1, bucket)
        const text = JSON.stringify(key)
        if (!groups.has(text)) groups.set(text, { key, measures: new Map() })
      }
    }
  }
  if (groupings.length === 0 && groups.size === 0) groups.set('[]', { key: [], measures: new Map() })
  const rows = [...groups.values()]
    .filter(({ measures }) =>
      conditions.every(
        (each) => kindOf(each) !== 'measure' || holds(each, (filter) => passesMeasure(filter, measures)),
      ),
    )
    .map(({ key, measures }): Row => {
      const row: Row = {}
      for (const [i, { column }] of groupings.entries()) row[column] = key[i] ?? null
      for (const id of plainOrRatio) row[id] = shownMeasure(id, measures)
      return row
    })
  const shown = new Set([...groupings.map(({ column }) => column), ...query.measures])
  return sorted(rows, query, groupings).map((row) =>
    Object.fromEntries(Object.entries(row).filter(([column]) => shown.has(column))),
  )
}

function pageOf({ offset, limit }: Query, rows: Row[]): Row[] {
  return rows.slice(offset ?? 0, (offset ?? 0) + (limit ?? 10_000))
}

/** Every bucket of the spans' intersection that holds an instant that counts, looked for each quarter of an hour. */
function bucketsWithin(
  granularity: string,
  spans: readonly Range[],
  inTime: (time: number) => boolean,
  zone: string,
): Set<Value> {
  const from = Math.max(...spans.map(([begin]) => begin))
  const to = Math.min(...spans.map(([, end]) => end))
  const buckets = new Set<Value>()
  const step = 15 * 60_000
  for (let time = from; time < to; time = Math.min(time + step, Math.max(to - 1, time + 1))) {
    if (inTime(time)) buckets.add(bucketOf(time, granularity, zone))
  }
  return buckets
}

/** The value of a dimension that is neither a time nor an item. */
function dimensionValue(fact: Fact, name: string): string | boolean | null {
  if (name === 'isIdentified') return fact.identified
  if (name === 'isNew') return fact.session?.isNew ?? null
  return fact.texts.get(name) ?? null
}

/** Sessions of one person in one value of the dimensions; times do not divide them. */
function sessionStarts(
  facts: readonly Fact[],
  groupings: readonly { name: string }[],
  perItem: boolean,
): { fact: Fact; item: string | undefined; time: number }[] {
  const runs = new Map<string, { fact: Fact; item: string | undefined }[]>()
  for (const fact of facts) {
    for (const item of perItem ? new Set(fact.items) : [undefined]) {
      const parts = groupings.map(({ name }) => {
        if (name === 'time') return null
        return name === 'item' ? item : dimensionValue(fact, name)
      })
      const key = JSON.stringify([fact.person, ...parts.map((part) => part ?? null)])
      const run = runs.get(key) ?? []
      run.push({ fact, item })
      runs.set(key, run)
    }
  }
  return [...runs.values()].flatMap((run) => {
    run.sort((a, b) => a.fact.time - b.fact.time)
    return run
      .filter(({ fact }, i) => i === 0 || fact.time - (run[i - 1]?.fact.time ?? 0) > 30 * 60_000)
      .map((start) => ({ ...start, time: start.fact.time }))
  })
}

type Listed = readonly { fact: Fact; item: string | undefined }[]

const distinct = (values: Iterable<string>) => new Set(values).size

function countItems(list: Listed): number {
  let count = 0
  for (const { fact, item } of list) {
    count += item === undefined ? fact.items.length : fact.items.filter((each) => each === item).length
  }
  return count
}

const measureReaders: Record<string, (list: Listed) => number | bigint> = {
  'events.count': (list) => list.length,
  'events.people': (list) => distinct(list.map(({ fact }) => fact.person)),
  'events.identifiedPeople': (list) =>
    distinct(list.filter(({ fact }) => fact.identified).map(({ fact }) => fact.person)),
  'events.devices': (list) => distinct(list.map(({ fact }) => fact.device)),
  'events.sessions': () => 0,
  'events.items': countItems,
  'purchases.count': (list) => list.length,
  'purchases.revenue': (list) => list.reduce((sum, { fact }) => sum + fact.value, 0n),
  'purchases.buyers': (list) => distinct(list.map(({ fact }) => fact.person)),
  'purchases.references': countItems,
  'sessions.count': (list) => list.length,
  'sessions.people': (list) => distinct(list.map(({ fact }) => fact.person)),
  'sessions.duration': (list) => sumOf(list, ({ seconds }) => seconds * 1000) / list.length / 1000,
  'sessions.events': (list) => sumOf(list, ({ events }) => events),
  'sessions.bounces': (list) => list.filter(({ fact }) => fact.session?.events === 1).length,
}

/** Measures that are absent where there is nothing to take them of; others are 0. */
const means = ['sessions.duration']

function sumOf(list: Listed, read: (session: NonNullable<Fact['session']>) => number): number {
  return list.reduce((sum, { fact }) => sum + (fact.session ? Math.round(read(fact.session)) : 0), 0)
}

const ratios: Record<string, [string, string]> = {
  'events.perPerson': ['events.count', 'events.people'],
  'purchases.averageOrderValue': ['purchases.revenue', 'purchases.count'],
  'purchases.revenuePerBuyer': ['purchases.revenue', 'purchases.buyers'],
  'purchases.perBuyer': ['purchases.count', 'purchases.buyers'],
  'purchases.referencesPerPurchase': ['purchases.references', 'purchases.count'],
  'sessions.bounceRate': ['sessions.bounces', 'sessions.count'],
  'sessions.eventsPerSession': ['sessions.events', 'sessions.count'],
  'sessions.perPerson': ['sessions.count', 'sessions.people'],
}

function numberOf(value: Value | bigint | undefined): number {
  return typeof value === 'bigint' ? Number(value) / 100 : Number(value ?? 0)
}

function shownMeasure(id: string, measures: ReadonlyMap<string, Value | bigint>): number | null {
  const ratio = ratios[id]
  if (means.includes(id) && !measures.has(id)) return null
  if (!ratio) return numberOf(measures.get(id))
  const below = numberOf(measures.get(ratio[1]))
  return below === 0 ? null : numberOf(measures.get(ratio[0])) / below
}

function nameOf(filter: BinaryFilter): string {
  return filter.member ?? filter.dimension ?? ''
}

/** Filters without their groups. */
function leaves(filters: readonly Filter[]): BinaryFilter[] {
  return filters.flatMap((each) =>
    'operator' in each ? [each] : [...leaves(each.and ?? []), ...leaves(each.or ?? [])],
  )
}

/** What an `and` holds stands beside it. */
function flattened(filters: readonly Filter[]): Filter[] {
  return filters.flatMap((each) => ('and' in each && each.and ? flattened(each.and) : [each]))
}

function kindOf(filter: Filter): 'dimension' | 'measure' | 'time' {
  const [first] = leaves([filter])
  const id = first ? nameOf(first) : ''
  if (id.endsWith('.time')) return 'time'
  return id in measureReaders ? 'measure' : 'dimension'
}

function holds(filter: Filter, passes: (filter: BinaryFilter) => boolean): boolean {
  if ('operator' in filter) return passes(filter)
  return filter.and
    ? filter.and.every((each) => holds(each, passes))
    : (filter.or ?? []).some((each) => holds(each, passes))
}

function passesTime({ operator, values: asked }: BinaryFilter, time: number, zone: string): boolean {
  const values = asked ?? []
  if (operator === 'inDateRange' || operator === 'notInDateRange') {
    const [from, to] = rangeOf(values, zone)
    return (time >= from && time < to) === (operator === 'inDateRange')
  }
  const passes = values.some((value) => {
    const [from, to] = momentOf(value, zone)
    if (operator === 'beforeDate' || operator === 'lt') return time < from
    if (operator === 'beforeOrOnDate' || operator === 'lte') return time < to
    if (operator === 'afterDate' || operator === 'gt') return time >= to
    if (operator === 'afterOrOnDate' || operator === 'gte') return time >= from
    return time >= from && time < to
  })
  return operator === 'notEquals' ? !passes : passes
}

/** As texts are compared without regard to case: by lower-case forms, in which a final sigma is no letter of its own. */
const folded = (text: string) => text.toLowerCase().replaceAll('ς', 'σ')

/** The finite number that a text writes in decimal, or NaN. */
function decimalOf(text: string): number {
  const isDecimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)
  return isDecimal && Number.isFinite(Number(text)) ? Number(text) : Number.NaN
}

function passesText({ operator, values: asked }: BinaryFilter, text: string | null): boolean {
  if (operator === 'set' || operator === 'notSet') return (text !== null) === (operator === 'set')
  const values = asked ?? []
  const positive = operator.replace(/^not(.)/, (_, first: string) => first.toLowerCase())
  const passes =
    text !== null &&
    values.some((value) => {
      if (positive === 'equals') return text === value
      if (positive === 'contains') return folded(text).includes(folded(value))
      if (positive === 'startsWith') return folded(text).startsWith(folded(value))
      if (positive === 'endsWith') return folded(text).endsWith(folded(value))
      // Of a text that is no number the order is NaN, which is neither less nor greater.
      const order = Number.isNaN(decimalOf(value))
        ? Buffer.compare(Buffer.from(text), Buffer.from(value))
        : decimalOf(text) - decimalOf(value)
      return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[positive] ?? false
    })
  return positive === operator ? passes : !passes
}

/** The fact with the items that pass, or nothing; a fact without items is tested once, without any. */
export function passing(fact: Fact, conditions: readonly Filter[]): Fact | undefined {
  const judging = conditions.filter((each) => kindOf(each) === 'dimension')
  const passes = (item: string | null) =>
    judging.every((each) =>
      holds(each, (filter) => {
        const id = nameOf(filter)
        const name = id.slice(id.indexOf('.') + 1)
        if (name === 'item') return item === null ? filter.operator === 'notSet' : passesText(filter, item)
        const value = dimensionValue(fact, name)
        return passesText(filter, value === null ? null : String(value))
      }),
    )
  if (!leaves(judging).some((filter) => nameOf(filter).endsWith('.item')))
    return passes(null) ? fact : undefined
  const items = fact.items.filter(passes)
  return items.length > 0 || (fact.items.length === 0 && passes(null)) ? { ...fact, items } : undefined
}

function passesMeasure(filter: BinaryFilter, measures: ReadonlyMap<string, Value | bigint>): boolean {
  const id = nameOf(filter)
  if (means.includes(id) && !measures.has(id)) return filter.operator === 'notEquals'
  const measure = numberOf(measures.get(id))
  const any = (passes: (value: number) => boolean) =>
    (filter.values ?? []).some((value) => passes(Number(value)))
  switch (filter.operator) {
    case 'equals':
      return any((value) => measure === value)
    case 'notEquals':
      return !any((value) => measure === value)
    case 'gt':
      return any((value) => measure > value)
    case 'gte':
      return any((value) => measure >= value)
    case 'lt':
      return any((value) => measure < value)
    default:
      return any((value) => measure <= value)
  }
}

function compareValues(a: Value, b: Value, direction: 'asc' | 'desc'): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  const sign = direction === 'asc' ? 1 : -1
  if (typeof a === 'string' && typeof b === 'string')
    return sign * Buffer.compare(Buffer.from(a), Buffer.from(b))
  return sign * (Number(a) - Number(b))
}

function pairsOf(order: Query['order']): [string, string][] {
  return Array.isArray(order) ? order : Object.entries(order ?? {})
}

function sorted(
  rows: Row[],
  query: Query,
  groupings: readonly { column: string; name: string; granularity: string | undefined }[],
): Row[] {
  const order = pairsOf(query.order).map(([id, direction]) => ({
    column:
      groupings.find(({ column }) => column === id || (column.startsWith(`${id}.`) && id.endsWith('.time')))
        ?.column ?? id,
    direction: direction as 'asc' | 'desc',
  }))
  const time = groupings.find(({ granularity }) => granularity)
  if (order.length === 0) {
    if (time) order.push({ column: time.column, direction: 'asc' })
    else if (query.measures[0]) order.push({ column: query.measures[0], direction: 'desc' })
  }
  for (const { column } of groupings) order.push({ column, direction: 'asc' })
  const instantOr = (column: string, value: Value): Value =>
    typeof value === 'string' && /\.time(\.\w+)?$/.test(column) ? Date.parse(value) : value
  return rows.sort((a, b) => {
    for (const { column, direction } of order) {
      const difference = compareValues(
        instantOr(column, a[column] ?? null),
        instantOr(column, b[column] ?? null),
        direction,
      )
      if (difference !== 0) return difference
    }
    return 0
  })
}
