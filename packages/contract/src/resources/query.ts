import { type Static, type TSchema, Type } from 'typebox'
import { extension, filled, integer, mapOf, named, nullable, oneOf, strict } from './formats.ts'

/** Bounds of one query (docs/interface.md, Operations; the rest protects the engine). */
export const queryLimits = {
  rows: 50_000,
  defaultRows: 10_000,
  /** Rows that an offset leaves out. */
  offset: 50_000,
  members: 50,
  filters: 50,
  /** Of all filters together, those within groups included. */
  filtersInGroups: 100,
  /** Groups within groups. */
  filterDepth: 5,
  filterValues: 1_000,
  timeDimensions: 10,
  compareDateRanges: 10,
  /** Of an answer in the envelope, as it is sent. */
  envelopeBytes: 64 * 1024 * 1024,
} as const

export const filterOperators = [
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
  'inDateRange',
  'notInDateRange',
  'beforeDate',
  'beforeOrOnDate',
  'afterDate',
  'afterOrOnDate',
  'set',
  'notSet',
] as const
export type FilterOperator = (typeof filterOperators)[number]

interface OperatorMeaning {
  readonly description: string
  /** Whether texts are compared by their lower-case forms. */
  readonly ignoresCase: boolean
}

const exactly = (description: string): OperatorMeaning => ({ description, ignoresCase: false })
const ignoringCase = (description: string): OperatorMeaning => ({
  description: `${description}, whatever the case of its letters`,
  ignoresCase: true,
})

/** What each operator asks of a member. */
export const operatorMeanings: Readonly<Record<FilterOperator, OperatorMeaning>> = {
  equals: exactly('Is one of the values, case included; of a time: lies in one of the days or instants'),
  notEquals: exactly('Is none of the values, case included, or is absent'),
  contains: ignoringCase('Holds one of the values'),
  notContains: ignoringCase('Holds none of the values, or is absent'),
  startsWith: ignoringCase('Begins with one of the values'),
  notStartsWith: ignoringCase('Begins with none of the values, or is absent'),
  endsWith: ignoringCase('Ends with one of the values'),
  notEndsWith: ignoringCase('Ends with none of the values, or is absent'),
  gt: exactly(
    'Is greater than a value; a text is compared with a decimal number as a number, with any other value by its bytes',
  ),
  gte: exactly('Is greater than a value or equal to it, compared as by `gt`'),
  lt: exactly('Is less than a value, compared as by `gt`'),
  lte: exactly('Is less than a value or equal to it, compared as by `gt`'),
  inDateRange: exactly('Lies in the range of the one or two values'),
  notInDateRange: exactly('Lies outside the range of the one or two values'),
  beforeDate: exactly('Is before the day or instant'),
  beforeOrOnDate: exactly('Is before the end of the day or instant'),
  afterDate: exactly('Is after the day or instant'),
  afterOrOnDate: exactly('Is not before the day or instant'),
  set: exactly('Is present; takes no values'),
  notSet: exactly('Is absent; takes no values'),
}

/** Operators that ask whether there is a value and so take none. */
export const presenceOperators: ReadonlySet<FilterOperator> = new Set(['set', 'notSet'])

/** Names of the Cube query format that have no meaning here yet, by the object that they stand in. */
export const unsupportedNames = {
  query: ['segments', 'renewQuery', 'ungrouped', 'responseFormat'],
  operator: ['measureFilter'],
} as const

/** The keyword under which a schema lists what it knows by name and does not support. */
export const unsupportedKeyword = 'x-unsupported'

export const granularities = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const
export type Granularity = (typeof granularities)[number]

/** An optional field in which null means the same as no field at all. */
export function absentAsNull<T extends TSchema>(schema: T) {
  const { description, examples } = schema as { description?: string; examples?: unknown[] }
  return Type.Optional(
    nullable(schema, { ...(description && { description }), ...(examples && { examples }) }),
  )
}

export function memberId(description: string, example: string) {
  return filled(description, 400, example)
}

