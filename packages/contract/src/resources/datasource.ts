import { type Static, Type } from 'typebox'
import { dateTime, id, nameText, oneOf, responseOnly, strict } from './formats.ts'

export const datasourceModes = ['worker', 'ingester', 'pubsub', 'proxy', 'push'] as const
export const datasourceStatuses = ['draft', 'published', 'updating', 'paused', 'error'] as const

/** Where events or rows come in. A tracking datasource has mode `ingester` and type `analytics`. */
export const Datasource = Type.Object(
  {
    id: id('Identifier of the datasource'),
    companyId: id('Company that owns it: the `key` of its events'),
    name: Type.String(),
    mode: oneOf(datasourceModes, { examples: ['ingester'] }),
    type: Type.String({ examples: ['analytics'] }),
    status: oneOf(datasourceStatuses, { examples: ['published'] }),
    resourceGroupIds: Type.Array(Type.String(), { description: 'Teams that see it' }),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
  },
  { ...strict, title: 'Datasource' },
)
export type Datasource = Static<typeof Datasource>

const creation = {
  name: nameText('Name of the datasource', 50, { examples: ['Web shop'] }),
  resourceGroupIds: Type.Optional(
    Type.Array(id('A team that you are a member of'), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'Teams that see the datasource; all your teams when absent',
    }),
  ),
}

export const DatasourceCreation = Type.Object(
  { ...creation, ...responseOnly(Datasource, creation) },
  { ...strict, title: 'DatasourceCreation' },
)
export type DatasourceCreation = Static<typeof DatasourceCreation>
