import type { Static } from 'typebox'
import { count, dateTime, id, named, nullable } from './formats.ts'

/** Exact counts of a datasource since it was made; `sent` = `accepted` + `dropped` + `bot` + `duplicate`. */
export const DatasourceCounters = named('DatasourceCounters', {
  datasourceId: id('Identifier of the datasource'),
  sent: count('Events that arrived and were loaded: the sum of the four below, without `changed`'),
  accepted: count('Events that are stored'),
  changed: count('Stored events of which a field was altered or left out; part of `accepted`'),
  dropped: count('Events that broke a rule and were not stored'),
  bot: count('Events that a crawler sent'),
  duplicate: count('Events whose `eventId` the datasource had met within 7 days'),
  updatedAt: nullable(dateTime('When the counts moved last; null before the first event')),
})
export type DatasourceCounters = Static<typeof DatasourceCounters>
