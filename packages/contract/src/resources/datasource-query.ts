import { type Static, Type } from 'typebox'
import { freeObject, id, lineText, named, object, oneOf, optionals } from './formats.ts'

/** Body of `POST /v2/datasources/query` (docs/datasources.md, Query). */
export const DatasourceQuery = named('DatasourceQuery', {
  datasourceId: id('A worker datasource with a live version'),
  ...optionals({
    query: Type.Union([Type.String({ maxLength: 100_000 }), freeObject('The tree itself')], {
      description:
        'A tree, as an object or as its JSON text: groups `$and` and `$or` of trees, and leaves of one field with one operator; `{}` and absence match all rows',
      examples: [{ $and: [{ brand: { $eq: ['Acme', 'Bolt'] } }, { price: { $lt: 20 } }] }],
    }),
    sort: Type.Array(
      object({ field: lineText('A sortable field', 64), order: Type.Optional(oneOf(['asc', 'desc'])) }),
      {
        maxItems: 3,
        description: 'Empty values come last; rows that are equal keep the order of the content',
      },
    ),
    fields: Type.Array(lineText('Name of a field', 64), {
      minItems: 1,
      maxItems: 64,
      uniqueItems: true,
      description: 'Fields of the answer; all when absent',
    }),
  }),
})
export type DatasourceQuery = Static<typeof DatasourceQuery>
