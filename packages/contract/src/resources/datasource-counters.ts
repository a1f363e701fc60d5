import { type Static, Type } from 'typebox'
import { dateTime, id, nullable, strict } from './formats.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

/** Exact counts of a datasource since it was made; `sent` = `accepted` + `dropped` + `bot` + `duplicate`. */
export const DatasourceCounters = Type.Object(
  {
    datasourceId: id('Identifier of the datasource'),
    sent: count('Events that arrived and were loaded: the sum of the four below, without `changed`'),
    accepted: count('Events that are stored'),
    changed: count('Stored events of which a field was altered or left out; part of `accepted`'),
    dropped: count('Events that broke a rule and were not stored'),
    bot: count('Events that a crawler sent'),
    duplicate: count('Events whose `eventId` the datasource had met within 7 days'),
    updatedAt: nullable(dateTime('When the counts moved last; null before the first event')),
  },
  { ...strict, title: 'DatasourceCounters' },
)
export type DatasourceCounters = Static<typeof DatasourceCounters>
