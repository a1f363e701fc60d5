import { eventColumns } from './event-columns.ts'

/** Days of a person's events that are kept for workflows: as long as an `events` node may look back, and one more. */
export const personDays = 91

/** Of a staged event: whether it is late enough to be kept in `person_events`. */
export const isRecent = `time > now() - toIntervalDay(${personDays})`

/** Columns of `person_events`, and the SQL over staging that gives them. */
export const personColumns: Readonly<Record<string, string>> = {
  company: eventColumns.company,
  owner: 'if(client != 0, client, device)',
  named: 'toUInt8(client != 0)',
  time: eventColumns.time,
  seq: eventColumns.seq,
  datasource: eventColumns.datasource,
  name: eventColumns.name,
  url: eventColumns.url,
  ids: eventColumns.ids,
  value: eventColumns.value,
  labels: eventColumns.labels,
}
