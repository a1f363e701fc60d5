import { type Static, Type } from 'typebox'
import { extension, flag, listOf, mapOf, named, object, oneOf, optionals, text } from './formats.ts'
import { filterOperators, granularities } from './query.ts'

const common = {
  title: text('Short name to display', 'Events'),
  description: text('Exact meaning'),
  source: text('Source that it belongs to', 'events'),
}

export const MeasureMeta = named('MeasureMeta', {
  ...common,
  type: Type.Literal('number'),
  format: oneOf(
    ['integer', 'decimal', 'amount', 'ratio', 'seconds', 'milliseconds'],
    'How the number reads; `amount` has two decimals, `ratio` is a fraction',
  ),
  virtual: flag('Computed from other measures after aggregation: cannot be filtered'),
  exactUpTo: Type.Optional(
    Type.Integer({ description: 'For distinct counts: exact up to this number per group' }),
  ),
  relativeError: Type.Optional(
    Type.Number({ description: 'For distinct counts: bound of the error beyond it', examples: [0.01] }),
  ),
})
export type MeasureMeta = Static<typeof MeasureMeta>

export const DimensionMeta = named('DimensionMeta', {
  ...common,
  type: oneOf(['string', 'number', 'boolean', 'time']),
  format: Type.Optional(text('What a text is, where it is more than a text')),
  granularities: Type.Optional(listOf(oneOf(granularities), 'For times: units that rows can be grouped by')),
  operators: listOf(oneOf(filterOperators), 'Filters that it takes'),
  ...optionals({
    filterOnly: extension(
      Type.Literal(true, {
        description: 'Filters name it, of every source, and rows cannot be grouped by it',
      }),
    ),
    caseInsensitiveOperators: extension(
      listOf(
        oneOf(filterOperators),
        'Those of its operators that ignore case; all others are case-sensitive',
      ),
    ),
    values: listOf(Type.String(), 'All values, where they are few and fixed'),
  }),
})
export type DimensionMeta = Static<typeof DimensionMeta>

/** docs/interface.md, Statistics metadata. */
export const StatisticsMeta = named('StatisticsMeta', {
  measures: mapOf(MeasureMeta, 'By measure id'),
  dimensions: mapOf(DimensionMeta, 'By dimension id'),
  queryCompatibility: object({
    components: listOf(
      Type.Array(Type.String()),
      'Sets of members that may meet in one query: a query fits when one set holds them all',
    ),
    measureSources: mapOf(
      Type.Array(Type.String()),
      'From measure id to the sources that it is computed from',
    ),
  }),
})
export type StatisticsMeta = Static<typeof StatisticsMeta>
