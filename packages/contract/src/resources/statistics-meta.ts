import { type Static, Type } from 'typebox'
import { mapOf, oneOf, strict } from './formats.ts'
import { filterOperators, granularities } from './query.ts'

const common = {
  title: Type.String({ description: 'Short name to display', examples: ['Events'] }),
  description: Type.String({ description: 'Exact meaning' }),
  source: Type.String({ description: 'Source that it belongs to', examples: ['events'] }),
}

export const MeasureMeta = Type.Object(
  {
    ...common,
    type: Type.Literal('number'),
    format: oneOf(['integer', 'decimal', 'amount', 'ratio', 'seconds', 'milliseconds'], {
      description: 'How the number reads; `amount` has two decimals, `ratio` is a fraction',
    }),
    virtual: Type.Boolean({
      description: 'Computed from other measures after aggregation: cannot be filtered',
    }),
    exactUpTo: Type.Optional(
      Type.Integer({ description: 'For distinct counts: exact up to this number per group' }),
    ),
    relativeError: Type.Optional(
      Type.Number({ description: 'For distinct counts: bound of the error beyond it', examples: [0.01] }),
    ),
  },
  { ...strict, title: 'MeasureMeta' },
)
export type MeasureMeta = Static<typeof MeasureMeta>

export const DimensionMeta = Type.Object(
  {
    ...common,
    type: oneOf(['string', 'number', 'boolean', 'time']),
    format: Type.Optional(Type.String({ description: 'What a text is, where it is more than a text' })),
    granularities: Type.Optional(
      Type.Array(oneOf(granularities), { description: 'For times: units that rows can be grouped by' }),
    ),
    operators: Type.Array(oneOf(filterOperators), { description: 'Filters that it takes' }),
    filterOnly: Type.Optional(
      Type.Literal(true, {
        description: 'Filters name it, of every source, and rows cannot be grouped by it',
        'x-millrace-extension': true,
      }),
    ),
    caseInsensitiveOperators: Type.Optional(
      Type.Array(oneOf(filterOperators), {
        description: 'Those of its operators that ignore case; all others are case-sensitive',
        'x-millrace-extension': true,
      }),
    ),
    values: Type.Optional(
      Type.Array(Type.String(), { description: 'All values, where they are few and fixed' }),
    ),
  },
  { ...strict, title: 'DimensionMeta' },
)
export type DimensionMeta = Static<typeof DimensionMeta>

/** docs/interface.md, Statistics metadata. */
export const StatisticsMeta = Type.Object(
  {
    measures: mapOf(MeasureMeta, { description: 'By measure id' }),
    dimensions: mapOf(DimensionMeta, { description: 'By dimension id' }),
    queryCompatibility: Type.Object(
      {
        components: Type.Array(Type.Array(Type.String()), {
          description: 'Sets of members that may meet in one query: a query fits when one set holds them all',
        }),
        measureSources: mapOf(Type.Array(Type.String()), {
          description: 'From measure id to the sources that it is computed from',
        }),
      },
      strict,
    ),
  },
  { ...strict, title: 'StatisticsMeta' },
)
export type StatisticsMeta = Static<typeof StatisticsMeta>
