import { type Static, Type } from 'typebox'
import {
  count,
  dateTime,
  filled,
  flag,
  listOf,
  mapOf,
  named,
  nullable,
  object,
  oneOf,
  text,
} from './formats.ts'
import { filterOperators, granularities } from './query.ts'
import { MeasureMeta } from './statistics-meta.ts'

const document = text('Page of the documents that says more, on this service', '/docs/measures#events')

const member = {
  id: text('Id of the member', 'events.people'),
  title: text('Short name to display', 'People'),
  description: text('Exact meaning'),
  source: text('Source that it belongs to', 'events'),
  document,
}

const ExplainedMeasure = object({
  ...member,
  format: MeasureMeta.properties.format,
  counted: Type.Optional(
    oneOf(
      ['rows', 'sessions', 'openings', 'credits'],
      'What is aggregated; absent where it is computed from other measures',
    ),
  ),
  parts: listOf(
    object({ id: member.id, title: member.title }),
    'The measures that it is computed from; empty where it is none of these',
  ),
  exactUpTo: MeasureMeta.properties.exactUpTo,
  relativeError: MeasureMeta.properties.relativeError,
})

const ExplainedDimension = object({
  ...member,
  type: oneOf(['string', 'number', 'boolean', 'time']),
  granularity: Type.Optional(oneOf(granularities, 'Of a time: the unit that groups the rows')),
})

const ExplainedFilter = object({
  path: text('Its place in the query; groups are a part of it', 'filters.0.or.1'),
  member: member.id,
  title: member.title,
  operator: oneOf(filterOperators),
  meaning: text('What the operator asks of the member'),
  values: listOf(Type.String(), 'What is compared with, as it was sent'),
  keeps: oneOf(
    ['rows', 'groups', 'times'],
    'What it selects: rows before they are counted, groups by what was counted of them, or the instants that count at all',
  ),
})

const bound = (description: string) =>
  nullable(dateTime(description), { description: `${description}; null where it is open` })

const ExplainedRange = object({
  label: Type.Optional(
    text('Of a comparison: what `compareDateRange` of its rows says', '2026-01-01 - 2026-01-31'),
  ),
  stretches: listOf(
    object({
      from: bound('The first instant that counts'),
      to: bound('The first instant after it that does not'),
      localFrom: Type.Optional(text('`from` in the time zone of the query', '2026-01-01T00:00:00.000+01:00')),
      localTo: Type.Optional(text('`to` in the time zone of the query', '2026-02-01T00:00:00.000+01:00')),
    }),
    'Filters on times may leave several; none is left where they exclude each other',
  ),
})

/** Why a query answers what it answers. */
export const QueryExplanation = named('QueryExplanation', {
  sources: listOf(
    object({ id: text('Id of a source', 'events'), title: text('Its name', 'Events') }),
    'The sources whose facts are read',
  ),
  measures: listOf(ExplainedMeasure, 'The measures of the rows, in the order of the query'),
  dimensions: listOf(ExplainedDimension, 'What the rows are grouped by, times first'),
  filters: listOf(ExplainedFilter, 'The conditions of all groups, in their order'),
  timezone: text('IANA name of the zone in which dates are read and buckets begin', 'Europe/Paris'),
  ranges: listOf(
    ExplainedRange,
    'The ranges of time that are answered: one, or one for each that is compared',
  ),
  limit: Type.Optional(count('Rows at most, of each range')),
  attribution: Type.Optional(
    object({
      model: text('How purchases are credited', 'lastInteraction'),
      clickHours: count('Hours before a purchase in which a click counts'),
      displayHours: count('Hours before a purchase in which a display counts'),
    }),
  ),
  freshness: object({
    at: dateTime('When this was asked; relative ranges are read as of it'),
    lastReceivedAt: nullable(dateTime('When the newest stored event was received'), {
      description:
        'When the newest event that is stored was received; null where none is. Later ones are on their way',
    }),
    lastEventAt: nullable(dateTime('When the newest stored event happened'), {
      description: 'When the newest event that is stored happened, by the clock of its sender',
    }),
  }),
  warnings: listOf(
    object({ path: filled('Place in the query', 400, 'dimensions.0'), message: Type.String() }),
    'What `warnings` of the answer would say about members; that rows are left out is known once it runs',
  ),
  statement: Type.Optional(
    object(
      {
        sql: text('The statement for the columnar store, with placeholders'),
        params: mapOf(Type.Unknown(), { description: 'What the placeholders stand for' }),
      },
      { description: 'For callers with the permission Company: update alone' },
    ),
  ),
  mayEstimate: flag('Whether a distinct count of it may be an estimate, within its `relativeError`'),
})
export type QueryExplanation = Static<typeof QueryExplanation>
