import type {
  BinaryFilter,
  Filter,
  FilterOperator,
  Query,
  TimeDimension,
} from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { sampleItems, sampleLabels, sampleNames } from './statistics-samples.ts'

type SourceName = 'events' | 'purchases' | 'sessions'

const shared = ['person', 'deviceType', 'os', 'datasource']
const measures = {
  events: ['count', 'people', 'identifiedPeople', 'devices', 'sessions', 'items', 'perPerson'],
  purchases: [
    'count',
    'revenue',
    'buyers',
    'references',
    'averageOrderValue',
    'revenuePerBuyer',
    'perBuyer',
    'referencesPerPurchase',
  ],
  sessions: [
    'count',
    'people',
    'duration',
    'events',
    'bounces',
    'bounceRate',
    'eventsPerSession',
    'perPerson',
  ],
}
const dimensions = {
  events: [
    ...shared,
    'name',
    'url',
    'host',
    'path',
    'utmSource',
    'utmMedium',
    'device',
    'isIdentified',
    'item',
    'browser',
    'referrerHost',
    'country',
    'label.store',
    'label.size',
  ],
  purchases: [...shared, 'transaction', 'item', 'label.store', 'label.size'],
  sessions: [
    'person',
    'deviceType',
    'os',
    'browser',
    'entryPath',
    'entryHost',
    'exitPath',
    'exitHost',
    'referrerHost',
    'channel',
    'country',
    'utmSource',
    'utmMedium',
    'utmCampaign',
    'isNew',
  ],
}
const virtual = [
  'perPerson',
  'averageOrderValue',
  'revenuePerBuyer',
  'perBuyer',
  'referencesPerPurchase',
  'bounceRate',
  'eventsPerSession',
]
const booleans = { events: 'isIdentified', purchases: undefined, sessions: 'isNew' }

/** Dimensions that all of these sources have. */
function sharedBy(sources: readonly SourceName[]): string[] {
  return shared.filter((name) => sources.every((source) => dimensions[source].includes(name)))
}

const texts = [
  ...sampleNames,
  ...sampleItems,
  ...sampleLabels.store,
  ...sampleLabels.size,
  'client-3',
  'device-1-0',
  'mobile',
  'Win',
  'a',
  '/',
  'shop.example',
  'News letter',
  '9.5',
  'SHOP.',
  'STRASSE',
  'straẞe',
  'οδοσ',
  'ΔΟΣ',
  'i\u0307st',
  'éTé',
]
/** Read as numbers by many, which a comparison refuses. */
const unreadable = ['inf', 'NaN', '1e999', '0x10']

const dates = [
  '2026-03-26',
  '2026-03-28',
  '2026-03-29',
  '2026-03-30',
  '2026-10-24',
  '2026-10-25',
  '2026-10-26',
]
const instants = [
  '2026-03-29T01:30:00+01:00',
  '2026-03-29T02:00:00Z',
  '2026-10-25T02:30:00+02:00',
  '2026-10-25T01:15:00.000Z',
]
const moments = [...dates, ...instants]
const textOperators: FilterOperator[] = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'startsWith',
  'notStartsWith',
  'endsWith',
  'notEndsWith',
  'gt',
  'gte',
  'lt',
  'lte',
]
const numberOperators: FilterOperator[] = ['equals', 'notEquals', 'gt', 'gte', 'lt', 'lte']
const timeOperators: FilterOperator[] = [
  ...numberOperators,
  'beforeDate',
  'beforeOrOnDate',
  'afterDate',
  'afterOrOnDate',
]
const granularities = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const

const from = <T>(values: readonly T[]) => fc.constantFrom(...values)
const ordered = (values: readonly string[]) =>
  fc.tuple(from(values), from(values)).map((pair) => {
    const [first = '', last = ''] = pair.sort((a, b) => Date.parse(a) - Date.parse(b))
    return first === last ? [first.slice(0, 10)] : [first, last]
  })
const range = fc.oneof(
  ordered(dates),
  ordered(instants),
  fc.constant(['2026-03-29', '2026-10-25T02:30:00+02:00']),
)

type Filters = fc.Arbitrary<BinaryFilter>

/** Filters by what they test, of which groups join one kind. */
function filtersOf(
  source: SourceName,
  common: readonly string[] | undefined,
): Record<'row' | 'time' | 'measure', Filters> {
  const named = (member: string) =>
    fc.constantFrom<{ member: string } | { dimension: string }>({ member }, { dimension: member })
  const onText: fc.Arbitrary<BinaryFilter> = fc
    .tuple(
      from(common ?? dimensions[source].filter((name) => name !== booleans[source])).chain((name) =>
        named(`${source}.${name}`),
      ),
      from(textOperators),
      fc.array(from(texts), { minLength: 1, maxLength: 3 }),
    )
    .filter(
      ([, operator, values]) => !/^[gl]t/.test(operator) || !values.some((each) => unreadable.includes(each)),
    )
    .map(([member, operator, values]) => ({ ...member, operator, values }))
  const compared = fc.tuple(from(timeOperators), fc.array(from(moments), { minLength: 1, maxLength: 2 }))
  const ranged = fc.tuple(from<FilterOperator>(['inDateRange', 'notInDateRange']), range)
  const onTime: fc.Arbitrary<BinaryFilter> = fc
    .oneof(compared, ranged as fc.Arbitrary<[FilterOperator, string[]]>)
    .map(([operator, values]) => ({ member: `${source}.time`, operator, values }))
  const onMeasure: fc.Arbitrary<BinaryFilter> = fc
    .tuple(
      from(measures[source].filter((name) => !virtual.includes(name))),
      from(numberOperators),
      fc.array(from(['0', '1', '2', '3.5', '10', '250.25', '-1']), { minLength: 1, maxLength: 2 }),
    )
    .map(([name, operator, values]) => ({ member: `${source}.${name}`, operator, values }))
  const onBoolean: fc.Arbitrary<BinaryFilter> = fc
    .tuple(from<FilterOperator>(['equals', 'notEquals']), from([['true'], ['false'], ['true', 'false']]))
    .map(([operator, values]) => ({ member: `${source}.${booleans[source]}`, operator, values }))
  const onPresence: fc.Arbitrary<BinaryFilter> = fc
    .tuple(from(common ?? dimensions[source]), from<FilterOperator>(['set', 'notSet']))
    .map(([name, operator]) => ({ member: `${source}.${name}`, operator }))
  return {
    row:
      booleans[source] !== undefined && !common
        ? fc.oneof(onText, onText, onPresence, onBoolean)
        : fc.oneof(onText, onText, onPresence),
    time: onTime,
    measure: onMeasure,
  }
}

