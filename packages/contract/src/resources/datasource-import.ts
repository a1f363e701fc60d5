import { type Static, Type } from 'typebox'
import { count, dateTime, id, named, nullable, object, oneOf, text } from './formats.ts'

export const importTriggers = ['upload', 'refresh', 'schedule', 'live'] as const
export const importStates = ['queued', 'running', 'done', 'unchanged', 'failed'] as const

/** Why an import failed. */
export const importFaults = [
  'source-not-reachable',
  'content-missing',
  'content-unreadable',
  'content-too-large',
  'fields-missing',
  'no-rows',
  'too-many-refused',
  'interrupted',
  'storage-full',
  'store-refused',
] as const
export type ImportFaultCode = (typeof importFaults)[number]

/** One import of a worker datasource: an entry of its ledger. */
export const DatasourceImport = named('DatasourceImport', {
  id: id('Identifier of the import'),
  datasourceId: id('Datasource that it fills'),
  trigger: oneOf(
    importTriggers,
    '`upload`: content was sent; `refresh`: asked for; `schedule`: planned; `live`: the draft goes live with it',
  ),
  state: oneOf(
    importStates,
    '`unchanged`: the content was the same as that of the live version, which stays as it is',
  ),
  progress: nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Share of the content that is read; null while its size is unknown',
    }),
  ),
  rowsRead: count('Rows of the content that were read'),
  rowsStored: count('Rows that were stored'),
  rowsRefused: count(
    'Rows that were not stored: a value broke the rules of its field, or the key was absent',
  ),
  bytes: count('Bytes of the content that were read, as they are stored or sent'),
  createdAt: dateTime('When it was queued'),
  startedAt: nullable(dateTime('When its last attempt began')),
  endedAt: nullable(dateTime('When it ended')),
  fault: nullable(
    object({
      reason: oneOf(importFaults),
      message: text('What is wrong, and what would be right'),
    }),
  ),
})
export type DatasourceImport = Static<typeof DatasourceImport>
