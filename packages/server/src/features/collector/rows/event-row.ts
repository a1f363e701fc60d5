import type { Label } from '@millrace/contract/events/labels.ts'
import type { KeptEvent } from '@millrace/contract/events/validate.ts'
import { type LineKey, type SenderField, senderKeys } from '../../../database/event-columns.ts'

/** What the rows of one request have in common. */
export interface RowContext {
  readonly companyId: string
  readonly datasourceId: string
  /** Milliseconds since 1970-01-01 UTC. */
  readonly receivedAt: number
}

/** What the user-agent names; empty where it names nothing. */
export type Sender = Readonly<Record<SenderField, string>>

/** Rows that stand for `count` events or fields, for the datasource log. */
export interface LogRow {
  readonly kind: 'dropped' | 'changed' | 'bot' | 'refused' | 'noted'
  readonly rule: string
  readonly path: string
  readonly sample: string
  readonly count: number
}

/** Every key that an event writes, but for its labels: a column without a value does not compile. */
type EventFields = Readonly<Record<Exclude<LineKey<'event'>, 'l'>, unknown>>

/**
 * The row of an event in the event log, from behind its sequence number to its end: `lineOf` makes it whole.
 * Keys of absent fields are left out. One literal for each event, because anything that asks the definition of the
 * row for each key takes longer.
 */
export function eventRow(event: KeptEvent, head: string): string {
  const fields: EventFields = {
    t: event.time,
    e: event.eventId,
    n: event.name,
    u: event.url,
    rh: event.referrerHost === '' ? undefined : event.referrerHost,
    p: event.tmpId,
    c: event.clientId === '' ? undefined : event.clientId,
    i: event.ids.length === 0 ? undefined : event.ids,
    v: event.value,
    x: event.transId === '' ? undefined : event.transId,
    g: event.changes.length === 0 ? undefined : 1,
  }
  const labels = event.labels.length === 0 ? '' : labelsText(event.labels)
  return `${head}${labels},${JSON.stringify(fields).slice(1)}`
}

/** The prefix that all event rows of a request share, behind the sequence number. */
export function eventHead(context: RowContext, senderText: string): string {
  return `,"z":"e",${contextText(context)}${senderText}`
}

/** A sender as keys of a row, made once for each user-agent. */
export function senderText(sender: Sender): string {
  let text = ''
  for (const [field, key] of senderKeys) {
    if (sender[field] !== '') text += `,"${key}":${JSON.stringify(sender[field])}`
  }
  return text
}

/** The country of a sender as a key of a row; nothing where it is not known. */
export function countryText(country: string): string {
  if (country === '') return ''
  const fields: Readonly<Record<LineKey<'address'>, string>> = { co: country }
  return `,${JSON.stringify(fields).slice(1, -1)}`
}

/** A row of the datasource log, from behind its sequence number to its end. */
export function logRow({ kind, rule, path, sample, count }: LogRow, context: RowContext): string {
  const fields: Readonly<Record<LineKey<'note'>, unknown>> = { rule, path, sample, m: count }
  return `,"z":"${kind}",${contextText(context)},${JSON.stringify(fields).slice(1)}`
}

/** The whole line of a row under its sequence number. */
export function lineOf(sequence: number, row: string): string {
  return `{"q":${sequence}${row}\n`
}

function contextText({ companyId, datasourceId, receivedAt }: RowContext): string {
  return `"k":"${companyId}","d":"${datasourceId}","r":${receivedAt}`
}

function labelsText(labels: readonly Label[]): string {
  let text = ''
  for (const [key, value] of labels) {
    text += `${text === '' ? ',"l":{' : ','}${JSON.stringify(key)}:${JSON.stringify(value)}`
  }
  return `${text}}`
}
