import { type Static, Type } from 'typebox'
import { DatasourceField, fieldPrimitives, fieldTypes } from './datasource-field.ts'
import { count, dateTime, flag, id, like, named, nullable, oneOf, optionals, text } from './formats.ts'

/** Names that fields of a datasource have. */
export const fieldNamePattern = '^[a-z][a-z0-9_-]*$'

const settings = optionals({
  isKey: flag('Whether its value names the row: one field at most; rows are found by it at once'),
  isPerson: flag(
    'Whether its value names a person, by a `clientId` or an e-mail address: rows of persons who are erased are removed, and not stored again while they are refused',
  ),
  sortable: flag('Whether results can be sorted by it; numbers and dates when absent'),
})

const { name, type, selected, primitive, rulesPerSources, source, ignoreIfMissing, metadata } =
  DatasourceField.properties

/** A field as a datasource keeps it: what the analysis proposes, as far as it was sent, with its place in the rows. */
export const WorkerField = named('WorkerField', {
  ...{ name, type, selected, primitive, rulesPerSources },
  source: Type.Optional(source),
  ignoreIfMissing: Type.Optional(ignoreIfMissing),
  metadata: Type.Optional(metadata),
  ...settings,
})
export type WorkerField = Static<typeof WorkerField>

/** Changes one field by its name; what is absent stays as it is. */
export const WorkerFieldChange = named('WorkerFieldChange', {
  name: text('Which field', 'price'),
  rename: Type.Optional(text('Its name from now on')),
  type: Type.Optional(type),
  selected: Type.Optional(Type.Boolean()),
  rulesPerSources: Type.Optional(rulesPerSources),
  ignoreIfMissing: Type.Optional(ignoreIfMissing),
  metadata: Type.Optional(metadata),
  ...settings,
})
export type WorkerFieldChange = Static<typeof WorkerFieldChange>

/** Body of `PATCH /v2/datasources/{id}/fields`: one of the two. */
export const WorkerFieldsUpdate = named('WorkerFieldsUpdate', {
  fields: Type.Optional(Type.Array(WorkerField, { maxItems: 2_000, description: 'The whole list' })),
  changes: Type.Optional(
    Type.Array(WorkerFieldChange, { maxItems: 2_000, description: 'Changes of some fields, by name' }),
  ),
})
export type WorkerFieldsUpdate = Static<typeof WorkerFieldsUpdate>

export const datasourceVersionStates = ['DRAFT', 'LIVE'] as const

/** The draft holds the fields as they are chosen, the live version the rows that workflows read. */
export const DatasourceVersion = named('DatasourceVersion', {
  id: nullable(id('Identifier of the version; null for the draft')),
  state: oneOf(datasourceVersionStates),
  fields: Type.Array(WorkerField),
  rows: Type.Optional(count('Rows of the live version')),
  revision: Type.Optional(text('Of the live version: another one whenever its rows are others')),
  updatedAt: dateTime('When its fields or rows were changed last'),
})
export type DatasourceVersion = Static<typeof DatasourceVersion>

/** What `POST /v2/datasources/query` can ask of a field of the live version. */
export const QueriableField = named('QueriableField', {
  name: like('price'),
  type: oneOf(fieldTypes),
  primitive: oneOf(fieldPrimitives),
  unique: flag('Whether it is the key'),
  sortable: Type.Boolean(),
  allowedOperators: Type.Array(like('$eq')),
})
export type QueriableField = Static<typeof QueriableField>
