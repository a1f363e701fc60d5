import { Draft } from '@millrace/contract/events/draft.ts'
import { type Label, readLabels } from '@millrace/contract/events/labels.ts'
import type { KeptEvent } from '@millrace/contract/events/validate.ts'
import { type LineKey, type SenderField, senderKeys } from '../../../../database/event-columns.ts'

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
 * @param fixedLabels further labels, as `fixedLabelsText` gives them
 */
export function eventRow(event: KeptEvent, head: string, fixedLabels = ''): string {
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
  const labels = labelsText(event.labels, fixedLabels)
  return `${head}${labels === '' ? '' : `,"l":{${labels}}`},${JSON.stringify(fields).slice(1)}`
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

/** The whole line of a row under its sequence number, or with room for one. */
export function lineOf(sequence: number | string, row: string): string {
  return `{"q":${sequence}${row}\n`
}

function contextText({ companyId, datasourceId, receivedAt }: RowContext): string {
  return `"k":"${companyId}","d":"${datasourceId}","r":${receivedAt}`
}

/** Labels without their braces, behind those that are written already. */
function labelsText(labels: readonly Label[], before: string): string {
  let text = before
  for (const [key, value] of labels) {
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${JSON.stringify(value)}`
  }
  return text
}

/** Labels that many events have in common. */
export type FixedLabels = Readonly<Record<string, unknown>>

const fixedTexts = new WeakMap<FixedLabels, string>()

/** Labels as `eventRow` takes them, read and written once for an object that is given again and again. */
export function fixedLabelsText(labels: FixedLabels): string {
  const known = fixedTexts.get(labels)
  if (known !== undefined) return known
  const text = labelsText(readLabels(labels, new Draft()), '')
  fixedTexts.set(labels, text)
  return text
}
