import { drop } from '@millrace/contract/events/draft.ts'
import { eventLimits } from '@millrace/contract/events/limits.ts'
import type { Finding } from '@millrace/contract/events/rules.ts'
import { maskSample } from '@millrace/contract/events/samples.ts'
import { validateEvent } from '@millrace/contract/events/validate.ts'
import type { RequestWitness } from '../activity/activity-feed.ts'
import type { EventSender } from '../persons/refused-persons.ts'
import type { CollectedBody } from './body/collector-body.ts'
import { eventHead, eventRow, logRow, type RowContext } from './rows/event-row.ts'
import { LogRows } from './rows/log-rows.ts'

/** What becomes of one request: rows of the event log without their sequence numbers, and what they count. */
export interface ValidatedRequest {
  readonly rows: readonly string[]
  readonly kept: number
  /** Kept events of which a field was changed. */
  readonly changed: number
  readonly dropped: number
}

/** Whether the name of a kept event is worth a note. */
export type SeeName = (name: string) => boolean

/**
 * Validates each event of a request on its own and writes its row; what is dropped or changed becomes rows of the
 * datasource log, so that counts are as durable as events.
 * @param senderText the sender as keys of a row
 * @param fixedLabels labels of each event beside its own, as text
 * @param witness hears of each event, where somebody looks
 * @param isErased whether no event of a sender is taken
 */
export function validateRequest(
  body: CollectedBody,
  context: RowContext,
  senderText: string,
  seeName: SeeName,
  fixedLabels = '',
  witness?: RequestWitness,
  isErased?: (event: EventSender) => boolean,
): ValidatedRequest {
  const head = eventHead(context, senderText)
  const rows: string[] = []
  let changed = 0
  let dropped = 0
  let notes: LogRows | undefined

  const dropBy = (reason: Finding, event?: unknown): void => {
    dropped++
    witness?.dropped(reason, event)
    notes ??= new LogRows()
    notes.add('dropped', reason)
  }

  for (const event of body.events) {
    const result = validateEvent(event, context)
    if (!result.kept) {
      // Of a person who has not consented nothing is shown.
      dropBy(result.reason, result.reason.rule === 'consent-missing' ? undefined : event)
      continue
    }
    if (isErased?.(result)) {
      dropBy({ rule: 'person-erased', path: '', sample: '' })
      continue
    }
    const row = eventRow(result, head, fixedLabels)
    if (isTooLarge(row)) {
      dropBy(drop('event-too-large', '', event).reason, event)
      continue
    }
    rows.push(row)
    witness?.kept(result)
    if (seeName(result.name)) {
      notes ??= new LogRows()
      notes.add('noted', tooManyNames(result.name))
    }
    if (result.changes.length === 0) continue
    changed++
    notes ??= new LogRows()
    for (const change of result.changes) notes.add('changed', change)
  }
  for (const reason of body.dropped) dropBy(reason)

  const kept = rows.length
  if (notes) for (const note of notes) rows.push(logRow(note, context))
  return { rows, kept, changed, dropped }
}

/** The note that a datasource has more names than are expected of it. */
export const tooManyNames = (name: string): Finding => ({
  rule: 'names-too-many',
  path: 'name',
  sample: maskSample(name),
})

/** Bytes are counted only where the number of characters does not decide: one takes three bytes at most. */
function isTooLarge(row: string): boolean {
  if (row.length * 3 <= eventLimits.storedBytes) return false
  return Buffer.byteLength(row) > eventLimits.storedBytes
}