/** That each member stands once is checked by the planner, where it can name the one that does not. */
function memberList(description: string, example: string[]) {
  return Type.Array(memberId('Id of a member', example[0] ?? 'events.name'), {
    maxItems: queryLimits.members,
    description,
    examples: [example],
  })
}

/**
 * A condition on a member. `member` and `dimension` are the new and the older name of the same field: one of
 * them is needed, and both only when they agree; the planner checks it, where it can name the filter.
 */
function binaryFilter(title: string, more: Record<string, unknown> = {}) {
  return Type.Object(
    {
      dimension: absentAsNull(memberId('Older name of `member`', 'events.name')),
      member: absentAsNull(memberId('Member that is filtered', 'events.name')),
      operator: oneOf(filterOperators, {
        description:
          '`values` are joined by or, those of the `not…` operators by and. ' +
          `${filterOperators
            .filter((each) => operatorMeanings[each].ignoresCase)
            .map((name) => `\`${name}\``)
            .join(
              ', ',
            )} ignore case: they compare the lower-case forms of Unicode, in which ß is not ss and İ is i ` +
          'with a dot above. All others are case-sensitive. `set` and `notSet`, which take no values, are an extension',
        examples: ['equals'],
        [unsupportedKeyword]: unsupportedNames.operator,
      }),
      values: absentAsNull(
        Type.Array(Type.String({ maxLength: 4_000 }), {
          maxItems: queryLimits.filterValues,
          description:
            'What is compared with, as texts: numbers and dates are read from them. Numbers are decimal, as `12` or ' +
            '`-0.5`. Every operator but `set` and `notSet` needs at least one',
          examples: [['purchase']],
        }),
      ),
    },
    { ...strict, title, description: 'One filter; all filters of a query are joined by and', ...more },
  )
}

export const BinaryFilter = binaryFilter('BinaryFilter')
export type BinaryFilter = Static<typeof BinaryFilter>

/** Filters joined by and, or by or. */
export interface FilterGroup {
  and?: Filter[]
  or?: Filter[]
}
export type Filter = BinaryFilter | FilterGroup

/**
 * Groups as far as they may lie in each other, each level written out: a schema that refers to itself would need a
 * name that every validator of every operation knows. A map of one key keeps the size of what is written linear.
 */
function filterWithin(depth: number): TSchema {
  if (depth === 0) {
    return binaryFilter('InnermostFilter', {
      description: 'One filter, where no group may follow',
      [unsupportedKeyword]: ['and', 'or'],
    })
  }
  const filters = Type.Array(filterWithin(depth - 1), { minItems: 1, maxItems: queryLimits.filters })
  const outermost = depth === queryLimits.filterDepth
  const group = extension(
    mapOf(filters, {
      propertyNames: { enum: ['and', 'or'] },
      minProperties: 1,
      ...(outermost ? { title: 'FilterGroup' } : {}),
      description: 'Filters and further groups in `and` or in `or`',
    }),
  )
  return Type.Union([BinaryFilter, group])
}

/** The filters of a query, of a step of a funnel and the like. */
export const Filters = Type.Array(Type.Unsafe<Filter>(filterWithin(queryLimits.filterDepth)), {
  maxItems: queryLimits.filters,
  description:
    'Conditions, joined by and; virtual measures cannot be filtered. A condition may be a group, ' +
    '`{"and": [...]}` or `{"or": [...]}`, of filters and further groups, ' +
    `at most ${queryLimits.filterDepth} deep and ${queryLimits.filtersInGroups} filters in all (an extension). ` +
    'What an `or` joins is of one kind: dimensions, times or measures',
})

const rangeText = Type.String({ minLength: 1, maxLength: 100 })
const rangeBounds = Type.Array(nullable(rangeText), { minItems: 1, maxItems: 2 })

/** A text as `last 7 days`, or one or two dates or instants, of which one may be open. */
export const DateRange = Type.Union([rangeText, rangeBounds], {
  description:
    'A relative range (`today`, `this month`, `last 30 days`, `from 7 days ago to now`), one date, or the ' +
    'first and the last: dates include both days, instants exclude the last. Also, as extensions, a month `2026-01`, ' +
    'a year `2026`, `week|month|quarter|year to date` (its days up to and including today), and open ends: ' +
    '`from 2026-01-01`, `until 2026-01-31`, or null for one of the two bounds',
  examples: ['last 30 days', ['2026-01-01', '2026-01-31'], ['2026-01-01', null]],
})
export type DateRange = Static<typeof DateRange>

/** `dateRange` and `compareDateRange` exclude each other; the planner checks it, where it can say which is meant. */
export const TimeDimension = named(
  'TimeDimension',
  {
    dimension: memberId('A time dimension', 'events.time'),
    granularity: absentAsNull(
      oneOf(granularities, {
        description: 'Groups the rows by this unit of the company’s time zone; weeks begin on Monday',
        examples: ['day'],
      }),
    ),
    dateRange: absentAsNull(DateRange),
    compareDateRange: absentAsNull(
      Type.Array(DateRange, {
        minItems: 1,
        maxItems: queryLimits.compareDateRanges,
        description:
          'Comparison form, instead of `dateRange`: the query runs once for each range, each with `limit` rows of its own',
        examples: [['this month', 'last month']],
      }),
    ),
  },
  'A range of time, a grouping by time, or both',
)
export type TimeDimension = Static<typeof TimeDimension>

const Direction = oneOf(['asc', 'desc'])

const orderMap = mapOf(Direction, {
  maxProperties: queryLimits.members,
  description: 'From member id to direction, in the order of the keys',
  examples: [{ 'events.count': 'desc' }],
})
const orderPairs = Type.Array(Type.Tuple([memberId('Id of a member', 'events.count'), Direction]), {
  maxItems: queryLimits.members,
  description: 'Pairs of member id and direction, the first sorts first',
  examples: [[['events.count', 'desc']]],
})

/** Query object of statistics queries, saved queries and report evidence (docs/interface.md, Query object). */
export const Query = named(
  'Query',
  {
    measures: memberList('What is counted or summed: ids of measures, each once', ['events.count']),
    dimensions: memberList('What the rows are grouped by: ids of dimensions, each once', ['events.name']),
    filters: Filters,
    timeDimensions: Type.Array(TimeDimension, {
      maxItems: queryLimits.timeDimensions,
      description: 'Ranges of time and groupings by time',
    }),
    limit: absentAsNull(
      integer(
        1,
        queryLimits.rows,
        'How many rows at most, of each range where ranges are compared; when absent 10,000, and no bound for a streamed result. `warnings` says when there are more rows',
        100,
      ),
    ),
    offset: extension(
      absentAsNull(
        integer(
          0,
          queryLimits.offset,
          'How many rows are left out first, of each range where ranges are compared; 0 when absent',
          100,
        ),
      ),
    ),
    total: extension(
      absentAsNull(
        Type.Boolean({
          description:
            'Whether the envelope has `total`, the number of rows without `limit` and `offset`, of all ranges together. It is exact; counting takes part in the time that a query has. A streamed result cannot tell it: 400',
          examples: [true],
        }),
      ),
    ),
    fill: extension(
      absentAsNull(
        Type.Boolean({
          description:
            'Whether rows stand for buckets of time without any fact too: every bucket of the range, or of each range that is compared, for each combination of the other dimensions that occurs. Counts and sums are 0 there and ratios null. Needs one granularity and a range with a begin and an end; at most 50,000 rows may come of it',
          examples: [true],
        }),
      ),
    ),
    timezone: extension(
      absentAsNull(
        filled(
          'IANA name of the time zone of this query, in which dates are read, buckets begin and times are shown; the company’s when absent',
          64,
          'Europe/Paris',
        ),
      ),
    ),
    order: absentAsNull(
      Type.Union([orderMap, orderPairs], {
        description:
          'A map from member id to `asc` or `desc`, or an array of such pairs. When absent: the first time ' +
          'dimension ascending, else the first measure descending, else the first dimension ascending. A measure ' +
          'need not be selected (an extension)',
      }),
    ),
  },
  {
    description: 'A question to the statistics model; null in an optional field is as if it were absent',
    [unsupportedKeyword]: unsupportedNames.query,
  },
)
export type Query = Static<typeof Query>
