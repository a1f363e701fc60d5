import type { Static } from 'typebox'
import { count, dateTime, id, named, oneOf, text } from './formats.ts'

export const datasourceLogKinds = ['dropped', 'changed', 'bot', 'refused', 'noted'] as const

/**
 * One line of the datasource log: a rule that events of one request, or rows of one import, met, with the first of them
 * as a sample.
 */
export const DatasourceLogEntry = named('DatasourceLogEntry', {
  id: text('Identifier of the line'),
  datasourceId: id('Datasource that the events came to'),
  receivedAt: dateTime('When the request arrived, or the import ended'),
  kind: oneOf(
    datasourceLogKinds,
    '`dropped`: the events were not stored; `changed`: they were stored with the field altered or left ' +
      'out; `bot`: a crawler sent them; `refused`: the whole request was answered 4xx; `noted`: nothing was done ' +
      'to them, but the sender probably means something else. Of an import of rows: `dropped` rows were not stored, ' +
      '`changed` ones lack the value, `refused` is an import that failed, `noted` one that ended',
  ),
  rule: text('Which rule', 'purchase-value-joined'),
  path: text(
    'Field of the event, dotted; of an import that failed `source`, `content` or `fields`, by what helps',
    'data.value',
  ),
  sample: text(
    'What stood there, shortened and masked: letters as `x`, digits as `#`; of an import that failed, why',
    '"##,#"',
  ),
  count: count('How many events or rows (`changed`: fields) of the request or import this line stands for'),
})
export type DatasourceLogEntry = Static<typeof DatasourceLogEntry>
