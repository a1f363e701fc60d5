import { Type } from 'typebox'
import { successEnvelope, warningEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf } from '../operation-builders.ts'
import { count, extension, filled, integer, named, object, oneOf, text } from '../resources/formats.ts'
import { filterOperators, operatorMeanings, Query, queryLimits } from '../resources/query.ts'
import { QueryExplanation } from '../resources/query-explanation.ts'
import { StatisticsMeta } from '../resources/statistics-meta.ts'

const operation = operationsOf('Statistics')

const { envelopeBytes } = queryLimits
const number = new Intl.NumberFormat('en')
/** Days that the list of a dimension's values looks at. */
export const valuesDays = 90

/** Operation 4. */
export const runQuery = {
  ...operation('runQuery', 'POST', '/v2/statistics/query', 'statistics:access'),
  number: 4,
  access: 'Statistics: access; for CSV and NDJSON also Statistics: export',
  summary: 'Run a query',
  description: `Answers a question to the statistics model: measures, grouped by dimensions and time, filtered, ordered and limited.

\`data\` is always a string. Without \`format\` it is the JSON text of an array of rows, each an object keyed by member id; a time dimension with a granularity is keyed \`member.granularity\`. With \`format=csv\` it is RFC 4180 CSV with a header of member ids, in which texts that a spreadsheet would run as a formula are defused; numbers, also those in texts, are written as they are. An envelope holds at most ${number.format(envelopeBytes)} bytes, \`data\` as it is escaped there; a larger result is refused with 413.

With \`Accept: text/csv\` or \`Accept: application/x-ndjson\` the bare result is streamed instead of the envelope, however large it is.

- Counts and sums are JSON numbers in every row, written with all their digits: a sum of amounts is exact in cents, with at most two decimals. A reader that holds numbers as doubles keeps 15 digits of them, whatever is written.
- Times are ISO 8601 in the company's time zone with its offset, absent values are null, and so is a ratio over 0.
- Dates without a zone are read in the company's time zone. A range of dates includes both days, a range of instants excludes its end.
- With \`compareDateRange\` each row has a further key \`compareDateRange\`, and rows come in the order of the ranges; \`limit\` holds for each range.
- \`warnings\` names what to know about the answer: rows beyond \`limit\`, and labels that no event of your company has had, with the nearest one that some have. A streamed result tells of labels in the header \`X-Millrace-Warnings\`, the same list as JSON in ASCII, and of all in the trailer of that name; a reader that has no trailers takes one with as many rows as \`limit\` for cut.
- A query runs 30 seconds at most and stops when the caller leaves. Of one company 4 queries run and 200 wait, 60 of one user; further ones are answered 429. The users of a company take turns.
- A query that is repeated within 10 seconds may be answered from what was computed, never from anything older than what was stored when it was asked.

What the operators of filters ask of a member:

${filterOperators.map((each) => `- \`${each}\`: ${operatorMeanings[each].description}`).join('\n')}`,
  idempotent: true,
  errors: [
    'unknownMember',
    'incompatibleMembers',
    'virtualMeasureFilter',
    'invalidQuery',
    'resultTooLarge',
    'tooComplex',
    'notAcceptable',
    'tooManyRequests',
    'timeout',
    'unavailable',
  ],
  examples: {
    byDay: example('Purchases and revenue by day', {
      measures: ['purchases.count', 'purchases.revenue'],
      dimensions: [],
      filters: [],
      timeDimensions: [
        { dimension: 'purchases.time', granularity: 'day', dateRange: ['2026-01-01', '2026-01-31'] },
      ],
    }),
    filtered: example('The ten pages with most visitors on phones', {
      measures: ['events.people', 'events.count'],
      dimensions: ['events.path'],
      filters: [
        { member: 'events.name', operator: 'equals', values: ['page_view', 'product_page'] },
        { member: 'events.deviceType', operator: 'equals', values: ['mobile'] },
      ],
      timeDimensions: [{ dimension: 'events.time', dateRange: 'last 30 days' }],
      order: [['events.people', 'desc']],
      limit: 10,
    }),
    compared: example('This month against the last', {
      measures: ['purchases.revenue'],
      dimensions: [],
      filters: [],
      timeDimensions: [{ dimension: 'purchases.time', compareDateRange: ['this month', 'last month'] }],
    }),
  },
  replies: {
    200: {
      description: 'The result',
      headers: {
        'X-Millrace-Warnings':
          'Of a streamed result: what to know about it, a JSON list of `path` and `message`; absent when there is nothing',
      },
      examples: {
        rows: example(
          'Rows as JSON text',
          '[{"purchases.time.day":"2026-01-01T00:00:00.000+01:00","purchases.count":42,"purchases.revenue":1830.5}]',
        ),
        csv: example(
          'CSV, with format=csv',
          'purchases.time.day,purchases.count,purchases.revenue\r\n2026-01-01T00:00:00.000+01:00,42,1830.5\r\n',
        ),
      },
      alternatives: {
        'text/csv': {
          description: 'The bare result as RFC 4180 CSV, streamed',
          example: 'events.name,events.count\r\npurchase,19960\r\n',
        },
        'application/x-ndjson': {
          description: 'The bare result, one JSON object per line, streamed',
          example: '{"events.name":"purchase","events.count":19960}\n',
        },
      },
    },
  },
  schema: {
    querystring: object({
      format: Type.Optional(oneOf(['csv'], 'Gives `data` as CSV instead of JSON text')),
    }),
    body: Query,
    response: {
      200: object({
        ...warningEnvelope(text('The rows: JSON text of an array, or CSV')).properties,
        total: Type.Optional(
          extension(count('With `total: true`: how many rows there are without `limit` and `offset`')),
        ),
      }),
    },
  },
} as const satisfies Operation

/** Operation 5. */
export const readStatisticsMeta = {
  ...operation('readStatisticsMeta', 'GET', '/v2/statistics/meta', 'statistics:access'),
  number: 5,
  summary: 'List measures and dimensions',
  description:
    'Every measure and dimension that a query of your company can name, labels of its events included, with title, exact meaning, type, format and source, and which of them may meet in one query.',
  errors: ['unavailable'],
  replies: {
    304: { description: 'The model is the one that `If-None-Match` names' },
    200: {
      description: 'The statistics model as your company sees it',
      headers: { ETag: 'Names the model as it is' },
      examples: {
        events: example('Two measures and two dimensions of it', {
          measures: {
            'events.people': {
              title: 'People',
              description: 'Distinct persons',
              source: 'events',
              type: 'number',
              format: 'integer',
              virtual: false,
              exactUpTo: 65_536,
              relativeError: 0.01,
            },
            'events.perPerson': {
              title: 'Events per person',
              description: 'Events / people',
              source: 'events',
              type: 'number',
              format: 'decimal',
              virtual: true,
            },
          },
          dimensions: {
            'events.time': {
              title: 'Time',
              description: 'When the event happened',
              source: 'events',
              type: 'time',
              granularities: ['hour', 'day', 'week', 'month'],
              operators: ['inDateRange', 'notInDateRange', 'beforeDate', 'afterDate'],
            },
            'events.deviceType': {
              title: 'Device type',
              description: 'Kind of device, from the user agent',
              source: 'events',
              type: 'string',
              operators: ['equals', 'notEquals'],
              values: ['desktop', 'mobile', 'tablet', 'app', 'server', 'unknown'],
            },
          },
          queryCompatibility: {
            components: [['events.people', 'events.perPerson', 'events.time', 'events.deviceType']],
            measureSources: { 'events.people': ['events'], 'events.perPerson': ['events'] },
          },
        }),
      },
    },
  },
  schema: { response: { 200: successEnvelope(StatisticsMeta), 304: Type.Null() } },
} as const satisfies Operation

/** Values of a dimension, as an input offers them. */
export const listStatisticsValues = {
  ...operation('listStatisticsValues', 'GET', '/v2/statistics/values', 'statistics:access'),
  summary: 'List values of a dimension',
  description: `The values that a text dimension or a label had within the last ${valuesDays} days, today included, with how many facts of its source had each of them; the most frequent ones first, of equal ones in the order of their bytes. For inputs that offer values of a filter. Absent values are left out. It is a query like any other: within the same limits, and of the company's time zone.`,
  errors: ['unknownMember', 'invalidQuery', 'tooComplex', 'tooManyRequests', 'timeout', 'unavailable'],
  ...answers(
    'The values, the most frequent ones first',
    Type.Array(
      named('DimensionValue', {
        value: text('The value'),
        count: Type.Integer({ minimum: 1, description: 'Events, purchases or sessions that have it' }),
      }),
    ),
    {
      querystring: object({
        member: text('Id of a text dimension or of a label', 'events.label.store', {
          minLength: 1,
          maxLength: 400,
        }),
        contains: Type.Optional(
          filled('Gives only values that hold this text, whatever the case of its letters', 200),
        ),
        limit: Type.Optional(integer(1, 100, 'How many values at most; 20 when absent')),
      }),
    },
    {
      names: example('With member=events.name', [
        { value: 'page_view', count: 81_402 },
        { value: 'purchase', count: 1_996 },
      ]),
    },
  ),
} as const satisfies Operation

/** Why a number is what it is. */
export const explainQuery = {
  ...operation('explainQuery', 'POST', '/v2/statistics/query/explain', 'statistics:access'),
  summary: 'Explain a query',
  description:
    'Says what a query would answer, without running it: what its measures count and its dimensions mean, its filters as they are understood, the instants that its ranges come to in its time zone, and how fresh the stored events are. Who may change the company also gets the statement that is sent to the columnar store. It is checked, and bounded, as a query is.',
  idempotent: true,
  errors: [
    'unknownMember',
    'incompatibleMembers',
    'virtualMeasureFilter',
    'invalidQuery',
    'tooComplex',
    'tooManyRequests',
    'timeout',
    'unavailable',
  ],
  examples: {
    compared: example('Two months of revenue', {
      measures: ['purchases.revenue'],
      dimensions: [],
      filters: [],
      timeDimensions: [{ dimension: 'purchases.time', compareDateRange: ['this month', 'last month'] }],
    }),
  },
  ...answers('What the query asks, and of what', QueryExplanation, { body: Query }),
} as const satisfies Operation
