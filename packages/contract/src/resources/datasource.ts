import { type Static, Type } from 'typebox'
import { eventRetentionDays } from './company.ts'
import { DatasourceSource, RefreshSchedule, StoredDatasourceSource } from './datasource-source.ts'
import { DatasourceVersion, QueriableField } from './datasource-version.ts'
import { bodyOf, dateTime, id, listOf, named, nameText, nullable, oneOf, text, times } from './formats.ts'

export const datasourceModes = ['worker', 'ingester', 'pubsub', 'proxy', 'push'] as const
export const datasourceStatuses = ['draft', 'published', 'updating', 'paused', 'error'] as const

/** Types of a worker datasource (docs/datasources.md, Worker datasources). */
export const workerTypes = ['generic', 'product', 'location', 'crm'] as const
/** Types of all datasources that there are. */
export const datasourceTypes = ['analytics', 'workflow_events', ...workerTypes] as const
export type DatasourceType = (typeof datasourceTypes)[number]
export const updateStrategies = ['replace', 'upsert'] as const

const updateStrategy = oneOf(
  updateStrategies,
  'What an import does with the rows that are there: `replace` them all in one step, or `upsert` by key: rows with a known key are replaced, others are added',
)
const maxRefusedShare = Type.Number({
  minimum: 0,
  maximum: 1,
  description: 'An import that refuses a larger share of its rows fails; 0.5 unless it is set',
})

/** Of worker datasources alone. */
const worker = {
  source: Type.Optional(StoredDatasourceSource),
  schedule: Type.Optional(
    nullable(RefreshSchedule, 'When rows of an address are fetched again; null means never'),
  ),
  nextRefreshAt: Type.Optional(nullable(dateTime('When the next planned import begins'))),
  updateStrategy: Type.Optional(updateStrategy),
  maxRefusedShare: Type.Optional(maxRefusedShare),
  failure: Type.Optional(text('Why the last import failed; absent once one has succeeded')),
  versions: Type.Optional(
    listOf(DatasourceVersion, 'The draft, and the live version where there is one; not in lists'),
  ),
  queriableFields: Type.Optional(
    listOf(QueriableField, 'What the live version can be asked for; not in lists'),
  ),
}

const retention = eventRetentionDays(
  'Of a datasource of events: days that they are kept; null as long as the company keeps them',
)

const consent = oneOf(
  ['ignore', 'require'],
  'Of a tracking datasource: with `require` an event is dropped unless its `consent` is true; with `ignore` that field is not looked at',
)

/** A datasource of events that was deleted, as long as that can be undone. */
export const DeletedDatasource = named('DeletedDatasource', {
  id: id('Identifier of the datasource'),
  name: Type.String(),
  deletedAt: dateTime('When it was deleted'),
  purgeAfter: dateTime('Until when that can be undone'),
})
export type DeletedDatasource = Static<typeof DeletedDatasource>

/** Where events or rows come in. A tracking datasource has mode `ingester` and type `analytics`. */
export const Datasource = named('Datasource', {
  id: id('Identifier of the datasource'),
  companyId: id('Company that owns it: the `key` of its events'),
  name: Type.String(),
  mode: oneOf(datasourceModes, { examples: ['ingester'] }),
  type: text('What it holds', 'analytics'),
  status: oneOf(datasourceStatuses, { examples: ['published'] }),
  resourceGroupIds: listOf(Type.String(), 'Teams that see it'),
  eventRetentionDays: Type.Optional(retention),
  consent: Type.Optional(consent),
  sampleData: Type.Optional(
    Type.Literal(true, { description: 'There where it holds the sample data of the company' }),
  ),
  ...times,
  ...worker,
})
export type Datasource = Static<typeof Datasource>

const teams = Type.Array(id('A team that you are a member of'), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'Teams that see the datasource; all your teams when absent',
})
const name = nameText('Name of the datasource', 50, { examples: ['Web shop'] })

/** What was read of a source may be sent back: what only replies have is ignored. */
const source = bodyOf('DatasourceSourceUpdate', StoredDatasourceSource, DatasourceSource.properties)

const settings = {
  resourceGroupIds: Type.Optional(teams),
  source: Type.Optional(source),
  schedule: Type.Optional(nullable(RefreshSchedule, 'For a source of type `url`; null: none')),
  updateStrategy: Type.Optional(updateStrategy),
  maxRefusedShare: Type.Optional(maxRefusedShare),
}

const creation = {
  name,
  mode: Type.Optional(
    oneOf(
      ['ingester', 'worker'],
      '`ingester` (the default): a tracking datasource; `worker`: rows of a file or an address',
    ),
  ),
  type: Type.Optional(
    oneOf(
      ['analytics', ...workerTypes],
      'Of a worker datasource: `generic` when absent; a tracking one has `analytics`',
    ),
  ),
  ...settings,
}

export const DatasourceCreation = bodyOf('DatasourceCreation', Datasource, creation)
export type DatasourceCreation = Static<typeof DatasourceCreation>

const update = {
  name: Type.Optional(name),
  eventRetentionDays: Type.Optional(retention),
  consent: Type.Optional(consent),
  ...settings,
}

export const DatasourceUpdate = bodyOf('DatasourceUpdate', Datasource, update)
export type DatasourceUpdate = Static<typeof DatasourceUpdate>