/** A filter or a group of some, three deep; an `or` joins one kind. */
function filter(source: SourceName, common: readonly string[] | undefined): fc.Arbitrary<Filter> {
  const { row, time, measure } = filtersOf(source, common)
  const within = (leaf: fc.Arbitrary<Filter>, depth: number): fc.Arbitrary<Filter> => {
    if (depth === 0) return leaf
    const inner = fc.array(within(leaf, depth - 1), { minLength: 1, maxLength: 3 })
    return fc.oneof(
      { arbitrary: leaf, weight: 3 },
      { arbitrary: inner.map((and) => ({ and })), weight: 1 },
      { arbitrary: inner.map((or) => ({ or })), weight: 2 },
    )
  }
  const any: fc.Arbitrary<Filter> = fc.oneof(row, time, measure)
  return fc.oneof(
    { arbitrary: fc.oneof(within(row, 3), within(row, 3), within(time, 2), within(measure, 2)), weight: 5 },
    { arbitrary: fc.array(any, { minLength: 1, maxLength: 3 }).map((and) => ({ and })), weight: 1 },
  )
}

/** Queries that fit together over one source or both, of every operator, granularity, comparison and order. */
export const sampleQueries: fc.Arbitrary<Query> = fc
  .tuple(
    from<SourceName[]>([
      ['events'],
      ['purchases'],
      ['sessions'],
      ['sessions'],
      ['events', 'purchases'],
      ['purchases', 'sessions'],
      ['events', 'purchases', 'sessions'],
    ]),
    fc.boolean(),
  )
  .chain(([sources, grouped]) => {
    const common = sources.length > 1 ? sharedBy(sources) : undefined
    const measureIds = sources.flatMap((source) => measures[source].map((name) => `${source}.${name}`))
    const source = fc.constantFrom(...sources)
    const dimensionIds = source.chain((id) => from((common ?? dimensions[id]).map((name) => `${id}.${name}`)))
    const time = fc.record(
      {
        dimension: source.map((id) => `${id}.time`),
        granularity: from(granularities),
        dateRange: range,
      },
      { requiredKeys: grouped ? ['dimension', 'dateRange'] : ['dimension'] },
    )
    const compared = fc.record(
      {
        dimension: source.map((id) => `${id}.time`),
        granularity: from(granularities),
        compareDateRange: fc.array(
          from(dates).map((date) => [date, '2026-11-01']),
          { minLength: 1, maxLength: 3 },
        ),
      },
      { requiredKeys: ['dimension', 'compareDateRange'] },
    )
    return fc.record({
      measures: fc.uniqueArray(from(measureIds), { minLength: common ? 2 : 0, maxLength: 5 }),
      dimensions: fc.uniqueArray(dimensionIds, { maxLength: 2, selector: (id) => id.replace(/^\w+/, '') }),
      filters: fc.array(
        source.chain((id) => filter(id, common)),
        { maxLength: 3 },
      ),
      timeDimensions: fc.oneof(
        fc.array(time, { maxLength: 1 }),
        compared.map((one) => [one]),
      ) as fc.Arbitrary<TimeDimension[]>,
      limit: from([1, 5, 10_000, 50_000]),
      offset: from([null, 0, 1, 3]),
      fill: fc.boolean(),
      timezone: from([null, null, 'Asia/Kolkata', 'america/st_johns']),
      unselected: fc.option(from(measureIds), { nil: undefined }),
      directions: fc.array(from<'asc' | 'desc'>(['asc', 'desc']), { maxLength: 3 }),
      paired: fc.boolean(),
    })
  })
  .map(({ directions, paired, fill, unselected, ...query }): Query => {
    const selected = [
      ...(unselected !== undefined && query.measures.length > 0 && !query.measures.includes(unselected)
        ? [unselected]
        : []),
      ...query.measures,
      ...query.dimensions,
      ...query.timeDimensions.flatMap(({ dimension, granularity }) => (granularity ? [dimension] : [])),
    ].reverse()
    const order = directions.flatMap((direction, i): [string, 'asc' | 'desc'][] => {
      const member = selected[i]
      return member === undefined ? [] : [[member, direction]]
    })
    const [time] = query.timeDimensions
    // More dimensions than these would fill more rows than are possible.
    const maxDimensions =
      { hour: time?.dateRange?.length === 1 ? 0 : -1, day: 1 }[String(time?.granularity)] ?? 2
    const isFilled =
      fill &&
      time?.granularity &&
      (time.dateRange || time.compareDateRange) &&
      query.dimensions.length <= maxDimensions
    return {
      ...query,
      ...(isFilled ? { fill } : {}),
      ...(order.length > 0 ? { order: paired ? order : Object.fromEntries(order) } : {}),
    }
  })
